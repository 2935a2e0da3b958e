package generator_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
)

// wantClockError fails unless err is a *ClockError of the scheme, for the reason, at and until so
// far after noon.
func wantClockError(t *testing.T, s scheme, err, reason error, now, until time.Duration) {
	t.Helper()
	var e *generator.ClockError
	if !errors.As(err, &e) || !errors.Is(err, reason) {
		t.Fatalf("error is %#v, want a *ClockError that wraps %v", err, reason)
	}
	if got := e.Now.Sub(noon); e.Scheme != s.id || got != now || e.Until.Sub(noon) != until {
		t.Fatalf("error is %v: %v to %v after noon, want %v to %v", err, got, e.Until.Sub(noon),
			now, until)
	}
	const layout = "2006-01-02T15:04:05.000Z"
	want := fmt.Sprintf("generator: %s: waiting at %s for %s: %v", s.id,
		noon.Add(now).Format(layout), noon.Add(until).Format(layout), reason)
	if err.Error() != want {
		t.Errorf("text is %q, want %q", err, want)
	}
}

// TestRegressionWaits: what is left of the latest time is used without waiting, and then the clock
// is waited for.
func TestRegressionWaits(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		for _, back := range []time.Duration{
			1, s.unit, s.units(2) - 1, s.units(7), 9 * time.Second,
		} {
			t.Run(back.String(), func(t *testing.T) {
				g, clock := idle(t, s, generator.Options{
					Pool: s.pool(0, 3), Regression: generator.RegressionWaits,
				})
				clock.Add(s.units(9))
				wantNext(t, s, g, 9, 0, s.first)
				clock.Add(-back)
				for slot := s.first + 1; slot <= s.first+3; slot++ {
					wantNext(t, s, g, 9, 0, slot)
				}
				wantAt(t, clock, s.units(9)-back)
				wantNext(t, s, g, 10, 0, s.first)
				wantAt(t, clock, s.units(10))
				if st := g.stats(); st.Regressions != 1 || st.Waits != 1 || st.Issued != 1+5 {
					t.Errorf("%+v, want 1 regression, 1 wait, 6 issued", st)
				}
			})
		}
	})
}

// TestRegressionFails: every call is an error until the clock is there again, and none costs an ID
// or time.
func TestRegressionFails(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, clock := idle(t, s, generator.Options{Regression: generator.RegressionFails})
		clock.Add(s.units(9) + s.unit/2)
		wantNext(t, s, g, 9, 0, s.first)
		clock.Add(-s.unit / 2) // not before the unit that was stamped
		wantNext(t, s, g, 9, 0, s.first+1)
		for _, back := range []time.Duration{1, s.unit, s.units(5), time.Hour} {
			at := s.units(9) - back
			clock.Set(noon.Add(at))
			for range 2 {
				_, err := g.next(ctx)
				wantClockError(t, s, err, generator.ErrClockBehind, at, s.units(9))
				ids, err := g.fill(ctx, 3)
				wantClockError(t, s, err, generator.ErrClockBehind, at, s.units(9))
				if len(ids) != 0 {
					t.Errorf("Fill minted %v", ids)
				}
			}
			wantAt(t, clock, at)
		}
		clock.Set(noon.Add(s.units(9)))
		wantNext(t, s, g, 9, 0, s.first+2)
		if st := g.stats(); st.Regressions != 1 || st.Waits != 0 || st.Issued != 1+3 {
			t.Errorf("%+v, want 1 regression, no wait, 4 issued", st)
		}
		clock.Add(s.unit)
		wantNext(t, s, g, 10, 0, s.first)
	})
}
