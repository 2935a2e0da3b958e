package claims

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/idmint/idmint/generator"
)

// A choice is the numbers that a call may take.
type choice struct {
	now, quiet int64
	mine       []lease // with this source's holder, the longest unused first
	free       []lease // unused for the quiet time, the longest unused first
	fresh      []int   // never used
	size       int     // usable numbers of the pool
	lent       map[int]bool
	earliest   int64 // unit from which a lent number is free; beyond the IDs' last if none will be
}

// lend records that a number cannot be taken before a unit.
func (c *choice) lend(number int, until int64) {
	c.lent[number] = true
	c.earliest = min(c.earliest, until)
}

// choice sorts what the store knows about the pool.
func (s *source) choice(t *table, now int64) *choice {
	never := s.pool.most + 1
	c := &choice{
		now: now, quiet: s.units(s.opts.Quiet), earliest: never, lent: map[int]bool{},
	}
	clusters := s.pool.allowed(t.clusters)
	part := *s.opts.Part
	used := map[int]bool{}
	restored := t.floor >= now // all numbers count as lent until then
	for _, l := range t.leases {
		if !s.pool.usable(l.number, part, clusters) {
			continue
		}
		used[l.number] = true
		last := l.last()
		free := last + c.quiet + 1
		switch {
		case restored:
			c.lend(l.number, t.floor+1)
		case max(now, last+1) >= l.end(): // the freed time is over
			continue
		case l.gap != nil && max(now, last+1) < s.ended[l.number]:
			// The generator would get a window before one that it already had, and take that for a
			// repeat.
			c.lend(l.number, never)
		case s.isMine(l, now):
			c.mine = append(c.mine, l)
		case free <= now:
			c.free = append(c.free, l)
		default:
			c.lend(l.number, free)
		}
	}
	for _, cluster := range clusters {
		for n := part.Min; n <= part.Max; n++ {
			c.size++
			number := cluster*s.pool.each + n
			switch {
			case used[number]:
			case restored:
				c.lend(number, t.floor+1)
			default:
				c.fresh = append(c.fresh, number)
			}
		}
	}
	for _, list := range [][]lease{c.mine, c.free} {
		slices.SortFunc(list, func(a, b lease) int { return cmp.Compare(a.last(), b.last()) })
	}
	s.count(func(st *Stats) { st.Lent, st.Numbers = len(c.lent), c.size })
	return c
}

// pick removes a number from the choice, preferably one with this source's holder. Otherwise it
// picks one of the better half of the numbers used before, or else one of the first numbers never
// used. The pool thus has only as many counters as there were generators at a time, and a listing
// stays short. A source that loses a race for a number picks from a wider range.
func (c *choice) pick(tries int, random *rand.Rand) (lease, bool) {
	switch {
	case len(c.mine) != 0:
		return draw(&c.mine, 0), true
	case len(c.free) != 0:
		return draw(&c.free, random.IntN((len(c.free)+1)/2)), true
	case len(c.fresh) != 0:
		first := min(len(c.fresh), 4<<min(tries, 20))
		return lease{number: draw(&c.fresh, random.IntN(first))}, true
	}
	return lease{}, false
}

// draw removes an element from the list and returns it.
func draw[T any](list *[]T, i int) T {
	v := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return v
}

// A waited is a number with this source's holder whose counter is ahead.
type waited struct {
	last  int64 // the counter's value
	rises int   // how often the value has risen since
}

// mine returns the unit from which a number with this source's holder may be raised, or 0 for now.
// While its counter is ahead, a start waits instead of pushing it further: see [source.isMine].
func (s *source) mine(l lease, now int64) int64 {
	if l.row.Holder != s.opts.Holder || l.last() < now {
		return 0
	}
	if name := s.pool.counter(l); s.waits[name].last == 0 {
		s.waits[name] = waited{last: l.last()}
	}
	return l.last() + 1
}

// isMine reports whether a number has this source's holder, and may be taken again. If its counter
// rises twice while a start waits, another generator has the same holder's name. A single rise may
// be a late request of this holder's dead process.
func (s *source) isMine(l lease, now int64) bool {
	if l.row.Holder != s.opts.Holder || s.shared || l.last() > now+s.units(s.opts.Length) {
		return false
	}
	name := s.pool.counter(l)
	w, waits := s.waits[name]
	if waits && w.last != l.last() {
		w = waited{l.last(), w.rises + 1}
		s.waits[name] = w
	}
	return w.rises < 2
}

// lent returns the error for a pool without a free number.
func (s *source) lent(c *choice) error {
	err := &LentError{Scheme: s.pool.scheme, Numbers: c.size, Quiet: s.opts.Quiet}
	if c.earliest <= s.pool.most {
		err.Until = s.pool.time(c.earliest)
	}
	s.tell(Lent, err)
	if s.opts.FailWhenLent {
		return err
	}
	// Look again not much later than other sources would find a number, but not all at the same
	// time. Clusters may be added meanwhile, and numbers freed.
	look := s.units(min(s.opts.Length, time.Minute))
	again := c.now + 1 + look/2 + s.random.Int64N(look)
	free := max(c.now+1, c.earliest) + s.random.Int64N(s.units(min(s.opts.Length, defaultLength)))
	return &generator.NotBeforeError{From: min(again, free), Unit: s.pool.unit, Err: err}
}
