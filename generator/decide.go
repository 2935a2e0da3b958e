package generator

import "context"

// A view is what a call has read, in this order.
type view struct {
	span *span
	word uint64
	// The clock comes after the word. Else a call that read the clock later, and moved the word on,
	// looks like a regression.
	nano int64
	now  uint64 // the tick of nano
	lags bool   // slots of the last lag ticks may be used: nano is before due
	// other is the highest tick that the other tick-tock bit has stamped.
	other uint64
}

// An action is what a call is to do with a word.
type action uint8

const (
	putBack action = iota // calls have overshot the last slot: make the word that slot again
	goOn                  // take the next slots of the word's tick
	begin                 // take the first slots of decision.tick
	toggle                // the same, with the tick-tock bit toggled
	await                 // wait until decision.tick
	replace               // the window has no tick left: get another one
	end                   // the layout has no tick left
)

// A decision is an action and its tick.
type decision struct {
	action action
	tick   uint64
	behind bool // the clock is behind the word
}

// decide says what to do about a view. It reads nothing else, so a test can ask it about all views.
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

// decideBehind is decide for a clock that is behind the word's tick.
func (r *layout) decideBehind(v view, tick, slot uint64) decision {
	next := tick + 1
	if r.toggles {
		// The first tick that the other bit may stamp.
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

// following is the tick to go on with where the slots of tick are used up, or the clock is beyond
// it.
func (r *layout) following(v view, tick, slot uint64) uint64 {
	switch {
	case v.now <= tick:
		return tick + 1
	case slot == r.last && v.lags: // what the generator slept through is used up first
		return max(tick+1, v.now-min(r.lag, v.now))
	}
	return v.now
}

// decideNext is decide where the word's tick is not to be used any more, and next is.
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

// mayWait says why a call is not to wait for a tick, and for the slots ahead that others want.
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
