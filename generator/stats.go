package generator

import (
	"time"
)

// Stats is the state of a generator whose IDs carry the time, for metrics.
type Stats struct {
	Issued      uint64    // slots that were taken: IDs minted, and reserved by owned generators
	Waits       uint64    // times that a call waited for the clock
	Waiting     int       // calls that wait for the clock now
	Regressions uint64    // times that the clock was seen to have gone back
	Windows     uint64    // windows that were begun
	Time        time.Time // the time that was stamped last
	PoolUsed    float64   // share of the slots of the clock's present unit that are used, 0 to 1
}

func (t *timeline) stats() Stats {
	s, word := t.state()
	st := Stats{
		Issued: t.issued.Load() + t.used(s, word),
		Waits:  t.waits.Load(), Waiting: int(t.queue.length.Load()),
		Regressions: t.regressions.Load(), Windows: t.opened.Load(),
	}
	if tick := t.latest.Load(); tick != 0 {
		st.Time = time.Unix(0, t.timeOf(tick)).UTC()
	}
	if tick := t.tickOf(word); tick >= s.from && s.to != 0 {
		st.Time = time.Unix(0, t.timeOf(tick)).UTC()
		if now, err := t.tickAt(t.clock.UnixNano()); err == nil && now <= tick {
			st.PoolUsed = float64(t.used(s, word)) / float64(t.perTick())
		}
	}
	return st
}
