package claims

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// EventKind is what happened.
type EventKind string

// The kinds.
const (
	Taken   EventKind = "taken"   // the source has a number
	Lost    EventKind = "lost"    // another generator has taken the source's number
	Freed   EventKind = "freed"   // the source gave its number up, since it may not go on with it
	Lent    EventKind = "lent"    // all numbers are lent
	Refused EventKind = "refused" // the clock is too far ahead to take one
	Away    EventKind = "away"    // the store has failed; told once, until it answers again
	Back    EventKind = "back"    // the store answers again
	// Behind: the store has lost numbers that it had acknowledged, as after a restore. Who had them
	// in the meantime is not known, so this source lends none any more: see launchlog.ErrBehind.
	Behind EventKind = "behind"
)

// Event is what happened to a source's number.
type Event struct {
	Kind   EventKind
	Scheme idtype.Scheme
	Number string    // 7, or CLUSTER/GENERATOR of eightbyte; empty where the source has none
	Until  time.Time // the end of the window that the source has, or had
	Holder string
	Err    error // why; nil for Taken and Back
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
	Number string    // that the source has: 7, or CLUSTER/GENERATOR of eightbyte; or empty
	Until  time.Time // the end of its window
	Holder string
	Raised uint64 // steps that took or renewed a number
	Taken  uint64 // numbers taken
	Lost   uint64 // numbers that another generator took
	Freed  uint64 // numbers given up, since they may not be gone on with
	Doubts uint64 // steps whose answer was lost for good, and which were run again later
	// Failed counts the calls in which the store failed, each within the log's budget. Away is
	// since when, and zero while it answers.
	Failed uint64
	Away   time.Time
	// Lent of Numbers were lent when the source last looked for one.
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

// tell notifies, with what the source has at this moment.
func (s *source) tell(kind EventKind, why error) {
	if s.opts.Notify == nil {
		return
	}
	st := s.state()
	s.opts.Notify(Event{kind, s.pool.scheme, st.Number, st.Until, st.Holder, why})
}
