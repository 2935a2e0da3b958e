package generator

import "context"

// A view is the state that a call has read, in the order of the fields.
type view struct {
	span *span
	word uint64
	// The clock is read after the word. Otherwise, if another call read the clock later and moved
	// the word on, this call would mistake that for a regression.
	nano int64
	now  uint64 // the tick of nano
	lags bool   // slots of the last lag ticks may be used: nano is before due
	// other is the highest tick that was stamped with the other tick-tock bit.
	other uint64
}

// An action is the change that a call makes to a word.
type action uint8

const (
	putBack action = iota // calls have overshot the last slot: reset the word to that slot
	goOn                  // take the next slots of the word's tick
	begin                 // take the first slots of decision.tick
	toggle                // the same, with the tick-tock bit toggled
	await                 // wait until decision.tick
	replace               // the window has no tick left: get another window
	end                   // the layout has no tick left
)

// A decision is an action and its tick.
type decision struct {
	action action
	tick   uint64
	behind bool // the clock is behind the word
}

// decide returns what to do about a view. It reads nothing else, so a test can try it with all
// views.
func (r *layout) decide(v view) decision {
	tick, slot := r.tickOf(v.word), r.slotOf(v.word)
	switch {
	case slot > r.last:
		return decision{action: putBack}
	case tick >= v.span.to: // there was no window yet, or another took its place: see retire
		return decision{action: replace, tick: v.now}
	case v.now < tick && tick >= v.span.from:
		return r.decideBehind(v, tick, slot)
	case slot < r.last && (v.now == tick || v.lags && v.now > tick && v.now-tick <= r.lag):
		return decision{action: goOn, tick: tick}
	}
	return r.decideNext(v, r.following(v, tick, slot))
}

// decideBehind makes the decision if the clock is behind the word's tick.
func (r *layout) decideBehind(v view, tick, slot uint64) decision {
	next := tick + 1
	if r.toggles {
		// The first tick that may be stamped with the other bit.
		free := max(v.other+1, v.span.from)
		if free <= v.now {
			return decision{action: toggle, tick: v.now, behind: true}
		}
		next = min(next, free)
	}
	d := decision{action: goOn, tick: tick}
	if slot == r.last {
		d = r.decideNext(v, next)
	}
	d.behind = true
	return d
}

// following returns the tick to continue with if the slots of tick are used up, or the clock is
// beyond it.
func (r *layout) following(v view, tick, slot uint64) uint64 {
	switch {
	case v.now <= tick:
		return tick + 1
	case slot == r.last && v.lags: // the ticks that the generator slept through are used up first
		return max(tick+1, v.now-min(r.lag, v.now))
	}
	return v.now
}

// decideNext makes the decision if the word's tick cannot be used any more, and next follows it.
func (r *layout) decideNext(v view, next uint64) decision {
	switch {
	case next > r.maxTick:
		return decision{action: end, tick: next}
	case next >= v.span.to:
		return decision{action: replace, tick: next}
	case next > v.now:
		return decision{action: await, tick: next}
	}
	return decision{action: begin, tick: next}
}

// mayWait returns the reason why a call may not wait for a tick, if the calls before it want ahead
// slots.
func (t *timeline) mayWait(ctx context.Context, nano int64, until, ahead uint64) error {
	switch turn := until + ahead/t.perTick(); {
	case ctx.Err() != nil:
		return t.clockError(nano, until, ctx.Err())
	case t.far(nano, until):
		return t.clockError(nano, until, ErrClockBehind)
	case t.far(nano, turn):
		return t.clockError(nano, turn, ErrMaxWait)
	}
	return nil
}

// far reports whether a tick is too far away to wait for it.
func (t *timeline) far(nano int64, tick uint64) bool {
	return t.timeOf(tick)-nano-int64(t.unit) > int64(t.maxWait)
}
