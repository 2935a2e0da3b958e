package generator

import (
	"time"

	"github.com/idmint/idmint/idtype"
)

// Stats is the state of a generator whose IDs carry the time, for metrics.
type Stats struct {
	Scheme  idtype.Scheme
	Issued  uint64 // slots taken: IDs minted
	Waits   uint64 // how often a call waited for the clock
	Waiting int    // calls that are waiting for the clock
	// Over is how long calls have been waiting for consecutive units of time, up to now. If that is
	// more than a moment, the generator is over its capacity. It is 0 if no call waits.
	Over        time.Duration
	Regressions uint64    // how often the clock was found to have gone back
	Windows     uint64    // windows begun
	Time        time.Time // the last time stamped
	PoolUsed    float64   // used share of the slots in the clock's present unit, 0 to 1
	Now         time.Time // the time by the generator's clock
	// Until is the end of the window in use, until which the generator does not need its source.
	// With a [Ceiling], it is the time to which the counter was raised. It is zero before the first
	// window, and for a window without an end.
	Until time.Time
	// NotBefore is the time before which the source has no window, according to its last answer, as
	// with a Ceiling whose counter is ahead of the clock. It is zero if that time has passed.
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
	if t.clock == nil { // not created by a constructor
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
