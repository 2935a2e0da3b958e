package generator_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
}

// fromNoon runs a test for every scheme with a generator of three slots that began at noon, where
// its clock stands. So where the clock goes back no scheme has another way than to wait.
func fromNoon(
	t *testing.T, o generator.Options, test func(*testing.T, scheme, *timed, *steppable),
) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			o := o
			clock := newSteppable()
			clock.Step(-s.unit)
			o.Clock, o.Pool = clock, s.pool(0, 2)
			g := s.must(t, given(5%s.numbers), &o)
			clock.Step(s.unit)
			test(t, s, g, clock)
		})
	})
}

// use mints what a unit has: three IDs.
func (g *timed) use(t *testing.T) {
	t.Helper()
	if ids, err := g.fill(ctx, 3); err != nil || ids[0].time != ids[2].time {
		t.Fatal(ids, err)
	}
}

// awaits is what a call waits for whose clock is before noon, where the generator began, and that
// would otherwise go on with the unit that is n after noon. With tick-tock it can go on from noon.
func (s scheme) awaits(n int) time.Duration {
	if s.toggles {
		return 0
	}
	return s.units(n)
}

// ways are all that a call may be.
func (g *timed) ways() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Next": func(ctx context.Context) error { _, err := g.next(ctx); return err },
		"Fill": func(ctx context.Context) error { _, err := g.fill(ctx, 2); return err },
	}
}

// TestWaitObeysContext: a call that waits, for five seconds here, ends when its context does, and
// nothing is lost by it. Meanwhile no lock is held: everything else answers, or synctest reports a
// deadlock.
func TestWaitObeysContext(t *testing.T) {
	o := generator.Options{MaxWait: 20 * time.Second}
	fromNoon(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
		g.use(t)
		clock.Step(-5 * time.Second)
		for way, mint := range g.ways() {
			at := time.Duration(clock.UnixNano() - noon.UnixNano())
			wantClockError(t, s, mint(canceled), context.Canceled, at, s.awaits(1))

			until, cancel := context.WithTimeout(ctx, 301*time.Millisecond)
			err := mint(until)
			cancel()
			at += 301 * time.Millisecond
			wantClockError(t, s, err, context.DeadlineExceeded, at, s.awaits(1))
			wantAt(t, clock, at) // synctest's clock is exact
			if st := g.stats(); st.Waiting != 0 || st.Issued != 3 {
				t.Errorf("after %s: %+v", way, st)
			}
		}

		var wg sync.WaitGroup
		for range 5 {
			for way, mint := range g.ways() {
				wg.Go(func() {
					if err := mint(ctx); err != nil {
						t.Errorf("%s: %v", way, err)
					}
				})
			}
		}
		synctest.Wait()
		begun := time.Now()
		if st := g.stats(); st.Waiting != 5*len(g.ways()) || st.Issued != 3 {
			t.Errorf("%+v", st)
		}
		if snapshot := g.snapshot(); !snapshot.Time.Equal(noon) || snapshot.Slot != s.first+2 {
			t.Errorf("%+v", snapshot)
		}
		if err := g.ready(ctx); err != nil {
			t.Error(err)
		}
		// Not when the call that has the turn looks at the clock again, which nobody is to see set
		// back.
		const wait = 701 * time.Millisecond
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if _, err := g.next(limited); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begun) != wait {
			t.Errorf("with a deadline: %v after %v", err, time.Since(begun))
		}
		clock.Step(-time.Hour)
		for way, mint := range g.ways() {
			if err := mint(canceled); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, canceled: %v", way, err)
			}
			if err := mint(ctx); !errors.Is(err, generator.ErrClockBehind) ||
				time.Since(begun) != wait {
				t.Errorf("%s, too far behind to wait: %v after %v", way, err, time.Since(begun))
			}
		}
		clock.Step(time.Hour)
		wg.Wait()
		if _, err := g.fill(ctx, 3); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMaxWait: a clock that is further behind is an error at once.
func TestMaxWait(t *testing.T) {
	for name, tt := range map[string]struct{ max, waits time.Duration }{
		"default":       {0, 10 * time.Second},
		"1ns":           {1, 0},
		"3 s":           {3 * time.Second, 3 * time.Second},
		"without limit": {math.MaxInt64, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			o := generator.Options{MaxWait: tt.max}
			fromNoon(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
				g.use(t)
				for _, back := range []time.Duration{
					tt.waits + s.unit + 2, time.Hour, 10 * 365 * 24 * time.Hour,
				} {
					if tt.max == math.MaxInt64 || s.begin.After(noon.Add(-back)) {
						continue
					}
					clock.Step(-back)
					for _, mint := range g.ways() {
						wantClockError(t, s, mint(ctx), generator.ErrClockBehind, -back,
							s.awaits(1))
						wantAt(t, clock, -back)
					}
					clock.Step(back)
				}
				clock.Step(-tt.waits)
				wantNext(t, s, g, 1, 0, s.first)
				wantAt(t, clock, s.unit)
			})
		})
	}
}

