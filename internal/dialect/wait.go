package dialect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"time"
)

// firstPause is the longest pause before the second attempt.
const firstPause = 10 * time.Millisecond

// A thousand processes that start at once ask a server that has no connection left no more often than
// it can refuse them.
const (
	firstAwait   = 200 * time.Millisecond
	longestAwait = 3 * time.Second
)

// Attempts counts the attempts at something that passes, from 1, until ctx ends or the caller has
// what it wants. A random pause comes before each attempt but the first. It is up to 10 ms, then up
// to twice as much each time, and up to longest in the end. Random pauses keep many who wait for
// the same from coming back together. An ended ctx allows no attempt, not even the first.
func Attempts(ctx context.Context, longest time.Duration) iter.Seq[int] {
	return attempts(ctx, firstPause, longest)
}

func attempts(ctx context.Context, first, longest time.Duration) iter.Seq[int] {
	return func(yield func(int) bool) {
		pause := min(first, longest)
		for n := 1; ctx.Err() == nil && yield(n); n++ {
			timer := time.NewTimer(rand.N(pause))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
			pause = min(2*pause, longest)
		}
	}
}

// Await runs try until it succeeds, again while its error passes, and for as long as the patience.
// The error is the context's, with what was in the way before, or that of try.
func Await(
	ctx context.Context, patience time.Duration, passes func(error) bool,
	try func(context.Context) error,
) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error // of an attempt that was not merely cut off
	for range attempts(waiting, firstAwait, longestAwait) {
		err := try(waiting)
		if err == nil || !passes(err) && !errors.Is(err, waiting.Err()) {
			return err
		}
		// The end of the wait cuts an attempt off, which need not say so: a dial says "i/o timeout".
		timeout := net.Error(nil)
		isCut := errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, waiting.Err())
		if last == nil || !isCut {
			last = err
		}
	}
	switch ended := ctx.Err(); {
	case last == nil: // ctx had ended before
		return context.Cause(ctx)
	case ended != nil && !errors.Is(last, ended):
		return fmt.Errorf("%w: %w", context.Cause(ctx), last)
	case ended == nil && errors.Is(last, waiting.Err()):
		return fmt.Errorf("it did not answer for %v: %w", patience, last)
	}
	return last
}
