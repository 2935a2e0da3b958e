package generator

import (
	"context"
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
	// lost, must not be returned again.
	NextWindow(ctx context.Context, now time.Time, unit time.Duration) (Window[N], error)
}

// Given is a number that its user vouches for: no other generator has it, at any time that this one stamps. A generator begins
// at the unit of time after the one in which it is made, so an app that is restarted at once repeats nothing; what it does
// not survive is a clock that was set back meanwhile, or before and has not caught up yet. A [Snapshot] survives that, and [Ceiling] survives a crash as well.
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

// Ceiling is a number whose times are kept in a counter of its own: it stands at the unit of time since 1970 up to which they may have
// been used, always ahead of the generator: 1 s for [Trace], 4 ms for [Sno], 1 ms for [Short] and [EightByte]. An app that crashes, whose
// clock was set back or that runs twice with the same number repeats nothing: windows of a counter never overlap. After a crash the first
// ID waits for the end of the last window, so length, rounded up to two units, is how long that takes at most, and Options.MaxWait is not
// to be shorter. While IDs are minted the counter is moved twice in that time. Three seconds are a good choice.
func Ceiling[N any](number N, counter Counter, length time.Duration) Windows[N] {
	return ceiling[N]{number, counter, length}
}

type ceiling[N any] struct {
	number  N
	counter Counter
	length  time.Duration
}

func (c ceiling[N]) NextWindow(ctx context.Context, now time.Time, unit time.Duration) (Window[N], error) {
	if c.counter == nil { // in windows that wrap these
		return Window[N]{}, noSource("counter")
	}
	n := max(int64((c.length+unit-1)/unit), 2)
	floor := now.UnixNano() / int64(unit)
	first, err := c.counter.Reserve(ctx, max(floor, 1), n)
	if err != nil {
		return Window[N]{}, err
	}
	at := func(units int64) time.Time { return time.Unix(0, 0).Add(time.Duration(units) * unit) }
	return Window[N]{Number: c.number, From: at(first), To: at(first + n)}, nil
}
