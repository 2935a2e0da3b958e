package launchlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Patterns are compiled when they are first asked: programs that import the package start sooner.
var (
	counterPattern = sync.OnceValue(func() *regexp.Regexp { // of up to 128 bytes
		return regexp.MustCompile(`^[a-z0-9][a-z0-9._/-]*$`)
	})
	notePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[!-~]{26,128}$`)
	})
)

// Counter hands out the numbers 1 ..= 2^63−1 under a name, each once, ever, to whichever process
// asks. Its value is the last number handed out, 0 in the beginning, and only rises. It is the
// generator.Counter of package generator, and safe for use by many goroutines.
type Counter struct {
	log *Log
	ref CounterRef
}

// CounterState is the row of a counter that has handed out numbers.
type CounterState struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Value     int64     `json:"value,string"` // the last number handed out
	UpdatedAt time.Time `json:"updated_at"`   // see Times in the package's documentation
	// Note and Holder are those of the Raise that set the value. They are empty where another
	// operation did.
	Note   string `json:"note,omitempty"`
	Holder string `json:"holder,omitempty"`
}

// Raise is a compare-and-swap of a counter.
type Raise struct {
	From int64 // the value that the counter must have; 0 for a counter that is not there
	To   int64 // the new value, above From
	// Note names the operation, and no other one. It begins with what [NewNote] returns. A rerun
	// of the same operation has the same note. It has up to 128 printable ASCII characters.
	Note string
	// Holder is for people, and for who wants to know its own rows: up to 255 characters.
	Holder string
}

// Done reports whether row is what the operation has made of the counter.
func (r Raise) Done(row CounterState) bool { return row.Value == r.To && row.Note == r.Note }

// NewNote returns 128 random bits as text: the beginning of a [Raise]'s note.
func NewNote() string { return rand.Text() }

// Counter returns the namespace's counter of that name. The name has up to 128 lower-case letters,
// digits, dots, dashes, underscores and slashes; the first is a letter or digit. There is nothing
// to create, and the store is not asked. The error is a [*RequestError].
//
// Some names are those of idmint's own counters, such as short, sno/7 and sno/floor:
// docs/operate/launch-log.md lists them. A sequence of such a name may repeat after a
// restore, because idmint advance takes it for something else.
func (l *Log) Counter(name string) (*Counter, error) {
	if l == nil {
		return nil, errNotMade
	}
	if len(name) > 128 || !counterPattern().MatchString(name) {
		return nil, &RequestError{
			"counter", name, "is not a name of up to 128 lower-case letters, digits, dots, " +
				"dashes, underscores and slashes",
		}
	}
	return &Counter{l, CounterRef{l.opts.Namespace, name}}, nil
}

// Counters returns up to limit counters that have handed out numbers, in the order of their names'
// bytes. They begin behind the name after: for the next page, give the last name of this one. Empty
// begins at the first. Limit 0 is 100.
func (l *Log) Counters(ctx context.Context, after string, limit int) ([]CounterState, error) {
	if limit < 0 {
		return nil, &RequestError{"limit", strconv.Itoa(limit), "is negative"}
	}
	if limit == 0 {
		limit = defaultLimit
	}
	found, err := pages(limit, func(limit int, last *CounterState) ([]CounterState, error) {
		if last != nil {
			after = last.Name
		}
		return attempt(ctx, l, "counters", "", func(ctx context.Context) ([]CounterState, error) {
			return l.store.Counters(ctx, l.opts.Namespace, after, limit)
		})
	})
	return found, about(l.namespace(), err)
}

// Name returns the counter's name within its namespace.
func (c *Counter) Name() string {
	if c == nil {
		return ""
	}
	return c.ref.Name
}

// Trouble is that of the counter's [Log].
func (c *Counter) Trouble() error {
	if c == nil {
		return nil
	}
	return c.log.Trouble()
}

// Reserve takes n consecutive numbers and returns the first: the one after the counter's value, or
// floor if that is higher. None of them was handed out before, and none will be again. Numbers that
// were passed over on the way to floor are not handed out either, so a floor close to 2^63−1 uses
// up the counter. Where an answer was lost, Reserve leaves its numbers unused and takes others: a
// gap is safe, a repeat is not.
//
// Errors: [*RequestError]; [ErrCounterExhausted], and the counter stays as it was;
// [*UnresolvedError]; or what the store says.
func (c *Counter) Reserve(ctx context.Context, floor, n int64) (first int64, err error) {
	switch {
	case c == nil:
		return 0, errNotMade
	case floor < 0:
		return 0, &RequestError{"floor", strconv.FormatInt(floor, 10), "is negative"}
	case n < 1:
		return 0, &RequestError{"n", strconv.FormatInt(n, 10), "is not positive"}
	case floor > math.MaxInt64-n+1:
		return 0, &RequestError{
			"floor", strconv.FormatInt(floor, 10),
			fmt.Sprintf("leaves fewer than %d numbers up to 2^63−1", n),
		}
	}
	name := c.ref.Name
	known, err := c.log.before(Usage{Counter: name})
	if err != nil {
		return 0, err
	}
	first, err = attempt(ctx, c.log, "reserve", name, func(ctx context.Context) (int64, error) {
		first, err := c.log.store.ReserveNumbers(ctx, c.ref, floor, n)
		if err == nil {
			err = c.log.memory.took(Usage{Counter: name}, known, first-1, first+n-1)
		}
		return first, err
	})
	if lost := (*UnresolvedError)(nil); errors.As(err, &lost) && lost.Cause == nil {
		// The error is final: the numbers of the lost answer stay unused, so nothing is in doubt.
		err = lost.Err
	}
	if err != nil {
		return 0, about("counter "+name, err)
	}
	used := first + n - 1
	c.log.taken(Usage{Counter: name, Used: used, Max: math.MaxInt64}, used-known)
	return first, nil
}

// Raise sets the counter's value, note and holder where the value is r.From. It returns the row
// that is there afterwards, which is zero where there is no counter. [Raise.Done] tells whether the
// operation made that row, in this call or an earlier one. Otherwise another operation came before
// it or after it, and it will not be carried out any more. Only a row below r.From says that the
// store has lost numbers: then nothing is known. Where the log was given more before, the error is
// [ErrBehind].
//
// Where an answer was lost for good, the error is an [*UnresolvedError] that is uncertain. Then
// call Raise with the same r again, until it is known. Before that, what the numbers up to r.To are
// for must not be used, nor given up: a late operation may yet be carried out. Other errors:
// [*RequestError], or what the store says.
func (c *Counter) Raise(ctx context.Context, r Raise) (CounterState, error) {
	if c == nil {
		return CounterState{}, errNotMade
	}
	if err := r.Validate(); err != nil {
		return CounterState{}, err
	}
	name := c.ref.Name
	known, err := c.log.before(Usage{Counter: name})
	if err != nil {
		return CounterState{}, err
	}
	row, err := attempt(ctx, c.log, "raise", name, func(ctx context.Context) (CounterState, error) {
		row, err := c.log.store.RaiseCounter(ctx, c.ref, r)
		if err == nil {
			last := int64(0) // known for certain: not those of others, which may not be on disk yet
			if r.Done(row) {
				last = row.Value
			}
			err = c.log.memory.took(Usage{Counter: name}, known, row.Value, last)
		}
		return row, err
	})
	return row, about("counter "+name, err)
}

// Validate returns a [*RequestError] for a raise that [Counter.Raise] refuses.
func (r Raise) Validate() error {
	switch {
	case r.From < 0:
		return &RequestError{"from", strconv.FormatInt(r.From, 10), "is negative"}
	case r.To <= r.From:
		return &RequestError{
			"to", strconv.FormatInt(r.To, 10), fmt.Sprintf("is not above from, %d", r.From),
		}
	case !notePattern().MatchString(r.Note):
		return &RequestError{
			"note", r.Note, "is not of 26 to 128 printable ASCII characters, as NewNote makes it",
		}
	}
	return checkText("holder", r.Holder, 255)
}

// Last returns the counter's value: the last number handed out, or 0.
func (c *Counter) Last(ctx context.Context) (int64, error) {
	if c == nil {
		return 0, errNotMade
	}
	last, err := attempt(ctx, c.log, "last", c.ref.Name, func(ctx context.Context) (int64, error) {
		return c.log.store.LastNumber(ctx, c.ref)
	})
	return last, about("counter "+c.ref.Name, err)
}

// Advance raises the counter to target, so that the numbers up to target count as handed out. It is
// for an operator whose store was restored from a backup, or failed over to a copy without the
// newest rows. Such a store would hand out numbers again. Advance beyond every number that was ever
// used. An event of the namespace, "counter-advanced", names actor, which is the log's host if
// empty. A counter that is already there stays as it is, without an event. Advance returns the
// value that the counter has afterwards. Errors: [*RequestError], [*UnresolvedError], or what the
// store says.
func (c *Counter) Advance(ctx context.Context, target int64, actor string) (int64, error) {
	if c == nil {
		return 0, errNotMade
	}
	if target < 1 {
		return 0, &RequestError{
			"to", strconv.FormatInt(target, 10), "is no number of a counter",
		}
	}
	if actor == "" && c.log != nil {
		actor = c.log.opts.Host
	}
	if err := checkText("actor", actor, 255); err != nil {
		return 0, err
	}
	name := c.ref.Name
	now, err := attempt(ctx, c.log, "advance", name, func(ctx context.Context) (int64, error) {
		return c.log.store.AdvanceCounter(ctx, c.ref, target, actor)
	})
	return now, about("counter "+name, err)
}
