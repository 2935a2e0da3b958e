package generator_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
)

// TestLongestWaitGoesFirst: slots go to calls in the order in which these began to wait. A call
// that comes upon free slots while others wait does not take them.
func TestLongestWaitGoesFirst(t *testing.T) {
	o := generator.Options{Regression: generator.RegressionWaits, MaxWait: time.Hour}
	inBubble(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
		if _, err := g.fill(ctx, 3); err != nil {
			t.Fatal(err)
		}
		const waiting, late = 10, 5
		got := make([]minted, waiting+late)
		var wg sync.WaitGroup
		call := func(i int) {
			wg.Go(func() {
				var err error
				if got[i], err = g.next(ctx); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for i := range waiting {
			call(i)
		}
		clock.Step(s.unit) // there are slots, and who sleeps for them does not know yet
		for i := range late {
			call(waiting + i)
		}
		wg.Wait()
		for i, m := range got[1:] {
			if before := got[i]; m.time < before.time || m.time == before.time &&
				m.slot <= before.slot {
				t.Errorf("call %d got %v after noon, slot %d, and call %d before it %v, slot %d",
					i+1, m.after(), m.slot, i, before.after(), before.slot)
			}
		}
	})
}

// TestFairAtTheCap: 100 goroutines mint all the time. None waits for more than its turn, and none
// gets more than twice as many IDs as another.
func TestFairAtTheCap(t *testing.T) {
	const callers, slots, units = 100, 64, 200
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock := newSteppable()
			g := s.must(t, given(5%s.numbers), &generator.Options{
				Clock: clock, MaxWait: time.Hour,
				Pool: &generator.Pool{Min: s.first, Max: s.first + slots - 1},
			})
			time.Sleep(s.unit)
			end := time.Now().Add(s.units(units))
			counts, longest := make([]int, callers), make([]time.Duration, callers)
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					for time.Now().Before(end) {
						began := time.Now()
						if _, err := g.next(ctx); err != nil {
							t.Error(err)
							return
						}
						counts[i]++
						longest[i] = max(longest[i], time.Since(began))
					}
				})
			}
			wg.Wait()
			fewest, most, sum, worst := counts[0], 0, 0, time.Duration(0)
			for i, n := range counts {
				fewest, most, sum = min(fewest, n), max(most, n), sum+n
				worst = max(worst, longest[i])
			}
			if 2*fewest < most || worst > s.units(callers/slots+2) {
				t.Errorf("%d to %d IDs, and a call waited for %v", fewest, most, worst)
			}
			if want := slots * units; sum < want*99/100 {
				t.Errorf("%d IDs of %d", sum, want)
			}
		})
	})
}

// stuck is a clock that stands still, or crawls, whatever its sleepers do.
type stuck struct {
	at     atomic.Int64
	crawls int64 // at each sleep
}

func (c *stuck) UnixNano() int64 { return c.at.Load() }

func (c *stuck) Sleep(ctx context.Context, d time.Duration) error {
	c.at.Add(c.crawls)
	return generator.WallClock{}.Sleep(ctx, d)
}

// stop is a generator whose clock stands still in a unit of which two slots are left.
func stop(t *testing.T, s scheme, maxWait time.Duration) (*timed, *stuck) {
	clock := &stuck{}
	clock.at.Store(noon.UnixNano() - 1)
	g := s.must(t, given(5%s.numbers), &generator.Options{
		Clock: clock, MaxWait: maxWait, Pool: s.pool(0, 2),
	})
	clock.at.Store(noon.UnixNano())
	wantNext(t, s, g, 0, 0, s.first)
	return g, clock
}

// callAll has callers call at once, and returns what each of them got, and after how long.
func callAll(callers int, call func() error) (errs []error, after []time.Duration) {
	errs, after = make([]error, callers), make([]time.Duration, callers)
	var wg sync.WaitGroup
	began := time.Now()
	for i := range callers {
		wg.Go(func() { errs[i], after[i] = call(), time.Since(began) })
	}
	wg.Wait()
	return errs, after
}

// TestStoppedClockEndsAllCalls: they do not find it out one after another.
func TestStoppedClockEndsAllCalls(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			g, _ := stop(t, s, time.Hour)
			minted := 0
			errs, after := callAll(50, func() error { _, err := g.next(ctx); return err })
			for i, err := range errs {
				switch {
				case err == nil:
					minted++
				case !errors.Is(err, generator.ErrClockStopped) || after[i] > 3*time.Second:
					t.Errorf("after %v: %v", after[i], err)
				}
			}
			if minted != 2 {
				t.Errorf("%d calls minted, want 2", minted)
			}
			if st := g.stats(); st.Waiting != 0 {
				t.Errorf("%+v", st)
			}
		})
	})
}

// TestMaxWaitCoversTheQueue: a call whose turn is too far away fails at once. No call waits for
// longer, even by a clock that is too slow and does not stop.
func TestMaxWaitCoversTheQueue(t *testing.T) {
	const callers, slots, most = 40, 3, 10 // of most units, how many a call waits for at most
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock := newSteppable()
			g := s.must(t, given(5%s.numbers), &generator.Options{
				Clock: clock, MaxWait: s.units(most),
				Pool: &generator.Pool{Min: s.first, Max: s.first + slots - 1},
			})
			time.Sleep(s.unit)
			refused := 0
			errs, after := callAll(callers, func() error { _, err := g.next(ctx); return err })
			for i, err := range errs {
				switch {
				case errors.Is(err, generator.ErrMaxWait):
					if refused++; after[i] != 0 {
						t.Errorf("refused after %v", after[i])
					}
				case err != nil || after[i] > s.units(most+1):
					t.Errorf("%v, after %v", err, after[i])
				}
			}
			// One unit is at hand, and another one begins within each of those that a call waits
			// for.
			if want := callers - (most+2)*slots; refused != want {
				t.Errorf("%d calls were refused, want %d", refused, want)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			const most = 5 * time.Second
			g, clock := stop(t, s, most)
			clock.crawls = 1
			errs, after := callAll(20, func() error { _, err := g.next(ctx); return err })
			for i, err := range errs {
				if err != nil && !errors.Is(err, generator.ErrMaxWait) ||
					after[i] > most+3*time.Second {
					t.Errorf("%v, after %v", err, after[i])
				}
			}
		})
	})
}

