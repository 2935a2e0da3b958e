package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
)

var (
	_ generator.Clock = (*generator.AnchoredClock)(nil)
	_ generator.Clock = (*generator.CoarseClock)(nil)
	_ generator.Clock = (*generator.TestClock)(nil)
	_ generator.Clock = generator.WallClock{}
)

// TestClocksSleep: for as long as they are told, or until the context ends.
func TestClocksSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		coarse := generator.NewCoarseClock(generator.WallClock{}, time.Millisecond)
		defer coarse.Close()
		for _, c := range []generator.Clock{generator.WallClock{}, generator.NewAnchoredClock(), coarse} {
			for _, tt := range []struct {
				ctx       context.Context
				d, sleeps time.Duration
				err       error
			}{
				{ctx, 3 * time.Second, 3 * time.Second, nil},
				{ctx, 0, 0, nil},
				{ctx, -time.Second, 0, nil},
				{canceled, time.Hour, 0, context.Canceled},
			} {
				before, reading := time.Now(), c.UnixNano()
				if err := c.Sleep(tt.ctx, tt.d); !errors.Is(err, tt.err) || time.Since(before) != tt.sleeps {
					t.Errorf("%T slept %v for %v, %v", c, tt.d, time.Since(before), err)
				}
				if moved := time.Duration(c.UnixNano() - reading); moved < tt.sleeps-time.Millisecond || moved > tt.sleeps+time.Millisecond {
					t.Errorf("%T moved by %v in %v", c, moved, tt.sleeps)
				}
			}
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			before := time.Now()
			if err := c.Sleep(limited, time.Minute); !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != time.Second {
				t.Errorf("%T slept for %v, %v", c, time.Since(before), err)
			}
		}
	})
}

func TestTestClock(t *testing.T) {
	c := generator.NewTestClock(noon)
	wantAt(t, c, 0)
	c.Add(time.Hour)
	wantAt(t, c, time.Hour)
	c.Add(-2 * time.Hour)
	wantAt(t, c, -time.Hour)
	if err := c.Sleep(ctx, time.Hour+1); err != nil {
		t.Error(err)
	}
	wantAt(t, c, 1)
	if err := c.Sleep(canceled, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	wantAt(t, c, 1)
	c.Set(noon)
	wantAt(t, c, 0)
}

// system is the machine's clock, which an administrator may set.
type system struct{ by atomic.Int64 }

func (s *system) now() time.Time { return time.Now().Add(time.Duration(s.by.Load())) }

// TestAnchoredClock: it never goes back, is not more than a second late to follow the system's clock forward, and says how far it is
// ahead where that went back.
func TestAnchoredClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		c := generator.NewAnchoredClockOf(s.now)
		ahead := func(want time.Duration) {
			t.Helper()
			if got := time.Duration(c.UnixNano() - s.now().UnixNano()); got != want {
				t.Errorf("%v ahead of the system's clock, want %v", got, want)
			}
		}
		ahead(0)
		time.Sleep(time.Hour)
		ahead(0)

		s.by.Add(int64(5 * time.Second)) // set forward
		ahead(-5 * time.Second)          // it looks once a second
		time.Sleep(time.Second)
		ahead(0)
		if c.Lead() != 0 {
			t.Errorf("Lead is %v", c.Lead())
		}

		s.by.Add(-int64(3 * time.Second)) // set back
		time.Sleep(time.Second)
		ahead(3 * time.Second)
		if c.Lead() != 3*time.Second {
			t.Errorf("Lead is %v, want 3s", c.Lead())
		}
		s.by.Add(-int64(time.Second))
		time.Sleep(time.Second)
		ahead(4 * time.Second)
		s.by.Add(int64(3 * time.Second))
		time.Sleep(time.Second)
		ahead(time.Second)
		if c.Lead() != time.Second {
			t.Errorf("Lead is %v, want 1s", c.Lead())
		}
		s.by.Add(int64(time.Minute))
		time.Sleep(time.Second)
		ahead(0)
		if c.Lead() != 0 {
			t.Errorf("Lead is %v", c.Lead())
		}
	})
}

// TestAnchoredClockNeverFalls, whatever the system's clock does and however many ask.
func TestAnchoredClockNeverFalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		c := generator.NewAnchoredClockOf(s.now)
		rnd := rand.New(rand.NewPCG(1, 2))
		var wg sync.WaitGroup
		for range 500 {
			s.by.Add(rnd.Int64N(int64(4*time.Second)) - int64(2*time.Second))
			for range 4 {
				wg.Go(func() {
					last := c.UnixNano()
					for range 50 {
						now := c.UnixNano()
						if now < last {
							t.Errorf("it fell by %v", time.Duration(last-now))
						}
						last = now
					}
				})
			}
			wg.Wait()
			time.Sleep(time.Duration(rnd.Int64N(int64(1500 * time.Millisecond))))
		}
	})
}

