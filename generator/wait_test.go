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
	"github.com/idmint/idmint/idtype"
)

// inBubble runs a test for every scheme with a generator that has minted and a clock that stands at
// noon.
func inBubble(
	t *testing.T, o generator.Options, test func(*testing.T, scheme, *timed, *steppable),
) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			o := o
			clock := newSteppable()
			clock.Step(-time.Minute)
			o.Clock = clock
			if o.Pool == nil {
				o.Pool = s.pool(0, 2)
			}
			g := s.must(t, given(5%s.numbers), &o)
			time.Sleep(time.Second)
			if _, err := g.next(ctx); err != nil {
				t.Fatal(err)
			}
			time.Sleep(59 * time.Second)
			test(t, s, g, clock)
		})
	})
}

// ways are all that a call may be.
func (g *timed) ways() map[string]func(context.Context) error {
	w := map[string]func(context.Context) error{
		"Next": func(ctx context.Context) error { _, err := g.next(ctx); return err },
		"Fill": func(ctx context.Context) error { _, err := g.fill(ctx, 2); return err },
	}
	if g.own != nil {
		w["Owned"] = func(ctx context.Context) error { _, err := g.own()(ctx); return err }
	}
	return w
}

// TestWaitObeysContext: a call that waits, for five seconds here, ends when its context does, and
// nothing is lost by it.
func TestWaitObeysContext(t *testing.T) {
	o := generator.Options{Regression: generator.RegressionWaits}
	inBubble(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
		for slot := range 3 {
			wantNext(t, s, g, 0, 0, s.first+slot)
		}
		clock.Step(-5 * time.Second)
		for way, mint := range g.ways() {
			at := time.Duration(clock.UnixNano() - noon.UnixNano())
			err := mint(canceled)
			wantClockError(t, s, err, context.Canceled, at, s.unit)

			until, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			err = mint(until)
			cancel()
			wantClockError(t, s, err, context.DeadlineExceeded, at+300*time.Millisecond, s.unit)
			wantAt(t, clock, at+300*time.Millisecond) // synctest's clock is exact

			during, cancel := context.WithCancel(ctx)
			time.AfterFunc(200*time.Millisecond, cancel)
			err = mint(during)
			wantClockError(t, s, err, context.Canceled, at+500*time.Millisecond, s.unit)
			wantAt(t, clock, at+500*time.Millisecond)
			if st := g.stats(); st.Waiting != 0 || st.Issued != 1+3 {
				t.Errorf("after %s: %+v", way, st)
			}
		}
		wantNext(t, s, g, 1, 0, s.first)
		wantAt(t, clock, s.unit)
		if _, err := g.next(canceled); err != nil {
			t.Errorf("with slots left there is nothing to wait for, but: %v", err)
		}
	})
}

// TestMaxWait: a clock that is further behind is an error at once.
func TestMaxWait(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		for _, tt := range []struct {
			name       string
			max, waits time.Duration
		}{
			{"default", 0, 10 * time.Second},
			{"1ns", 1, 0},
			{"3 s", 3 * time.Second, 3 * time.Second},
			{"without limit", math.MaxInt64, time.Hour},
		} {
			t.Run(tt.name, func(t *testing.T) {
				// In a bubble, where a busy machine makes no call wait for too long.
				synctest.Test(t, func(t *testing.T) {
					g, clock := idle(t, s, generator.Options{
						MaxWait: tt.max, Regression: generator.RegressionWaits, Pool: s.pool(0, 2),
					})
					for slot := range 3 {
						wantNext(t, s, g, 0, 0, s.first+slot)
					}
					if tt.max < math.MaxInt64 {
						for _, back := range []time.Duration{
							tt.waits + s.unit + 2, time.Hour, 10 * 365 * 24 * time.Hour,
						} {
							if s.begin.After(noon.Add(-back)) {
								continue
							}
							clock.Set(noon.Add(-back))
							for way, mint := range g.ways() {
								wantClockError(t, s, mint(ctx), generator.ErrClockBehind, -back, s.unit)
								wantAt(t, clock, -back)
								if t.Failed() {
									t.Fatal(way)
								}
							}
						}
					}
					clock.Set(noon.Add(-tt.waits))
					wantNext(t, s, g, 1, 0, s.first)
					wantAt(t, clock, s.unit)
				})
			})
		}
	})
}

