package generator

import (
	"sync"
	"sync/atomic"
	"time"
)

// A queue holds the calls that wait for slots, in the order in which they came. Whoever waits
// longest goes next: a call that finds others waiting serves them first and goes behind them.
//
// One of the calls, the leader, sleeps until there are slots. It takes them for all calls that they
// last for, and wakes these. The call that waits longest then leads. So one timer runs, and a tick
// wakes as many calls as it has slots.
//
// To pass the slots on by waking one call after another was slower. Calls that happened to be
// awake took them first, and one of 200 got none for seconds.
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
	n, align uint64    // immutable: as of timeline.take
	overdue  time.Time // immutable: when it has waited for too long, whatever the clock says
	missing  missing   // what it waited for at first; set before it waits

	// Guarded by queue.mu.
	next, prev *call
	gone       bool // it has left the queue, and got its slots or err
	got        slots
	err        error

	wake chan struct{} // has room for one: the call got what it wanted, or is to lead
}

// add puts a call at the end. Most is how many slots a tick has. The caller holds mu.
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

// remove lets c go with slots or an error. The caller holds mu.
func (q *queue) remove(c *call, most uint64, got slots, err error) {
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

// handOver makes the first call the leader, where there is none in the queue. One that was served
// by another call may go on sleeping: it leads no more. The caller holds mu.
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
