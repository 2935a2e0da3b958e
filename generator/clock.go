package generator

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock reports the time that IDs carry. It may jump and go back, because uniqueness never depends
// on it.
//
//	clock         a reading costs   moves by
//	the default   a time.Since      the monotonic clock
//	[WallClock]   a time.Now        the system's clock, steps included
//
// The default is a clock that belongs to the generator and never goes back. It is compared with the
// system's clock once a second. If the system's clock is ahead, because it was set forward or the
// machine slept, this clock jumps forward to it. If the system's clock was set back, this clock
// stays ahead.
type Clock interface {
	// UnixNano returns the time in nanoseconds since 1970.
	UnixNano() int64
	// Sleep waits for d by this clock, or slightly longer. It returns early with the error of ctx.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock returns the unmodified system clock, which steps when an administrator or NTP sets it.
func WallClock() Clock { return wallClock{} }

type wallClock struct{}

func (wallClock) UnixNano() int64 { return time.Now().UnixNano() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, d) }

func sleep(ctx context.Context, d time.Duration) error {
	if ctx.Done() == nil {
		time.Sleep(d)
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An anchoredClock reads the system's clock once and then moves by the monotonic clock: see
// [Clock].
type anchoredClock struct {
	start  time.Time
	system func() time.Time // time.Now
	offset atomic.Int64     // added to the time since start
	check  atomic.Int64     // the time since start at which to compare
}

// anchorCheck is the interval at which an anchoredClock is compared with the system's clock.
const anchorCheck = time.Second

func newAnchoredClock(system func() time.Time) *anchoredClock {
	c := &anchoredClock{system: system}
	c.offset.Store(system().UnixNano())
	// Read last, so that a goroutine that is preempted in between leaves the clock behind, not
	// ahead.
	c.start = time.Now()
	c.check.Store(int64(anchorCheck))
	return c
}

// UnixNano returns the time, which never decreases.
func (c *anchoredClock) UnixNano() int64 {
	since := int64(time.Since(c.start))
	if since >= c.check.Load() {
		c.compare(since)
	}
	return c.offset.Load() + since
}

// compare moves the clock forward to the system's. The offset only rises, so readings never fall.
func (c *anchoredClock) compare(since int64) {
	c.check.Store(since + int64(anchorCheck))
	system := c.system().UnixNano()
	system -= int64(time.Since(c.start)) // read last, for the same reason as in newAnchoredClock
	offset := c.offset.Load()
	if system > offset {
		c.offset.CompareAndSwap(offset, system)
	}
}

// Sleep waits by the runtime's timers, which follow the monotonic clock.
func (c *anchoredClock) Sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, d) }
