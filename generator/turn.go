package generator

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A turn is where calls wait if they find no slot, and no call waits anywhere else. One of them has
// the turn: it waits for the clock or for a window. The others wait for the turn, which the runtime
// gives them in the order in which they began to receive. They hold no lock, and each call obeys
// its own context.
//
// The call that has the turn takes slots for all waiting calls, as many as the tick has. It leaves
// the spare ones to the calls behind it. Otherwise, calls that happen to be awake would take the
// slots first, and a waiting call might not get one for seconds.
//
// Whatever blocks one call blocks all of them. An error that is not about a call's own context
// therefore ends the calls behind it as well, which would otherwise take their time to find out,
// one after another.
type turn struct {
	token  chan struct{} // holds one element, which is held by the call that has the turn
	calls  atomic.Int64  // waiting calls, including the one that has the turn
	wanted atomic.Uint64 // slots that these calls want, for each call at most one tick's slots
	came   atomic.Uint64 // all calls that ever waited; numbers them from 1
	until  atomic.Uint64 // the tick waited for, or 0 if that is a window or not known yet

	// Written by the call that has the turn: the last tick that Overflow was called for, and the
	// tick before the first of the consecutive ticks that were waited for until then.
	told, before atomic.Uint64

	// Guarded by the turn. A call leaves the calls behind it two things: the slots that it took but
	// did not use, and its error. Both apply to calls that were already waiting, whose numbers are
	// at most spareFor and errFor. A call that came later asks for itself, because the obstacle may
	// be gone, and because others may have been given slots above the spare ones before it came, so
	// that its IDs must be higher.
	spare    slots
	spareFor uint64 // number of the last call that came before spare was taken
	err      error
	errFor   uint64 // number of the last call that came before err was known
}

// A call is waiting for 1 to n slots.
type call struct {
	n       uint64
	came    uint64    // its number: see turn.came
	overdue time.Time // when it has waited too long, whatever the clock says
	waited  bool      // it was counted as a wait
}

// wait takes slots for a call when it has the turn.
func (t *timeline) wait(ctx context.Context, n uint64) (slots, error) {
	q, wants, has := &t.turn, min(n, t.perTick()), false
	c := call{n: n, overdue: t.overdue()}
	ahead := q.wanted.Add(wants) - wants
	q.calls.Add(1)
	c.came = q.came.Add(1)
	defer func() { // also runs if the clock or Overflow panics
		q.wanted.Add(-wants)
		q.calls.Add(-1)
		if has {
			q.until.Store(0)
			// The turn is passed on last. The call that gets it takes slots for all calls that want
			// some, which no longer include this one, and sets until, which this call must not
			// reset afterwards.
			q.token <- struct{}{}
		}
	}()
	select {
	case <-q.token:
	default:
		if err := t.mayQueue(ctx, ahead); err != nil {
			return slots{}, err
		}
		c.waited = true
		t.waits.Add(1)
		select {
		case <-q.token:
		case <-ctx.Done():
			return slots{}, t.endedError(ctx)
		}
	}
	has = true
	return t.inTurn(ctx, &c)
}

// inTurn takes slots for the call that has the turn.
func (t *timeline) inTurn(ctx context.Context, c *call) (slots, error) {
	q := &t.turn
	if c.came <= q.errFor {
		return slots{}, q.err
	}
	got := q.spare
	if q.spare = (slots{}); got.n == 0 || c.came > q.spareFor ||
		!t.mayAdd(t.tickOf(got.word), t.clock.UnixNano()) { // its time has passed
		t.issued.Add(-got.n) // no call gets them
		var err error
		if got, err = t.await(ctx, c); err != nil {
			if ctx.Err() == nil {
				q.err, q.errFor = err, q.came.Load()
			}
			return slots{}, err
		}
	}
	k := min(got.n, t.fit(t.slotOf(got.word), c.n))
	q.spare = slots{got.word + k, got.n - k, got.span}
	got.n = k
	return got, nil
}

