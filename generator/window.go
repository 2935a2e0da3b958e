package generator

import (
	"context"
	"math"
	"time"
)

// A Window is the right to mint. Number is what makes a generator's IDs unique. From is the first
// unit of time that the generator may stamp, and To is the first unit after the window. No other
// window with the same number ever overlaps it, in any process.
//
// Units are counted from 1970, as a counter counts them. They are the units of the IDs, such as
// seconds for [Trace].
type Window[N any] struct {
	Number   N
	From, To int64 // To is math.MaxInt64 for a window without an end
}

// Windows hands out windows. A generator requests the next one in the background when half of a
// window has passed.
//
//	[Given]        the number is configured, and no other generator has it
//	[Ceiling]      the same, and a counter in a database records which times were used
//
// A store of claims, which lends numbers to running generators, implements Windows as well. The
// window is then the fence that a lease alone does not provide.
type Windows[N any] interface {
	// NextWindow returns a window that contains now, or else the earliest later one available. now
	// is a number of units since 1970. A window whose fate is unknown, because an answer was lost,
	// must not be returned again. If there is no window yet, a [*NotBeforeError] says when to ask
	// again.
	NextWindow(ctx context.Context, now int64, unit time.Duration) (Window[N], error)
}

// Given returns a source for a number that the caller vouches for: no other generator has it at any
// time that this one stamps. A generator begins with the unit of time after the one in which it is
// created, so an app that is restarted at once repeats nothing. That does not hold if the clock was
// set back in between, or before that and has not caught up yet. A [Snapshot] covers that case, and
// a [Ceiling] covers crashes as well.
func Given[N any](number N) Windows[N] { return given[N]{number} }

type given[N any] struct{ number N }

func (g given[N]) NextWindow(_ context.Context, now int64, _ time.Duration) (Window[N], error) {
	return Window[N]{Number: g.number, From: now + 1, To: math.MaxInt64}, nil
}
