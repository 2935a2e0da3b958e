package generator

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A queue holds the calls that wait for slots, in the order in which they came. Whoever waits
// longest goes next: a call that finds others waiting serves them first and goes behind them.
//
// One of the calls, the leader, sleeps until there are slots. It takes them for all calls that they
// last for, and wakes these. The call that waits longest then leads. So one timer runs, and a tick
// wakes as many calls as it has slots. To pass the slots on by waking one call after another was
// slower, and calls that happened to be awake took them first: one of 200 got none for seconds.
type queue struct {
	length atomic.Int64 // the calls in the queue; changed with mu held

	mu          sync.Mutex // guards what follows, and what calls say of it; not held while waiting
	first, last *call
	wanted      uint64 // slots that the calls want, of a call no more than a tick has
	leader      *call

	told atomic.Uint64 // the tick of the last Overflow
}

// A call waits for 1 to n slots.
type call struct {
	n, align uint64 // as of timeline.take
	until    uint64 // the tick that it waited for at first
	renew    bool   // it waited for a window
	overdue  time.Time

	next, prev *call
	gone       bool // it has left the queue, and got its slots or err
	got        grant
	err        error
	wake       chan struct{} // has room for one: the call got what it wanted, or is to lead
}

func (q *queue) add(c *call, most uint64) {
	c.prev = q.last
	if q.last == nil {
		q.first = c
	} else {
		q.last.next = c
	}
	q.last = c
	q.wanted += min(c.n, most)
	q.length.Add(1)
}

// remove lets c go with slots or an error.
func (q *queue) remove(c *call, most uint64, got grant, err error) {
	if c.prev == nil {
		q.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		q.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	q.wanted -= min(c.n, most)
	q.length.Add(-1)
	c.gone, c.got, c.err = true, got, err
	c.signal()
}

// handOver makes the first call the leader, where there is none in the queue. One that was served by
// another call may go on sleeping: it leads no more.
func (q *queue) handOver() {
	if q.leader != nil && !q.leader.gone {
		return
	}
	if q.leader = q.first; q.leader != nil {
		q.leader.signal()
	}
}

func (c *call) signal() {
	select {
	case c.wake <- struct{}{}:
	default: // it has a signal already
	}
}

// slots is how many a tick has.
func (t *timeline) slots() uint64 { return t.last - t.first + 1 }

// wait takes slots for a call when its turn comes.
func (t *timeline) wait(ctx context.Context, n, align uint64) (uint64, uint64, *span, error) {
	c := &call{n: n, align: align, overdue: t.overdue(), wake: make(chan struct{}, 1)}
	waits, leads := t.join(ctx, c)
	if waits && !leads {
		select {
		case <-c.wake:
		case <-ctx.Done():
		}
		leads = t.woken(ctx, c)
	}
	if leads {
		t.lead(ctx, c)
	}
	return c.got.word, c.got.n, c.got.span, c.err
}

// join puts a call into the queue, unless it is served at once or may not wait.
func (t *timeline) join(ctx context.Context, c *call) (waits, leads bool) {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(c, t.slots())
	defer t.leave(c, &waits)
	if g := t.serve(); !c.gone {
		c.until, c.renew = g.until, g.renew
		if err := t.mayWait(ctx, g, q.wanted-min(c.n, t.slots())); err != nil {
			q.remove(c, t.slots(), grant{}, err)
		} else {
			t.waits.Add(1)
		}
	}
	q.handOver()
	waits = !c.gone
	return waits, q.leader == c
}

// leave removes a call that does not stay, as where its clock or its Overflow panics: nobody is to
// wait for it. The caller holds queue.mu.
func (t *timeline) leave(c *call, stays *bool) {
	if !*stays {
		if !c.gone {
			t.queue.remove(c, t.slots(), grant{}, errGone)
		}
		t.queue.handOver()
	}
}

// errGone is of a call that panics: nobody sees it.
var errGone = errors.New("the call has ended")

// overdue is when a call that comes now has waited for too long, whatever the clock says.
func (t *timeline) overdue() time.Time {
	most := t.maxWait + 2*t.unit
	if most < t.maxWait {
		most = math.MaxInt64
	}
	return time.Now().Add(most)
}

// mayWait says why a call is not to wait, with slots that calls before it want.
func (t *timeline) mayWait(ctx context.Context, g grant, ahead uint64) error {
	switch turn := g.until + ahead/t.slots(); {
	case ctx.Err() != nil:
		return t.endedError(ctx, g.until, g.renew)
	case g.renew:
		return nil
	case t.far(g.nano, g.until):
		return t.clockError(g.nano, g.until, ErrClockBehind)
	case t.far(g.nano, turn):
		return t.clockError(g.nano, turn, ErrMaxWait)
	}
	return nil
}

// far reports whether a tick is too far away to wait for it.
func (t *timeline) far(nano int64, tick uint64) bool {
	return t.timeOf(tick)-nano-int64(t.unit) > int64(t.maxWait)
}

// endedError is of a call whose context ended while it waited.
func (t *timeline) endedError(ctx context.Context, until uint64, renew bool) error {
	if renew {
		return &NumberError{Scheme: t.scheme, Err: ctx.Err()}
	}
	return t.clockError(t.clock.UnixNano(), until, ctx.Err())
}

// serve gives slots to the calls in the queue until it is empty, or says what has to come before
// there are more. An error is of all calls. The caller holds queue.mu.
func (t *timeline) serve() grant {
	q := &t.queue
	for q.first != nil {
		g, err := t.grab(q.wants(t))
		if err != nil {
			t.failAll(err)
			break
		}
		if g.n == 0 {
			return g
		}
		for left := g.n; left > 0; {
			c := q.first
			k := t.fit(t.slotOf(g.word), c.n, c.align)
			q.remove(c, t.slots(), grant{word: g.word, n: k, span: g.span}, nil)
			g.word, left = g.word+k, left-k
		}
	}
	return grant{}
}

// wants is how many slots from a slot on the calls want.
func (q *queue) wants(t *timeline) func(slot uint64) uint64 {
	return func(slot uint64) uint64 {
		end := slot
		for c := q.first; c != nil && end <= t.last; c = c.next {
			end += t.fit(end, c.n, c.align)
		}
		return end - slot
	}
}

// failAll ends all calls in the queue with an error: what was in the way of one is in the way of
// all, and to let them find out one after another takes each of them its time.
func (t *timeline) failAll(err error) {
	for t.queue.first != nil {
		t.queue.remove(t.queue.first, t.slots(), grant{}, err)
	}
}

// woken follows a wait of c for its turn, and reports whether it is to lead.
func (t *timeline) woken(ctx context.Context, c *call) bool {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !c.gone && ctx.Err() != nil {
		q.remove(c, t.slots(), grant{}, t.endedError(ctx, c.until, c.renew))
	}
	return q.leader == c
}

// lead waits for all calls in the queue until c has left it.
func (t *timeline) lead(ctx context.Context, c *call) {
	q := &t.queue
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		t.leave(c, new(bool))
	}()
	var sleep sleeper
	for {
		g, gone := t.look(c)
		if gone {
			return
		}
		var err error
		if g.renew {
			err = t.renew(ctx, g.span)
		} else {
			err = t.sleepAtCap(ctx, g, &sleep)
		}
		if err != nil {
			t.failed(ctx, c, err)
		}
	}
}