// await waits until there are slots, and takes them for all waiting calls.
func (t *timeline) await(ctx context.Context, c *call) (slots, error) {
	q := &t.turn
	var z sleeper
	for {
		came := q.came.Load() // before slots are taken, because later calls must get higher IDs
		got, m, err := t.grab(func(slot uint64) uint64 { return t.fit(slot, q.wanted.Load()) })
		switch {
		case err != nil:
		case got.n > 0:
			q.spareFor = came
			return got, nil
		case m.window:
			q.until.Store(0)
			err = t.renew(ctx, m.span)
		case time.Now().After(c.overdue):
			err = t.clockError(m.nano, m.until, ErrMaxWait)
		default:
			if err = t.mayWait(ctx, m.nano, m.until, 0); err == nil {
				err = t.sleepAtCap(ctx, m, c, &z)
			}
		}
		if err != nil {
			return slots{}, err
		}
	}
}

// mayQueue returns the reason why a call may not wait for its turn, if the calls before it want
// ahead slots.
func (t *timeline) mayQueue(ctx context.Context, ahead uint64) error {
	nano := t.clock.UnixNano()
	now, err := t.tickAt(nano)
	if ctx.Err() != nil {
		err = t.endedError(ctx)
	}
	if err != nil {
		return err
	}
	return t.mayWait(ctx, nano, max(t.turn.until.Load(), now), ahead)
}

// overdue returns the time at which a call that comes now has waited too long, whatever the clock
// says.
func (t *timeline) overdue() time.Time {
	most := t.maxWait + 2*t.unit
	if most < t.maxWait {
		most = math.MaxInt64
	}
	return time.Now().Add(most)
}

// endedError is the error of a call whose context ends while it waits for the turn.
func (t *timeline) endedError(ctx context.Context) error {
	if until := t.turn.until.Load(); until != 0 {
		return t.clockError(t.clock.UnixNano(), until, ctx.Err())
	}
	return &NumberError{Scheme: t.scheme, Err: t.windows.cutOff(ctx)}
}

// sleepAtCap sleeps towards a tick, and records how late a generator at its cap may stamp.
func (t *timeline) sleepAtCap(ctx context.Context, m missing, c *call, z *sleeper) error {
	q := &t.turn
	q.until.Store(m.until)
	if !c.waited {
		c.waited = true
		t.waits.Add(1)
	}
	if told := q.told.Load(); told != m.until {
		if m.until < told || m.until-told > t.lag+1 {
			q.before.Store(m.until - 1)
		}
		q.told.Store(m.until)
		if t.overflow != nil {
			t.overflow(Overflow{t.at(m.until), int(q.calls.Load()), int(m.until - q.before.Load())})
		}
	}
	// A call that waits for slots, and not for the clock or a window, means that the generator is
	// at its cap.
	forSlots := t.used(m.span, m.span.word.Load()) > 0
	err := z.towards(ctx, t, m.until)
	if err == nil && forSlots {
		t.mayLag()
	}
	return err
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
	// longestSleep is how long a call sleeps for a far tick before it looks at the clock again,
	// which may be set meanwhile. If a tick is longer, it sleeps for a tick.
	longestSleep = 50 * time.Millisecond
	// stillFor is the total length of sleeps after which a clock that did not move counts as
	// stopped.
	stillFor = 2 * time.Second
)

// A sleeper sleeps by the clock, and detects a clock that stands still. It is used by one call.
type sleeper struct {
	last  int64         // the clock's time before the last sleep
	pause time.Duration // the minimum length of the next sleep
	slept time.Duration // since the clock moved
}

// towards sleeps until a tick, or for a part of that time.
func (z *sleeper) towards(ctx context.Context, t *timeline, until uint64) error {
	nano := t.clock.UnixNano()
	left := time.Duration(t.timeOf(until) - nano)
	switch {
	case left <= 0:
		return nil
	case nano != z.last:
		*z = sleeper{last: nano, pause: shortestSleep}
	case z.slept >= stillFor:
		return t.clockError(nano, until, ErrClockStopped)
	}
	d := max(min(left, max(longestSleep, t.unit)), z.pause)
	z.pause = min(2*z.pause, 100*time.Millisecond)
	z.slept += d
	if err := t.clock.Sleep(ctx, d); err != nil {
		return t.clockError(t.clock.UnixNano(), until, err)
	}
	return nil
}

func (t *timeline) clockError(nano int64, until uint64, err error) error {
	if later := t.later.Load(); later != nil && later.Err != nil && t.laterTick() == until {
		err = &notBefore{err, later.Err}
	}
	return &ClockError{Scheme: t.scheme, Now: time.Unix(0, nano), Until: t.at(until), Err: err}
}
