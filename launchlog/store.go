package launchlog

import (
	"context"
	"fmt"
	"time"
)

// Store keeps the rows of launch logs. It is implemented once per database, and knows nothing of
// retries, hashes or warnings. Each method is one atomic step, carried out wholly or not at all. A
// [Log] may run it again after an [AttemptError]. Package storetest says what a store must do.
//
// Methods obey their context, also where the database or its disk does not answer, and are safe for
// use by many goroutines and many processes. They return the context's error bare only where
// nothing was sent to the database, or what was sent is rolled back. Otherwise they return it in an
// [AttemptError] that is ambiguous. Their errors need no package's name in front: a [Log] puts its
// own there.
type Store interface {
	// StartLaunch returns ErrBehind if the namespace's last launch number is below
	// launch.KnownLaunch. Else it returns the launch that has the key of launch. If there is none,
	// it adds the launch and an event "started". Only Namespace, Request, RequestHash and Host of
	// launch are given: the store sets the other fields, and keeps KnownLaunch nowhere.
	//
	// The launch's number is [Digits.Next] of the last one. Where all digits are in use, it takes
	// them over from another launch: from the lowest above last − [Lap] that [Launch.Passes]. The number
	// is [Lap] higher than that one's, which ends as [HandedOn] if it runs. Once it has ended, its next
	// generator number is the first of the launch. Where there is none to take over from, the error is
	// ErrLaunchesExhausted.
	StartLaunch(ctx context.Context, launch Launch) (Launch, error)

	// EndLaunch ends a launch that is running, and adds an event "ended". A launch that has ended
	// is returned as it is. If there is none the error is ErrNotFound.
	EndLaunch(ctx context.Context, ref Ref, ending Ending) (Launch, error)

	// ClaimGenerator returns the claim with the token of claim if there is one, even if the launch
	// has ended since. Otherwise, as after a trim has removed it, it takes the next generator number of the launch and adds the
	// claim, or returns ErrNotFound, ErrEnded or ErrGeneratorsExhausted. Generator and ClaimedAt of
	// claim are zero: the store sets them.
	ClaimGenerator(ctx context.Context, claim Claim) (Claim, error)

	// AdvanceLaunches ends the launches that run, raises the namespace's last launch number to
	// target, and returns it. If the number changes, it adds an event
	// "advanced". If the namespace's last launch number is above target already, it ends and raises
	// nothing, and returns that number. A store that needs many commits first finishes an advance
	// that was cut off between them, whatever target is. Then finished is the number that it was
	// to, also beside an error. It is 0 where none was cut off.
	AdvanceLaunches(
		ctx context.Context, namespace string, target int, ending Ending,
	) (last, finished int, err error)

	// Digits returns those of the namespace, or AllDigits.
	Digits(ctx context.Context, namespace string) (Digits, error)

	// SetDigits sets the digits of the namespace where [Digits.Allow] allows it, and returns those
	// that it has afterwards.
	SetDigits(ctx context.Context, namespace string, digits Digits) (Digits, error)

	// Launch returns one launch, or ErrNotFound.
	Launch(ctx context.Context, ref Ref) (Launch, error)

	// Launches returns the launches that filter selects, the highest number first. Filter.Limit is
	// not zero.
	Launches(ctx context.Context, namespace string, filter Filter) ([]Launch, error)

	// Events returns the events of a launch, or of the namespace for launch 0, in the order in
	// which they were added.
	Events(ctx context.Context, ref Ref) ([]Event, error)

	// Claims returns up to limit claims of a launch, in ascending order of their generator numbers,
	// from number from on.
	Claims(ctx context.Context, ref Ref, from, limit int) ([]Claim, error)

	// TrimClaims removes the claims of a launch whose generator numbers are below the one given, which
	// is not above that of its newest claim. All else stays as it is: the launch, its events and its
	// next generator number. Run again, it removes what is left. A store that needs many commits begins
	// with the lowest numbers. Where a store's tables refuse to lose claims of the last 24 hours or the
	// newest one, the error is theirs.
	TrimClaims(ctx context.Context, ref Ref, below int) error

	// ReserveNumbers raises a counter's value to max(value, floor − 1) + n, and returns the first
	// of these last n numbers. Where that would pass 2^63−1 the error is ErrCounterExhausted. Floor
	// is not negative, and n is positive. There is no key: a reservation that is run again takes
	// other numbers.
	ReserveNumbers(ctx context.Context, ref CounterRef, floor, n int64) (first int64, err error)

	// AdvanceCounter raises the counter to target, which is positive, and adds an event
	// "counter-advanced" of the namespace. A counter that is already there stays as it is. It
	// returns the value that the counter has afterwards.
	AdvanceCounter(ctx context.Context, ref CounterRef, target int64, actor string) (int64, error)

	// RaiseCounter is a compare-and-swap. Where the counter's value is raise.From, 0 for a counter
	// that is not there, it sets value, note and holder. It returns the row that is there
	// afterwards, whoever made it, or the zero row if there is none. Run again after it has
	// succeeded, it finds another value and changes nothing. To is above From, which is not
	// negative. The methods above set a counter's note and holder to "".
	RaiseCounter(ctx context.Context, ref CounterRef, raise Raise) (CounterState, error)

	// Order counts a look at the register of order of a service, raises the register to
	// look.Reached where it is below, and returns its value and the number of looks. Its commit need
	// not wait for the disk: nothing depends on the register but the order of IDs. A [Log] does not
	// run it again. The error is ErrBehind where the claim of look is not there: see [Look.Kept].
	Order(ctx context.Context, look Look) (value, looks int64, err error)

	// LastNumber returns a counter's value, 0 if there is no such counter.
	LastNumber(ctx context.Context, ref CounterRef) (int64, error)

	// Counters returns up to limit counters whose names are beyond after, in the order of the
	// names' bytes.
	Counters(ctx context.Context, namespace, after string, limit int) ([]CounterState, error)

	// Now is the time by the store's clock, or zero for a store that has none. Times of rows have
	// no part in it.
	Now(ctx context.Context) (time.Time, error)
}

// Ref names a launch.
type Ref struct {
	Namespace string
	Launch    int
}

// CounterRef names a counter.
type CounterRef struct {
	Namespace string
	Name      string
}

// Look is a look at the register of order of a launch's service.
type Look struct {
	Ref
	Service   string
	Generator int    // that was taken last of the launch
	Token     string // of its claim; empty where none was taken
	Reached   int64
}

// Kept returns ErrBehind where a store has lost the claim of the look. It has another one of that
// number, or none, by its token, and the launch's next number is no higher. (A claim may be missing
// whose number counts as taken.)
func (l Look) Kept(token string, next int) error {
	if l.Token == "" || token == l.Token || token == "" && next > l.Generator {
		return nil
	}
	return fmt.Errorf("%w: generator number %d of launch %d is not the one that this process took",
		ErrBehind, l.Generator, l.Launch)
}