// look serves the calls in the queue for their leader, and ends those that have waited for too long.
func (t *timeline) look(c *call) (g grant, gone bool) {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	g = t.serve()
	for !g.renew && !c.gone && time.Now().After(q.first.overdue) {
		q.remove(q.first, t.slots(), grant{}, t.clockError(t.clock.UnixNano(), g.until, ErrMaxWait))
	}
	return g, c.gone
}

// failed follows an error of the leader: its own, if its context has ended, and else that of all.
func (t *timeline) failed(ctx context.Context, c *call, err error) {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case c.gone: // another call served it
	case ctx.Err() != nil: // its own
		q.remove(c, t.slots(), grant{}, err)
	default: // it is in the way of all
		t.failAll(err)
	}
}

// sleepAtCap sleeps towards a tick, and notes how far a generator at its cap may be behind.
func (t *timeline) sleepAtCap(ctx context.Context, g grant, sleep *sleeper) error {
	q := &t.queue
	if t.overflow != nil && q.told.Swap(g.until) != g.until {
		t.overflow(Overflow{Scheme: t.scheme, Until: time.Unix(0, t.timeOf(g.until)), Waiting: int(q.length.Load())})
	}
	// Is it for slots, and not for the clock or a window? Then the generator is at its cap.
	forSlots := t.lag != 0 && t.used(g.span, g.span.word.Load()) > 0
	err := sleep.towards(ctx, t, g.until)
	if tick, bad := t.tickAt(t.clock.UnixNano()); err == nil && bad == nil && forSlots {
		t.due.Store(t.timeOf(tick + t.lag + 1))
	}
	return err
}

const (
	shortestSleep = 50 * time.Microsecond
	longestSleep  = time.Second
	// A call that sleeps for a far tick looks again after part of the time, as the clock may be set
	// meanwhile: nextLook, or the lookAgain-th part, up to longestSleep.
	nextLook  = 50 * time.Millisecond
	lookAgain = 16
	// stillFor is how long sleeps take in all before a clock that did not move counts as stopped.
	stillFor = 2 * time.Second
)

// A sleeper sleeps for the clock, and notices one that stands still.
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
