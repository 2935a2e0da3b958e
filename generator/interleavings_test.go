//go:build !race

package generator

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestEveryInterleaving: there are three calls at a time, a clock that may stand at any tick, and
// windows that change. They mint no slot twice, whichever of them makes its next step. The states
// of a small timeline are few, so all of them are visited.
//
// The race detector has nothing to see here, where one goroutine makes all steps, and is slow.
//
// The steps are those of the code: each has one atomic operation, and calls the function that does
// it there. The queue is left out, for calls in it do nothing but take turns.
func TestEveryInterleaving(t *testing.T) {
	one, two, four, pool := [2]uint64{0, 0}, [2]uint64{0, 1}, [2]uint64{0, 3}, [2]uint64{1, 3}
	short, long := [][2]uint64{{1, 3}}, [][2]uint64{{1, 4}}
	for _, tt := range []struct {
		name    string
		slots   [2]uint64    // the first and the last
		windows [][2]uint64  // from and to
		wants   [threads]int // by each call: 0 for Next, else by Fill
		last    int8         // where the clock may stand at most
		back    uint8        // how often it may be set back
		lag     uint64
		toggles bool
	}{
		{name: "Next", slots: four, windows: short, last: 2},
		{name: "Next of few slots", slots: two, windows: long, last: 3},
		{name: "Next and Fill", slots: four, windows: short, wants: [threads]int{0, 2, 3}, last: 2},
		{
			name: "Fill of a pool", slots: pool, windows: short, wants: [threads]int{1, 2, 5},
			last: 2,
		},
		{name: "back", slots: two, windows: short, wants: [threads]int{0, 0, 2}, last: 2, back: 2},
		{name: "late", slots: one, windows: long, wants: [threads]int{0, 0, 1}, last: 3, lag: 1},
		{
			name: "late and back", slots: one, windows: short,
			wants: [threads]int{0, 1, 1}, last: 2, back: 2, lag: 1,
		},
		{
			name: "tick-tock", slots: one, windows: short,
			wants: [threads]int{0, 1, 1}, last: 2, back: 2, toggles: true,
		},
		{
			name: "tick-tock and back", slots: one, windows: long,
			wants: [threads]int{1, 1, 1}, last: 3, back: 1, toggles: true,
		},
		{
			name: "tick-tock, late", slots: one, windows: short,
			wants: [threads]int{0, 1, 1}, last: 2, back: 1, lag: 1, toggles: true,
		},
		{
			name: "tick-tock of windows", slots: one, windows: [][2]uint64{{1, 2}, {2, 3}},
			wants: [threads]int{1, 1, 1}, last: 2, back: 2, toggles: true,
		},
		{
			name: "windows", slots: two, windows: [][2]uint64{{0, 0}, {1, 2}, {3, 4}},
			wants: [threads]int{0, 0, 2}, last: 3,
		},
		{
			name: "windows, back", slots: one, windows: [][2]uint64{{1, 2}, {2, 3}},
			wants: [threads]int{0, 0, 1}, last: 2, back: 2,
		},
		{
			name: "windows, late", slots: one, windows: [][2]uint64{{1, 3}, {3, 4}},
			wants: [threads]int{0, 1, 1}, last: 3, lag: 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &machine{
				last: tt.last, back: tt.back, clock: &standing{}, seen: map[state]struct{}{},
			}
			m.line = &timeline{clock: m.clock, layout: layout{
				unit: 1, maxTick: 5, shift: 3, first: tt.slots[0], last: tt.slots[1],
				lag: tt.lag, toggles: tt.toggles,
			}}
			begin := state{clock: 1, peak: 1, back: tt.back}
			for i, w := range tt.windows {
				s := m.line.newSpan(0, w[0], w[1])
				s.ask.Store(math.MaxUint64) // or a request in the background changes the window
				m.spans = append(m.spans, s)
				begin.words[i] = m.pack(s.word.Load())
			}
			for i, n := range tt.wants {
				begin.calls[i].want = uint8(n)
			}
			if err := m.visit(begin); err != nil {
				t.Fatal(err)
			}
			ticks := 0
			for _, w := range tt.windows {
				ticks += max(0, int(w[1])-max(1, int(w[0])))
			}
			// Every slot of every tick is minted in some state, or the model has become blind.
			if want := ticks * int(m.line.perTick()); m.most < want {
				t.Errorf("at most %d slots were minted, of %d", m.most, want)
			}
			t.Logf("%d states, up to %d slots minted", len(m.order), m.most)
		})
	}
}

