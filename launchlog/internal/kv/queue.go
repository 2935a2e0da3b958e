package kv

import (
	"context"
	"sync"
)

// In a queue, the callers of one process that want to change the same partition take turns. Without
// it they lose most commits to each other. Nobody holds a lock while waiting.
type queue struct {
	mu    sync.Mutex // guards what follows
	lanes map[string]*lane
}

// A lane is the queue for one partition.
type lane struct {
	turn  chan struct{} // has room for the one whose turn it is
	users int           // that have their turn or wait; the queue's mu guards it
}

// enter waits for the turn in a lane. Whoever got it calls leave in the end. The error is the
// context's.
func (q *queue) enter(ctx context.Context, name string) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := q.join(name)
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			q.part(name, l)
		}, nil
	case <-ctx.Done():
		q.part(name, l)
		return nil, ctx.Err()
	}
}

func (q *queue) join(name string) *lane {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[name]
	if l == nil {
		l = &lane{turn: make(chan struct{}, 1)}
		q.lanes[name] = l
	}
	l.users++
	return l
}

// part drops a lane that nobody uses.
func (q *queue) part(name string, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(q.lanes, name)
	}
}
