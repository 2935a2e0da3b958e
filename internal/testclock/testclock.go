// Package testclock has a clock for tests of generators.
package testclock

import (
	"context"
	"sync"
	"time"
)

// Clock is a generator.Clock that stands still until a test moves it, or sleeps by it: then it is at
// once as late as the sleeper wanted.
type Clock struct {
	mu  sync.Mutex // guards now
	now int64
}

// New makes a clock that stands at t.
func New(t time.Time) *Clock { return &Clock{now: t.UnixNano()} }

// UnixNano is where the clock stands.
func (c *Clock) UnixNano() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to t, which may be back.
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
