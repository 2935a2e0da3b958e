package generator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// requestTimeout bounds one request, which belongs to no caller's context.
const requestTimeout = time.Minute

var errNoAnswer = errors.New("the source ended its goroutine without an answer")

// A requester gets what a generator mints from next: a generator number, a block or a window. It
// asks ahead of time in the background, or when a call needs it. It asks once for all calls that
// wait.
type requester[T any] struct {
	ask     func(context.Context) (T, error)
	settled func(T, error) (T, error) // checks the answer; called with mu held
	trouble func() error              // what is in the way of an answer; nil if nobody knows

	// mu guards pending, and what settled, needed and install touch. It is not held while waiting.
	mu      sync.Mutex
	pending *request[T]
}

// A request is made by one goroutine and awaited by any.
type request[T any] struct {
	done   chan struct{} // closed when answer and err are set
	answer T
	err    error
}

// refresh waits for an answer, asks for it if nobody did, and installs it once, if it is still
// needed.
func (r *requester[T]) refresh(ctx context.Context, needed func() bool, install func(T)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	if !needed() {
		r.mu.Unlock()
		return nil
	}
	q := r.startLocked()
	r.mu.Unlock()

	select {
	case <-q.done:
	case <-ctx.Done():
		return r.cutOff(ctx)
	}
	if q.err != nil {
		return q.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == q {
		r.pending = nil
		install(q.answer)
	}
	return nil
}

// cutOff is the error of a call whose context has ended, with what is in the way of its answer.
func (r *requester[T]) cutOff(ctx context.Context) error {
	if r.trouble != nil {
		if why := r.trouble(); why != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), why)
		}
	}
	return ctx.Err()
}

// troubleOf is the method of a source that tells what is in the way of it, as those of a launch log
// do. It is nil for other sources.
func troubleOf(source any) func() error {
	if s, ok := source.(interface{ Trouble() error }); ok {
		return s.Trouble
	}
	return nil
}

// startLocked joins the pending request, or makes one. The caller holds mu.
func (r *requester[T]) startLocked() *request[T] {
	if r.pending == nil {
		r.pending = &request[T]{done: make(chan struct{})}
		go r.run(r.pending)
	}
	return r.pending
}

// run makes a request. The source and, in settled, the clock and Notify are the user's: each may
// panic, or end the goroutine.
func (r *requester[T]) run(q *request[T]) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	q.err = errNoAnswer // which stays if the goroutine ends
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		// A later call asks again, but not a source that has lost numbers: that answer stays.
		if q.err != nil && !errors.Is(q.err, ErrRepeated) {
			r.pending = nil
		}
		close(q.done)
	}()
	answer, err := guarded(func() (T, error) { return r.ask(ctx) })
	r.mu.Lock()
	defer r.mu.Unlock()
	q.answer, q.err = guarded(func() (T, error) { return r.settled(answer, err) })
}

// panicError is of a source that panicked. It is asked in a goroutine of its own, where a panic would
// end the process.
func panicError(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("the source panicked: %w\n%s", err, debug.Stack())
	}
	return fmt.Errorf("the source panicked: %v\n%s", v, debug.Stack())
}

// guarded makes an error of a panic.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = panicError(panicked)
		}
	}()
	return f()
}
