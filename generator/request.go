package generator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// requestTimeout bounds a request, because a request does not run under the context of a caller.
const requestTimeout = time.Minute

var errNoAnswer = errors.New("the source ended its goroutine without an answer")

// A requester gets what a generator needs next in order to mint: a generator number, a block or a
// window. It asks ahead of time in the background, or when a call needs an answer, and asks once
// for all waiting calls.
type requester[T any] struct {
	ask     func(context.Context) (T, error)
	settled func(T, error) (T, error) // checks the answer; called with mu held
	trouble func() error              // what delays the answer; nil if unknown

	// mu guards pending, and what settled, needed and install access. It is not held while waiting.
	mu      sync.Mutex
	pending *request[T]
}

// A request is made by one goroutine and may be awaited by any number of them.
type request[T any] struct {
	done   chan struct{} // closed when answer and err are set
	answer T
	err    error
}

// refresh waits for an answer, after asking for it if no other call has, and installs the answer
// once, if it is still needed.
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

// cutOff returns the error of a call whose context has ended, and adds what delayed the answer.
func (r *requester[T]) cutOff(ctx context.Context) error {
	if r.trouble != nil {
		if why := r.trouble(); why != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), why)
		}
	}
	return ctx.Err()
}

// troubleOf returns the Trouble method of a source, which reports what is delaying the source. A
// launch log's sources have that method; for others, troubleOf returns nil.
func troubleOf(source any) func() error {
	if s, ok := source.(interface{ Trouble() error }); ok {
		return s.Trouble
	}
	return nil
}

// startLocked returns the pending request, or starts one. The caller holds mu.
func (r *requester[T]) startLocked() *request[T] {
	if r.pending == nil {
		r.pending = &request[T]{done: make(chan struct{})}
		go r.run(r.pending)
	}
	return r.pending
}

// run makes a request. The source and, in settled, the clock and Notify are the user's code, which
// may panic or end the goroutine.
func (r *requester[T]) run(q *request[T]) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	q.err = errNoAnswer // kept if the goroutine ends
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		// A later call asks again, unless the source has lost numbers: that answer is final.
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

// panicError is the error of a source that panicked. The source is called in a separate goroutine,
// where a panic would end the process.
func panicError(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("the source panicked: %w\n%s", err, debug.Stack())
	}
	return fmt.Errorf("the source panicked: %v\n%s", v, debug.Stack())
}

// guarded turns a panic into an error.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = panicError(panicked)
		}
	}()
	return f()
}
