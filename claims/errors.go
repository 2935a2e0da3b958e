package claims

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// An OptionError is returned by constructors for a setting that cannot be, and by a source that was
// given to a generator of another scheme. Methods of a [Pool] return it for input that they do not
// take, and for a number that cannot be freed.
type OptionError struct {
	Scheme idtype.Scheme // of a pool, or empty
	Option string        // its name, as in Options or in the parameters
	Value  string        // what was given
	Reason string
}

func (e *OptionError) Error() string {
	option := e.Option
	if e.Scheme != "" {
		option = string(e.Scheme) + ": " + option
	}
	return fmt.Sprintf("claims: %s %.80q %s", option, e.Value, e.Reason)
}

// A LentError says that all numbers of the pool, or of the part that may be used, are lent. It also
// says that the number is lent that names the source's holder: a restart takes no other.
type LentError struct {
	Scheme  idtype.Scheme
	Numbers int    // that may be used
	Number  string // that names the source's holder; or empty, where all are lent
	Holder  string // where there is a Number
	// Until is when the first of them is free, unless its holder renews it. It is zero where none
	// will be.
	Until time.Time
	// Quiet is the [Options].Quiet for which a number rests that no holder renews.
	Quiet time.Duration
}

func (e *LentError) Error() string {
	if e.Number != "" {
		return fmt.Sprintf("claims: number %s for %s IDs was lent to %.80q, this holder's name, "+
			"until %s", e.Number, e.Scheme, e.Holder, e.Until.UTC().Format(time.RFC3339Nano))
	}
	if e.Until.IsZero() {
		return fmt.Sprintf("claims: no number for %s IDs is free: %d of %[2]d are lent, for good",
			e.Scheme, e.Numbers)
	}
	return fmt.Sprintf("claims: no number for %s IDs is free: %d of %[2]d are lent, the first "+
		"until %s unless its holder renews it. A number is free %v after its last use (Quiet), and at "+
		"once for a generator of the same Holder",
		e.Scheme, e.Numbers, e.Until.UTC().Format(time.RFC3339Nano), e.Quiet)
}

// A ClockError says that this clock is ahead of the store's by more than [Options].MaxAhead. To
// take a number would lock it until the true time has come there. With a zero Store, the clock is
// beyond the last time that IDs of the scheme have.
type ClockError struct {
	Scheme     idtype.Scheme
	Now, Store time.Time
	Most       time.Duration
}

func (e *ClockError) Error() string {
	if e.Store.IsZero() {
		return fmt.Sprintf("claims: this clock is beyond the last time of %s IDs: no number is taken",
			e.Scheme)
	}
	return fmt.Sprintf("claims: this clock is ahead of the store's by %v, more than %v: "+
		"no number for %s IDs is taken", e.Now.Sub(e.Store).Round(time.Millisecond), e.Most,
		e.Scheme)
}
