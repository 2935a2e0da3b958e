package generator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/internal/nilable"
)

// A span is a window in use: a number, its ticks, and a word that records what was given out of
// them.
type span struct {
	word     atomic.Uint64 // drawn in timeline.go
	_        [56]byte      // calls write word all the time: the rest must not share its line
	number   uint64        // immutable; as bits of an ID
	from, to uint64        // immutable; ticks, to excluded
	tick     atomic.Uint64 // of the word, but may be slightly old: a hint for next
	// ask is the tick at which the next window is requested. It is raised with windows.mu held.
	ask atomic.Uint64
}

// newSpan returns a window of which nothing was given out. It excludes tick 0, in which an ID might
// be zero.
func (t *timeline) newSpan(number, from, to uint64) *span {
	s := &span{number: number, from: max(from, 1), to: to}
	s.word.Store(t.word(s.from-1, t.last)) // the tick before the window is used up
	s.ask.Store(from + (to-from)/2)
	return s
}

// has reports whether the window contains a tick. The tick of the window's own word may be outside:
// before the first ID, it is the tick before the window, and after retire, it is the layout's last.
// A window whose source has lost numbers is retired while it is still in use: see settled.
func (s *span) has(tick uint64) bool { return s.from <= tick && tick < s.to }

const windowTries = 10

// start makes t a timeline of a layout. Its numbers come from windows, and encode turns them into
// bits of an ID or rejects them.
func start[N any](
	t *timeline, l layout, windows Windows[N], encode func(N) (uint64, error), opts *Options,
) error {
	if nilable.IsNil(windows) {
		return noSource("windows")
	}
	if c, ok := windows.(*ceiling[N]); ok && nilable.IsNil(c.counter) {
		return noSource("counter")
	}
	o, err := opts.complete(l)
	if err != nil {
		return err
	}
	layoutLast := l.last
	l.first, l.last = uint64(o.Pool.Min), uint64(o.Pool.Max)
	t.layout, t.clock, t.maxWait, t.overflow, t.random = l, o.Clock, o.MaxWait, o.Overflow, o.Random
	t.notify = o.Notify
	t.turn.token = make(chan struct{}, 1)
	t.turn.token <- struct{}{}
	t.windows.ask = func(ctx context.Context) (*span, error) { return ask(ctx, t, windows, encode) }
	t.windows.trouble = troubleOf(windows)
	t.windows.settled = t.settled
	t.span.Store(t.newSpan(0, 0, 0))

	if _, ok := windows.(given[N]); !ok {
		if o.Snapshot != nil {
			return snapshotError(*o.Snapshot,
				"can only be combined with Given: other sources record the times used themselves")
		}
		return nil
	}
	// Given has its number at hand, so that a bad one is reported to the caller of the constructor.
	s, err := ask(context.Background(), t, windows, encode)
	if err != nil {
		return err
	}
	if o.Snapshot != nil {
		if why := t.restore(s, *o.Snapshot, layoutLast); why != "" {
			return snapshotError(*o.Snapshot, why)
		}
	}
	t.windows.mu.Lock()
	defer t.windows.mu.Unlock()
	t.install(s)
	return nil
}

// orNil returns g, or nil if there is an error.
func orNil[G any](g *G, err error) (*G, error) {
	if err != nil {
		return nil, err
	}
	return g, nil
}

// ask gets a window that can still be used. If the database is slow, a window may have passed when
// it arrives, and the next one may be better.
func ask[N any](
	ctx context.Context, t *timeline, windows Windows[N], encode func(N) (uint64, error),
) (s *span, err error) {
	for range windowTries {
		var w Window[N]
		w, err = windows.NextWindow(ctx, t.unitAt(t.clock.UnixNano()), t.unit)
		if err != nil {
			var later *NotBeforeError
			if errors.As(err, &later) && t.unitAt(t.clock.UnixNano()) >= later.From {
				err = fmt.Errorf("%v, which has passed", err) // by this clock: no wait
				continue
			}
			return nil, asRepeated(err)
		}
		number, err := encode(w.Number)
		if err != nil {
			return nil, err
		}
		s = t.newSpan(number, t.tickOfUnit(w.From), t.tickOfUnit(w.To))
		if !t.passed(s) {
			break
		}
	}
	return s, err
}

// passed reports whether a span has ended.
func (t *timeline) passed(s *span) bool {
	return s.to <= t.maxTick && t.timeOf(s.to) <= t.clock.UnixNano()
}

