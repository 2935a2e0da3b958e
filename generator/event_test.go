package generator_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// A failing clock panics at the n-th reading after its source has answered: the first is in the
// request, the second where its answer is checked.
type failing struct {
	*steppable
	n     atomic.Int32
	armed atomic.Bool
	kept
}

func (f *failing) UnixNano() int64 {
	if f.armed.Load() && f.n.Add(-1) == 0 {
		panic("no")
	}
	return f.steppable.UnixNano()
}

func (f *failing) Reserve(ctx context.Context, floor, n int64) (int64, error) {
	synctest.Wait() // the caller waits
	f.armed.Store(true)
	return f.kept.Reserve(ctx, floor, n)
}

// TestClockPanics: where the clock panics in the background, the call that waits has an error, and a
// later call works.
func TestClockPanics(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		for n := range int32(2) {
			synctest.Test(t, func(t *testing.T) {
				length, f := s.units(ceilingUnits), &failing{steppable: newSteppable()}
				f.n.Store(n + 1)
				g := s.must(t, ceiling(f, length), &generator.Options{Clock: f, MaxWait: 2 * length})
				if err := g.ready(ctx); !errors.As(err, new(*generator.NumberError)) ||
					!strings.Contains(err.Error(), "panicked: no") {
					t.Fatalf("ready at reading %d: %v, want a NumberError", n+1, err)
				}
				if err := g.ready(ctx); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// TestNotifyFails: where Notify panics in the background or ends its goroutine, the call that waits
// has an error, and a later call works.
func TestNotifyFails(t *testing.T) {
	for name, fail := range map[string]func(){
		"panics": func() { panic("no") }, "ends": runtime.Goexit,
	} {
		eachScheme(t, func(t *testing.T, s scheme) {
			synctest.Test(t, func(t *testing.T) {
				length, failing := s.units(ceilingUnits), true
				g := s.must(t, ceiling(&kept{lose: 1}, length), &generator.Options{
					Clock: newSteppable(), MaxWait: 2 * length,
					Notify: func(generator.Event) {
						if failing {
							fail()
						}
					},
				})
				err := g.ready(ctx)
				if !errors.As(err, new(*generator.NumberError)) ||
					strings.Contains(err.Error(), "panicked: no") != (name == "panics") {
					t.Fatalf("ready: %v, want a NumberError", err)
				}
				failing = false
				if err := g.ready(ctx); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
