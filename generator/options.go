package generator

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Options are the optional settings of generators whose IDs carry the time. The zero value is a
// good choice.
type Options struct {
	// Clock is the clock of the generator. If nil, the generator has a clock that does not go back.
	Clock Clock

	// MaxWait bounds how far away a call's turn may be for the call to wait for it, within its
	// context. If the clock is further behind, the call fails at once with ErrClockBehind; if too
	// many calls wait before it, with ErrMaxWait. Zero means 10 s.
	MaxWait time.Duration

	// Pool limits the generator to some of the layout's slots, so that several generators can share
	// a number: see [Pool]. Nil means all slots.
	Pool *Pool

	// Snapshot is the state that a generator with the same number had when it was last used. It can
	// only be combined with [Given], because other sources record which times were used.
	Snapshot *Snapshot

	// Overflow is called, once per unit of time, when a call is about to wait because the slots of
	// the unit are used up or the clock is behind. Other waiting calls wait for it to return, so it
	// should be quick.
	Overflow func(Overflow)

	// Notify is called for events of windows, and for a clock that went back. The generator is
	// locked meanwhile, so Notify should be quick and must not mint with this generator. If Notify
	// or the clock panics in the background, the calls that wait for the window return that as an
	// error. Notify may be nil.
	Notify func(Event)

	// Random fills the random bits of short IDs. It is called by many goroutines at once. Nil means
	// the global source of math/rand/v2.
	Random rand.Source
}

// An Overflow is the argument of [Options].Overflow, about a call that is about to wait.
type Overflow struct {
	Until   time.Time // the time that the call waits for
	Waiting int       // waiting calls, including this one
	// Units is the number of consecutive units of time that calls have waited for, including this
	// one. A short burst ends after a few units. If Units keeps rising, the generator is over its
	// capacity.
	Units int
}

const defaultMaxWait = 10 * time.Second

// Pool is a range of slots, both ends included: sequence numbers for sno, eightbyte and short IDs,
// and bottoms for trace IDs. Generators with disjoint pools can share one number.
type Pool struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// complete returns a checked copy of the options, with defaults filled in.
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
		return c, &OptionError{"MaxWait", c.MaxWait.String(), "must not be negative"}
	case p.Min > p.Max || p.Min < int(l.first) || p.Max > int(l.last):
		return c, &OptionError{
			"Pool", fmt.Sprintf("%d..%d", p.Min, p.Max),
			fmt.Sprintf("must be a range within %d..%d", l.first, l.last),
		}
	}
	return c, nil
}

type globalRandom struct{}

func (globalRandom) Uint64() uint64 { return rand.Uint64() }
