package generator

import (
	"context"
	"sync"
	"time"

	"github.com/idmint/idmint/internal/nilable"
)

// Counter hands out numbers of 1 ..= 2^63−1: each once, ever, to whichever process asks. A
// launchlog.Counter is one.
type Counter interface {
	// Reserve takes n consecutive numbers, of which the first is at least floor, and returns the
	// first. Numbers whose fate is unknown, because an answer was lost, must not be returned
	// again.
	Reserve(ctx context.Context, floor, n int64) (first int64, err error)
	// Last returns the highest number that was handed out, or 0.
	Last(ctx context.Context) (int64, error)
}

// Ceiling is a number whose times are kept in a counter of its own. The counter holds the latest
// unit of time since 1970 that the generator may stamp: see [Window]. It is raised before those
// times are used. So nothing repeats after a crash, with a clock that was set back, or where an
// app runs twice with the same number. Windows of a counter never overlap. (What [Trace] says of
// its timestamps remains.)
//
// The counter is ahead of the generator's clock by length at most, which is rounded up to two
// units. Each answer of the counter that was lost adds length. While IDs are minted it is raised
// about every two thirds of length. Three seconds are a good choice. Make a Ceiling per
// generator.
//
// A start that finds the counter ahead waits until its clock has passed it, and does not raise
// it. So the first ID comes after length at most, however often an app was killed while it
// started. [Options].MaxWait is not to be shorter. Where the counter is further ahead, because a
// clock once was, calls fail with [ErrClockBehind] until the clock has come closer.
//
// Where the counter goes on rising while a start waits, another generator uses it. Then both go
// on by turns, and the counter is ahead by length for each of them.
func Ceiling[N any](number N, counter Counter, length time.Duration) Windows[N] {
	return &ceiling[N]{number: number, counter: counter, length: length}
}

type ceiling[N any] struct {
	number  N             // immutable, as the next two
	counter Counter       //
	length  time.Duration //

	mu    sync.Mutex // guards what follows; not held while the counter is asked
	end   int64      // of the last window: the unit after it
	doubt bool       // a window may have been reserved that nobody has
	ahead int64      // where the counter stood when it was waited for; or 0
}

// Trouble is the counter's.
func (c *ceiling[N]) Trouble() error {
	if trouble := troubleOf(c.counter); trouble != nil {
		return trouble()
	}
	return nil
}

func (c *ceiling[N]) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (Window[N], error) {
	if nilable.IsNil(c.counter) { // in windows that wrap these
		return Window[N]{}, noSource("counter")
	}
	floor := max(now, 1)
	c.mu.Lock()
	end, doubt := c.end, c.doubt
	c.mu.Unlock()
	if floor >= end || doubt {
		if err := c.mayRaise(ctx, floor, end, unit); err != nil {
			return Window[N]{}, err
		}
	}
	n := max(int64((c.length+unit-1)/unit), 2)
	if floor < end {
		left := end - floor // of the last window, which counts towards n
		n = max(n-left, 1)
	}
	first, err := c.counter.Reserve(ctx, floor, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = 0
	if c.doubt = err != nil; c.doubt {
		return Window[N]{}, err
	}
	c.end = first + n
	return Window[N]{Number: c.number, From: first, To: first + n}, nil
}

// mayRaise is a [*NotBeforeError] where the counter is ahead, and not by this generator's last
// window.
func (c *ceiling[N]) mayRaise(ctx context.Context, floor, end int64, unit time.Duration) error {
	last, err := c.counter.Last(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Beyond what it has waited for, somebody else has raised the counter: then it is this one's
	// turn.
	if last >= floor && last+1 != end && (c.ahead == 0 || last <= c.ahead) {
		c.ahead = last
		return &NotBeforeError{From: last + 1, Unit: unit}
	}
	return nil
}
