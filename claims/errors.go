package claims

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// An OptionError is returned by constructors for an invalid setting, and by a source whose
// generator is of another scheme. Methods of a [Pool] return it for input that they reject, and for
// a number that cannot be freed.
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

// A LentError says that all numbers of the pool, or of the part that may be used, are lent. With a
// Number, it says that the number with the source's holder is lent, because a restart takes no
// other number.
type LentError struct {
	Scheme  idtype.Scheme
	Numbers int    // usable numbers
	Number  string // with the source's holder; empty if all are lent
	Holder  string // if there is a Number
	// Until is when the first of these numbers is free, unless its holder renews it. It is zero if
	// none will be free.
	Until time.Time
	// Quiet is [Options].Quiet, for which a number rests after its last use.
	Quiet time.Duration
}

func (e *LentError) Error() string {
	if e.Number != "" {
		return fmt.Sprintf("claims: number %s for %s IDs is lent to %.80q, this holder's name, "+
			"until %s", e.Number, e.Scheme, e.Holder, e.Until.UTC().Format(time.RFC3339Nano))
	}
	if e.Until.IsZero() {
		return fmt.Sprintf("claims: no number for %s IDs is free: all %d are lent forever",
			e.Scheme, e.Numbers)
	}
	return fmt.Sprintf("claims: no number for %s IDs is free: all %d are lent, the first until %s "+
		"unless its holder renews it. A number is free %v after its last use (Quiet), or at once "+
		"for a generator with the same Holder",
		e.Scheme, e.Numbers, e.Until.UTC().Format(time.RFC3339Nano), e.Quiet)
}

// A ClockError says that this clock is ahead of the store's by more than [Options].MaxAhead. A
// number taken now would be locked until the true time reaches it. If Store is zero, the clock is
// beyond the last time that IDs of the scheme can carry.
type ClockError struct {
	Scheme     idtype.Scheme
	Now, Store time.Time
	Most       time.Duration
}

func (e *ClockError) Error() string {
	if e.Store.IsZero() {
		return fmt.Sprintf("claims: this clock is beyond the last time of %s IDs: "+
			"no number is taken", e.Scheme)
	}
	return fmt.Sprintf("claims: this clock is ahead of the store's by %v, "+
		"more than MaxAhead (%v): no number for %s IDs is taken", e.Now.Sub(e.Store).Round(time.Millisecond), e.Most,
		e.Scheme)
}
