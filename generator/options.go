package generator

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Options are the optional settings of the generators whose IDs carry the time. The zero value is
// a good choice.
type Options struct {
	// Clock is one of the generator's own, which does not go back, if nil.
	Clock Clock

	// MaxWait bounds how far away a call's turn may be for the call to wait for it, within its
	// context. Where the clock is further behind, the call fails at once with ErrClockBehind;
	// where too many calls wait before it, with ErrMaxWait. It is 10 s if zero.
	MaxWait time.Duration

	// Pool limits the generator to part of the layout's slots, so that several share a number:
	// see [Pool]. It is all if nil.
	Pool *Pool

	// Snapshot is what a generator of the same number had come to when it was last used. It goes
	// with [Given] only: the other sources keep account themselves.
	Snapshot *Snapshot

	// Overflow hears, once per unit of time, that a call is about to wait. Either the slots of the
	// time are used up, or the clock is behind. It holds up other calls that wait, so it had better
	// be quick.
	Overflow func(Overflow)

	// Notify hears of windows and of a clock that went back. It is told while the generator is
	// locked: so it had better be quick, and must not mint by this generator. A panic of Notify or
	// of the clock in the background is an error of the calls that wait for the window. It may be
	// nil.
	Notify func(Event)

	// Random fills the random bits of short IDs. It is asked by many goroutines at once. It is
	// math/rand/v2's own if nil.
	Random rand.Source
}

// An Overflow is what [Options].Overflow hears of a call that is about to wait.
type Overflow struct {
	Until   time.Time // what it waits for
	Waiting int       // calls that wait, this one included
	// Units is for how many units of time the calls have waited for one after the other, this one
	// included. A burst ends at a few. If it keeps rising, the generator is over its capacity.
	Units int
}

const defaultMaxWait = 10 * time.Second

// Pool is a range of slots, both ends included: the sequence numbers of sno, eightbyte and short,
// the bottoms of trace. Generators with one number and disjoint pools share it.
type Pool struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// complete returns the options with their defaults, checked.
func (o *Options) complete(l layout) (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Clock == nil {
		c.Clock = newAnchoredClock(time.Now)
	}
	if c.MaxWait == 0 {
		c.MaxWait = defaultMaxWait
	}
	if c.Pool == nil {
		c.Pool = &Pool{int(l.first), int(l.last)}
	}
	if c.Random == nil {
		c.Random = globalRandom{}
	}
	p := *c.Pool
	switch {
	case c.MaxWait < 0:
		return c, &OptionError{"MaxWait", c.MaxWait.String(), "is negative"}
	case p.Min > p.Max || p.Min < int(l.first) || p.Max > int(l.last):
		return c, &OptionError{
			"Pool", fmt.Sprintf("%d..%d", p.Min, p.Max),
			fmt.Sprintf("is no range within %d..%d", l.first, l.last),
		}
	}
	return c, nil
}

type globalRandom struct{}

func (globalRandom) Uint64() uint64 { return rand.Uint64() }