// TestLeaderLeaves: the calls behind one that slept for them, and whose context ended, go on.
func TestLeaderLeaves(t *testing.T) {
	o := generator.Options{MaxWait: time.Hour}
	inBubble(t, o, func(t *testing.T, s scheme, g *timed, _ *steppable) {
		if _, err := g.fill(ctx, 3); err != nil {
			t.Fatal(err)
		}
		leaving, cancel := context.WithTimeout(ctx, s.unit/2)
		defer cancel()
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				c := ctx
				if i < 2 {
					c = leaving
				}
				if _, err := g.next(c); i < 2 != errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("call %d: %v", i, err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if st := g.stats(); st.Waiting != 0 || st.Issued != 1+3+3 {
			t.Errorf("%+v", st)
		}
	})
}

// TestSleeperThatWasServed: a call sleeps for a far tick, and another one serves it when the clock
// was set forward. It does not keep later calls waiting until it wakes.
func TestSleeperThatWasServed(t *testing.T) {
	o := generator.Options{Regression: generator.RegressionWaits}
	inBubble(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
		if _, err := g.fill(ctx, 3); err != nil {
			t.Fatal(err)
		}
		clock.Step(-9 * time.Second)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := g.next(ctx); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		clock.Step(9*time.Second + s.unit)
		errs, after := callAll(8, func() error { _, err := g.next(ctx); return err })
		for i, err := range errs {
			if err != nil || after[i] > s.units(3) {
				t.Errorf("%v, after %v", err, after[i])
			}
		}
		wg.Wait()
	})
}

// TestSourceFailsForAllThatWait: calls wait for a window that is not to be had. All of them hear of
// it when the source says so, and do not ask one after another.
func TestSourceFailsForAllThatWait(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock := newSteppable()
			windows := []generator.Window[int]{s.window(5, 0, 2)}
			source := windowsFunc(func(context.Context, int64, time.Duration) (w window, _ error) {
				if len(windows) == 0 {
					time.Sleep(20 * s.unit)
					return w, errAway
				}
				w, windows = windows[0], windows[1:]
				return w, nil
			})
			g := s.must(t, windowsOf(source), &generator.Options{
				Clock: clock, Pool: s.pool(0, 2),
			})
			if _, err := g.fill(ctx, 3); err != nil {
				t.Fatal(err)
			}
			failed := 0
			errs, after := callAll(30, func() error { _, err := g.next(ctx); return err })
			for i, err := range errs {
				if err == nil {
					continue
				}
				failed++
				if !errors.As(err, new(*generator.NumberError)) || !errors.Is(err, errAway) ||
					after[i] > s.units(42) {
					t.Errorf("%v, after %v", err, after[i])
				}
			}
			if failed != 30-3 {
				t.Errorf("%d calls failed", failed)
			}
		})
	})
}

// TestPanicOfOverflow: a call whose Overflow panics, and that the app recovers, leaves nobody
// waiting for it.
func TestPanicOfOverflow(t *testing.T) {
	for name, leave := range map[string]func(){
		"panic": func() { panic("overflow") }, "Goexit": runtime.Goexit,
	} {
		panics := true
		o := generator.Options{Overflow: func(generator.Overflow) {
			if panics {
				panics = false
				leave()
			}
		}}
		inBubble(t, o, func(t *testing.T, s scheme, g *timed, _ *steppable) {
			panics = true
			if _, err := g.fill(ctx, 3); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					defer func() { _ = recover() }()
					if _, err := g.next(ctx); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
				synctest.Wait()
			}
			wg.Wait()
			if st := g.stats(); st.Waiting != 0 || st.Issued != 1+3+4 {
				t.Errorf("%s: %+v", name, st)
			}
		})
	}
}

// TestPanicOfClock: so does one whose clock panics.
func TestPanicOfClock(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, clock := full(t, s, generator.Options{})
		clock.then = func() {
			clock.then = nil
			panic("clock")
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_, _ = g.next(ctx)
		}()
		clock.then = func() { clock.at.Store(noon.Add(s.unit).UnixNano()) }
		wantNext(t, s, g, 1, 0, s.first)
	})
}

// TestSourceThatIsAlwaysLate: one that goes by another clock may name times that have passed by the
// generator's. It is not asked for ever, and neither is one that always names a later time.
func TestSourceThatIsAlwaysLate(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		for name, ahead := range map[string]int64{"passed": -1, "later": 1} {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				answer := func(_ context.Context, now int64, u time.Duration) (window, error) {
					asked++
					return window{}, &generator.NotBeforeError{From: now + ahead, Unit: u}
				}
				g := s.must(t, windowsOf(windowsFunc(answer)),
					&generator.Options{Clock: newSteppable(), MaxWait: s.units(20)})
				for call, mint := range map[string]func() error{
					"Next":  func() error { _, err := g.next(ctx); return err },
					"Ready": func() error { return g.ready(ctx) },
				} {
					began := time.Now()
					asked = 0
					if err := mint(); err == nil || asked > 50 || time.Since(began) > s.units(30) {
						t.Errorf("%s, %s: %v after %d answers and %v", name, call, err, asked,
							time.Since(began))
					}
				}
			})
		}
	})
}
