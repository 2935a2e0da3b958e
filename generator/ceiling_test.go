package generator_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/internal/testclock"
)

// kept is a Counter as a database keeps it. It counts its steps.
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

// ahead is how far the counter is ahead of a clock: the time until which it holds.
func (c *kept) ahead(clock generator.Clock, unit time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration((c.value+1)*int64(unit) - clock.UnixNano())
}

// ceilingUnits is the length of a ceiling in these tests.
const ceilingUnits = 30

// eachCeiling runs a test for every scheme with a counter and starts of apps that use it.
func eachCeiling(t *testing.T, test func(
	t *testing.T, s scheme, length time.Duration, clock *steppable, c *kept, start func() *timed,
),
) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			clock, counter, length := newSteppable(), &kept{}, s.units(ceilingUnits)
			test(t, s, length, clock, counter, func() *timed {
				return s.must(t, ceiling(counter, length),
					&generator.Options{Clock: clock, MaxWait: 5 * length})
			})
		})
	})
}

// TestKilledStarts: an app may be killed while it starts, however often. The next one mints within
// the length of its ceiling, and the counter is ahead by no more than that.
func TestKilledStarts(t *testing.T) {
	eachCeiling(t, func(
		t *testing.T, s scheme, length time.Duration, clock *steppable, c *kept, start func() *timed,
	) {
		for i := range 60 {
			g := start()
			// never as a window ends
			killed, kill := context.WithTimeout(ctx, length/3+s.unit*37/100)
			err := g.ready(killed)
			if err == nil && i%2 == 0 {
				_, err = g.next(killed)
			}
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			<-killed.Done()
			kill()
			if ahead := c.ahead(clock, s.unit); ahead > length {
				t.Fatalf("after %d starts the counter is %v ahead, of %v", i+1, ahead, length)
			}
		}
		began := time.Now()
		if _, err := start().next(ctx); err != nil || time.Since(began) > length+s.unit {
			t.Errorf("%v, after %v", err, time.Since(began))
		}
		if c.reserves > 60/2 {
			t.Errorf("61 starts raised the counter %d times", c.reserves)
		}
	})
}

// TestCeilingAfterAClockThatJumped: starts fail until the clock comes close, and leave the counter
// as it is. Stats say until when.
func TestCeilingAfterAClockThatJumped(t *testing.T) {
	eachCeiling(t, func(
		t *testing.T, s scheme, length time.Duration, clock *steppable, c *kept, start func() *timed,
	) {
		clock.Step(100 * length)
		if _, err := start().next(ctx); err != nil {
			t.Fatal(err)
		}
		value := c.value
		clock.Step(-100 * length)
		for range 60 {
			g := start()
			_, err := g.next(ctx)
			if !errors.As(err, new(*generator.ClockError)) ||
				!errors.Is(err, generator.ErrClockBehind) ||
				!errors.Is(g.ready(ctx), generator.ErrClockBehind) {
				t.Fatalf("%v, want a ClockError", err)
			}
			until := time.UnixMilli((value + 1) * s.unit.Milliseconds()).UTC()
			if st := g.stats(); st.NotBefore != until || !st.Until.IsZero() {
				t.Errorf("%+v, want no window before %v", st, until)
			}
			time.Sleep(length / 60)
		}
		if c.value != value {
			t.Errorf("the counter rose by %d", c.value-value)
		}
		time.Sleep(98 * length)
		if id, err := start().next(ctx); err != nil || id.time < value*int64(s.unit) {
			t.Errorf("%v, %+v", err, id.mark)
		}
	})
}

// TestCeilingKeepsUp: a generator at work raises its counter in time, and never by more than the
// length ahead. It asks where the counter stands once, at its start. Answers that are lost do not
// pile up.
func TestCeilingKeepsUp(t *testing.T) {
	eachCeiling(t, func(
		t *testing.T, s scheme, length time.Duration, clock *steppable, c *kept, start func() *timed,
	) {
		g := start()
		const lengths = 20
		for i := range 2 * lengths * ceilingUnits {
			lost := i >= lengths*ceilingUnits
			if i == lengths*ceilingUnits {
				if st := g.stats(); st.Waits != 0 || c.last != 1 || c.reserves > 2*lengths {
					t.Errorf("%+v; it asked %d times where the counter stands, and raised it %d "+
						"times in %d lengths", st, c.last, c.reserves, lengths)
				}
				c.mu.Lock()
				c.lose = 1e6
				c.mu.Unlock()
			}
			if _, err := g.next(ctx); err != nil && !(lost && errors.Is(err, errAway)) {
				t.Fatal(err)
			}
			synctest.Wait()
			most := length
			if lost {
				most = 2 * length
			}
			if ahead := c.ahead(clock, s.unit); ahead > most || ahead <= 0 {
				t.Fatalf("unit %d: the counter is %v ahead, of %v", i, ahead, length)
			}
			time.Sleep(s.unit)
		}
	})
}

// TestCeilingOfTwo: a start that finds a generator at work on its counter waits for its turn, and
// both go on by turns.
func TestCeilingOfTwo(t *testing.T) {
	eachCeiling(t, func(
		t *testing.T, s scheme, length time.Duration, _ *steppable, _ *kept, start func() *timed,
	) {
		end := time.Now().Add(20 * length)
		units := map[int64]bool{}
		var mu sync.Mutex // guards units
		var wg sync.WaitGroup
		for range 2 {
			g := start()
			wg.Go(func() {
				minted := 0
				for ; time.Now().Before(end); time.Sleep(s.unit) {
					began := time.Now()
					id, err := g.next(ctx)
					mu.Lock()
					if err != nil || time.Since(began) > 4*length || units[id.time] {
						t.Errorf("%v after noon, %v, after %v", id.after(), err, time.Since(began))
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
}

// TestCeiling follows the counter: it stands at the units since 1970, ahead of the generator by the
// length.
func TestCeiling(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		const century = 36525 * 24 * time.Hour
		for length, units := range map[time.Duration]int64{
			0: 2, -5: 2, s.unit: 2, s.units(2) + 1: 3, s.units(100) - 1: 100,
			century: int64(century / s.unit),
		} {
			counter := &kept{}
			clock := testclock.New(noon)
			g := s.must(t, ceiling(counter, length), &generator.Options{Clock: clock})
			if counter.value != 0 {
				t.Error("a number was taken before it was needed")
			}
			id, err := g.next(ctx)
			if err != nil || id.mark != (mark{1 % s.numbers, noon.UnixNano(), 0, s.first}) {
				t.Errorf("minted %+v, %v", id.mark, err)
			}
			now := noon.UnixNano() / int64(s.unit)
			if got, want := counter.value, now+units-1; got != want {
				t.Errorf("length %v: the counter is at %d units after now, want %d", length,
					got-now, want-now)
			}
		}
	})
}
