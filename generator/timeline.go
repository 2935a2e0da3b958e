package generator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/idtype"
)

// A layout is how a scheme divides time: into units, the ticks, of which each has slots. An ID is a number, a tick and a slot.
type layout struct {
	scheme  idtype.Scheme
	typ     string // of the IDs, for errors
	maxTick uint64
	first   uint64 // the first slot
	lag     uint64 // ticks: see timeline.due
	toggles bool   // IDs have a tick-tock bit, which a regression toggles

	// What each call looks at stands together, here and in timeline.
	unit  time.Duration // of a tick
	epoch int64         // nanoseconds since 1970 at which tick 0 begins
	last  uint64        // the last slot
	shift uint8         // where the tick begins in a word
}

// A timeline is the generator core of all schemes whose IDs carry the time. It gives out slots: each pair of a tick and a slot
// once.
//
// The state is one word: the tick and the last slot given out. A call that finds the tick to be that of the clock adds one and
// owns the slot that it gets. Only compare-and-swap changes the tick, and only to a later one, so what the clock does is of no
// consequence to uniqueness. There is room above the last slot for as many calls as may run at once, so that an addition never
// carries into the tick; with the slots flush below the tick, as in the IDs, a late addition would take a slot of a tick
// that has not come. Two words, one for the tick and one for the slot, are what lets others repeat IDs.
type timeline struct {
	layout
	clock   Clock
	span    atomic.Pointer[span] // the window in use
	windows requester[*span]

	maxWait  time.Duration
	toggle   bool // a regression toggles the tick-tock bit
	fail     bool // a regression is an error
	overflow func(Overflow)
	random   rand.Source

	// due is the time until which a generator at its cap may be behind, by the lag: timers are late, by a millisecond often, which
	// would cost it every other tick. What it missed of the last ticks is used up first. A call that has slept for slots sets
	// it, to the lag from then on.
	due atomic.Int64

	queue queue
	// later is the tick before which the source of windows has none, or one that has passed.
	later atomic.Uint64

	// stamped is, per tick-tock bit, the highest tick that had it when the bit was toggled.
	stamped [2]atomic.Uint64

	issued, waits, regressions, opened atomic.Uint64 // for Stats; issued without the ticks in use
	regressed                          atomic.Uint64 // the tick at which the last regression was seen
	latest                             atomic.Uint64 // the last tick of the windows before
}

// A span is a window in use: a number, ticks, and what was given out of them.
type span struct {
	word     atomic.Uint64 // tick-tock bit, tick, last slot given out
	_        [56]byte      // calls write word all the time: the rest is not to share its cache line
	number   uint64        // as bits of an ID
	from, to uint64        // ticks; to is not included
	tick     atomic.Uint64 // of the word, or an earlier one
	ask      atomic.Uint64 // the tick at which to ask for the next window
}

const tickTockBit = 1 << 63

func (l *layout) slotOf(word uint64) uint64 { return word & (1<<l.shift - 1) }
func (l *layout) tickOf(word uint64) uint64 { return word &^ tickTockBit >> l.shift }

func (l *layout) word(tick, slot uint64) uint64 { return tick<<l.shift | slot }

// timeOf is the beginning of a tick.
func (l *layout) timeOf(tick uint64) int64 { return l.epoch + int64(tick)*int64(l.unit) }

// tickAt is the tick of a moment, or an error where the layout has none.
func (l *layout) tickAt(nano int64) (uint64, error) {
	// As an unsigned number a moment before the epoch is beyond the last tick too.
	if tick := uint64(nano-l.epoch) / uint64(l.unit); nano >= l.epoch && tick <= l.maxTick {
		return tick, nil
	}
	return 0, l.rangeError(time.Unix(0, nano))
}

// tickAtTime is tickAt for moments that nanoseconds may not reach.
func (l *layout) tickAtTime(t time.Time) (uint64, error) {
	tick, err := l.tickAt(l.epoch + int64(t.Sub(time.Unix(0, l.epoch)))) // the difference saturates, beyond every layout
	if err != nil {
		err = l.rangeError(t)
	}
	return tick, err
}

func (l *layout) rangeError(t time.Time) error {
	const milli = int64(time.Millisecond)
	return &idtype.RangeError{
		Type: l.typ, Part: "unix_ms", Value: t.UnixMilli(), Min: l.epoch / milli, Max: l.timeOf(l.maxTick+1)/milli - 1,
	}
}

