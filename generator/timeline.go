package generator

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A timeline is the core of all schemes whose IDs carry the time. It gives out slots, each pair of
// a tick and a slot only once. Its state is one word per window:
//
//	 63  62                      shift                 0
//	┌───┬────────────────────────┬──────────┬───────────┐
//	│ b │          tick          │  spare   │   slot    │
//	└───┴────────────────────────┴──────────┴───────────┘
//	  │             │                 │           └ the last slot of the tick that was given out
//	  │             │                 └ room for calls that find no slot left, and add at once
//	  │             └ units of time since the scheme's epoch
//	  └ tick-tock bit of sno; 0 in the other schemes
//
// A call that finds the word's tick equal to the clock's adds one to the word, and owns the slot
// that it gets. All other calls decide what to do (decide.go), and change the word by
// compare-and-swap (grab.go).
//
// The invariant: no word is reached twice, and the call that reaches a word owns its slot.
//
//   - An addition raises the slot. A call that overshot the last slot tries at once to put the word
//     back, so the spare bits never carry into the tick.
//   - While a window is in use, only compare-and-swap changes the tick: to a later one, or, with
//     the bit toggled, to a tick later than all that were stamped with the other bit.
//   - A window gives out only slots of its own ticks, and no two windows with one number overlap.
//
// The behavior of the clock therefore does not affect uniqueness. Generators that keep the tick and
// the slot in two words can repeat IDs. Without the spare bits between tick and slot, a late
// addition could take a slot of a tick that has not come.
//
// A clock that goes back is called a regression. A generator is at its cap when it has given out
// all slots of the clock's tick.
//
//	layout.go     ticks, slots and words
//	window.go     windows, and who hands them out
//	request.go    asking for the next window, in the background
//	span.go       windows in use, and their change
//	decide.go     what a call decides
//	grab.go       how it changes the word, and takes slots
//	turn.go       calls that wait, and sleeping by a clock that may do anything
//	snapshot.go   how far a timeline has come
//	event.go      events of windows and of the clock
type timeline struct {
	layout       // immutable
	clock  Clock // immutable

	span    atomic.Pointer[span] // the window in use; changed with windows.mu held
	windows requester[*span]     // has its own lock

	// Immutable.
	maxWait  time.Duration
	overflow func(Overflow)
	notify   func(Event)
	random   rand.Source

	// due is the time until which calls may use slots of the last lag ticks. Timers wake late,
	// often by a millisecond, which would cost a generator at its cap every other tick. A call that
	// slept for slots sets due to the present time plus the lag.
	due atomic.Int64

	turn  turn
	later atomic.Pointer[NotBeforeError] // the last such answer of the source; or nil

	// stamped is, for each tick-tock bit, the highest tick that had the bit when it was toggled. It
	// never falls.
	stamped [2]atomic.Uint64

	// For Stats. issued does not include the tick in use.
	issued, waits, regressions, opened atomic.Uint64
	regressed                          atomic.Uint64 // the tick of the last regression
	latest                             atomic.Uint64 // the last tick of earlier windows
}

// A slots is n slots of one tick, which are n consecutive words that begin at word.
type slots struct {
	word, n uint64
	span    *span
}

// next takes one slot, and returns a word that holds it, and its span.
func (t *timeline) next(ctx context.Context) (uint64, *span, error) {
	s := t.span.Load()
	if s == nil {
		return 0, nil, errNotMade
	}
	if t.mayAdd(s.tick.Load(), t.clock.UnixNano()) {
		word, ok := t.add(s)
		if ok {
			return word, s, nil
		}
		t.putBack(s, word) // before anything that may fail
	}
	got, err := t.take(ctx, 1)
	return got.word, got.span, err
}

// mayAdd reports whether the clock is within a tick, or a generator at its cap may still use the
// tick. It is cheaper than computing the clock's tick.
func (t *timeline) mayAdd(tick uint64, nano int64) bool {
	since := uint64(nano - t.timeOf(tick))
	return since < uint64(t.unit) || since < uint64(t.unit)*(t.lag+1) && nano < t.due.Load()
}

// add takes the next slot of the word's tick, if there is one. If another call has changed the
// tick, the slot is one of the new tick, which is just as good. The word, which other processors
// may have written, is accessed once.
func (t *timeline) add(s *span) (word uint64, ok bool) {
	word = s.word.Add(1)
	return word, t.slotOf(word) <= t.last
}

// take takes 1 to n consecutive slots of one tick, after the calls that are waiting.
func (t *timeline) take(ctx context.Context, n uint64) (slots, error) {
	if t.turn.calls.Load() == 0 { // otherwise the waiting calls come first
		got, _, err := t.grab(func(slot uint64) uint64 { return t.fit(slot, n) })
		if err != nil || got.n > 0 {
			return got, err
		}
	}
	return t.wait(ctx, n)
}

// fill takes slots until dst is full. Consecutive slots are consecutive words.
func fill[T any](
	ctx context.Context, t *timeline, dst []T, id func(word uint64, s *span) T,
) (int, error) {
	n := 0
	for n < len(dst) {
		got, err := t.take(ctx, uint64(len(dst)-n))
		if err != nil {
			return n, err
		}
		for i := range got.n {
			dst[n] = id(got.word+i, got.span)
			n++
		}
	}
	return n, nil
}
