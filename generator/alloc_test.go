package generator_test

import (
	"testing"

	"github.com/idmint/idmint/idtype"
)

var (
	sinkID  idtype.DecimalID
	sinkErr error
)

func TestAllocs(t *testing.T) {
	g := started(t, newSource(92, 17))
	dst := make([]idtype.DecimalID, 1000)
	own := g.Owned(7) // a refill each seventh time
	calls := []struct {
		name string
		fn   func()
	}{
		{"Next", func() { sinkID, sinkErr = g.Next(ctx) }},
		{"Fill", func() { _, sinkErr = g.Fill(ctx, dst) }},
		{"Owned.Next", func() { sinkID, sinkErr = own.Next(ctx) }},
	}
	check := func(t *testing.T) {
		for _, call := range calls {
			t.Run(call.name, func(t *testing.T) {
				if got := testing.AllocsPerRun(1000, call.fn); got != 0 || sinkErr != nil {
					t.Errorf("%v allocations, %v, want 0", got, sinkErr)
				}
			})
		}
	}
	t.Run("at the start", check)
	// Next takes its longer way from here on; the first call asks for the number
	g.SkipTo(span / 100 * 95)
	calls[0].fn()
	t.Run("behind the look-ahead", check)
}
