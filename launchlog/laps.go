package launchlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

const (
	// Lap is the distance between consecutive launches that have the same digits. No launch has the
	// digits 0, which are for tests.
	Lap = 100_000
	// MaxLaunch is the largest launch number; the smallest is 1.
	MaxLaunch = 1<<31 - 1
	// MaxGenerators is how many generator numbers the digits of a launch have: 0 ..= 99999.
	MaxGenerators = 100_000
)

// Digits is the range of digits that a namespace gives its launches: First ..= Last. Logs whose IDs
// share a key space, for example the logs of several regions, need ranges that do not overlap.
type Digits struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// AllDigits is the range of a namespace for which none was set.
var AllDigits = Digits{1, Lap - 1}

func (d Digits) String() string { return fmt.Sprintf("%d-%d", d.First, d.Last) }

// Next returns the launch number that follows last, as long as no launch has had its digits before.
// It reports false once all digits are in use, when a launch takes its digits over from another
// one.
func (d Digits) Next(last int) (launch int, ok bool) {
	launch = max(last+1, d.First)
	return launch, launch <= d.Last
}

// Allow reports whether a namespace may change from digits d to others, after launch last. A range
// in use may only lose digits at its end that no launch has had.
func (d Digits) Allow(others Digits, last int) bool {
	return last == 0 || others.First == d.First && last <= others.Last && others.Last <= d.Last
}

// Digits returns the last five digits of the launch number, which are the part that an ID shows.
func (l Launch) Digits() int { return l.ID % Lap }

// Outcomes of launches that another operation ended.
const (
	// HandedOn means that another launch took the digits over.
	HandedOn Outcome = "handed-on"
	// Advanced means that [Log.Advance] ended the launch. No launch takes its digits over, because
	// some of its generator numbers may have been lost.
	Advanced Outcome = "advanced"
)

// validLaunch reports whether n can be the number of a launch.
func validLaunch(n int) bool { return n >= 1 && n <= MaxLaunch && n%Lap != 0 }

// ParseLaunch parses a launch number in decimal, without sign or leading zeros.
func ParseLaunch(text string) (launch int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && validLaunch(n) && strconv.Itoa(n) == text
}

// Passes reports whether another launch may take over the digits.
func (l Launch) Passes() bool { return l.NextGenerator < MaxGenerators && l.Outcome != Advanced }

// Digits returns the digits that the namespace gives its launches.
func (l *Log) Digits(ctx context.Context) (Digits, error) {
	d, err := attempt(ctx, l, "digits", "", func(ctx context.Context) (Digits, error) {
		return l.store.Digits(ctx, l.opts.Namespace)
	})
	return d, about(l.namespace(), err)
}

// SetDigits sets the digits that the namespace gives its launches. Call it before the first launch.
// After that, the range may only lose digits at its end that no launch has had; otherwise the error
// is a [*RequestError].
//
// A log that was restored from a backup uses the digits of the time of the backup. If they were
// changed later, set them again before you call [Log.Advance].
func (l *Log) SetDigits(ctx context.Context, d Digits) error {
	refuse := func(why string) error { return &RequestError{"digits", d.String(), why} }
	if d.First < 1 || d.Last < d.First || d.Last >= Lap {
		return refuse("must be a range within " + AllDigits.String())
	}
	is, err := attempt(ctx, l, "digits", d.String(), func(ctx context.Context) (Digits, error) {
		return l.store.SetDigits(ctx, l.opts.Namespace, d)
	})
	if err == nil && is != d {
		err = refuse("cannot follow " + is.String() + ", which are in use: a range may only lose " +
			"digits at its end that no launch has had")
	}
	return about(l.namespace(), err)
}

// Find returns the launch of an ID, given the ID's digits and generator number: the last launch
// with these digits that began at that number or below. The number was taken if it is below the
// launch's NextGenerator. If no launch has the digits, the error is [ErrNotFound].
func (l *Log) Find(ctx context.Context, digits, generator int) (Launch, error) {
	newest, err := l.List(ctx, Filter{Limit: 1})
	if err != nil {
		return Launch{}, err
	}
	id := 0
	if len(newest) > 0 {
		id = newest[0].ID
		id += digits - id%Lap
	}
	for ; id > 0; id -= Lap {
		launch, err := l.Show(ctx, id)
		switch {
		case err == nil && generator >= launch.FirstGenerator:
			return launch, nil
		case err != nil && !errors.Is(err, ErrNotFound):
			return Launch{}, err
		}
	}
	return Launch{}, about("launch "+strconv.Itoa(digits), ErrNotFound)
}