// frozen is a clock that does not move, and whose sleepers wake at once.
type frozen struct {
	at     atomic.Int64
	sleeps []time.Duration
	then   func() // after each sleep
	err    error
}

func (c *frozen) UnixNano() int64 { return c.at.Load() }

func (c *frozen) Sleep(_ context.Context, d time.Duration) error {
	c.sleeps = append(c.sleeps, d)
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

// TestClockStopped: a clock that stands still is an error after some sleeps, whose length grows,
// and neither a hang nor a loop.
func TestClockStopped(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, clock := full(t, s, generator.Options{})
		for way, mint := range g.ways() {
			clock.sleeps = nil
			wantClockError(t, s, mint(ctx), generator.ErrClockStopped, 0, s.unit)
			var sum time.Duration
			for _, d := range clock.sleeps {
				if sum += d; d <= 0 {
					t.Errorf("%s slept for %v", way, d)
				}
			}
			if n := len(clock.sleeps); n > 100 || sum < time.Second || sum > time.Minute {
				t.Errorf("%s slept %d times, %v in all", way, n, sum)
			}
		}
		clock.at.Store(noon.Add(s.unit).UnixNano())
		wantNext(t, s, g, 1, 0, s.first)

		// It counts from the last move on.
		clock.sleeps = nil
		moves, since := 0, 0
		clock.then = func() {
			var still time.Duration
			for _, d := range clock.sleeps[since:] {
				still += d
			}
			if still >= time.Second {
				moves, since = moves+1, len(clock.sleeps)
				clock.at.Add(int64(s.unit / 10))
			}
		}
		wantNext(t, s, g, 2, 0, s.first)
		if moves != 10 {
			t.Errorf("it went on after %d moves, want 10", moves)
		}
	})
}

// TestClockMovesWhileWaiting: back, a little or too far, and forward.
func TestClockMovesWhileWaiting(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, clock := full(t, s, generator.Options{Regression: generator.RegressionWaits})
		clock.then = func() {
			clock.then = func() { clock.at.Store(noon.UnixNano() + int64(s.unit)) }
			clock.at.Store(noon.UnixNano() - int64(5*time.Second))
		}
		wantNext(t, s, g, 1, 0, s.first)
		if len(clock.sleeps) != 2 || clock.sleeps[1] < 50*time.Millisecond ||
			clock.sleeps[1] > time.Second {
			t.Errorf("it slept for %v", clock.sleeps)
		}
		clock.then = func() { clock.at.Store(noon.UnixNano() - int64(time.Hour)) }
		_, err := g.next(ctx)
		wantClockError(t, s, err, generator.ErrClockBehind, -time.Hour, s.units(2))

		clock.at.Store(noon.UnixNano() + int64(s.unit))
		clock.then = func() { clock.at.Store(noon.UnixNano() + int64(time.Hour)) }
		if id, err := g.next(ctx); err != nil ||
			id.time < noon.Add(time.Hour-s.units(s.lag)).UnixNano() {
			t.Errorf("minted %+v, %v", id.mark, err)
		}

		g, clock = full(t, s, generator.Options{})
		clock.then = func() { clock.at.Store(s.end.UnixNano()) }
		if id, err := g.next(ctx); !errors.As(err, new(*idtype.RangeError)) {
			t.Errorf("minted %+v, %v, after the end of time", id.mark, err)
		}
	})
}