// settled checks a window that the source returned. The caller holds windows.mu.
func (t *timeline) settled(s *span, err error) (*span, error) {
	if err == nil {
		s, err = t.check(s)
	}
	if err != nil {
		if errors.Is(err, ErrRepeated) {
			t.retire(t.span.Load()) // others may be given what is left of it
		}
		t.tell(t.span.Load(), Event{Kind: WindowMissed, Err: err})
		return nil, err
	}
	return s, nil
}

// check rejects a window that cannot be used. The caller holds windows.mu.
func (t *timeline) check(s *span) (*span, error) {
	at := func(tick uint64) string { return t.at(tick).Format(errorTime) }
	switch old := t.span.Load(); {
	case s.from >= s.to:
		return nil, fmt.Errorf("the window from %s until %s is empty", at(s.from), at(s.to))
	case t.passed(s): // and the next one may have passed as well
		return nil, fmt.Errorf("the window from %s until %s has passed", at(s.from), at(s.to))
	case old.to != 0 && old.number == s.number && s.from < old.to:
		return nil, fmt.Errorf("a window from %s after one until %s: %w",
			at(s.from), at(old.to), ErrRepeated)
	}
	return s, nil
}

// install makes s the window in use. The caller holds windows.mu.
func (t *timeline) install(s *span) {
	old := t.span.Swap(s)
	t.opened.Add(1)
	t.due.Store(0)
	t.retire(old)
	t.tell(s, Event{
		Kind: WindowBegan, Renewed: old.to != 0 && old.number == s.number,
		From: t.at(s.from), Until: t.endOf(s),
	})
}

// retire marks a replaced window as used up, for calls that still hold it. Its word is then beyond
// its ticks and no longer has the right tick-tock bit, so no call may continue from it. A window
// that ends with the layout is never replaced.
func (t *timeline) retire(old *span) {
	word := old.word.Swap(t.word(t.maxTick, t.last))
	t.issued.Add(t.used(old, word))
	if tick := t.tickOf(word); old.has(tick) {
		t.latest.Store(tick)
	}
}

// askAhead requests the window after s in the background, if tick has come far enough.
func (t *timeline) askAhead(s *span, tick uint64) {
	if tick < s.ask.Load() || s.to > t.maxTick {
		return
	}
	t.windows.mu.Lock()
	defer t.windows.mu.Unlock()
	if t.span.Load() == s {
		s.ask.Store(tick + (s.to-tick+1)/2) // in case this request fails
		t.windows.startLocked()
	}
}

// renew waits for a window after s, or learns when there will be one.
func (t *timeline) renew(ctx context.Context, s *span) error {
	err := t.windows.refresh(ctx, func() bool { return t.span.Load() == s }, t.install)
	var later *NotBeforeError
	switch {
	case errors.As(err, &later):
		t.later.Store(later)
	case err != nil:
		return &NumberError{Scheme: t.scheme, Err: err}
	}
	return nil
}

// laterTick returns the tick before which the source has no window. The tick may have passed.
func (t *timeline) laterTick() uint64 {
	if later := t.later.Load(); later != nil {
		return t.tickOfUnit(later.From)
	}
	return 0
}

// Ready waits until the generator has a window that it can use, without minting: see
// [Decimal.Ready]. Errors: [*ClockError], [*NumberError], and [*idtype.RangeError] as for Next.
func (t *timeline) Ready(ctx context.Context) error {
	var z sleeper
	overdue := t.overdue()
	for {
		s := t.span.Load()
		if s == nil {
			return errNotMade
		}
		nano := t.clock.UnixNano()
		now, err := t.tickAt(nano)
		switch later := t.laterTick(); {
		case err != nil || now < s.to:
			return err
		case later <= now:
			err = t.renew(ctx, s)
		case time.Now().After(overdue):
			err = t.clockError(nano, later, ErrMaxWait)
		default:
			if err = t.mayWait(ctx, nano, later, 0); err == nil {
				err = z.towards(ctx, t, later)
			}
		}
		if err != nil {
			return err
		}
	}
}

// state returns the window in use and its word, read before another window could replace it.
func (t *timeline) state() (*span, uint64) {
	for {
		s := t.span.Load()
		if s == nil {
			return &span{from: 1}, 0 // nothing of it was used
		}
		word := s.word.Load()
		if t.span.Load() == s {
			return s, word
		}
	}
}
