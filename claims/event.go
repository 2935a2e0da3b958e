package claims

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// EventKind is the kind of an event.
type EventKind string

// Kinds of events.
const (
	Taken   EventKind = "taken"   // the source has a number
	Lost    EventKind = "lost"    // another generator has taken the source's number
	Freed   EventKind = "freed"   // the source gave its number up, which it must not use now
	Lent    EventKind = "lent"    // all numbers are lent
	Refused EventKind = "refused" // the clock is too far ahead to take one
	Away    EventKind = "away"    // the store has failed; reported once until it answers again
	Back    EventKind = "back"    // the store answers again
	// Behind: the store has lost numbers that it had acknowledged, as after a restore. It is
	// unknown who had them since, so this source lends none any more: see launchlog.ErrBehind.
	Behind EventKind = "behind"
)

// Event is something that happened to a source's number.
type Event struct {
	Kind   EventKind
	Scheme idtype.Scheme
	Number string    // 7, or CLUSTER/GENERATOR for eightbyte; empty if the source has none
	Until  time.Time // end of the source's present or last window
	Holder string
	Err    error // the reason; nil for Taken and Back
}

func (e Event) String() string {
	text := fmt.Sprintf("%s %s %s", e.Scheme, e.Number, e.Kind)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Stats is the state of a source, for metrics.
type Stats struct {
	Scheme idtype.Scheme
	Number string    // the source's number: 7, or CLUSTER/GENERATOR for eightbyte; or empty
	Until  time.Time // the end of its window
	Holder string
	Raised uint64 // steps that took or renewed a number
	Taken  uint64 // numbers taken
	Lost   uint64 // numbers that another generator took
	Freed  uint64 // numbers given up, because they must not be used any longer
	Doubts uint64 // steps whose answer was finally lost, and which were run again later
	// Failed counts the calls in which the store failed, each within the log's budget. Away is the
	// time since which the store has failed, and zero while it answers.
	Failed uint64
	Away   time.Time
	// Lent of Numbers were lent when the source last looked for a number.
	Lent, Numbers int
}

func (s *source) state() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *source) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
}

// tell notifies of an event, and adds the source's present number and window.
func (s *source) tell(kind EventKind, why error) {
	if s.opts.Notify == nil {
		return
	}
	st := s.state()
	s.opts.Notify(Event{kind, s.pool.scheme, st.Number, st.Until, st.Holder, why})
}
