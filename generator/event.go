package generator

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Kinds of events.
const (
	// WindowBegan: a window is now in use. Unless it is a renewal, the generator has just taken its
	// number.
	WindowBegan = "window began"
	// WindowMissed: the source gave no window. The generator continues with its present window. It
	// asks again when a call needs a window, or when half of the time left has passed.
	WindowMissed = "window missed"
	// ClockRegressed: the clock is behind the IDs minted so far. There is one event for each
	// regression that Stats counts.
	ClockRegressed = "clock regressed"
)

// Event is the argument of [Options].Notify.
type Event struct {
	Kind   string // what happened
	Scheme idtype.Scheme
	Number uint64 // of the window in use, as bits of its IDs: see [Snapshot]
	// Renewed is true for a window that began with the same number as the window before.
	Renewed bool
	// From is the first moment of a window that began, and Until is the first moment after it, or
	// zero if the window does not end.
	From, Until time.Time
	// Behind is how far a clock that went back is behind the latest time stamped.
	Behind time.Duration
	// Err is the reason why a window was missed. If it wraps a [NotBeforeError], a window comes
	// later.
	Err error
}

func (e Event) String() string {
	switch e.Kind {
	case ClockRegressed:
		return fmt.Sprintf("%s %s by %v", e.Scheme, e.Kind, e.Behind)
	case WindowMissed:
		return fmt.Sprintf("%s %s: %v", e.Scheme, e.Kind, e.Err)
	}
	return fmt.Sprintf("%s %s, of number %d", e.Scheme, e.Kind, e.Number)
}

// tell notifies of an event that concerns the number of a span.
func (t *timeline) tell(s *span, e Event) {
	if t.notify != nil {
		e.Scheme, e.Number = t.scheme, s.number
		t.notify(e)
	}
}

// endOf returns the first moment after a window, or zero if it has no end or there is no window.
func (t *timeline) endOf(s *span) time.Time {
	if s.to == 0 || s.to > t.maxTick {
		return time.Time{}
	}
	return t.at(s.to)
}
