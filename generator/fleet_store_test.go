package generator_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

var errNoneFree = errors.New("all numbers are leased")

// A store is the numbers of a fleet. It leases them for liveness only: a number whose lease has
// ended goes to whoever asks, while its old holder may know nothing of that. A ceiling per number
// keeps holders apart: the time up to which the number may have been used. It is raised before a
// window is handed out. Requests fail, answers get lost, and some requests arrive late.
type store struct {
	fault  fault
	rnd    *rand.Rand
	now    func() int64 // the store's own clock
	lease  time.Duration
	leases []lease // by number
	// numbers below are for claims, the others for whoever has them in a configuration
	claims int
	fresh  int   // numbers from here up were never claimed
	recent []int // the numbers claimed last
	late   []lateRequest

	reassigned, lost, delayed int
}

// A fault is a thing that a store must not do.
type fault int

const (
	noFault    fault = iota
	forgets          // it does not know a ceiling any more, as after a restore from an old backup
	lendsTwice       // two holders get one window
)

// A lease is what the store knows of a number.
type lease struct {
	holder  int64 // 0 for none
	until   int64 // nanoseconds since 1970
	ceiling int64 // units of time since 1970
}

// A lateRequest is one that the store gets when its sender has given it up.
type lateRequest struct {
	at, floor, n int64
	number       int
}

// claim leases a number to a holder: the one it has, unless somebody else took it meanwhile, or a
// free one.
func (s *store) claim(holder int64, has int) (int, error) {
	if s.rnd.IntN(40) == 0 {
		return -1, errAway
	}
	if has < 0 || s.leases[has].holder != holder {
		if has = s.free(); has < 0 {
			return -1, errNoneFree
		}
		if s.leases[has].holder != 0 {
			s.reassigned++
		}
		s.recent = append(s.recent[max(0, len(s.recent)-200):], has)
	}
	s.leases[has].holder, s.leases[has].until = holder, s.now()+int64(s.lease)
	return has, nil
}

// free is a number whose lease has ended, mostly one that was claimed a moment ago, or -1.
func (s *store) free() int {
	if s.rnd.IntN(4) == 0 && s.fresh < s.claims {
		s.fresh++
		return s.fresh - 1
	}
	for range 64 {
		n := s.rnd.IntN(s.fresh + 1)
		if s.rnd.IntN(8) != 0 && len(s.recent) != 0 {
			n = s.recent[s.rnd.IntN(len(s.recent))]
		}
		if n < s.fresh && s.leases[n].until <= s.now() {
			return n
		}
	}
	return -1
}

// release ends a lease, unless it is another's by now.
func (s *store) release(holder int64, number int) {
	if number >= 0 && s.leases[number].holder == holder {
		s.leases[number].until = math.MinInt64
	}
}

// reserve raises a number's ceiling.
func (s *store) reserve(number int, floor, n int64) int64 {
	l := &s.leases[number]
	if s.fault == forgets && s.rnd.IntN(4) == 0 {
		l.ceiling = 0
	}
	first := max(floor, l.ceiling)
	if s.fault == lendsTwice && s.rnd.IntN(4) == 0 {
		first = max(first-n, 1) // the window before, if it was as long
	}
	l.ceiling = first + n
	return first
}

// A storeCounter is the ceiling of a number, as generator.Ceiling sees it.
type storeCounter struct {
	*store
	number int
}

func (c storeCounter) Reserve(_ context.Context, floor, n int64) (int64, error) {
	c.arrive()
	switch c.rnd.IntN(40) {
	case 0:
		return 0, errAway
	case 1:
		c.lost++
		return c.reserve(c.number, floor, n), errAway // a number beside an error is none
	case 2:
		c.store.late = append(c.store.late,
			lateRequest{c.now() + c.rnd.Int64N(30*int64(c.lease)), floor, n, c.number})
		return 0, errAway
	}
	return c.reserve(c.number, floor, n), nil
}

func (c storeCounter) Last(context.Context) (int64, error) {
	c.arrive()
	if c.rnd.IntN(40) == 0 {
		return 0, errAway
	}
	last := max(c.leases[c.number].ceiling-1, 0)
	// who forgets a ceiling, or lends a window twice, does not know of it either
	switch c.rnd.IntN(4) {
	case 0:
		if c.fault == forgets {
			c.leases[c.number].ceiling = 0
			return 0, nil
		}
	case 1:
		if c.fault == lendsTwice {
			return 0, nil
		}
	}
	return last, nil
}

// arrive lets late requests take effect. Nobody waits for their answers.
func (s *store) arrive() {
	s.late = slices.DeleteFunc(s.late, func(l lateRequest) bool {
		if l.at <= s.now() {
			s.delayed++
			s.reserve(l.number, l.floor, l.n)
		}
		return l.at <= s.now()
	})
}
