package generator_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/internal/testclock"
)

// TestClocksSleep: for as long as they are told, or until the context ends.
func TestClocksSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		for _, c := range []generator.Clock{
			generator.WallClock(), generator.AnchoredClock(time.Now), testclock.New(noon),
		} {
			for _, tt := range []struct {
				ctx       context.Context
				d, sleeps time.Duration
				err       error
			}{
				{ctx, 3 * time.Second, 3 * time.Second, nil},
				{limited, time.Second, time.Second, nil},
				{ctx, 0, 0, nil},
				{canceled, time.Hour, 0, context.Canceled},
			} {
				reading := c.UnixNano()
				err := c.Sleep(tt.ctx, tt.d)
				if moved := time.Duration(c.UnixNano() - reading); moved != tt.sleeps ||
					!errors.Is(err, tt.err) {
					t.Errorf("%T moved by %v, want %v; %v", c, moved, tt.sleeps, err)
				}
			}
		}
	})
}

// system is the machine's clock, which an administrator may set.
type system struct{ by atomic.Int64 }

func (s *system) now() time.Time { return time.Now().Add(time.Duration(s.by.Load())) }

// TestAnchoredClock: the default clock never goes back. It is at most a second late to follow the
// system's clock forward. Where that went back, it stays ahead.
func TestAnchoredClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		c := generator.AnchoredClock(s.now)
		last := c.UnixNano()
		for step, tt := range []struct{ set, ahead time.Duration }{
			{0, 0},
			{5 * time.Second, 0},
			{-3 * time.Second, 3 * time.Second},
			{-time.Second, 4 * time.Second},
			{3 * time.Second, time.Second},
			{time.Minute, 0},
		} {
			s.by.Add(int64(tt.set))
			for range 10 {
				if now := c.UnixNano(); now < last {
					t.Errorf("step %d: it fell by %v", step, time.Duration(last-now))
				} else {
					last = now
				}
				time.Sleep(time.Second / 10)
			}
			if ahead := time.Duration(c.UnixNano() - s.now().UnixNano()); ahead != tt.ahead {
				t.Errorf("step %d: %v ahead of the system's clock, want %v", step, ahead, tt.ahead)
			}
		}
	})
}

// TestAnchoredClockHeldUp: a goroutine may not run for a while between its readings of the system's
// clocks. Where a process was stopped, that may be minutes. It does not put the clock ahead for
// good.
func TestAnchoredClockHeldUp(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		for _, reading := range []int{1, 2} { // when it is made, and when it compares
			t.Run(fmt.Sprintf("%s reading %d", when, reading), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					count := 0
					c := generator.AnchoredClock(func() time.Time {
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
					if off := c.UnixNano() - time.Now().UnixNano(); off != 0 {
						t.Errorf("it is %v beside the system's clock", time.Duration(off))
					}
				})
			})
		}
	}
}
