package generator

import (
	"context"
	"errors"
	"math"
	"time"
)

// wait takes slots for a call when its turn comes.
func (t *timeline) wait(ctx context.Context, n, align uint64) (slots, error) {
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
	return c.got, c.err
}

// join puts a call into the queue, unless it is served at once or may not wait.
func (t *timeline) join(ctx context.Context, c *call) (waits, leads bool) {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(c, t.perTick())
	defer t.leave(c, &waits)
	if m := t.serve(); !c.gone {
		c.missing = m
		if err := t.mayWait(ctx, m, q.wanted-min(c.n, t.perTick())); err != nil {
			q.remove(c, t.perTick(), slots{}, err)
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
			t.queue.remove(c, t.perTick(), slots{}, errGone)
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
func (t *timeline) mayWait(ctx context.Context, m missing, ahead uint64) error {
	switch turn := m.until + ahead/t.perTick(); {
	case ctx.Err() != nil:
		return t.endedError(ctx, m)
	case m.window:
		return nil
	case t.far(m.nano, m.until):
		return t.clockError(m.nano, m.until, ErrClockBehind)
	case t.far(m.nano, turn):
		return t.clockError(m.nano, turn, ErrMaxWait)
	}
	return nil
}

// far reports whether a tick is too far away to wait for it.
func (t *timeline) far(nano int64, tick uint64) bool {
	return t.timeOf(tick)-nano-int64(t.unit) > int64(t.maxWait)
}

// endedError is of a call whose context has ended.
func (t *timeline) endedError(ctx context.Context, m missing) error {
	if m.window {
		return &NumberError{Scheme: t.scheme, Err: t.windows.cutOff(ctx)}
	}
	return t.clockError(t.clock.UnixNano(), m.until, ctx.Err())
}

func (t *timeline) clockError(nano int64, until uint64, err error) error {
	if why := t.why.Load(); why != nil && why.Err != nil && t.later.Load() == until {
		err = &notBefore{err, why.Err}
	}
	return &ClockError{
		Scheme: t.scheme, Now: time.Unix(0, nano), Until: time.Unix(0, t.timeOf(until)), Err: err,
	}
}

// serve gives slots to the calls in the queue until it is empty, or says what has to come before
// there are more. An error is of all calls. The caller holds queue.mu.
func (t *timeline) serve() missing {
	q := &t.queue
	for q.first != nil {
		got, m, err := t.grab(q.wants(t))
		if err != nil {
			t.failAll(err)
			break
		}
		if got.n == 0 {
			return m
		}
		for left := got.n; left > 0; {
			c := q.first
			k := t.fit(t.slotOf(got.word), c.n, c.align)
			q.remove(c, t.perTick(), slots{word: got.word, n: k, span: got.span}, nil)
			got.word, left = got.word+k, left-k
		}
	}
	return missing{}
}

// wants is how many slots from a slot on the calls want. The caller holds mu.
func (q *queue) wants(t *timeline) func(slot uint64) uint64 {
	return func(slot uint64) uint64 {
		end := slot
		for c := q.first; c != nil && end <= t.last; c = c.next {
			end += t.fit(end, c.n, c.align)
		}
		return end - slot
	}
}

// failAll ends all calls in the queue with an error. What was in the way of one is in the way of
// all. To let them find out one after another takes each of them its time.
func (t *timeline) failAll(err error) {
	for t.queue.first != nil {
		t.queue.remove(t.queue.first, t.perTick(), slots{}, err)
	}
}

// woken follows a wait of c for its turn, and reports whether it is to lead.
func (t *timeline) woken(ctx context.Context, c *call) bool {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !c.gone && ctx.Err() != nil {
		q.remove(c, t.perTick(), slots{}, t.endedError(ctx, c.missing))
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
		m, gone := t.serveFor(c)
		if gone {
			return
		}
		var err error
		if m.window {
			err = t.renew(ctx, m.span)
		} else {
			err = t.sleepAtCap(ctx, m, &sleep)
		}
		if err != nil {
			t.failed(ctx, c, err)
		}
	}
}

// serveFor serves the calls in the queue for their leader, and ends those that have waited for too
// long.
func (t *timeline) serveFor(c *call) (m missing, gone bool) {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	m = t.serve()
	for !m.window && !c.gone && time.Now().After(q.first.overdue) {
		err := t.clockError(t.clock.UnixNano(), m.until, ErrMaxWait)
		q.remove(q.first, t.perTick(), slots{}, err)
	}
	return m, c.gone
}

// failed follows an error of the leader: its own, if its context has ended, and else that of all.
func (t *timeline) failed(ctx context.Context, c *call, err error) {
	q := &t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case c.gone: // another call served it
	case ctx.Err() != nil: // its own
		q.remove(c, t.perTick(), slots{}, err)
	default: // it is in the way of all
		t.failAll(err)
	}
}
