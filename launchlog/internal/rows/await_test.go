package rows_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// Where a context ends in mid-call, the error also says what was in the way before.
func TestAwaitSaysWhatWasInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		refused := errors.New("refused")
		calls := 0
		err := rows.Await(ctx, func(ctx context.Context) (int, error) {
			if calls++; calls < 3 {
				return 0, &launchlog.AttemptError{Err: refused}
			}
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, refused) || calls != 3 {
			t.Errorf("after %d calls: %v", calls, err)
		}
	})
}
