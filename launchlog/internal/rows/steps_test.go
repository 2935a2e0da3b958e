package rows_test

import (
	"context"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// A store whose transactions return what no step does must not hand out 0 as a number. A store that
// was not opened has no transactions.
func TestStepsReturnNoZero(t *testing.T) {
	for name, write := range map[string]func(context.Context, rows.Step) (any, error){
		"another type": func(context.Context, rows.Step) (any, error) { return "7", nil },
		"nothing":      func(context.Context, rows.Step) (any, error) { return nil, nil },
		"not opened":   nil,
	} {
		s := rows.NewSteps(rows.Words{}, "", write, nil, nil)
		if first, err := s.ReserveNumbers(t.Context(), launchlog.CounterRef{}, 0, 1); err == nil {
			t.Errorf("%s: %d without an error", name, first)
		}
	}
}