// clamp is the tick at the end of a window, rounded up, within the layout.
func (l *layout) clamp(t time.Time) uint64 {
	since := t.Sub(time.Unix(0, l.epoch)) // saturates
	if since <= 0 {
		return 0
	}
	return min((uint64(since)+uint64(l.unit)-1)/uint64(l.unit), l.maxTick+1)
}

const windowTries = 10

// start makes t the generator core of a layout, with numbers from windows, which encode turns into bits of an ID or refuses.
func start[N any](t *timeline, l layout, windows Windows[N], encode func(N) (uint64, error), opts *Options) error {
	if isNil(windows) {
		return noSource("windows")
	}
	if c, ok := windows.(*ceiling[N]); ok && isNil(c.counter) {
		return noSource("counter")
	}
	o, err := opts.complete(l)
	if err != nil {
		return err
	}
	layoutLast := l.last
	l.first, l.last = uint64(o.Pool.Min), uint64(o.Pool.Max)
	t.layout, t.clock, t.maxWait, t.overflow, t.random = l, o.Clock, o.MaxWait, o.Overflow, o.Random
	t.fail = o.Regression == RegressionFails
	t.toggle = l.toggles && o.Regression == RegressionDefault
	ask := func(ctx context.Context) (s *span, err error) {
		// A window may have passed by the time that a slow database answers: then the next one may not.
		for range windowTries {
			var w Window[N]
			if w, err = windows.NextWindow(ctx, time.Unix(0, t.clock.UnixNano()), t.unit); err != nil {
				var later *NotBeforeError
				if errors.As(err, &later) && !time.Unix(0, t.clock.UnixNano()).Before(later.Time) {
					err = fmt.Errorf("%v, which has passed", err) // by this clock; not to be waited for
					continue
				}
				return nil, err
			}
			number, err := encode(w.Number)
			if err != nil {
				return nil, err
			}
			if s = t.open(number, w.From, w.To); !t.passed(s) {
				break
			}
		}
		return s, err
	}
	t.windows.ask = ask
	t.windows.settled = t.check
	t.span.Store(t.newSpan(0, 0, 0))

	if _, ok := windows.(given[N]); !ok {
		if o.Snapshot != nil {
			return &SnapshotError{*o.Snapshot, errNotGiven}
		}
		return nil
	}
	// The number is at hand, and a bad one is the caller's mistake.
	s, err := ask(context.Background())
	if err != nil {
		return err
	}
	if o.Snapshot != nil {
		if err := t.restore(s, *o.Snapshot, layoutLast); err != nil {
			return &SnapshotError{*o.Snapshot, err}
		}
	}
	t.windows.mu.Lock()
	defer t.windows.mu.Unlock()
	t.install(s)
	return nil
}

// newSpan is a window of which nothing was given out. Tick 0 is left out, because an ID of it may be zero.
func (t *timeline) newSpan(number, from, to uint64) *span {
	s := &span{number: number, from: max(from, 1), to: to}
	s.word.Store(t.word(s.from-1, t.last)) // the tick before it is used up
	s.ask.Store(from + (to-from)/2)
	return s
}

func (t *timeline) open(number uint64, from, to time.Time) *span {
	end := t.maxTick + 1
	if !to.IsZero() {
		end = min(end, t.clamp(to.Add(1-t.unit))) // rounded down
	}
	return t.newSpan(number, t.clamp(from), end)
}

// passed reports whether nobody can use a span any more.
func (t *timeline) passed(s *span) bool {
	return s.to <= t.maxTick && t.timeOf(s.to) <= t.clock.UnixNano()
}

