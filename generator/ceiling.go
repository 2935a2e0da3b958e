package generator

import (
	"context"
	"sync"
	"time"

	"github.com/idmint/idmint/internal/nilable"
)

// Counter hands out the numbers 1 ..= 2^63−1, each only once, whichever process asks. A
// launchlog.Counter implements it.
type Counter interface {
	// Reserve takes n consecutive numbers, the first of which is at least floor, and returns the
	// first. It must never return numbers again whose fate is unknown because an answer was lost.
	Reserve(ctx context.Context, floor, n int64) (first int64, err error)
	// Last returns the highest number that was handed out, or 0.
	Last(ctx context.Context) (int64, error)
}

// Ceiling returns a source of windows for a number whose times are recorded in a counter that is
// used for nothing else. The counter holds the latest unit of time since 1970 that the generator
// may stamp (see [Window]), and is raised before those times are used. Therefore no ID repeats
// after a crash, after the clock was set back, or if an app runs twice with the same number:
// windows of one counter never overlap. Trace IDs still repeat after the period that [Trace]
// describes.
//
// The counter is ahead of the generator's clock by at most length, which is rounded up to two
// units. Each answer of the counter that gets lost adds another length. While the generator mints,
// the counter is raised about once per two thirds of length. Three seconds are a good choice.
// Create one Ceiling per generator.
//
// A generator that starts and finds the counter ahead waits until its clock has passed the counter,
// and does not raise it. The first ID therefore comes after length at most, however often the app
// was killed while it started, provided that [Options].MaxWait is not shorter. If the counter is
// further ahead, because a clock once was, calls fail with [ErrClockBehind] until the clock has
// come close enough.
//
// If the counter keeps rising while a generator waits to start, another generator uses the counter.
// The two then take turns, and each of them puts the counter ahead by length.
func Ceiling[N any](number N, counter Counter, length time.Duration) Windows[N] {
	return &ceiling[N]{number: number, counter: counter, length: length}
}

type ceiling[N any] struct {
	number  N             // immutable, like the next two
	counter Counter       //
	length  time.Duration //

	mu    sync.Mutex // guards what follows; not held while the counter is asked
	end   int64      // the unit after the last window
	doubt bool       // a window may have been reserved that no generator received
	ahead int64      // the counter's value when this generator began to wait for it; or 0
}

// Trouble returns the trouble of the counter.
func (c *ceiling[N]) Trouble() error {
	if trouble := troubleOf(c.counter); trouble != nil {
		return trouble()
	}
	return nil
}

func (c *ceiling[N]) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (Window[N], error) {
	if nilable.IsNil(c.counter) { // also reached through Windows that wrap a ceiling
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
		left := end - floor // of the last window; counts towards n
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

// mayRaise returns a [*NotBeforeError] if the counter is ahead for another reason than this
// generator's last window.
func (c *ceiling[N]) mayRaise(ctx context.Context, floor, end int64, unit time.Duration) error {
	last, err := c.counter.Last(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// If the counter exceeds the value that was waited for, another generator has raised it, and it
	// is this one's turn.
	if last >= floor && last+1 != end && (c.ahead == 0 || last <= c.ahead) {
		c.ahead = last
		return &NotBeforeError{From: last + 1, Unit: unit}
	}
	return nil
}
