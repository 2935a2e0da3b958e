package generator

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A timeline is the core of all schemes whose IDs carry the time. It gives out slots: each pair
// of a tick and a slot once. Its state is one word per window:
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
// A call that finds the tick to be that of the clock adds one to the word, and owns the slot that
// it gets. All other calls decide what to do (decide.go), and change the word by compare-and-swap
// (grab.go).
//
// The invariant: no word is reached twice, and who reaches one owns its slot.
//
//   - An addition raises the slot. A call that overshot the last slot tries at once to put the word
//     back, so the spare bits never carry into the tick.
//   - In a window in use only compare-and-swap changes the tick: to a later one, or, with the bit
//     toggled, to one that is later than all that the other bit has stamped.
//   - A window gives out slots of its own ticks alone, and no two windows with one number overlap.
//
// So what the clock does is of no consequence to uniqueness. Two words, one for the tick and one
// for the slot, are what lets others repeat IDs. Slots flush below the tick, without spare bits,
// would let a late addition take a slot of a tick that has not come.
//
// A regression is a clock that goes back. A generator is at its cap when it has given out all
// slots of the clock's tick.
//
//	layout.go     ticks, slots and words
//	window.go     windows, and who hands them out
//	request.go    asking for the next window, in the background
//	span.go       windows in use, and their change
//	decide.go     what a call decides
//	grab.go       how it changes the word, and takes slots
//	turn.go       calls that wait, and sleeping by a clock that may do anything
//	snapshot.go   how far a timeline has come
//	event.go      what it tells of windows and of the clock
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

	// due is the time until which a call may use slots of the last lag ticks. Timers wake late,
	// often by a millisecond, which would cost a generator at its cap every other tick. A call
	// that slept for slots sets it, to the lag from then on.
	due atomic.Int64

	turn  turn
	later atomic.Pointer[NotBeforeError] // what the source of windows said last; or nil

	// stamped is, per tick-tock bit, the highest tick that had it when the bit was toggled. It
	// rises.
	stamped [2]atomic.Uint64

	// For Stats. issued does not count the tick in use.
	issued, waits, regressions, opened atomic.Uint64
	regressed                          atomic.Uint64 // the tick of the last regression
	latest                             atomic.Uint64 // the last tick of the windows before
}

// A slots is n slots of one tick: those of the words from word on.
type slots struct {
	word, n uint64
	span    *span
}

// next takes one slot: a word that holds it, and its span.
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

// mayAdd reports whether the clock is within a tick, or a generator at its cap may still use it.
// That is cheaper to ask than which tick the clock is in.
func (t *timeline) mayAdd(tick uint64, nano int64) bool {
	since := uint64(nano - t.timeOf(tick))
	return since < uint64(t.unit) || since < uint64(t.unit)*(t.lag+1) && nano < t.due.Load()
}

// add takes the next slot of the word's tick, if there is one. Another call may have changed the
// tick meanwhile: then this is a slot of that tick, and as good. The word, which other processors
// may have written, is touched once.
func (t *timeline) add(s *span) (word uint64, ok bool) {
	word = s.word.Add(1)
	return word, t.slotOf(word) <= t.last
}

// take takes 1 to n consecutive slots of one tick, in its turn.
func (t *timeline) take(ctx context.Context, n uint64) (slots, error) {
	if t.turn.calls.Load() == 0 { // else the calls that wait come first
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