const threads = 3

// A state is all that the calls, the timeline and its clock may be. It is small, for there are
// many.
type state struct {
	calls   [threads]thread
	words   [3]uint8 // of the windows, packed
	hints   [3]uint8 // span.tick
	window  uint8    // the one in use
	due     uint8
	stamped [2]uint8
	clock   int8
	peak    int8  // the latest that the clock has shown
	back    uint8 // how often it may yet be set back
	_       [3]uint8
	minted  uint64 // a bit for each tick-tock bit, tick and slot
}

// A thread is a call that is made again and again.
type thread struct {
	place place
	want  uint8
	// What it has read.
	span, hint, word, now, lags, other uint8
}

// A place is the step that a call makes next.
type place uint8

const (
	atStart place = iota
	atHint
	atClock
	atAdd
	atUndo
	atSpan
	atWord
	atTime
	atRest
	atPutBack
	atPrepare
	atCommit
	atFollow
	atSleep
	atRenew
	atRetire // it holds windows.mu
)

// A machine makes steps. Its timeline is brought to a state before each of them.
type machine struct {
	line  *timeline
	spans []*span
	clock *standing
	last  int8  // where the clock may stand at most
	back  uint8 // how often it may be set back

	seen   map[state]struct{}
	order  []state
	parent []int32
	most   int // slots minted in one state
}

// standing is a clock of which a machine says where it stands.
type standing struct{ now int64 }

func (c *standing) UnixNano() int64                            { return c.now }
func (c *standing) Sleep(context.Context, time.Duration) error { return nil }

// visit goes from state to state, until there is no other or one is wrong.
func (m *machine) visit(begin state) error {
	m.reach(begin, -1)
	for i := 0; i < len(m.order); i++ {
		s := m.order[i]
		m.most = max(m.most, bits.OnesCount64(s.minted))
		for c := int8(1); c <= m.last; c++ {
			next := s
			if next.clock = c; c < s.clock {
				if s.back == 0 {
					continue
				}
				next.back--
			} else if c > s.clock+1 {
				continue // it gets there step by step
			}
			next.peak = max(s.peak, c)
			m.reach(next, i)
		}
		for k := range s.calls {
			next := s
			if err := m.advance(&next, &next.calls[k]); err != nil {
				return fmt.Errorf("%w, after %s", err, m.path(i, k))
			}
			m.reach(next, i)
		}
	}
	return nil
}

func (m *machine) reach(s state, parent int) {
	// Calls differ by nothing but what they want and have read.
	c := &s.calls
	for _, pair := range [][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if a, b := pair[0], pair[1]; c[a].key() > c[b].key() {
			c[a], c[b] = c[b], c[a]
		}
	}
	if _, ok := m.seen[s]; !ok {
		m.seen[s] = struct{}{}
		m.order = append(m.order, s)
		m.parent = append(m.parent, int32(parent))
	}
}

func (c thread) key() uint64 {
	return uint64(c.place) | uint64(c.want)<<8 | uint64(c.span)<<16 | uint64(c.hint)<<24 |
		uint64(c.word)<<32 | uint64(c.now)<<40 | uint64(c.lags)<<48 | uint64(c.other)<<56
}

