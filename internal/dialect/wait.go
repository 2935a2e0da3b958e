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

// With these pauses, a thousand processes that start at once do not ask a server without free
// connections more often than it can refuse them.
const (
	firstAwait   = 200 * time.Millisecond
	longestAwait = 3 * time.Second
)

// Attempts counts attempts from 1, until ctx ends or the caller stops. Before each attempt but the
// first it pauses for a random time, which is up to 10 ms at first, and then up to twice as long
// each time until it reaches longest. Random pauses keep processes that wait for the same event
// from returning together. An ended ctx allows no attempt, not even the first.
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

// Await calls try until it succeeds, as long as its error passes, and for at most patience. It
// returns the context's error, combined with the last obstacle, or try's error.
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
		// The end of the wait cuts off an attempt, but the error may not show it: a dial returns
		// "i/o timeout".
		timeout := net.Error(nil)
		isCut := errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, waiting.Err())
		if last == nil || !isCut {
			last = err
		}
	}
	switch ended := ctx.Err(); {
	case last == nil && ended != nil: // ctx had already ended
		return context.Cause(ctx)
	case last == nil: // this process stood still until patience was over
		return fmt.Errorf("no attempt within %v: %w", patience, waiting.Err())
	case ended != nil && !errors.Is(last, ended):
		return fmt.Errorf("%w: %w", context.Cause(ctx), last)
	case ended == nil && errors.Is(last, waiting.Err()):
		return fmt.Errorf("no answer within %v: %w", patience, last)
	}
	return last
}
