package generator_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
)

// kept is a ReadCounter as a database keeps it. It counts its steps.
type kept struct {
	mu             sync.Mutex // guards the rest
	value          int64
	reserves, last int
	lose           int // so many answers to come of Reserve are lost
}

func (c *kept) Reserve(_ context.Context, floor, n int64) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserves++
	first := max(c.value+1, floor)
	c.value = first + n - 1
	if c.lose > 0 {
		c.lose--
		return 0, errAway
	}
	return first, nil
}

func (c *kept) Last(context.Context) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.value, nil
}

// counterFrom is a Counter in memory, whose values are as a database would keep them.
type counterFrom int64

func (c *counterFrom) Reserve(_ context.Context, floor, n int64) (int64, error) {
	first := max(int64(*c)+1, floor)
	*c = counterFrom(first + n - 1)
	return first, nil
}

func (c *counterFrom) Last(context.Context) (int64, error) { return int64(*c), nil }

// ahead is how far the counter is ahead of a clock: the time until which it holds.
func (c *kept) ahead(clock generator.Clock, unit time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration((c.value+1)*int64(unit) - clock.UnixNano())
}

// ceilingUnits is the length of a ceiling in these tests.
const ceilingUnits = 30

// TestKilledStarts: an app may be killed while it starts, however often. The next one mints within
// the length of its ceiling, and the counter is ahead by no more than that.
func TestKilledStarts(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock, counter, length := newSteppable(), &kept{}, s.units(ceilingUnits)
			start := func() *timed {
				return s.must(t, ceiling(counter, length),
					&generator.Options{Clock: clock, MaxWait: 2 * length})
			}
			for i := range 60 {
				g := start()
				// never as a window ends
				killed, kill := context.WithTimeout(ctx, length/3+s.unit*37/100)
				if i%2 == 0 {
					if err := g.ready(killed); err != nil &&
						!errors.Is(err, context.DeadlineExceeded) {
						t.Fatal(err)
					}
				} else if _, err := g.next(killed); err != nil &&
					!errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				<-killed.Done()
				kill()
				if ahead := counter.ahead(clock, s.unit); ahead > length {
					t.Fatalf("after %d starts the counter is %v ahead, of %v", i+1, ahead, length)
				}
			}
			began := time.Now()
			if _, err := start().next(ctx); err != nil || time.Since(began) > length+s.unit {
				t.Errorf("%v, after %v", err, time.Since(began))
			}
			if counter.reserves > 60/2 {
				t.Errorf("61 starts raised the counter %d times", counter.reserves)
			}
		})
	})
}

// TestCeilingAfterAClockThatJumped: starts fail until the clock comes close, and leave the counter
// as it is.
func TestCeilingAfterAClockThatJumped(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock, counter, length := newSteppable(), &kept{}, s.units(ceilingUnits)
			start := func() (minted, error) {
				return s.must(t, ceiling(counter, length),
					&generator.Options{Clock: clock, MaxWait: 2 * length}).next(ctx)
			}
			clock.Step(100 * length)
			if _, err := start(); err != nil {
				t.Fatal(err)
			}
			value := counter.value
			clock.Step(-100 * length)
			for range 60 {
				_, err := start()
				var e *generator.ClockError
				if !errors.As(err, &e) || !errors.Is(err, generator.ErrClockBehind) {
					t.Fatalf("%v, want a ClockError", err)
				}
				time.Sleep(length / 60)
			}
			if counter.value != value {
				t.Errorf("the counter rose by %d", counter.value-value)
			}
			time.Sleep(98 * length)
			if id, err := start(); err != nil || id.time < value*int64(s.unit) {
				t.Errorf("%v, %+v", err, id.mark)
			}
		})
	})
}

