package generator

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// The kinds of events.
const (
	// WindowBegan: a window is in use. Unless it is renewed, its number was taken.
	WindowBegan = "window began"
	// WindowMissed: the source gave no window. The generator goes on with the one that it has. It
	// asks again when a call needs one, or when half of what is left has passed.
	WindowMissed = "window missed"
	// ClockRegressed: the clock is behind the IDs minted so far. It is told as often as Stats
	// counts it.
	ClockRegressed = "clock regressed"
)

// Event is what [Options].Notify hears.
type Event struct {
	Kind   string // what happened
	Scheme idtype.Scheme
	Number uint64 // of the window in use, as bits of its IDs: see [Snapshot]
	// Renewed: a window that began goes on with the number of the one before.
	Renewed bool
	// From and Until are the first moment of a window that began, and the one after its last. Until
	// is zero for a window without an end.
	From, Until time.Time
	// Behind is how far a clock that went back is behind the latest time that was stamped.
	Behind time.Duration
	// Err is why a window was missed. A [NotBeforeError] in it says that it comes later.
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

// tell notifies, of a span's number.
func (t *timeline) tell(s *span, e Event) {
	if t.notify != nil {
		e.Scheme, e.Number = t.scheme, s.number
		t.notify(e)
	}
}

// endOf is the moment after a window's last. It is zero for one without an end, and for none.
func (t *timeline) endOf(s *span) time.Time {
	if s.to == 0 || s.to > t.maxTick {
		return time.Time{}
	}
	return t.at(s.to)
}
