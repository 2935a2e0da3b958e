package generator

import (
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

var (
	// ErrRepeated is wrapped by the [NumberError] of a generator whose source handed out a
	// generator number, a window of time or a range of a counter twice. A store does so after it
	// was replaced by an older copy. Other generators may be given the numbers that this one has,
	// so it stops minting and does not ask its source again. An error of the source has the same
	// effect if it has a method Lost() bool that returns true, as launchlog.ErrBehind and
	// launchlog.ErrOtherLog have.
	ErrRepeated = errors.New("the source has lost numbers that it handed out: " +
		"after a restore, stop all apps, and follow docs/operate/restore.md " +
		"before you start any of them again")

	// ErrClockBehind is wrapped by the [ClockError] of a call whose clock is so far behind that the
	// call would have to wait longer than MaxWait.
	ErrClockBehind = errors.New("the clock is behind the IDs minted so far, " +
		"or behind their counter")

	// ErrClockStopped is wrapped by the [ClockError] of a call whose clock does not move.
	ErrClockStopped = errors.New("the clock does not move")

	// ErrMaxWait is wrapped by the [ClockError] of a call that would have to wait longer than
	// MaxWait. Either too many calls wait before it, or its source has no earlier times left, as
	// after idmint advance.
	ErrMaxWait = errors.New("the wait would be longer than MaxWait: too many calls are waiting, " +
		"or the times until then count as used (docs/operate/restore.md)")

	// errNoSource is the error of a generator that was not created by a constructor, such as a zero
	// value, or that was created without a source.
	errNoSource = errors.New("no number source: create the generator with a constructor")
)

// A repeated is an error by which a source itself reports that it has lost numbers.
type repeated struct{ error }

func (e *repeated) Unwrap() []error { return []error{ErrRepeated, e.error} }

// asRepeated wraps such an error in ErrRepeated, and returns others unchanged.
func asRepeated(err error) error {
	var e interface{ Lost() bool }
	if errors.As(err, &e) && e.Lost() {
		return &repeated{err}
	}
	return err
}

// errNotMade is returned by generators that have no source and whose scheme is unknown.
var errNotMade = &NumberError{Err: errNoSource}

// A NotBeforeError is returned by a [Windows] that has no window before a certain unit of time. The
// generator waits until then, if its MaxWait allows, and asks again.
type NotBeforeError struct {
	From int64 // a number of units since 1970
	Unit time.Duration
	// Err is the reason, or nil. The [ClockError] of a call that does not wait that long wraps it.
	Err error
}

func (e *NotBeforeError) Error() string {
	from := time.Unix(0, 0).Add(time.Duration(e.From) * e.Unit)
	text := "there is no window before " + from.UTC().Format(time.RFC3339Nano)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the reason.
func (e *NotBeforeError) Unwrap() error { return e.Err }

// A notBefore is the error of a call that does not wait as long as its source of windows demands.
type notBefore struct{ err, why error }

func (e *notBefore) Error() string   { return e.why.Error() }
func (e *notBefore) Unwrap() []error { return []error{e.err, e.why} }

// A NumberError is returned if a generator could not get numbers from its source, because the
// database is unavailable, the launch has ended, or the numbers are used up. No IDs are lost, and
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

// A ClockError is returned by a call that would have to wait for the clock and does not, or gives
// up waiting. No IDs are lost.
type ClockError struct {
	Scheme idtype.Scheme
	Now    time.Time // the time by the generator's clock
	Until  time.Time // the time that the clock must reach
	Err    error     // ErrClockBehind, ErrClockStopped, ErrMaxWait, or the context's
}

func (e *ClockError) Error() string {
	return fmt.Sprintf("generator: %s: waiting at %s for %s: %v", e.Scheme,
		e.Now.UTC().Format(errorTime), e.Until.UTC().Format(errorTime), e.Err)
}

const errorTime = "2006-01-02T15:04:05.000Z"

func (e *ClockError) Unwrap() error { return e.Err }

// An OptionError is returned by constructors for an invalid setting, and by [BackdatedSno.At] for a
// time whose sequence numbers are used up.
type OptionError struct {
	Option string // its name, as in Options or in the constructor's parameters
	Value  string // what was given
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("generator: %s %s %s", e.Option, e.Value, e.Reason)
}

// noSource is the error for a parameter that is nil.
func noSource(parameter string) *OptionError {
	return &OptionError{parameter, "nil", "is not a source: pass one that is not nil"}
}