// TestCeilingKeepsUp: a generator at work raises its counter in time, and never by more than the
// length ahead. It asks where the counter stands once, at its start.
func TestCeilingKeepsUp(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock, counter, length := newSteppable(), &kept{}, s.units(ceilingUnits)
			g := s.must(t, ceiling(counter, length), &generator.Options{Clock: clock})
			const lengths = 20
			for range lengths * ceilingUnits {
				if _, err := g.next(ctx); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if ahead := counter.ahead(clock, s.unit); ahead > length || ahead <= 0 {
					t.Fatalf("the counter is %v ahead, of %v", ahead, length)
				}
				time.Sleep(s.unit)
			}
			if st := g.stats(); st.Waits != 0 {
				t.Errorf("%+v", st)
			}
			if counter.last != 1 || counter.reserves > 2*lengths {
				t.Errorf(
					"it asked %d times where the counter stands, and raised it %d times in %d "+
						"lengths",
					counter.last, counter.reserves, lengths,
				)
			}
		})
	})
}

// TestCeilingWhereAnswersAreLost: reservations that nobody heard of do not pile up.
func TestCeilingWhereAnswersAreLost(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock, length := newSteppable(), s.units(ceilingUnits)
			counter := &kept{lose: 1}
			g := s.must(t, ceiling(counter, length),
				&generator.Options{Clock: clock, MaxWait: 2 * length})
			if _, err := g.next(ctx); !errors.Is(err, errAway) {
				t.Fatal(err)
			}
			for i := range 300 {
				if i == 100 {
					counter.mu.Lock()
					counter.lose = 1000
					counter.mu.Unlock()
				}
				if _, err := g.next(ctx); err != nil && !errors.Is(err, errAway) {
					t.Fatal(err)
				}
				synctest.Wait()
				if ahead := counter.ahead(clock, s.unit); ahead > 2*length {
					t.Fatalf("unit %d: the counter is %v ahead, of %v", i, ahead, length)
				}
				time.Sleep(s.unit)
			}
		})
	})
}

// TestCeilingOfTwo: a start that finds a generator at work on its counter waits for its turn, and
// both go on by turns.
func TestCeilingOfTwo(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock, counter, length := newSteppable(), &kept{}, s.units(ceilingUnits)
			end := time.Now().Add(20 * length)
			units := map[int64]bool{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for range 2 {
				g := s.must(t, ceiling(counter, length),
					&generator.Options{Clock: clock, MaxWait: 5 * length})
				wg.Go(func() {
					minted := 0
					for ; time.Now().Before(end); time.Sleep(s.unit) {
						began := time.Now()
						id, err := g.next(ctx)
						if err != nil || time.Since(began) > 4*length {
							t.Errorf("%v, after %v", err, time.Since(began))
							return
						}
						mu.Lock()
						if units[id.time] {
							t.Errorf("both minted at %v", id.after())
						}
						units[id.time] = true
						mu.Unlock()
						minted++
					}
					if minted < 20*ceilingUnits/4 {
						t.Errorf("one of them minted %d times in %d units", minted, 20*ceilingUnits)
					}
				})
				time.Sleep(length / 3)
			}
			wg.Wait()
		})
	})
}

// TestCeiling follows the counter: it stands at the units since 1970, ahead of the generator by the
// length.
func TestCeiling(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		const century = 36525 * 24 * time.Hour
		for _, tt := range []struct {
			length time.Duration
			units  int64
		}{
			{0, 2},
			{-5, 2},
			{s.unit, 2},
			{s.units(2) + 1, 3},
			{s.units(3), 3},
			{s.units(100) - 1, 100},
			{century, int64(century / s.unit)},
		} {
			var counter counterFrom
			clock := generator.NewTestClock(noon)
			g := s.must(t, ceiling(&counter, tt.length), &generator.Options{Clock: clock})
			if counter != 0 {
				t.Error("a number was taken before it was needed")
			}
			id, err := g.next(ctx)
			if err != nil || id.mark != (mark{1 % s.numbers, noon.UnixNano(), 0, s.first}) {
				t.Errorf("minted %+v, %v", id.mark, err)
			}
			now := noon.UnixNano() / int64(s.unit)
			if got, want := int64(counter), now+tt.units-1; got != want {
				t.Errorf("length %v: the counter is at %d units after now, want %d", tt.length,
					got-now, want-now)
			}
		}
	})
}
