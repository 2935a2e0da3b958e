package launchlog

import (
	"context"
	"fmt"
	"time"
)

// Store keeps the rows of launch logs. It is implemented once per database, without retries, hashes
// or warnings, which are the work of a [Log]. Each method is one atomic step, carried out
// completely or not at all. A [Log] may run it again after an [AttemptError]. Package storetest
// tests what a store must do.
//
// Methods obey their context, even if the database or its disk does not answer, and are safe for
// use by many goroutines and many processes. They return the context's error unwrapped only if
// nothing was sent to the database, or if what was sent is rolled back. Otherwise they return it in
// an ambiguous [AttemptError]. Their errors do not begin with a package's name, because a [Log]
// adds its own.
type Store interface {
	// StartLaunch returns ErrBehind if the namespace's last launch number is below
	// launch.KnownLaunch. Otherwise it returns the launch that has the key of launch. If there is
	// none, it adds the launch and an event "started". Of launch, only Namespace, Request,
	// RequestHash and Host are set. The store sets the other fields, and does not store
	// KnownLaunch.
	//
	// The launch's number is [Digits.Next] of the last one. If all digits are in use, the launch
	// takes over the digits of the lowest launch above last − [Lap] that [Launch.Passes]. Its
	// number is that launch's number plus [Lap]. The other launch ends as [HandedOn] if it is
	// running, and its next generator number after that is the first of the new launch. If no
	// launch can pass its digits on, the error is ErrLaunchesExhausted.
	StartLaunch(ctx context.Context, launch Launch) (Launch, error)

	// EndLaunch ends a running launch, and adds an event "ended". A launch that has already ended
	// is returned as it is. If there is no such launch, the error is ErrNotFound.
	EndLaunch(ctx context.Context, ref Ref, ending Ending) (Launch, error)

	// ClaimGenerator returns the claim with the token of claim if there is one, even if the launch
	// has ended since. Otherwise, for example after a trim has removed it, ClaimGenerator takes the
	// next generator number of the launch and adds the claim, or returns ErrNotFound, ErrEnded or
	// ErrGeneratorsExhausted. Generator and ClaimedAt of claim are zero: the store sets them.
	ClaimGenerator(ctx context.Context, claim Claim) (Claim, error)

	// AdvanceLaunches ends the running launches, raises the namespace's last launch number to
	// target, and returns it. If the number changes, it adds an event "advanced". If the
	// namespace's last launch number is already above target, AdvanceLaunches changes nothing and
	// returns that number. A store that needs many commits first completes an advance that was cut
	// off between them, whatever target is. Finished is then the number of that advance, also if
	// there is an error. Otherwise finished is 0.
	AdvanceLaunches(
		ctx context.Context, namespace string, target int, ending Ending,
	) (last, finished int, err error)

	// Digits returns the digits of the namespace, or AllDigits.
	Digits(ctx context.Context, namespace string) (Digits, error)

	// SetDigits sets the digits of the namespace if [Digits.Allow] permits it, and returns the
	// digits that the namespace has afterwards.
	SetDigits(ctx context.Context, namespace string, digits Digits) (Digits, error)

	// Launch returns one launch, or ErrNotFound.
	Launch(ctx context.Context, ref Ref) (Launch, error)

	// Launches returns the launches that filter selects, the highest number first. Filter.Limit is
	// not zero.
	Launches(ctx context.Context, namespace string, filter Filter) ([]Launch, error)

	// Events returns the events of a launch, or of the namespace for launch 0, in the order in
	// which they were added.
	Events(ctx context.Context, ref Ref) ([]Event, error)

	// Claims returns up to limit claims of a launch, beginning at generator number from, in
	// ascending order of their generator numbers.
	Claims(ctx context.Context, ref Ref, from, limit int) ([]Claim, error)

	// TrimClaims removes the claims of a launch whose generator numbers are lower than below, which
	// is at most the number of its newest claim. The launch, its events and its next generator
	// number stay as they are. A repeated call removes what is left. A store that needs many
	// commits begins with the lowest numbers. If the store's tables refuse to lose claims of the
	// last 24 hours or the newest claim, TrimClaims returns their error.
	TrimClaims(ctx context.Context, ref Ref, below int) error

	// ReserveNumbers raises a log counter's value to max(value, floor − 1) + n, and returns the
	// first of these last n numbers. If that would exceed 2^63−1, the error is ErrCounterExhausted.
	// Floor is not negative, and n is positive. There is no key: a reservation that is repeated
	// takes other numbers.
	ReserveNumbers(ctx context.Context, ref CounterRef, floor, n int64) (first int64, err error)

	// AdvanceCounter raises the log counter to target, which is positive, and adds an event
	// "counter-advanced" to the namespace. A log counter that has reached target stays as it is.
	// AdvanceCounter returns the value that the log counter has afterwards.
	AdvanceCounter(ctx context.Context, ref CounterRef, target int64, actor string) (int64, error)

	// RaiseCounter is a compare-and-swap. If the log counter's value is raise.From, with 0 for one
	// that does not exist, it sets value, note and holder. It returns the row as it is afterwards,
	// regardless of which operation made it, or the zero row if there is none. A repeated call
	// after a success finds another value and changes nothing. To is above From, which is not
	// negative. The methods above set a log counter's note and holder to "".
	RaiseCounter(ctx context.Context, ref CounterRef, raise Raise) (CounterState, error)

	// Order counts a read of a service's order register, raises the register to look.Reached if it
	// is below, and returns its value and the number of reads. Its commit need not wait for the
	// disk, because only the order of IDs depends on the register. A [Log] does not retry it. The
	// error is ErrBehind if the claim of look is missing: see [Look.Kept].
	Order(ctx context.Context, look Look) (value, looks int64, err error)

	// LastNumber returns a log counter's value, or 0 if there is no such log counter.
	LastNumber(ctx context.Context, ref CounterRef) (int64, error)

	// Counters returns up to limit log counters whose names follow after, in the byte order of the
	// names.
	Counters(ctx context.Context, namespace, after string, limit int) ([]CounterState, error)

	// Now returns the time of the store's clock, or zero for a store that has no clock. It does not
	// depend on the times of rows.
	Now(ctx context.Context) (time.Time, error)
}

// Ref names a launch.
type Ref struct {
	Namespace string
	Launch    int
}

// CounterRef names a log counter.
type CounterRef struct {
	Namespace string
	Name      string
}

// Look is a read of the order register of a launch's service.
type Look struct {
	Ref
	Service   string
	Generator int    // the last one taken of the launch
	Token     string // of its claim; empty if none was taken
	Reached   int64
}

// Kept returns ErrBehind if the store has lost the claim of the look. Token is the token of the
// store's claim with the look's number, or "" if there is none. Next is the launch's next number.
// The claim is lost if another has its number, or if there is none and next is not above it. (A
// claim may be missing although its number counts as taken.)
func (l Look) Kept(token string, next int) error {
	if l.Token == "" || token == l.Token || token == "" && next > l.Generator {
		return nil
	}
	return fmt.Errorf("%w: generator number %d of launch %d is not the one that this process took",
		ErrBehind, l.Generator, l.Launch)
}
