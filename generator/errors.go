package generator

import (
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

var (
	// ErrTestLaunch is returned by [NewDecimal] for launch 0, which is for tests only: see [NewTestDecimal].
	ErrTestLaunch = errors.New("launch 0 is for tests: NewTestDecimal makes such a generator")

	// ErrOtherLaunch is wrapped by the error of [NewDecimal] for numbers of another launch: their pairs belong to others.
	ErrOtherLaunch = errors.New("the generator numbers are of another launch")

	// ErrRepeated is wrapped by the [NumberError] for a source that handed a generator what it had handed it before: a
	// generator number, a window of time, or a range of a counter.
	ErrRepeated = errors.New("the source repeats itself")

	// ErrClockBehind is wrapped by the [ClockError] for a clock that is further behind than a call may wait for.
	ErrClockBehind = errors.New("the clock is behind the IDs minted so far")

	// ErrClockStopped is wrapped by the [ClockError] for a clock that does not move.
	ErrClockStopped = errors.New("the clock does not move")

	errNoNumbers = errors.New("the generator was made without a source of numbers")
)

// A NumberError is returned where a generator needs what its source hands out and could not get it: the database is away, the
// launch has ended, or the numbers are used up. Nothing is lost by it, and the next call asks again.
type NumberError struct {
	Scheme idtype.Scheme
	Launch int   // of a decimal generator
	Err    error // from the source, or a *idtype.RangeError for a number that does not fit the layout
}

func (e *NumberError) Error() string {
	if e.Scheme == idtype.SchemeDecimal {
		return fmt.Sprintf("generator: no generator number for launch %d: %v", e.Launch, e.Err)
	}
	return fmt.Sprintf("generator: no numbers for %s IDs: %v", e.Scheme, e.Err)
}

func (e *NumberError) Unwrap() error { return e.Err }

// A ClockError is returned where a call would have to wait for the clock and does not, or no longer. Nothing is lost by it.
type ClockError struct {
	Scheme idtype.Scheme
	Now    time.Time // what the clock says
	Until  time.Time // what it has to reach
	Err    error     // ErrClockBehind, ErrClockStopped, or the context's
}

func (e *ClockError) Error() string {
	const layout = "2006-01-02T15:04:05.000Z"
	return fmt.Sprintf("generator: %s: waiting at %s for %s: %v", e.Scheme, e.Now.UTC().Format(layout), e.Until.UTC().Format(layout), e.Err)
}

func (e *ClockError) Unwrap() error { return e.Err }

// An OptionError is returned by constructors for a setting that cannot be.
type OptionError struct {
	Option string // its name, as in Options or in the constructor's parameters
	Value  string // what was given
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("generator: %s %s %s", e.Option, e.Value, e.Reason)
}

// noSource is of a parameter that is nil.
func noSource(parameter string) *OptionError {
	return &OptionError{parameter, "nil", "is no source: a generator mints from what it is given"}
}
