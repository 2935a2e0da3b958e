package generator

import (
	"context"
	"time"
)

// sleepAtCap sleeps towards a tick, and notes how far a generator at its cap may be behind.
func (t *timeline) sleepAtCap(ctx context.Context, m missing, sleep *sleeper) error {
	q := &t.queue
	if t.overflow != nil && q.told.Swap(m.until) != m.until {
		until := time.Unix(0, t.timeOf(m.until))
		t.overflow(Overflow{Scheme: t.scheme, Until: until, Waiting: int(q.length.Load())})
	}
	// Is it for slots, and not for the clock or a window? Then the generator is at its cap.
	forSlots := t.used(m.span, m.span.word.Load()) > 0
	if err := sleep.towards(ctx, t, m.until); err != nil {
		return err
	}
	if forSlots {
		t.mayLag()
	}
	return nil
}

// mayLag lets calls use slots of the last ticks, for a while.
func (t *timeline) mayLag() {
	if t.lag == 0 {
		return
	}
	if tick, err := t.tickAt(t.clock.UnixNano()); err == nil {
		t.due.Store(t.timeOf(tick + t.lag + 1))
	}
}

const (
	shortestSleep = 50 * time.Microsecond
	longestSleep  = time.Second
	// A call that sleeps for a far tick looks again after part of the time: the clock may be set
	// meanwhile. That is after nextLook, or the lookAgain-th part, up to longestSleep.
	nextLook  = 50 * time.Millisecond
	lookAgain = 16
	// stillFor is how long sleeps take in all before a clock that did not move counts as stopped.
	stillFor = 2 * time.Second
)

// A sleeper sleeps for the clock, and notices one that stands still. One call uses it.
type sleeper struct {
	last  int64         // what the clock said before the last sleep
	pause time.Duration // the least that the next sleep takes
	slept time.Duration // since the clock moved
}

// towards sleeps until a tick, or for part of the time.
func (z *sleeper) towards(ctx context.Context, t *timeline, until uint64) error {
	nano := t.clock.UnixNano()
	reached := t.timeOf(until)
	switch {
	case nano >= reached:
		return nil
	case ctx.Err() != nil:
		return t.clockError(nano, until, ctx.Err())
	case t.far(nano, until):
		return t.clockError(nano, until, ErrClockBehind)
	case nano != z.last:
		*z = sleeper{last: nano, pause: shortestSleep}
	case z.slept >= stillFor:
		return t.clockError(nano, until, ErrClockStopped)
	}
	d := time.Duration(reached - nano)
	if part := max(min(d/lookAgain, longestSleep), nextLook, t.unit); d > part+shortestSleep {
		d = part
	}
	d = max(d, z.pause)
	z.pause = min(2*z.pause, 100*time.Millisecond)
	z.slept += d
	if err := t.clock.Sleep(ctx, d); err != nil {
		return t.clockError(t.clock.UnixNano(), until, err)
	}
	return nil
}
