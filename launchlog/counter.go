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

// The patterns are compiled on first use, so that programs which import the package start sooner.
var (
	counterPattern = sync.OnceValue(func() *regexp.Regexp { // of up to 128 bytes
		return regexp.MustCompile(`^[a-z0-9][a-z0-9._/-]*$`)
	})
	notePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[!-~]{26,128}$`)
	})
)

// Counter is a log counter. It hands out the numbers 1 ..= 2^63−1 under a name, each exactly once,
// to any process that asks. Its value is the last number handed out, initially 0, and only rises.
// It implements the generator.Counter of package generator, and is safe for concurrent use.
type Counter struct {
	log *Log
	ref CounterRef
}

// CounterState is the row of a log counter that has handed out numbers.
type CounterState struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Value     int64     `json:"value,string"` // the last number handed out
	UpdatedAt time.Time `json:"updated_at"`   // see Times in the package's documentation
	// Note and Holder come from the Raise that set the value. They are empty if another operation
	// set it.
	Note   string `json:"note,omitempty"`
	Holder string `json:"holder,omitempty"`
}

// Raise is a compare-and-swap of a log counter.
type Raise struct {
	From int64 // the value that the counter must have; 0 for a counter that does not exist yet
	To   int64 // the new value, above From
	// Note identifies the operation, and no other. It begins with the result of [NewNote], and has
	// up to 128 printable ASCII characters. A rerun of the same operation has the same note.
	Note string
	// Holder is for people, and for callers that need to recognize their own rows: up to 255
	// characters.
	Holder string
}

// Done reports whether row is the result of this operation.
func (r Raise) Done(row CounterState) bool { return row.Value == r.To && row.Note == r.Note }

// NewNote returns 128 random bits as text, with which the note of a [Raise] begins.
func NewNote() string { return rand.Text() }

// Counter returns the namespace's log counter with the given name. A name has up to 128 lower-case
// letters, digits, dots, dashes, underscores and slashes, and begins with a letter or digit. A log
// counter does not need to be created, and this method does not ask the store. The error is a
// [*RequestError].
//
// Some names belong to idmint's own log counters, such as short, sno/7 and sno/floor:
// docs/operate/launch-log.md lists them. A sequence with such a name may repeat numbers after a
// restore, because idmint advance does not recognize it as a sequence.
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

// Counters returns up to limit log counters that have handed out numbers, in the byte order of
// their names. They begin after the name after, or at the first if that is empty; for the next
// page, pass the last name of this one. A limit of 0 means 100.
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

// Name returns the log counter's name within its namespace.
func (c *Counter) Name() string {
	if c == nil {
		return ""
	}
	return c.ref.Name
}

// Trouble returns [Log.Trouble] of the log counter's log.
func (c *Counter) Trouble() error {
	if c == nil {
		return nil
	}
	return c.log.Trouble()
}

// Reserve takes n consecutive numbers and returns the first: the number after the log counter's
// value, or floor if that is higher. None of them was handed out before, and none will be again.
// Numbers between the value and floor are not handed out either, so a floor close to 2^63−1 uses up
// the log counter. If an answer was lost, Reserve leaves its numbers unused and takes others,
// because a gap is safe and a repeat is not.
//
// Errors: [*RequestError]; [ErrCounterExhausted], which leaves the log counter unchanged;
// [*UnresolvedError]; or the store's own.
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

// Raise sets the log counter's value, note and holder if its value is r.From. It returns the row as
// it is afterwards, which is zero if the log counter does not exist. [Raise.Done] reports whether
// the operation made that row, in this call or an earlier one. If it did not, another operation
// came before or after it, and this one will not be carried out any more. The exception is a row
// below r.From: then the store has lost numbers, and nothing is known. If the log was given higher
// numbers before, the error is [ErrBehind].
//
// If an answer was lost for good, the error is an [*UnresolvedError] that is uncertain. Call Raise
// again with the same r until the result is known. Until then, neither use the numbers up to r.To
// nor give them up, because a late operation may yet be carried out. Other errors: [*RequestError],
// or the store's own.
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
			last := int64(0) // only what is certain: others' rows may not be on disk yet
			if r.Done(row) {
				last = row.Value
			}
			err = c.log.memory.took(Usage{Counter: name}, known, row.Value, last)
		}
		return row, err
	})
	return row, about("counter "+name, err)
}

// Validate returns a [*RequestError] for a raise that [Counter.Raise] would reject.
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

// Last returns the log counter's value: the last number handed out, or 0.
func (c *Counter) Last(ctx context.Context) (int64, error) {
	if c == nil {
		return 0, errNotMade
	}
	last, err := attempt(ctx, c.log, "last", c.ref.Name, func(ctx context.Context) (int64, error) {
		return c.log.store.LastNumber(ctx, c.ref)
	})
	return last, about("counter "+c.ref.Name, err)
}

// Advance raises the log counter to target, so that the numbers up to target count as handed out.
// It is for an operator whose store was restored from a backup, or failed over to a copy without
// the newest rows, and would hand out numbers again. Choose a target beyond every number that was
// ever used. Advance adds the event "counter-advanced" to the namespace, in the name of actor, or
// of the log's host if actor is empty. A log counter that has reached target stays as it is,
// without an event. Advance returns the value that the log counter has afterwards. Errors:
// [*RequestError], [*UnresolvedError], or the store's own.
func (c *Counter) Advance(ctx context.Context, target int64, actor string) (int64, error) {
	if c == nil {
		return 0, errNotMade
	}
	if target < 1 {
		return 0, &RequestError{
			"to", strconv.FormatInt(target, 10), "must be positive",
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