// frozen is a clock that does not move, and whose sleepers wake at once.
type frozen struct {
	at   atomic.Int64
	then func() // after each sleep
	err  error
}

func (c *frozen) UnixNano() int64 { return c.at.Load() }

func (c *frozen) Sleep(context.Context, time.Duration) error {
	if c.then != nil {
		c.then()
	}
	return c.err
}

// full has no slots left in the unit that begins at noon.
func full(t *testing.T, s scheme, o generator.Options) (*timed, *frozen) {
	t.Helper()
	clock := &frozen{}
	clock.at.Store(noon.UnixNano() - 1)
	o.Clock, o.Pool = clock, s.pool(0, 0)
	g := s.must(t, given(5%s.numbers), &o)
	clock.at.Store(noon.UnixNano())
	wantNext(t, s, g, 0, 0, s.first)
	return g, clock
}

// TestClockFails: a clock may have reasons of its own to wake a sleeper, and may panic. Nobody
// waits for a call that has left so.
func TestClockFails(t *testing.T) {
	eachBubble(t, func(t *testing.T, s scheme) {
		g, clock := full(t, s, generator.Options{})
		clock.err = errAway
		for _, mint := range g.ways() {
			wantClockError(t, s, mint(ctx), errAway, 0, s.unit)
		}
		clock.err, clock.then = nil, func() { panic("clock") }
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_, _ = g.next(ctx)
		}()
		if st := g.stats(); st.Waiting != 0 || st.Issued != 1 {
			t.Errorf("%+v", st)
		}
		clock.then = func() { clock.at.Store(noon.Add(s.unit).UnixNano()) }
		wantNext(t, s, g, 1, 0, s.first)
	})
}

