package generator

import (
	"sync/atomic"
	"time"
)

// A missing is what a call without slots needs: a window after the span, or else a tick.
type missing struct {
	window bool
	span   *span
	until  uint64
	nano   int64 // the time by the clock
}

// grab takes consecutive slots of one tick without waiting. want returns how many, from a slot on.
func (t *timeline) grab(want func(slot uint64) uint64) (slots, missing, error) {
	for {
		v, err := t.look()
		if err != nil {
			return slots{}, missing{}, err
		}
		d := t.decide(v)
		if d.behind && t.regressed.Swap(t.tickOf(v.word)) != t.tickOf(v.word) {
			t.regressions.Add(1)
			behind := time.Duration(t.timeOf(t.tickOf(v.word)) - v.nano)
			t.tell(v.span, Event{Kind: ClockRegressed, Behind: behind})
		}
		switch d.action {
		case putBack:
			t.putBack(v.span, v.word)
		case goOn, begin, toggle:
			got := t.granted(v, d, want)
			t.prepare(v, d)
			if t.commit(v, got) {
				t.follow(v, d)
				return got, missing{}, nil
			}
		case await:
			return slots{}, missing{span: v.span, until: d.tick, nano: v.nano}, nil
		case replace:
			if later := t.laterTick(); later > v.now {
				return slots{}, missing{span: v.span, until: later, nano: v.nano}, nil
			}
			return slots{}, missing{window: true, span: v.span, until: d.tick, nano: v.nano}, nil
		case end:
			return slots{}, missing{}, t.rangeError(time.Unix(0, t.timeOf(d.tick)))
		}
	}
}

// look reads the state on which a decision depends.
func (t *timeline) look() (v view, err error) {
	if v.span = t.span.Load(); v.span == nil {
		return v, errNotMade
	}
	v.word = v.span.word.Load()
	return v, t.lookOn(&v)
}

// lookOn reads the part of the state that has to be read after the word.
func (t *timeline) lookOn(v *view) (err error) {
	v.nano = t.clock.UnixNano()
	v.now, err = t.tickAt(v.nano)
	v.lags = v.nano < t.due.Load()
	v.other = t.stamped[1-v.word>>63].Load()
	return err
}

// putBack resets an overshot word to the last slot, unless another call changed it. A call that
// added a slot too many tries this before anything else, so that a word exceeds its last slot by at
// most one step per goroutine.
func (t *timeline) putBack(s *span, word uint64) {
	s.word.CompareAndSwap(word, word&tickTockBit|t.word(t.tickOf(word), t.last))
}

// granted returns the slots that a decision gives to a call.
func (t *timeline) granted(v view, d decision, want func(slot uint64) uint64) slots {
	if d.action == goOn {
		return slots{v.word + 1, want(t.slotOf(v.word) + 1), v.span}
	}
	bit := v.word & tickTockBit
	if d.action == toggle {
		bit ^= tickTockBit
	}
	return slots{bit | t.word(d.tick, t.first), want(t.first), v.span}
}

// prepare records the tick that a bit has reached before the bit is toggled, so that no call
// toggles it back too early.
func (t *timeline) prepare(v view, d decision) {
	if d.action == toggle {
		raise(&t.stamped[v.word>>63], t.tickOf(v.word))
		t.due.Store(0)
		t.regressed.Store(0)
	}
}

// commit takes the slots, unless another call has changed the word.
func (t *timeline) commit(v view, got slots) bool {
	return v.span.word.CompareAndSwap(v.word, got.word+got.n-1)
}

// follow does what remains to be done after a change of the word.
func (t *timeline) follow(v view, d decision) {
	// Without the comparison, all calls that share the tick would write it all the time.
	if v.span.tick.Load() != d.tick {
		v.span.tick.Store(d.tick)
	}
	if d.action == goOn {
		return
	}
	t.issued.Add(t.used(v.span, v.word))
	t.askAhead(v.span, d.tick)
}

// used returns how many slots of the word's tick were given out.
func (t *timeline) used(s *span, word uint64) uint64 {
	if slot := t.slotOf(word); slot >= t.first && s.has(t.tickOf(word)) {
		return min(slot, t.last) - t.first + 1
	}
	return 0
}

func raise(v *atomic.Uint64, to uint64) {
	for {
		old := v.Load()
		if old >= to || v.CompareAndSwap(old, to) {
			return
		}
	}
}
