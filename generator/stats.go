package generator

import (
	"time"

	"github.com/idmint/idmint/idtype"
)

// Stats is the state of a generator whose IDs carry the time, for metrics.
type Stats struct {
	Scheme  idtype.Scheme
	Issued  uint64 // slots that were taken: IDs minted
	Waits   uint64 // times that a call waited for the clock
	Waiting int    // calls that wait for the clock now
	// Over is for how long calls have waited for one unit of time after the other, up to now: for
	// longer than a moment, the generator is over its capacity. It is 0 when none waits.
	Over        time.Duration
	Regressions uint64    // times that the clock was seen to have gone back
	Windows     uint64    // windows that were begun
	Time        time.Time // the time that was stamped last
	PoolUsed    float64   // share of the slots of the clock's present unit that are used, 0 to 1
	Now         time.Time // what the generator's clock says
	// Until is the end of the window in use: how far the generator may go without its source. With
	// a [Ceiling], it is what the counter was raised to. It is zero before the first window, and
	// for one without an end.
	Until time.Time
	// NotBefore is until when the source has no window, as it said last. So is a Ceiling whose
	// counter is ahead of the clock. It is zero where that has passed.
	NotBefore time.Time
}

// Stats reports the state, for metrics.
func (t *timeline) Stats() Stats {
	s, word := t.state()
	st := Stats{
		Scheme: t.scheme, Issued: t.issued.Load() + t.used(s, word),
		Waits: t.waits.Load(), Waiting: int(t.turn.calls.Load()),
		Regressions: t.regressions.Load(), Windows: t.opened.Load(),
	}
	if t.clock == nil { // no constructor made it
		return st
	}
	nano := t.clock.UnixNano()
	st.Now, st.Until = time.Unix(0, nano).UTC(), t.endOf(s)
	now, err := t.tickAt(nano)
	if later := t.laterTick(); err == nil && later > now {
		st.NotBefore = t.at(later)
	}
	if told := t.turn.told.Load(); err == nil && now <= told+t.lag {
		st.Over = time.Duration(max(told, t.turn.before.Load())-t.turn.before.Load()) * t.unit
	}
	if tick := t.latest.Load(); tick != 0 {
		st.Time = t.at(tick)
	}
	if tick := t.tickOf(word); s.has(tick) {
		st.Time = t.at(tick)
		if err == nil && now <= tick {
			st.PoolUsed = float64(t.used(s, word)) / float64(t.perTick())
		}
	}
	return st
}
