package generator

import (
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

var (
	// ErrRepeated is wrapped by the [NumberError] for a source that repeats itself. It handed out
	// a generator number, a window of time or a range of a counter again, as a store does of which
	// an older copy was put in its place. Others may be given what this generator has. So it mints
	// nothing any more, and does not ask again. So it is where an error of the source has a method
	// Lost() bool that says so, as launchlog.ErrBehind and ErrOtherLog have.
	ErrRepeated = errors.New("the source has lost numbers that it handed out: " +
		"after a restore run idmint advance (docs/operate/restore.md), and then start this process again")

	// ErrClockBehind is wrapped by the [ClockError] for a clock that is further behind than a
	// call may wait for.
	ErrClockBehind = errors.New("the clock is behind the IDs minted so far, or behind their counter")

	// ErrClockStopped is wrapped by the [ClockError] for a clock that does not move.
	ErrClockStopped = errors.New("the clock does not move")

	// ErrMaxWait is wrapped by the [ClockError] for a call that would have to wait for longer than
	// MaxWait: too many calls wait before it, or the source has no times before, as after idmint
	// advance.
	ErrMaxWait = errors.New("this is further away than MaxWait: " +
		"too many calls wait, or the times before it count as used (docs/operate/restore.md)")

	// errNoSource is of a generator that no constructor made, such as a zero value, or that was made
	// without a source.
	errNoSource = errors.New("it has no source: a constructor makes it with one")
)

// A repeated is an error of a source that says itself that it has lost numbers.
type repeated struct{ error }

func (e *repeated) Unwrap() []error { return []error{ErrRepeated, e.error} }

// asRepeated makes an ErrRepeated of such an error, and leaves others as they are.
func asRepeated(err error) error {
	var e interface{ Lost() bool }
	if errors.As(err, &e) && e.Lost() {
		return &repeated{err}
	}
	return err
}

// errNotMade is what a generator without a source returns, whose scheme is not known.
var errNotMade = &NumberError{Err: errNoSource}

// A NotBeforeError is how a [Windows] says that it has no window before a unit of time. The
// generator waits until then, as long as its MaxWait allows, and asks again.
type NotBeforeError struct {
	From int64 // a number of units since 1970
	Unit time.Duration
	Err  error // why, or nil; a [ClockError] of a call that does not wait so long wraps it
}

func (e *NotBeforeError) Error() string {
	from := time.Unix(0, 0).Add(time.Duration(e.From) * e.Unit)
	text := "there is no window before " + from.UTC().Format(time.RFC3339Nano)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns why.
func (e *NotBeforeError) Unwrap() error { return e.Err }

// A notBefore is of a call that does not wait for what a source of windows said it has to wait for.
type notBefore struct{ err, why error }

func (e *notBefore) Error() string   { return e.why.Error() }
func (e *notBefore) Unwrap() []error { return []error{e.err, e.why} }

// A NumberError is returned where a generator could not get what its source hands out. The
// database is away, the launch has ended, or the numbers are used up. Nothing is lost by it, and
// the next call asks again.
type NumberError struct {
	Scheme idtype.Scheme // empty for a generator that no constructor made
	Err    error         // from the source, or a *idtype.RangeError for a number that does not fit
}

func (e *NumberError) Error() string {
	if e.Scheme == "" {
		return fmt.Sprintf("generator: %v", e.Err)
	}
	if e.Scheme == idtype.SchemeDecimal {
		return fmt.Sprintf("generator: no generator number: %v", e.Err)
	}
	return fmt.Sprintf("generator: no numbers for %s IDs: %v", e.Scheme, e.Err)
}

func (e *NumberError) Unwrap() error { return e.Err }

// A ClockError is returned where a call would have to wait for the clock and does not, or no
// longer. Nothing is lost by it.
type ClockError struct {
	Scheme idtype.Scheme
	Now    time.Time // what the clock says
	Until  time.Time // what it has to reach
	Err    error     // ErrClockBehind, ErrClockStopped, ErrMaxWait, or the context's
}

func (e *ClockError) Error() string {
	return fmt.Sprintf("generator: %s: waiting at %s for %s: %v", e.Scheme,
		e.Now.UTC().Format(errorTime), e.Until.UTC().Format(errorTime), e.Err)
}

const errorTime = "2006-01-02T15:04:05.000Z"

func (e *ClockError) Unwrap() error { return e.Err }

// An OptionError is returned by constructors for a setting that cannot be, and by
// [BackdatedSno.At] for a time whose sequence numbers are used up.
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