// TestOverflow: the function is told once per unit that calls wait for, whatever becomes of the
// calls.
func TestOverflow(t *testing.T) {
	var told []generator.Overflow
	o := generator.Options{Overflow: func(o generator.Overflow) { // one call at a time
		told = append(told, o)
	}}
	fromNoon(t, o, func(t *testing.T, s scheme, g *timed, _ *steppable) {
		told = nil
		if g.use(t); len(told) != 0 {
			t.Errorf("told %v, with slots left", told)
		}
		var wg sync.WaitGroup
		for i := range 10 {
			limit := time.Hour
			if i < 5 { // the first that waits leaves first, and the next one after it
				limit = s.unit / 10 * time.Duration(i+1)
			}
			wg.Go(func() {
				c, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				if _, err := g.next(c); (err == nil) != (limit == time.Hour) {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if len(told) != 2 { // 3 slots, and 5 calls that stayed
			t.Fatalf("told %d times: %+v; want once for each of 2 units", len(told), told)
		}
		for i, o := range told {
			if !o.Until.Equal(noon.Add(s.units(i+1))) || o.Waiting != i+1 || o.Units != i+1 {
				t.Errorf("told %+v", o)
			}
		}
	})
}

// TestOverflowTellsBurstsFromOverload: the units that are waited for one after the other are counted,
// and a time without a wait ends that.
func TestOverflowTellsBurstsFromOverload(t *testing.T) {
	var last generator.Overflow
	o := generator.Options{Overflow: func(o generator.Overflow) { last = o }, MaxWait: time.Hour}
	fromNoon(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
		fill := func(units int) {
			t.Helper()
			if _, err := g.fill(ctx, 3*(units+1)); err != nil { // the pool's slots are 3
				t.Fatal(err)
			}
		}
		fill(5)
		if over := g.stats().Over; last.Units != 5 || over != s.units(5) {
			t.Errorf("after 5 units: told %+v, over %v", last, over)
		}
		clock.Step(s.units(s.lag + 3))
		if over := g.stats().Over; over != 0 {
			t.Errorf("after a rest: over %v", over)
		}
		fill(1)
		if last.Units > s.lag+1 {
			t.Errorf("a burst of 1 unit after a rest: told %+v", last)
		}
	})
}

// TestLongestWaitGoesFirst: slots go to calls in the order in which these began to wait. A call
// that comes upon free slots while others wait does not take them, and calls behind one whose
// context ends go on.
func TestLongestWaitGoesFirst(t *testing.T) {
	o := generator.Options{MaxWait: time.Hour}
	fromNoon(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
		g.use(t)
		const leaving, waiting, late = 2, 10, 5
		leaves, cancel := context.WithTimeout(ctx, s.unit/2)
		defer cancel()
		got := make([]minted, leaving+waiting+late)
		var wg sync.WaitGroup
		call := func(ctx context.Context, i int) {
			wg.Go(func() {
				var err error
				got[i], err = g.next(ctx)
				if (err != nil) != (i < leaving) {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for i := range leaving {
			call(leaves, i)
		}
		for i := range waiting {
			call(ctx, leaving+i)
		}
		time.Sleep(s.unit * 3 / 4)
		clock.Step(s.unit) // there are slots, and who sleeps for them does not know yet
		for i := range late {
			call(ctx, leaving+waiting+i)
		}
		wg.Wait()
		got = got[leaving:]
		for i, m := range got[1:] {
			if before := got[i]; m.time < before.time || m.time == before.time &&
				m.slot <= before.slot {
				t.Errorf("call %d got %v after noon, slot %d, and call %d before it %v, slot %d",
					i+1, m.after(), m.slot, i, before.after(), before.slot)
			}
		}
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
	return generator.WallClock().Sleep(ctx, d)
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

// TestWhatIsInTheWayOfAll: where the clock stands still, or a window is not to be had, all calls
// that wait hear of it, and do not find it out one after another. Later calls try again.
func TestWhatIsInTheWayOfAll(t *testing.T) {
	wantAll := func(
		t *testing.T, g *timed, callers, want int, reason error, within time.Duration,
	) {
		t.Helper()
		minted := 0
		errs, after := callAll(callers, func() error { _, err := g.next(ctx); return err })
		for i, err := range errs {
			switch {
			case err == nil:
				minted++
			case !errors.Is(err, reason) || after[i] > within:
				t.Errorf("after %v: %v", after[i], err)
			}
		}
		if st := g.stats(); minted != want || st.Waiting != 0 {
			t.Errorf("%d calls minted, want %d; %+v", minted, want, st)
		}
	}
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			g, clock := stop(t, s, time.Hour)
			wantAll(t, g, 50, 2, generator.ErrClockStopped, 3*time.Second)
			clock.at.Add(int64(s.unit))
			wantNext(t, s, g, 1, 0, s.first)
		})
		synctest.Test(t, func(t *testing.T) {
			windows := []window{s.window(5, 0, 2)}
			source := windowsFunc(func(context.Context, int64, time.Duration) (w window, _ error) {
				if len(windows) == 0 {
					time.Sleep(20 * s.unit)
					return w, errAway
				}
				w, windows = windows[0], windows[1:]
				return w, nil
			})
			g := s.must(t, windowsOf(source), &generator.Options{
				Clock: newSteppable(), Pool: s.pool(0, 2), MaxWait: time.Hour,
			})
			g.use(t)
			wantAll(t, g, 30, 3, errAway, s.units(42))
			windows = []window{s.window(5, 50, 70)}
			if _, err := g.next(ctx); err != nil {
				t.Error(err)
			}
		})
	})
}

// TestMaxWaitCoversTheQueue: a call whose turn is too far away fails at once. No call waits for
// longer, even by a clock that is too slow and does not stop.
func TestMaxWaitCoversTheQueue(t *testing.T) {
	const callers, slots, most = 60, 3, 10 // of most units, how many a call waits for at most
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			g := s.must(t, given(5%s.numbers), &generator.Options{
				Clock: newSteppable(), MaxWait: s.units(most), Pool: s.pool(0, slots-1),
			})
			time.Sleep(s.unit)
			refused := 0
			errs, after := callAll(callers, func() error { _, err := g.next(ctx); return err })
			for i, err := range errs {
				switch {
				case errors.Is(err, generator.ErrMaxWait):
					if refused++; after[i] != 0 && after[i] < s.units(most) {
						t.Errorf("refused after %v", after[i])
					}
				case err != nil || after[i] > s.units(most+2):
					t.Errorf("%v, after %v", err, after[i])
				}
			}
			// One unit is at hand, and another one begins within each of those that a call waits
			// for. A call does not know whether the one before it has begun to wait.
			if want := callers - (most+2)*slots; refused > want || refused < want-slots {
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
