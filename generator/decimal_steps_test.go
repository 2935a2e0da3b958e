//go:build !race

package generator

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/idtype/formats"
)

// TestEveryInterleavingOfDecimal: calls of Next and Fill, changes of number and moves up make their
// steps in every order. No ID is minted twice, and none is outside the layout. Each number that is
// used up has given as many IDs as a round leaves it.
//
// The steps are those of the code: each has one atomic operation, and calls the function that does
// it there. Few counters are near the marks, and a Fill of many takes what lies between. So all
// states can be visited.
func TestEveryInterleavingOfDecimal(t *testing.T) {
	const many = perNumber // what is left
	wild := []uint64{3, roundLength + 1, 1<<63 - 1}
	for _, tt := range []struct {
		name  string
		start uint64 // the counter at first
		calls [][]uint64
		heard []uint64
		ends  bool // numbers are used up
	}{
		{"Next", roundLength - 3, [][]uint64{{0, 0, 0}, {0, 0, 0}}, []uint64{roundLength - 2, roundLength - 1}, false},
		{"Next and Fill", roundLength - 4, [][]uint64{{0, 0}, {2, 1}}, []uint64{roundLength - 3, roundLength - 1}, false},
		{"the end", perNumber - 2, [][]uint64{{0, 0, 0}, {0, 2}}, []uint64{roundLength - 2, roundLength - 1}, true},
		{"to the end", roundLength - 3, [][]uint64{{0, 0, 0}, {many, 0}}, []uint64{roundLength - 1}, true},
		{"wild", roundLength - 2, [][]uint64{{0, many}, {0, 0}}, wild, true},
		{"the first number", 0, [][]uint64{{0, 0}, {0, 3}}, []uint64{roundLength - 1, 2}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &decimalMachine{g: &Decimal{}, seen: map[string]bool{}}
			begin := decimalState{word: 0, number: -1} // no number yet
			if tt.start > 0 {
				begin.number, begin.from = 0, tt.start
				begin.word = tt.start*formats.DecimalStep - usedUp
			}
			for _, wants := range tt.calls {
				begin.calls = append(begin.calls, decimalCall{wants: wants})
			}
			looks := decimalCall{wants: tt.heard, place: "look"}
			begin.calls = append(begin.calls, looks, looks)
			m.reach(begin)
			for len(m.todo) > 0 {
				s := m.todo[len(m.todo)-1]
				m.todo = m.todo[:len(m.todo)-1]
				for i := range s.calls {
					next := s.clone()
					if err := m.step(&next, &next.calls[i]); err != nil {
						t.Fatalf("%v: call %d, from %+v", err, i, s)
					}
					m.reach(next)
				}
			}
			if m.moved == 0 || m.ends == 0 && tt.ends {
				t.Errorf("%d ends, %d moves: the test shows nothing", m.ends, m.moved)
			}
			t.Logf("%d states, %d ends, %d moves", len(m.seen), m.ends, m.moved)
		})
	}
}

// A decimalState is all that the word, its number and the calls may be.
type decimalState struct {
	word   uint64
	number int    // in use, or -1
	from   uint64 // that it began above, or moved up to: what is above was minted
	minted []run
	calls  []decimalCall
	locked int // 1 + the call that holds bases.mu, or 0
	heard  uint64
}

// A run is counters of a number, from and to included.
type run struct {
	number   int
	from, to uint64
}

// A decimalCall makes one call after another: of each of wants, 0 for Next, or n for a Fill. Or it
// looks, and hears each of wants.
type decimalCall struct {
	wants []uint64
	place string
	last  uint64 // that it has read
}

func (s *decimalState) clone() decimalState {
	c := *s
	c.minted, c.calls = slices.Clone(s.minted), slices.Clone(s.calls)
	return c
}

type decimalMachine struct {
	g           *Decimal
	seen        map[string]bool
	todo        []decimalState
	ends, moved int
}

func (m *decimalMachine) reach(s decimalState) {
	slices.SortFunc(s.minted, func(a, b run) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return int(int64(a.from) - int64(b.from))
	})
	merged := s.minted[:0]
	for _, r := range s.minted {
		if n := len(merged); n > 0 && merged[n-1].number == r.number && merged[n-1].to+1 == r.from {
			merged[n-1].to = r.to
		} else {
			merged = append(merged, r)
		}
	}
	s.minted = merged
	if key := fmt.Sprintf("%+v", s); !m.seen[key] {
		m.seen[key] = true
		m.todo = append(m.todo, s)
	}
}