// path is how a state came about.
func (m *machine) path(i, call int) string {
	var b strings.Builder
	for at := i; at >= 0; at = int(m.parent[at]) {
		s := m.order[at]
		fmt.Fprintf(&b, "\n  clock %d, window %d, words %#x, calls %+v",
			s.clock, s.window, s.words, s.calls)
	}
	return fmt.Sprintf("call %d made a step from, last first:%s", call, b.String())
}

// pack makes a word of the tick-tock bit, 4 bits of tick and 3 of slot.
func (m *machine) pack(word uint64) uint8 {
	if word&^tickTockBit > 0x7f {
		panic(fmt.Sprintf("word %#x has no room", word))
	}
	return uint8(word>>63<<7 | word&0x7f)
}

func unpack(word uint8) uint64 { return uint64(word)>>7<<63 | uint64(word)&0x7f }

// load brings the timeline to a state.
func (m *machine) load(s *state) {
	for i, span := range m.spans {
		put(&span.word, unpack(s.words[i]))
		put(&span.tick, uint64(s.hints[i]))
	}
	if m.line.span.Load() != m.spans[s.window] {
		m.line.span.Store(m.spans[s.window])
	}
	if m.line.due.Load() != int64(s.due) {
		m.line.due.Store(int64(s.due))
	}
	for i := range s.stamped {
		put(&m.line.stamped[i], uint64(s.stamped[i]))
	}
	m.clock.now = int64(s.clock)
}

// put stores what is not there already, which costs less.
func put(v *atomic.Uint64, n uint64) {
	if v.Load() != n {
		v.Store(n)
	}
}

// save is the other way round.
func (m *machine) save(s *state) {
	for i, span := range m.spans {
		s.words[i] = m.pack(span.word.Load())
		s.hints[i] = uint8(span.tick.Load())
	}
	s.due = uint8(m.line.due.Load())
	for i := range s.stamped {
		s.stamped[i] = uint8(m.line.stamped[i].Load())
	}
}

// advance makes the next step of a call. It makes the steps after it too, as long as nothing that
// happens between them makes a difference.
func (m *machine) advance(s *state, c *thread) error {
	m.load(s)
	err := m.step(s, c)
	for err == nil && m.atOnce(s, c.place) {
		err = m.step(s, c)
	}
	m.save(s)
	return err
}

func (m *machine) atOnce(s *state, p place) bool {
	t := m.line
	switch p {
	case atHint, atClock: // they lead to atAdd, where a call may be held up as well
		return true
	case atWord: // the window does not change
		return len(m.spans) == 1
	case atRest: // neither does what is read there
		return t.lag == 0 && !t.toggles
	case atFollow: // the hint can only be too low, and calls find that themselves
		return m.back == 0
	case atSleep: // it does nothing
		return t.lag == 0
	}
	return false
}

