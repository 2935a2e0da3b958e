package rows

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// A step gives up after this time in which all connections of an app's pool were in use, and none
// was given back. Transactions that wait for the step look like long queries. Before a store's
// first write they are likely a mistake, a first ID within a transaction, and the developer hears
// of it soon. A store at work rather meets long queries. It waits as long as an app would expect,
// and well within a call's budget.
const (
	firstPatience = time.Second
	patience      = 10 * time.Second
)

// Usage is how a pool's connections are used.
type Usage struct {
	Most  int   // connections that the pool may have
	Full  bool  // all are in use
	Given int64 // a count that changes whenever one that was in use is given to who waits for it
}

// In a Queue, steps wait for a connection of an app's pool. The app's transactions may hold all of
// them while they themselves wait for the step: then the step fails. A nil Queue is for a pool of
// the store's own, where every connection comes back.
type Queue struct {
	usage func() Usage

	mu      sync.Mutex         // guards what follows
	waiting map[*wait]struct{} // steps that wait, as far as is known
	holding int                // steps that have a connection
	worked  bool               // a step has written
}

// A wait is a step that waits for a connection.
type wait struct {
	began, last Usage         // when it began to wait, and at the last look
	held        time.Duration // for how long no connection came back, as far as was looked
	timer       *time.Timer
	giveUp      context.CancelCauseFunc
}

// NewQueue makes a queue for a pool.
func NewQueue(usage func() Usage) *Queue {
	return &Queue{usage: usage, waiting: map[*wait]struct{}{}}
}

var errNoneGiven = errors.New("all connections of the pool were in use, and none was given back")

// Acquire runs acquire, which waits for a connection as long as its context lasts. Whoever got one
// calls Release in the end. Errors: that of acquire; launchlog.ErrHeld; or an AttemptError, where
// the queue cannot know who has the connections.
func (q *Queue) Acquire(ctx context.Context, acquire func(context.Context) error) error {
	if q == nil {
		return acquire(ctx)
	}
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	w := q.begin(giveUp)
	err := acquire(waiting)
	q.end(w, err)
	if err != nil && waiting.Err() != nil {
		return context.Cause(waiting)
	}
	return err
}

func (q *Queue) begin(giveUp context.CancelCauseFunc) *wait {
	now := q.usage()
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &wait{began: now, last: now, giveUp: giveUp}
	w.timer = time.AfterFunc(firstPatience, func() { q.look(w) })
	q.waiting[w] = struct{}{}
	return w
}

func (q *Queue) end(w *wait, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w.timer.Stop()
	delete(q.waiting, w)
	if err == nil {
		q.holding++
	}
}

// Release says that a step's connection is given back.
func (q *Queue) Release() {
	if q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.holding--
	}
}

// Worked says that a step has written.
func (q *Queue) Worked() {
	if q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.worked = true
	}
}

// look has all steps give up if no connection can come back. That is so if all are in use, none was
// given to a waiting step for a while, and none is a step's.
func (q *Queue) look(w *wait) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, waits := q.waiting[w]; !waits {
		return
	}
	now, last := q.usage(), w.last
	w.last = now
	w.held += firstPatience
	if !now.Full || !last.Full || now.Given != last.Given || q.holding > 0 {
		w.held = 0
	}
	if w.held < firstPatience || q.worked && w.held < patience {
		w.timer.Reset(firstPatience)
		return
	}
	err := fmt.Errorf("%w: all %d connections of the pool were in use for %v, "+
		"and none was given back", launchlog.ErrHeld, now.Most, w.held)
	for other := range q.waiting {
		// If one was given since, it may be this step's, which waits for the server now.
		if !other.began.Full || other.began.Given != now.Given {
			err = &launchlog.AttemptError{Err: errNoneGiven}
		}
	}
	for other := range q.waiting {
		other.giveUp(err)
	}
}
