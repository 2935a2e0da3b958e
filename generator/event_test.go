package generator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/internal/testclock"
)

// TestEvents: each window, with its number and its times, each that was missed, and a clock that
// goes back.
func TestEvents(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		var events []generator.Event
		clock := testclock.New(noon)
		source := newClaims(s.window(0, 0, 4), s.window(0, 4, 8), s.endless(1, 8))
		source.fail(errAway)
		g := s.must(t, windowsOf(source), &generator.Options{
			Clock: clock, Notify: func(e generator.Event) { events = append(events, e) },
		})
		want := func(want generator.Event) {
			t.Helper()
			if len(events) != 1 || !errors.Is(events[0].Err, want.Err) {
				t.Fatalf("events are %+v, want %+v", events, want)
			}
			got := events[0]
			if want.Scheme, want.Number = s.id, g.snapshot().Number; want.Kind == "window missed" {
				want.Number, got.Err, want.Err = 0, nil, nil
			}
			if got != want {
				t.Errorf("event is %+v, want %+v", got, want)
			}
			events = nil
		}
		if err := g.ready(ctx); !errors.Is(err, errAway) {
			t.Fatal(err)
		}
		want(generator.Event{Kind: generator.WindowMissed, Err: errAway})
		source.fail(nil)
		for n, renewed := range []bool{false, true, s.numbers == 1} {
			if err := g.ready(ctx); err != nil {
				t.Fatal(err)
			}
			e := generator.Event{
				Kind: generator.WindowBegan, Renewed: renewed,
				From: noon.Add(s.units(4 * n)), Until: noon.Add(s.units(4*n + 4)),
			}
			if n == 2 {
				e.Until = time.Time{}
			}
			if want(e); g.stats().Until != e.Until {
				t.Errorf("%+v", g.stats())
			}
			clock.Add(s.units(4))
		}
		wantLent(t, s, g, 1, 12, 0)
		clock.Add(-s.units(3))
		if _, err := g.next(ctx); err != nil {
			t.Fatal(err)
		}
		want(generator.Event{Kind: generator.ClockRegressed, Behind: s.units(3)})
		if n := g.stats().Regressions; n != 1 {
			t.Errorf("%d regressions are counted", n)
		}
	})
}

// TestTimelineStats, one by one.
func TestTimelineStats(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, _, clock := lent(t, s, s.window(5, 0, 4), s.window(5, 8, 20))
		want := func(when string, want generator.Stats) {
			t.Helper()
			want.Scheme, want.Now = s.id, time.Unix(0, clock.UnixNano()).UTC()
			switch want.Windows {
			case 1:
				want.Until = noon.Add(s.units(4))
			case 2:
				want.Until = noon.Add(s.units(20))
			}
			if got := g.stats(); got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
		}
		want("new", generator.Stats{})
		if err := g.ready(ctx); err != nil {
			t.Fatal(err)
		}
		want("ready", generator.Stats{Windows: 1})
		wantLent(t, s, g, 5, 0, 0)
		want("one ID", generator.Stats{Issued: 1, Windows: 1, Time: noon, PoolUsed: 1.0 / 3})
		clock.Add(s.unit)
		want("a unit later", generator.Stats{Issued: 1, Windows: 1, Time: noon})
		if _, err := g.fill(ctx, 5); err != nil {
			t.Fatal(err)
		}
		latest := noon.Add(s.units(2))
		want(
			"after a wait",
			generator.Stats{Issued: 6, Windows: 1, Waits: 1, Time: latest, PoolUsed: 2.0 / 3},
		)
		clock.Add(-s.unit)
		want(
			"behind",
			generator.Stats{Issued: 6, Windows: 1, Waits: 1, Time: latest, PoolUsed: 2.0 / 3},
		)
		clock.Set(noon.Add(s.units(6)))
		if err := g.ready(ctx); err != nil {
			t.Fatal(err)
		}
		want(
			"before the next window",
			generator.Stats{Issued: 6, Windows: 2, Waits: 1, Time: latest},
		)
		wantLent(t, s, g, 5, 8, 0)
		want(
			"in the next window",
			generator.Stats{
				Issued: 7, Windows: 2, Waits: 2, Time: noon.Add(s.units(8)), PoolUsed: 1.0 / 3,
			},
		)
	})
}