// TestAnchoredClockHeldUp: a goroutine that does not run for a while, between its readings of the system's clocks, does not put the
// anchored clock ahead by that for good: where a process was stopped, that may be minutes.
func TestAnchoredClockHeldUp(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		for _, reading := range []int{1, 2} { // when it is made, and when it compares
			t.Run(fmt.Sprintf("%s reading %d", when, reading), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					count := 0
					c := generator.NewAnchoredClockOf(func() time.Time {
						if count++; count == reading && when == "before" {
							time.Sleep(time.Minute)
						}
						now := time.Now()
						if count == reading && when == "after" {
							time.Sleep(time.Minute)
						}
						return now
					})
					for range 5 {
						time.Sleep(time.Second)
						if ahead := time.Duration(c.UnixNano() - time.Now().UnixNano()); ahead > 0 {
							t.Errorf("%v ahead of the system's clock", ahead)
						}
					}
					if now := c.UnixNano(); now != time.Now().UnixNano() || c.Lead() != 0 {
						t.Errorf("it is %v beside the system's clock; Lead is %v", time.Duration(now-time.Now().UnixNano()), c.Lead())
					}
				})
			})
		}
	}
}

// inCoarseBubble runs a test for every scheme with a generator by a coarse clock of a tenth of a unit, and the clock beneath, which
// stands at noon. With all slots the clock ends the generator's units; with a pool of them calls look at it themselves.
func inCoarseBubble(
	t *testing.T, o generator.Options, test func(*testing.T, timeScheme, *timed, *generator.CoarseClock, *steppable),
) {
	eachTimeScheme(t, func(t *testing.T, s timeScheme) {
		for _, pool := range []*generator.Pool{nil, {Min: s.first, Max: s.first + 9}} {
			t.Run(fmt.Sprint("pool ", pool), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o, base := o, newSteppable()
					base.Step(-s.units(2))
					coarse := generator.NewCoarseClock(base, s.unit/10)
					defer coarse.Close()
					o.Clock, o.Pool = coarse, pool
					g := s.must(t, given(5%s.numbers), &o)
					if driven := coarse.Driven() == 1; driven != (pool == nil) {
						t.Errorf("driven: %v", driven)
					}
					time.Sleep(s.unit + s.unit/2)
					if _, err := g.next(ctx); err != nil {
						t.Fatal(err)
					}
					time.Sleep(s.unit / 2)
					test(t, s, g, coarse, base)
				})
			})
		}
	})
}

// TestCoarseClock: it is late by the interval at most, and so are IDs below the cap. At the cap nothing changes.
func TestCoarseClock(t *testing.T) {
	inCoarseBubble(t, generator.Options{}, func(t *testing.T, s timeScheme, g *timed, coarse *generator.CoarseClock, base *steppable) {
		rnd := rand.New(rand.NewPCG(1, 2))
		issued := uint64(1)
		for range 500 {
			time.Sleep(time.Duration(rnd.Int64N(int64(s.unit / 2))))
			now := base.UnixNano()
			if late := time.Duration(now - coarse.UnixNano()); late < 0 || late > s.unit/10 {
				t.Fatalf("the clock is %v late", late)
			}
			id, err := g.next(ctx)
			if late := time.Duration(now - id.time); err != nil || late < 0 || late >= s.unit+s.unit/10 {
				t.Fatalf("minted %+v, %v, whose unit began %v before", id.mark, err, late)
			}
			issued++
		}
		if st := g.stats(); st.Issued != issued || st.Regressions != 0 {
			t.Errorf("%+v, want %d issued", st, issued)
		}
		seen := map[mark]bool{}
		ids, err := g.fill(ctx, 95)
		for _, id := range ids {
			seen[id.mark] = true
		}
		if err != nil || len(seen) != 95 || g.stats().Issued != issued+95 {
			t.Errorf("%d different IDs, %v, %+v", len(seen), err, g.stats())
		}
	})
}

