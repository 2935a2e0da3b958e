package launchlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

const (
	// Lap is the difference of launches that have the same digits, one after the other. No launch has
	// the digits 0, which are for tests.
	Lap = 100_000
	// MaxLaunch is the largest launch number; the smallest is 1.
	MaxLaunch = 1<<31 - 1
	// MaxGenerators is how many generator numbers the digits of a launch have: 0 ..= 99999.
	MaxGenerators = 100_000
)

// Digits are the digits that a namespace gives its launches: First ..= Last. Logs that share a key
// space, as those of several regions, have ranges that do not overlap.
type Digits struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// AllDigits are those of a namespace for which nothing was set.
var AllDigits = Digits{1, Lap - 1}

func (d Digits) String() string { return fmt.Sprintf("%d-%d", d.First, d.Last) }

// Next returns the launch number that follows last while no launch has had its digits before. It
// reports false once all digits are in use. Then the launch takes its digits over from another one.
func (d Digits) Next(last int) (launch int, ok bool) {
	launch = max(last+1, d.First)
	return launch, launch <= d.Last
}

// Allow reports whether a namespace may change from digits d to others, after launch last. A range
// that is in use may only lose digits at its end that no launch has had.
func (d Digits) Allow(others Digits, last int) bool {
	return last == 0 || others.First == d.First && last <= others.Last && others.Last <= d.Last
}

// Digits are the last five of the launch number, which are what an ID shows of it.
func (l Launch) Digits() int { return l.ID % Lap }

// Outcomes of launches that somebody else's step ended.
const (
	// HandedOn: another launch took the digits over.
	HandedOn Outcome = "handed-on"
	// Advanced: [Log.Advance] ended the launch. Some of its generator numbers may have been lost. So
	// no launch takes its digits over.
	Advanced Outcome = "advanced"
)

// validLaunch reports whether there may be a launch of that number.
func validLaunch(n int) bool { return n >= 1 && n <= MaxLaunch && n%Lap != 0 }

// ParseLaunch returns the launch number whose decimal text this is.
func ParseLaunch(text string) (launch int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && validLaunch(n) && strconv.Itoa(n) == text
}

// Passes reports whether another launch may take the digits over.
func (l Launch) Passes() bool { return l.NextGenerator < MaxGenerators && l.Outcome != Advanced }

// Digits returns the digits that the namespace gives its launches.
func (l *Log) Digits(ctx context.Context) (Digits, error) {
	d, err := attempt(ctx, l, "digits", "", func(ctx context.Context) (Digits, error) {
		return l.store.Digits(ctx, l.opts.Namespace)
	})
	return d, about(l.namespace(), err)
}

// SetDigits says which digits the namespace gives its launches, before the first one. Later the
// range may only become shorter, by digits at its end that no launch has had. Otherwise the error is
// a [*RequestError].
//
// A log that was restored from a backup of before a change gives out the digits that it had then.
// Set them again before [Log.Advance].
func (l *Log) SetDigits(ctx context.Context, d Digits) error {
	refuse := func(why string) error { return &RequestError{"digits", d.String(), why} }
	if d.First < 1 || d.Last < d.First || d.Last >= Lap {
		return refuse("are no range within " + AllDigits.String())
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

// Find returns the launch of an ID, by its digits and its generator number: the last launch of these
// digits that began at that number or below. The number was taken if it is below the launch's
// NextGenerator. The error is [ErrNotFound] where no launch has the digits.
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
