package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
)

var (
	_ generator.Clock = (*generator.AnchoredClock)(nil)
	_ generator.Clock = (*generator.TestClock)(nil)
	_ generator.Clock = generator.WallClock{}
)

// TestClocksSleep: for as long as they are told, or until the context ends.
func TestClocksSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []generator.Clock{generator.WallClock{}, generator.NewAnchoredClock()} {
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
				if err := c.Sleep(tt.ctx, tt.d); !errors.Is(err, tt.err) ||
					time.Since(before) != tt.sleeps {
					t.Errorf("%T slept %v for %v, %v", c, tt.d, time.Since(before), err)
				}
				if moved := time.Duration(c.UnixNano() - reading); moved != tt.sleeps {
					t.Errorf("%T moved by %v in %v", c, moved, tt.sleeps)
				}
			}
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			before := time.Now()
			if err := c.Sleep(limited, time.Minute); !errors.Is(err, context.DeadlineExceeded) ||
				time.Since(before) != time.Second {
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

// TestAnchoredClock: it never goes back. It is at most a second late to follow the system's clock
// forward. Where that went back, it says how far it is ahead.
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

// TestAnchoredClockHeldUp: a goroutine may not run for a while between its readings of the system's
// clocks. Where a process was stopped, that may be minutes. It does not put the anchored clock
// ahead for good.
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
						t.Errorf("it is %v beside the system's clock; Lead is %v",
							time.Duration(now-time.Now().UnixNano()), c.Lead())
					}
				})
			})
		}
	}
}
