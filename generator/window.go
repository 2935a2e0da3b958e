package generator

import (
	"context"
	"sync"
	"time"
)

// A Window is the right to mint: with Number, what makes a generator's IDs its own, and with the times from From up to but not
// including To. No other window with the number overlaps it, in whatever process, ever.
type Window[N any] struct {
	Number   N
	From, To time.Time // To is zero for a window without an end
}

// Windows hands out windows. A generator asks for the next one in the background when half of a window has passed.
//
//	[Given]        the number stands in a configuration, and nobody else has it
//	[Ceiling]      so it does, and a counter in a database remembers how far its times were used
//	[Partitions]   numbers of this process
//
// A claim store, which lends numbers to whoever runs, implements it: the window is then the fence that a lease alone is not.
type Windows[N any] interface {
	// NextWindow returns a window that contains now, or else the earliest later one that can be had. It is to begin and end at
	// multiples of unit since 1970, or what is beyond them goes unused. A window whose fate is unknown, because an answer was
	// lost, must not be returned again. A [*NotBeforeError] says when to ask again, for want of a window.
	NextWindow(ctx context.Context, now time.Time, unit time.Duration) (Window[N], error)
}

// Given is a number that its user vouches for: no other generator has it, at any time that this one
// stamps. A generator begins at the unit of time after the one in which it is made, so an app that is
// restarted at once repeats nothing. It does not survive a clock that was set back meanwhile, or
// before and has not caught up yet. A [Snapshot] survives that, and [Ceiling] a crash as well.
func Given[N any](number N) Windows[N] { return given[N]{number} }

type given[N any] struct{ number N }

func (g given[N]) NextWindow(_ context.Context, now time.Time, _ time.Duration) (Window[N], error) {
	return Window[N]{Number: g.number, From: now.Add(1)}, nil
}

// Counter hands out numbers of 1 ..= 2^63−1: each once, ever, to whichever process asks. A launchlog.Counter is one.
type Counter interface {
	// Reserve takes n consecutive numbers, of which the first is at least floor, and returns the first. Numbers whose fate is
	// unknown, because an answer was lost, must not be returned again.
	Reserve(ctx context.Context, floor, n int64) (first int64, err error)
}

// A ReadCounter is a [Counter] that tells where it stands. A launchlog.Counter is one.
type ReadCounter interface {
	Counter
	// Last returns the highest number that was handed out, or 0.
	Last(ctx context.Context) (int64, error)
}

// Ceiling is a number whose times are kept in a counter of its own: 1 s for [Trace], 4 ms for [Sno],
// 1 ms for [Short] and [EightByte]. The counter holds the latest of them, since 1970, that the
// generator may stamp. It is raised before those times are used, so an app that crashes, whose clock
// was set back, or that runs twice with the same number repeats nothing: windows of a counter never
// overlap. (What [Trace] says of its timestamps remains.)
//
// The counter is ahead of the generator's clock by length at most, which is rounded up to two units,
// and by length more for each answer of the counter that was lost. While IDs are minted it is raised
// about every two thirds of that. Three seconds are a good choice. Make a Ceiling per generator.
//
// A start that finds the counter ahead waits until its clock has passed it, and does not raise it: so
// the first ID comes after length at most, however often an app was killed while it started.
// [Options].MaxWait is not to be shorter. Where the counter is further ahead, because a clock once was,
// calls fail with [ErrClockBehind] until the clock has come closer. Where it goes on rising while a
// start waits, another generator uses it. Then both go on by turns, and the counter is ahead by length
// for each of them.
func Ceiling[N any](number N, counter ReadCounter, length time.Duration) Windows[N] {
	return &ceiling[N]{number: number, counter: counter, length: length}
}

type ceiling[N any] struct {
	number  N
	counter ReadCounter
	length  time.Duration

	mu    sync.Mutex // guards what follows; not held while the counter is asked
	end   int64      // of the last window: the unit after it
	doubt bool       // a window may have been reserved that nobody has
	ahead int64      // where the counter stood when it was waited for; or 0
}

func (c *ceiling[N]) NextWindow(ctx context.Context, now time.Time, unit time.Duration) (Window[N], error) {
	if isNil(c.counter) { // in windows that wrap these
		return Window[N]{}, noSource("counter")
	}
	most := max(int64((c.length+unit-1)/unit), 2)
	floor := max(now.UnixNano()/int64(unit), 1)
	at := func(units int64) time.Time { return time.Unix(0, 0).Add(time.Duration(units) * unit) }

	c.mu.Lock()
	end, doubt, ahead := c.end, c.doubt, c.ahead
	c.mu.Unlock()
	if floor >= end || doubt {
		last, err := c.counter.Last(ctx)
		if err != nil {
			return Window[N]{}, err
		}
		// Beyond what it has waited for, somebody else has raised the counter.
		if last >= floor && last+1 != end && (ahead == 0 || last <= ahead) {
			c.mu.Lock()
			c.ahead = last
			c.mu.Unlock()
			return Window[N]{}, &NotBeforeError{at(last + 1)}
		}
	}
	n := most
	if floor < end {
		n = min(max(floor+most-end, 1), most)
	}
	first, err := c.counter.Reserve(ctx, floor, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = 0
	if c.doubt = err != nil; c.doubt {
		return Window[N]{}, err
	}
	c.end = first + n
	return Window[N]{Number: c.number, From: at(first), To: at(first + n)}, nil
}
