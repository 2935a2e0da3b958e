// Package testclock has a clock for tests of generators.
package testclock

import (
	"context"
	"sync"
	"time"
)

// Clock is a generator.Clock that moves only if a test sets it, or sleeps with it. Sleep advances
// the clock at once by the requested duration.
type Clock struct {
	mu  sync.Mutex // guards now
	now int64
}

// New returns a clock that is set to t.
func New(t time.Time) *Clock { return &Clock{now: t.UnixNano()} }

// UnixNano returns the clock's time.
func (c *Clock) UnixNano() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the clock to t, which may be in the past.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t.UnixNano()
}

// Add moves the clock by d, which may be negative.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += int64(d)
}

// Sleep moves the clock by d.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Add(d)
	return nil
}
