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
		for _, back := range []time.Duration{1, s.unit, s.units(2) - 1, s.units(7), 9 * time.Second} {
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

// snoScheme is the one that toggles.
func snoScheme() scheme {
	for _, s := range schemes {
		if s.toggles {
			return s
		}
	}
	panic("no scheme toggles")
}

// TestTickTock follows the bit: a regression toggles it at once, in both directions, as long as the
// other value of the bit has not stamped the time, and waits where it has.
func TestTickTock(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{Pool: &generator.Pool{Min: 7, Max: 9}})
	to := func(n int) { clock.Set(noon.Add(s.units(n))) }
	stats := func(regressions, waits uint64) {
		t.Helper()
		if st := g.stats(); st.Regressions != regressions || st.Waits != waits {
			t.Errorf("%+v, want %d regressions, %d waits", st, regressions, waits)
		}
	}
	to(110)
	wantNext(t, s, g, 110, 0, 7)
	to(90) // the first regression
	wantNext(t, s, g, 90, 1, 7)
	wantNext(t, s, g, 90, 1, 8)
	to(95)
	wantNext(t, s, g, 95, 1, 7)
	wantAt(t, clock, s.units(95))
	stats(1, 0)

	to(92) // both values have stamped this: 0 up to 110, 1 from 90 on
	wantNext(t, s, g, 95, 1, 8)
	wantNext(t, s, g, 95, 1, 9)
	wantAt(t, clock, s.units(92))
	wantNext(t, s, g, 96, 1, 7)
	wantAt(t, clock, s.units(96))
	stats(2, 1)

	to(105)
	wantNext(t, s, g, 105, 1, 7)
	to(110) // what 0 stamped is new to 1
	wantNext(t, s, g, 110, 1, 7)
	to(120)
	wantNext(t, s, g, 120, 1, 7)
	to(115) // after 110, so 0 is free
	wantNext(t, s, g, 115, 0, 7)
	wantAt(t, clock, s.units(115))
	stats(3, 1)

	to(114) // 1 has stamped up to 120
	wantNext(t, s, g, 115, 0, 8)
	wantNext(t, s, g, 115, 0, 9)
	wantNext(t, s, g, 116, 0, 7)
	wantAt(t, clock, s.units(116))
	to(130)
	wantNext(t, s, g, 130, 0, 7)
	to(121) // the first that 1 has not
	wantNext(t, s, g, 121, 1, 7)
	wantAt(t, clock, s.units(121))
	to(120)
	wantNext(t, s, g, 121, 1, 8)
	wantNext(t, s, g, 121, 1, 9)
	wantNext(t, s, g, 122, 1, 7)
	wantAt(t, clock, s.units(122))

	to(140)
	for slot := 7; slot <= 9; slot++ {
		wantNext(t, s, g, 140, 1, slot)
	}
	to(129) // 130 was stamped by 0: it is sooner over than 140
	wantNext(t, s, g, 131, 0, 7)
	wantAt(t, clock, s.units(131))
	stats(7, 4)
}

// TestTickTockFills: a block is not cut in two by another call's toggle, nor by its own.
func TestTickTockFills(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{Pool: &generator.Pool{Min: 0, Max: 9}})
	clock.Add(s.units(50))
	if _, err := g.fill(ctx, 5); err != nil {
		t.Fatal(err)
	}
	clock.Add(-s.units(20))
	ids, err := g.fill(ctx, 12)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		want := mark{5, noon.Add(s.units(30 + i/10)).UnixNano(), 1, i % 10}
		if id.mark != want {
			t.Errorf("ID %d is %+v, want %+v", i, id.mark, want)
		}
	}
}

// TestTickTockAtTheCap: a generator that was behind at its cap is not behind in the time that it
// goes back to.
func TestTickTockAtTheCap(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{Pool: &generator.Pool{Min: 0, Max: 9}})
	clock.Add(s.units(50))
	if _, err := g.fill(ctx, 25); err != nil {
		t.Fatal(err)
	}
	clock.Set(noon.Add(s.units(20)))
	for n := 20; n < 40; n++ {
		wantNext(t, s, g, n, 1, 0)
		clock.Add(s.unit)
	}
}

// TestRegressionsAreCounted, one by one, also where two lead away from the same time.
func TestRegressionsAreCounted(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{})
	to := func(n int) { clock.Set(noon.Add(s.units(n))) }
	to(100)
	wantNext(t, s, g, 100, 0, 0)
	to(90)
	wantNext(t, s, g, 90, 1, 0)
	to(100)
	wantNext(t, s, g, 100, 1, 0)
	to(95)
	wantNext(t, s, g, 100, 1, 1)
	wantNext(t, s, g, 100, 1, 2)
	if st := g.stats(); st.Regressions != 2 {
		t.Errorf("%d regressions, want 2", st.Regressions)
	}
}