// TestCoarseClockCloses: generators go on, by the clock beneath.
func TestCoarseClockCloses(t *testing.T) {
	inCoarseBubble(t, generator.Options{}, func(t *testing.T, s timeScheme, g *timed, coarse *generator.CoarseClock, base *steppable) {
		time.Sleep(s.unit / 4)
		wantNext(t, s, g, 0, 0, s.first)
		coarse.Close()
		coarse.Close()
		if now := coarse.UnixNano(); now != base.UnixNano() {
			t.Errorf("it stands %v beside the clock beneath", time.Duration(now-base.UnixNano()))
		}
		time.Sleep(s.unit)
		wantNext(t, s, g, 1, 0, s.first)
		time.Sleep(s.unit*3/4 - 1)
		wantNext(t, s, g, 1, 0, s.first+1)
		time.Sleep(time.Nanosecond)
		wantNext(t, s, g, 2, 0, s.first)
		if st := g.stats(); st.Issued != 1+4 {
			t.Errorf("%+v", st)
		}
		young := s.must(t, given(6%s.numbers), &generator.Options{Clock: coarse, Pool: &generator.Pool{Min: s.first + 10, Max: s.last}})
		time.Sleep(s.unit)
		if id, err := young.next(ctx); err != nil || id.time != noon.Add(s.units(3)).UnixNano() {
			t.Errorf("made after the clock was closed: %+v, %v", id.mark, err)
		}
	})
}

// TestCoarseClockClosesMeanwhile: a clock that is closed while a generator is made leaves it with the clock beneath. The race
// detector looks at this as well.
func TestCoarseClockClosesMeanwhile(t *testing.T) {
	for range 300 {
		base := generator.NewTestClock(noon)
		coarse := generator.NewCoarseClock(asleep{base}, 0)
		var wg sync.WaitGroup
		wg.Go(coarse.Close)
		g, err := generator.NewSno(generator.Given(1), &generator.Options{Clock: coarse})
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			base.Add(time.Second)
			id, err := g.Next(ctx)
			if age := time.Duration(base.UnixNano() - id.Time().UnixNano()); err != nil || age > 20*time.Millisecond {
				t.Fatalf("minted %+v, %v, with a time %v old", id.Parts(), err, age)
			}
		}
	}
}

// TestCoarseClockGoesBack: the policies hold, as soon as the coarse clock has seen it.
func TestCoarseClockGoesBack(t *testing.T) {
	for _, policy := range []generator.Regression{generator.RegressionDefault, generator.RegressionWaits, generator.RegressionFails} {
		o := generator.Options{Regression: policy}
		inCoarseBubble(t, o, func(t *testing.T, s timeScheme, g *timed, coarse *generator.CoarseClock, base *steppable) {
			time.Sleep(s.units(20) + s.unit/2)
			wantNext(t, s, g, 20, 0, s.first)
			wantNext(t, s, g, 20, 0, s.first+1)
			base.Step(-s.units(10))
			time.Sleep(s.unit / 10)
			synctest.Wait()
			id, err := g.next(ctx)
			switch {
			case policy == generator.RegressionFails:
				var e *generator.ClockError
				if !errors.As(err, &e) || !errors.Is(err, generator.ErrClockBehind) {
					t.Errorf("minted %+v, %v", id.mark, err)
				}
			case policy == generator.RegressionDefault && s.toggles:
				if want := (mark{5, noon.Add(s.units(10)).UnixNano(), 1, s.first}); err != nil || id.mark != want {
					t.Errorf("minted %+v, %v, want %+v", id.mark, err, want)
				}
			default:
				if want := (mark{5 % s.numbers, noon.Add(s.units(20)).UnixNano(), 0, s.first + 2}); err != nil || id.mark != want {
					t.Errorf("minted %+v, %v, want %+v", id.mark, err, want)
				}
			}
			time.Sleep(s.units(15))
			issued := g.stats().Issued
			if _, err := g.next(ctx); err != nil || g.stats().Issued != issued+1 {
				t.Errorf("when the clock is there again: %v", err)
			}
		})
	}
}

// asleep is a clock whose sleepers do not wake until their context ends.
type asleep struct{ generator.Clock }

func (asleep) Sleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestCoarseClockForgets: a generator that nobody uses any more is not kept by its clock.
func TestCoarseClockForgets(t *testing.T) {
	coarse := generator.NewCoarseClock(asleep{generator.WallClock{}}, 0)
	defer coarse.Close()
	dropped, kept := make([]*timed, len(timeSchemes)), make([]*timed, len(timeSchemes))
	for i, s := range timeSchemes {
		dropped[i] = s.must(t, given(1%s.numbers), &generator.Options{Clock: coarse})
		kept[i] = s.must(t, given(2%s.numbers), &generator.Options{Clock: coarse})
	}
	if n := coarse.Driven(); n != 2*len(kept) {
		t.Errorf("%d generators, want %d", n, 2*len(kept))
	}
	runtime.KeepAlive(dropped)
	for range 10 {
		runtime.GC()
	}
	if n := coarse.Driven(); n != len(kept) {
		t.Errorf("%d generators are kept, want %d", n, len(kept))
	}
	for _, g := range kept {
		if st := g.stats(); st.Windows != 1 {
			t.Errorf("%+v", st)
		}
	}
}
