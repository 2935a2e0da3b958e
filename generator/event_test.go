package generator_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
)

// heard makes a generator that writes its events down.
func heard(
	t *testing.T, s scheme, w windows, o generator.Options,
) (*timed, *[]generator.Event) {
	t.Helper()
	var events []generator.Event
	o.Notify = func(e generator.Event) { events = append(events, e) }
	return s.must(t, w, &o), &events
}

func wantEvents(t *testing.T, got *[]generator.Event, want ...generator.Event) {
	t.Helper()
	if !slices.EqualFunc(*got, want, func(a, b generator.Event) bool {
		errs := errors.Is(a.Err, b.Err)
		a.Err, b.Err = nil, nil
		return a == b && errs
	}) {
		t.Errorf("events are %+v, want %+v", *got, want)
	}
	*got = nil
}

// TestNotifyFails: where Notify panics in the background or ends its goroutine, the call that waits
// has an error, and a later call works.
func TestNotifyFails(t *testing.T) {
	fails := map[string]func(){"panics": func() { panic("no") }, "ends": runtime.Goexit}
	eachScheme(t, func(t *testing.T, s scheme) {
		for name, fail := range fails {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					length := s.units(ceilingUnits)
					failing := true
					g := s.must(t, ceiling(&kept{lose: 1}, length), &generator.Options{
						Clock: newSteppable(), MaxWait: 2 * length,
						Notify: func(generator.Event) {
							if failing {
								fail()
							}
						},
					})
					err := g.ready(ctx)
					var panicked *generator.PanicError
					if e := (*generator.NumberError)(nil); !errors.As(err, &e) ||
						errors.As(err, &panicked) != (name == "panics") {
						t.Fatalf("ready: %v, want a NumberError", err)
					}
					failing = false
					if err := g.ready(ctx); err != nil {
						t.Fatal(err)
					}
				})
			})
		}
	})
}

// TestEventsOfWindows: each window, with its number and its times, and each that was missed.
func TestEventsOfWindows(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock, counter := newSteppable(), &kept{lose: 1}
			length := s.units(ceilingUnits)
			g, events := heard(t, s, ceiling(counter, length), generator.Options{
				Clock: clock, MaxWait: 2 * length,
			})
			if err := g.ready(ctx); !errors.Is(err, errAway) {
				t.Fatalf("ready: %v, want %v", err, errAway)
			}
			wantEvents(t, events, generator.Event{
				Kind: generator.WindowMissed, Scheme: s.id, Err: errAway,
			})
			if err := g.ready(ctx); err != nil {
				t.Fatal(err)
			}
			if len(*events) != 2 {
				t.Fatalf("events are %+v, want one of a window that comes later, and the window",
					*events)
			}
			later, began := (*events)[0], (*events)[1]
			if e := (*generator.NotBeforeError)(nil); later.Kind != generator.WindowMissed ||
				!errors.As(later.Err, &e) {
				t.Errorf("event is %v, want a NotBeforeError", later)
			}
			until := time.UnixMilli((counter.value + 1) * s.unit.Milliseconds()).UTC()
			if began.Kind != generator.WindowBegan || began.Until != until ||
				began.Until != g.stats().Until || !began.From.Before(until) ||
				began.Err != nil {
				t.Errorf("event is %+v, want a window until %v", began, until)
			}
			if st := g.stats(); !st.NotBefore.IsZero() || st.Now.Before(began.From) {
				t.Errorf("%+v: the window is there", st)
			}
		})
	})
}

// TestEventsOfNumbers tell a new number from one that is renewed.
func TestEventsOfNumbers(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		clock := generator.NewTestClock(noon)
		source := newClaims(s.window(0, 0, 4), s.window(0, 4, 8), s.window(1%s.numbers, 8, 12))
		g, events := heard(t, s, windowsOf(source), generator.Options{Clock: clock})
		for range 3 {
			if err := g.ready(ctx); err != nil {
				t.Fatal(err)
			}
			clock.Add(s.units(4))
		}
		var renewed []bool
		for _, e := range *events {
			renewed = append(renewed, e.Renewed)
		}
		if want := []bool{false, true, s.numbers == 1}; !slices.Equal(renewed, want) {
			t.Errorf("renewed are %v, want %v: %+v", renewed, want, *events)
		}
	})
}

// TestStatsOfACeilingAhead: whoever waits for a counter that is ahead sees until when.
func TestStatsOfACeilingAhead(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock := newSteppable()
			last := clock.UnixNano()/int64(s.unit) + 1000
			g := s.must(t, ceiling(&kept{value: last}, s.units(ceilingUnits)),
				&generator.Options{Clock: clock, MaxWait: s.units(10)})
			if err := g.ready(ctx); !errors.Is(err, generator.ErrClockBehind) {
				t.Fatalf("ready: %v", err)
			}
			want := time.UnixMilli((last + 1) * s.unit.Milliseconds()).UTC()
			if st := g.stats(); st.NotBefore != want || !st.Until.IsZero() {
				t.Errorf("%+v, want no window before %v", st, want)
			}
		})
	})
}

// TestEventsOfRegressions: as often as they are counted, and by how much.
func TestEventsOfRegressions(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		clock := generator.NewTestClock(noon)
		g, events := heard(t, s, given(5%s.numbers), generator.Options{
			Clock: clock, Regression: generator.RegressionWaits,
		})
		bits := g.snapshot().Number
		wantEvents(t, events, generator.Event{
			Kind: generator.WindowBegan, Scheme: s.id, Number: bits,
			From: noon.Add(s.unit),
		})
		clock.Add(s.units(9))
		for range 2 {
			if _, err := g.next(ctx); err != nil {
				t.Fatal(err)
			}
			clock.Add(-s.units(3))
		}
		if _, err := g.next(ctx); err != nil {
			t.Fatal(err)
		}
		wantEvents(t, events, generator.Event{
			Kind: generator.ClockRegressed, Scheme: s.id, Number: bits, Behind: s.units(3),
		})
		if n := g.stats().Regressions; n != 1 {
			t.Errorf("%d regressions are counted", n)
		}
	})
}