// check looks at a window that the source answered with. The caller holds windows.mu.
func (t *timeline) check(s *span, err error) (*span, error) {
	if err != nil {
		return nil, err
	}
	at := func(tick uint64) string {
		return time.Unix(0, t.timeOf(tick)).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if s.from >= s.to {
		return nil, fmt.Errorf("the window from %s has no whole unit of %v", at(s.from), t.unit)
	}
	if t.passed(s) { // and the next may be like it
		return nil, fmt.Errorf("the window from %s until %s has passed", at(s.from), at(s.to))
	}
	if old := t.span.Load(); old.to != 0 && old.number == s.number && s.from < old.to {
		return nil, fmt.Errorf("%w: a window from %s after one until %s", ErrRepeated, at(s.from), at(old.to))
	}
	return s, nil
}

// install makes s the window in use. The caller holds windows.mu.
func (t *timeline) install(s *span) {
	old := t.span.Swap(s)
	t.opened.Add(1)
	t.due.Store(0)
	word := old.word.Swap(t.word(t.maxTick, t.last)) // late additions find it full
	t.issued.Add(t.used(old, word))
	if tick := t.tickOf(word); tick >= old.from && old.to != 0 {
		t.latest.Store(tick)
	}
}

// used is how many slots of the word's tick were given out.
func (t *timeline) used(s *span, word uint64) uint64 {
	if slot := t.slotOf(word); slot >= t.first && t.tickOf(word) >= s.from {
		return min(slot, t.last) - t.first + 1
	}
	return 0
}

// next takes one slot: a word that holds it, and its span.
func (t *timeline) next(ctx context.Context) (uint64, *span, error) {
	s := t.span.Load()
	if s == nil {
		return 0, nil, errNotMade
	}
	// Whether the clock is within a tick, or the generator behind, is cheaper to ask than which tick it is in. The word, which
	// other processors may just have written, is not touched more than once.
	tick := s.tick.Load()
	nano := t.clock.UnixNano()
	since := uint64(nano - t.timeOf(tick))
	if since >= uint64(t.unit) && (since >= uint64(t.unit)*(t.lag+1) || nano >= t.due.Load()) {
		word, _, s, err := t.take(ctx, 1, 0)
		return word, s, err
	}
	// Another call may have changed the tick meanwhile. Then this is a slot of that one, and as good.
	if word := s.word.Add(1); t.slotOf(word) <= t.last {
		return word, s, nil
	}
	word, _, s, err := t.take(ctx, 1, 0)
	return word, s, err
}

// take takes 1 to n consecutive slots of one tick: a word that holds the first, how many, and their
// span. Where align is not 0, they do not cross a multiple of it.
func (t *timeline) take(ctx context.Context, n, align uint64) (uint64, uint64, *span, error) {
	for t.queue.length.Load() == 0 { // else the calls that wait come first
		g, err := t.grab(func(slot uint64) uint64 { return t.fit(slot, n, align) })
		switch {
		case err != nil:
			return 0, 0, nil, err
		case g.n > 0:
			return g.word, g.n, g.span, nil
		case !g.renew:
			return t.wait(ctx, n, align)
		}
		if err := t.renew(ctx, g.span); err != nil {
			return 0, 0, nil, err
		}
	}
	return t.wait(ctx, n, align)
}

// A grant is n slots from word on, or, if n is 0, what has to come before there are any: a window
// after the span, or else the tick until.
type grant struct {
	word, n uint64
	span    *span
	renew   bool
	until   uint64
	nano    int64 // what the clock said
}

// grab takes consecutive slots of one tick, as many from a slot on as want says, and does not wait.
func (t *timeline) grab(want func(slot uint64) uint64) (grant, error) {
	for {
		s := t.span.Load()
		if s == nil {
			return grant{}, errNotMade
		}
		word := s.word.Load()
		nano := t.clock.UnixNano() // after word: else a call that read the clock later than this one looks like a regression
		tick, slot, bit := t.tickOf(word), t.slotOf(word), word&tickTockBit
		if slot > t.last {
			// Who added to a word that is used up puts it back before adding again, so there is room for all.
			s.word.CompareAndSwap(word, bit|t.word(tick, t.last))
			continue
		}
		now, err := t.tickAt(nano)
		if err != nil {
			return grant{}, err
		}
		catchUp := nano < t.due.Load()
		next := t.following(tick, slot, now, catchUp)
		behind := now < tick && tick >= s.from
		usable := slot < t.last && (behind || now == tick || now-tick <= t.lag && catchUp)
		if behind {
			if t.regressed.Swap(tick) != tick {
				t.regressions.Add(1)
			}
			if t.fail {
				return grant{}, t.clockError(nano, tick, ErrClockBehind)
			}
		}
		if behind && t.toggle {
			// The first tick that the toggled bit has not stamped yet. What this bit has stamped is noted before the bit is
			// toggled, so that nobody toggles it back too early.
			if free := max(t.stamped[1-bit>>63].Load()+1, s.from); free > now {
				next = min(next, free)
			} else {
				raise(&t.stamped[bit>>63], tick)
				next, bit, usable = now, bit^tickTockBit, false
				t.due.Store(0)
				t.regressed.Store(0)
			}
		}
		switch {
		case usable:
			k := want(slot + 1)
			if s.word.CompareAndSwap(word, word+k) {
				if s.tick.Load() != tick { // two calls that changed it were out of step
					s.tick.Store(tick)
				}
				return grant{word: word + 1, n: k, span: s}, nil
			}
		case next > t.maxTick && t.span.Load() == s: // a window that was replaced is at its end
			return grant{}, t.rangeError(time.Unix(0, t.timeOf(next)))
		case next >= s.to:
			if later := t.later.Load(); later > now {
				return grant{span: s, until: later, nano: nano}, nil
			}
			return grant{span: s, until: next, nano: nano, renew: true}, nil
		case next > now:
			return grant{span: s, until: next, nano: nano}, nil
		default:
			k := want(t.first)
			first := bit | t.word(next, t.first)
			if s.word.CompareAndSwap(word, first+k-1) {
				t.changed(s, word, next)
				return grant{word: first, n: k, span: s}, nil
			}
		}
	}
}

// following is the tick to go on with where the slots of tick are used up, or the clock is beyond it.
func (t *timeline) following(tick, slot, now uint64, catchUp bool) uint64 {
	if now <= tick {
		return tick + 1
	}
	if slot == t.last && catchUp {
		return max(tick+1, now-min(t.lag, now))
	}
	return now
}

// fit is how many of n slots can be taken from slot on.
func (t *timeline) fit(slot, n, align uint64) uint64 {
	k := min(n, t.last-slot+1)
	if align != 0 {
		k = min(k, align-slot%align)
	}
	return k
}

// changed follows a change from the word's tick to next.
func (t *timeline) changed(s *span, word, next uint64) {
	s.tick.Store(next)
	t.issued.Add(t.used(s, word))
	if ask := s.ask.Load(); next >= ask && s.to <= t.maxTick {
		t.windows.mu.Lock()
		defer t.windows.mu.Unlock()
		if t.span.Load() == s {
			s.ask.Store(next + (s.to-next+1)/2) // should this request fail
			t.windows.startLocked()
		}
	}
}

// renew waits for a window after s, or hears when there will be one.
func (t *timeline) renew(ctx context.Context, s *span) error {
	err := t.windows.refresh(ctx, func() bool { return t.span.Load() == s }, t.install)
	var later *NotBeforeError
	switch {
	case errors.As(err, &later):
		t.later.Store(t.clamp(later.Time))
	case err != nil:
		return &NumberError{Scheme: t.scheme, Err: err}
	}
	return nil
}

// ready waits until there is a window that has not passed.
func (t *timeline) ready(ctx context.Context) error {
	var sleep sleeper
	overdue := t.overdue()
	for {
		s := t.span.Load()
		if s == nil {
			return errNotMade
		}
		now, err := t.tickAt(t.clock.UnixNano())
		switch later := t.later.Load(); {
		case err != nil || now < s.to:
			return err
		case later > now && time.Now().After(overdue):
			err = t.clockError(t.clock.UnixNano(), later, ErrMaxWait)
		case later > now:
			err = sleep.towards(ctx, t, later)
		default:
			err = t.renew(ctx, s)
		}
		if err != nil {
			return err
		}
	}
}

func (t *timeline) clockError(nano int64, until uint64, err error) error {
	return &ClockError{Scheme: t.scheme, Now: time.Unix(0, nano), Until: time.Unix(0, t.timeOf(until)), Err: err}
}

func raise(v *atomic.Uint64, to uint64) {
	for {
		old := v.Load()
		if old >= to || v.CompareAndSwap(old, to) {
			return
		}
	}
}

// state is the window in use and its word, from before another window takes its place.
func (t *timeline) state() (*span, uint64) {
	for {
		s := t.span.Load()
		if s == nil {
			return &span{from: 1}, 0 // of which nothing was used
		}
		word := s.word.Load()
		if t.span.Load() == s {
			return s, word
		}
	}
}