// step makes the next step of a call.
func (m *machine) step(s *state, c *thread) error {
	t := m.line
	span := m.spans[c.span]
	v := view{
		span: span, word: unpack(c.word), nano: int64(c.now), now: uint64(c.now),
		lags: c.lags == 1, other: uint64(c.other),
	}
	again := func(p place) { *c = thread{place: p, want: c.want} }
	switch c.place {
	case atStart:
		if c.want != 0 {
			again(atSpan)
			break
		}
		c.span, c.place = s.window, atHint
	case atHint:
		c.hint, c.place = uint8(span.tick.Load()), atClock
	case atClock:
		if !t.mayAdd(uint64(c.hint), int64(s.clock)) {
			again(atSpan)
			break
		}
		c.hint, c.place = 0, atAdd
	case atAdd:
		word, ok := t.add(span)
		if !ok {
			c.word, c.place = m.pack(word), atUndo
			break
		}
		again(atStart)
		return m.mint(s, slots{word, 1, span})
	case atUndo:
		t.putBack(span, v.word)
		again(atSpan)
	case atSpan:
		c.span, c.place = s.window, atWord
	case atWord:
		c.word, c.place = m.pack(span.word.Load()), atTime
	case atTime:
		c.now, c.place = uint8(s.clock), atRest
	case atRest:
		m.clock.now = int64(c.now) // which it has read before
		err := t.lookOn(&v)
		m.clock.now = int64(s.clock)
		if err != nil {
			return err
		}
		c.other, c.place = uint8(v.other), placeOf(t.decide(v).action)
		if v.lags {
			c.lags = 1
		}
	case atPutBack:
		t.putBack(span, v.word)
		again(atSpan)
	case atPrepare:
		t.prepare(v, t.decide(v))
		c.place = atCommit
	case atCommit:
		got := t.granted(v, t.decide(v), func(slot uint64) uint64 {
			return t.fit(slot, uint64(max(c.want, 1)))
		})
		if !t.commit(v, got) {
			again(atSpan)
			break
		}
		c.place = atFollow
		return m.mint(s, got)
	case atFollow:
		t.follow(v, t.decide(v))
		again(atStart)
	case atSleep: // for part of the time, or until the clock is there
		if t.used(span, span.word.Load()) > 0 {
			t.mayLag()
		}
		again(atSpan)
	case atRenew:
		if slices.ContainsFunc(s.calls[:], func(c thread) bool { return c.place == atRetire }) {
			break // windows.mu is held
		}
		if s.window != c.span || int(s.window) == len(m.spans)-1 {
			again(atSpan)
			break
		}
		s.window++
		t.due.Store(0)
		c.place = atRetire
	case atRetire:
		t.retire(span)
		again(atSpan)
	}
	return nil
}

// placeOf is where a call goes on that has decided.
func placeOf(a action) place {
	switch a {
	case putBack:
		return atPutBack
	case toggle:
		return atPrepare
	case goOn, begin:
		return atCommit
	case await:
		return atSleep
	case replace:
		return atRenew
	}
	return atStart // with an error
}

// mint notes slots, which nobody is to have had.
func (m *machine) mint(s *state, got slots) error {
	t := m.line
	for i := range got.n {
		word := got.word + i
		tick, slot := t.tickOf(word), t.slotOf(word)
		switch {
		case slot < t.first || slot > t.last:
			return fmt.Errorf("slot %d of tick %d is minted", slot, tick)
		case tick < got.span.from || tick >= got.span.to:
			return fmt.Errorf("tick %d is minted, and not of the window", tick)
		case int64(tick) > int64(s.peak):
			return fmt.Errorf("tick %d is minted, which the clock has not shown", tick)
		}
		bit := uint64(1) << (word>>63<<5 | tick<<2 | slot)
		if s.minted&bit != 0 {
			return fmt.Errorf("slot %d of tick %d is minted twice", slot, tick)
		}
		s.minted |= bit
	}
	return nil
}

// TestOvershot: a call that adds a slot too many puts the word back, whatever happens to it then.
// Else such calls would add up to the next tick.
func TestOvershot(t *testing.T) {
	for name, fails := range map[string]func() int64{
		"the clock leaves the layout": func() int64 { return 1 << 40 },
		"the clock panics":            func() int64 { panic("no time") },
	} {
		clock := &turning{fails: fails}
		line := &timeline{clock: clock, layout: layout{unit: 1, maxTick: 5, shift: 3, last: 3}}
		s := line.newSpan(0, 1, 3)
		s.word.Store(line.word(2, 3)) // the last of its slots
		s.tick.Store(2)
		line.span.Store(s)
		for range 100 {
			clock.asked = false
			func() {
				defer func() { _ = recover() }()
				if _, _, err := line.next(t.Context()); err == nil {
					t.Errorf("%s: a slot was minted", name)
				}
			}()
		}
		if word := s.word.Load(); word != line.word(2, 3) {
			t.Errorf("%s: the word is %#x, not put back", name, word)
		}
	}
}

// turning is a clock that stands at tick 2, and fails when it is asked again.
type turning struct {
	Clock
	asked bool
	fails func() int64
}

func (c *turning) UnixNano() int64 {
	if !c.asked {
		c.asked = true
		return 2
	}
	return c.fails()
}