func (m *decimalMachine) step(s *decimalState, c *decimalCall) error {
	g, id := m.g, 1
	for i := range s.calls {
		if c == &s.calls[i] {
			id += i
		}
	}
	if len(c.wants) == 0 || c.place == "lock" && s.locked != 0 {
		return nil // it has ended, or waits
	}
	atomic.StoreUint64(&g.word, s.word)
	g.begun = s.number + 1
	defer func() { s.word = atomic.LoadUint64(&g.word) }()
	looks := func() { c.place, c.wants = "look", c.wants[1:] }
	done := func() { c.place, c.last, c.wants = "", 0, c.wants[1:] }
	switch c.place {
	case "":
		c.place = "load"
		if c.wants[0] > 0 {
			return nil
		}
		last := atomic.AddUint64(&g.word, formats.DecimalStep) + usedUp
		if last >= usedUp {
			c.place, c.last = "undo", last
			return nil
		}
		done()
		return m.mint(s, last, 1)
	case "undo": // as beyond does
		c.place = "reload"
		if c.last <= usedUp || g.advance(c.last, usedUp) {
			c.place = "load"
		}
	case "reload":
		c.last, c.place = g.last(), "undo"
	case "load": // as reserve does
		c.last, c.place = g.last(), "reserve"
		if c.last/formats.DecimalStep >= perNumber {
			c.place = "lock"
		}
	case "reserve":
		c.place = "load"
		if count := uint64(g.takeFrom(c.last, int(max(c.wants[0], 1)))); count > 0 {
			upto := c.last + count*formats.DecimalStep
			done()
			return m.mint(s, upto, count)
		}
	case "lock": // as change does
		s.locked, c.place = id, "needed"
	case "needed":
		c.place = "begin"
		if g.last()/formats.DecimalStep < perNumber {
			s.locked, c.place = 0, "load"
		}
	case "begin":
		if err := m.used(s); err != nil {
			return err
		}
		s.number++
		g.order.is = s.heard
		g.begin(uint64(s.number)) // its lower digits
		s.from = g.last() / formats.DecimalStep
		s.locked, c.place = 0, "load"
	case "look":
		c.place = "lock to move"
	case "lock to move":
		if s.locked != 0 {
			return nil
		}
		s.heard = max(s.heard, c.wants[0])
		s.locked, c.place = id, "move"
		if s.number < 0 {
			s.locked = 0
			looks()
		}
	case "move": // as moveUp does
		c.last, c.place = g.last(), "raise"
	case "raise":
		g.order.is, g.order.moves = c.wants[0], 0
		done := g.moveFrom(c.last)
		m.moved += int(g.order.moves)
		if c.place = "move"; done {
			s.locked, c.last = 0, 0
			looks()
		}
	}
	return nil
}

// mint notes the counters up to last.
func (m *decimalMachine) mint(s *decimalState, last, n uint64) error {
	number, to := int(last%formats.DecimalStep), last/formats.DecimalStep
	r := run{number, to - n + 1, to}
	if r.from < 1 || r.to > perNumber || r.number > s.number {
		return fmt.Errorf("%+v is minted", r)
	}
	for _, o := range s.minted {
		if o.number == r.number && o.from <= r.to && r.from <= o.to {
			return fmt.Errorf("%+v is minted, and %+v before", r, o)
		}
	}
	s.minted = append(s.minted, r)
	return nil
}

// used looks at a number that is used up.
func (m *decimalMachine) used(s *decimalState) error {
	m.ends++
	if s.number < 0 || s.from > (roundLength-1) {
		return nil // it was near its end when the test began
	}
	n := uint64(0)
	for _, r := range s.minted {
		if r.number == s.number {
			n += r.to - r.from + 1
		}
	}
	if room := uint64(perNumber - roundLength); n < room {
		return fmt.Errorf("number %d has given %d IDs, want %d at least", s.number, n, room)
	}
	return nil
}
