package generator

import (
	"context"
	"math"
	"time"
)

// A Window is the right to mint. Number makes a generator's IDs its own. From is the first unit
// of time that it may stamp, and To the one after the last. No other window with the number
// overlaps it, in whatever process, ever.
//
// Units are counted from 1970, as a counter counts them. They are those of the IDs: seconds, for
// example, for [Trace].
type Window[N any] struct {
	Number   N
	From, To int64 // To is math.MaxInt64 for a window without an end
}

// Windows hands out windows. A generator asks for the next one in the background when half of a
// window has passed.
//
//	[Given]        the number stands in a configuration, and nobody else has it
//	[Ceiling]      so it does, and a counter in a database remembers how far its times were used
//
// A claim store, which lends numbers to whoever runs, implements it. The window is then the fence
// that a lease alone is not.
type Windows[N any] interface {
	// NextWindow returns a window that contains now, or else the earliest later one that can be
	// had. now is a number of units since 1970. A window whose fate is unknown, because an answer
	// was lost, must not be returned again. Where there is no window yet, a [*NotBeforeError]
	// says when to ask again.
	NextWindow(ctx context.Context, now int64, unit time.Duration) (Window[N], error)
}

// Given is a number that its user vouches for: no other generator has it, at any time that this
// one stamps. A generator begins at the unit of time after the one in which it is made. So an app
// that is restarted at once repeats nothing. It does not survive a clock that was set back
// meanwhile, or before and has not caught up yet. A [Snapshot] survives that, and [Ceiling] a
// crash as well.
func Given[N any](number N) Windows[N] { return given[N]{number} }

type given[N any] struct{ number N }

func (g given[N]) NextWindow(_ context.Context, now int64, _ time.Duration) (Window[N], error) {
	return Window[N]{Number: g.number, From: now + 1, To: math.MaxInt64}, nil
}