// TestSleepFails: a clock may have reasons of its own to wake a sleeper.
func TestSleepFails(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, clock := full(t, s, generator.Options{})
		clock.err = errAway
		for _, mint := range g.ways() {
			wantClockError(t, s, mint(ctx), errAway, 0, s.unit)
		}
		if st := g.stats(); st.Waiting != 0 || st.Issued != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// TestManyWaiters: a thousand calls wait by one timer, a unit serves as many as it has slots, and
// those whose context ends leave.
func TestManyWaiters(t *testing.T) {
	const callers, slots = 1000, 60
	eachScheme(t, func(t *testing.T, s scheme) {
		o := generator.Options{
			Pool: &generator.Pool{Min: s.first, Max: s.first + slots - 1}, MaxWait: time.Hour,
		}
		synctest.Test(t, func(t *testing.T) {
			clock := newSteppable()
			o.Clock = clock
			g := s.must(t, given(5%s.numbers), &o)
			time.Sleep(s.unit)
			var mu sync.Mutex
			seen, gone := map[mark]bool{}, 0
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					c, cancel := ctx, context.CancelFunc(func() {})
					if i%4 == 0 { // half a unit before the last are served
						c, cancel = context.WithTimeout(ctx, s.units(callers/slots/2)+s.unit/2)
					}
					defer cancel()
					started := time.Now()
					id, err := g.next(c)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case errors.Is(err, context.DeadlineExceeded):
						waited := time.Since(started)
						if waited != s.units(callers/slots/2)+s.unit/2 {
							t.Errorf("it left after %v", waited)
						}
						gone++
					case err != nil || seen[id.mark]:
						t.Errorf("minted %+v, %v", id.mark, err)
					default:
						seen[id.mark] = true
					}
				})
			}
			synctest.Wait()
			if st := g.stats(); st.Waiting != callers-slots || st.Issued != slots {
				t.Errorf("%+v, want %d waiting", st, callers-slots)
			}
			wg.Wait()
			units := (len(seen) + slots - 1) / slots
			if len(seen)+gone != callers || gone == 0 {
				t.Errorf("%d minted, %d left", len(seen), gone)
			}
			if n := int(clock.sleeps.Load()); n < units-1 || n > 2*units {
				t.Errorf("%d sleeps for %d units", n, units)
			}
			waited := time.Duration(clock.UnixNano() - noon.UnixNano())
			if waited > s.units(units+1) {
				t.Errorf("it took %v, that is %d units, for %d units of IDs", waited, waited/s.unit,
					units)
			}
			if st := g.stats(); st.Waiting != 0 || st.Issued != uint64(len(seen)) {
				t.Errorf("%+v, want %d issued", st, len(seen))
			}
		})
	})
}

// TestWaitersHoldNoLock: while calls wait, everything else answers, or synctest reports a deadlock.
func TestWaitersHoldNoLock(t *testing.T) {
	o := generator.Options{Regression: generator.RegressionWaits, MaxWait: 20 * time.Second}
	inBubble(t, o, func(t *testing.T, s scheme, g *timed, clock *steppable) {
		for slot := range 3 {
			wantNext(t, s, g, 0, 0, s.first+slot)
		}
		clock.Step(-5 * time.Second)
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
		if st := g.stats(); st.Waiting != 5*len(g.ways()) || st.Issued != 4 {
			t.Errorf("%+v", st)
		}
		if snapshot := g.snapshot(); !snapshot.Time.Equal(noon) || snapshot.Slot != s.first+2 {
			t.Errorf("%+v", snapshot)
		}
		if err := g.ready(ctx); err != nil {
			t.Error(err)
		}
		for way, mint := range g.ways() {
			if err := mint(canceled); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, canceled: %v", way, err)
			}
		}
		if d := time.Since(begun); d != 0 {
			t.Errorf("that took %v", d)
		}
		// Not when the call that leads looks at the clock again, which nobody is to see set back.
		const wait = 701 * time.Millisecond
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if _, err := g.next(limited); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begun) != wait {
			t.Errorf("with a deadline: %v after %v", err, time.Since(begun))
		}
		clock.Step(-time.Hour)
		for way, mint := range g.ways() {
			if err := mint(ctx); !errors.Is(err, generator.ErrClockBehind) ||
				time.Since(begun) != wait {
				t.Errorf("%s, too far behind to wait: %v after %v", way, err, time.Since(begun))
			}
		}
		clock.Step(time.Hour)
		wg.Wait()
	})
}

// TestOverflow: the function is told once per unit that calls wait for, whatever becomes of the
// calls.
func TestOverflow(t *testing.T) {
	var told []generator.Overflow
	// one call at a time
	o := generator.Options{Overflow: func(o generator.Overflow) { told = append(told, o) }}
	inBubble(t, o, func(t *testing.T, s scheme, g *timed, _ *steppable) {
		told = nil
		if _, err := g.fill(ctx, 3); err != nil || len(told) != 0 {
			t.Errorf("told %v, with slots left; %v", told, err)
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
			// of two calls that go on waiting the first may find itself alone for a moment
			if o.Scheme != s.id || !o.Until.Equal(noon.Add(s.units(i+1))) || o.Waiting < 1 ||
				o.Waiting > i+1 {
				t.Errorf("told %+v", o)
			}
		}
	})
}
