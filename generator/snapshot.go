package generator

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Snapshot records how far a generator has come, for Options.Snapshot at the app's next start. Take
// it after the last ID was minted, because it does not cover later ones. Its JSON may be kept in a
// file.
type Snapshot struct {
	Scheme   idtype.Scheme `json:"scheme"`
	Number   uint64        `json:"number"` // the generator's number, as bits of its IDs
	Time     time.Time     `json:"time"`   // the latest time stamped
	Slot     int           `json:"slot"`   // the last slot of that time that was used
	Pool     Pool          `json:"pool"`   // the slots of the generator
	TickTock bool          `json:"tick_tock,omitempty"`
	// Other is the latest time that must not be stamped with the other tick-tock bit.
	Other time.Time `json:"other,omitzero"`
}

// snapshotError is the error of a snapshot that is rejected.
func snapshotError(n Snapshot, reason string) error {
	at := n.Time.UTC().Format(time.RFC3339Nano)
	return &OptionError{
		"Snapshot", fmt.Sprintf("of %s number %d at %s", n.Scheme, n.Number, at), reason,
	}
}

// Snapshot returns how far the generator has come.
func (t *timeline) Snapshot() Snapshot {
	// A toggle records what it leaves before it changes the word, so the word is read first.
	s, word := t.state()
	bit := word >> 63
	n := Snapshot{
		Scheme: t.scheme, Number: s.number,
		Time: t.at(t.tickOf(word)), TickTock: bit == 1,
		Slot: int(min(t.slotOf(word), t.last)), Pool: Pool{int(t.first), int(t.last)},
	}
	if t.toggles { // times before the window must not be stamped with it either
		other := max(t.stamped[1-bit].Load(), s.from-1)
		n.Other = t.at(other)
	}
	return n
}

// stampAt returns the tick that begins at m, if there is one.
func (t *timeline) stampAt(m time.Time) (uint64, bool) {
	tick, err := t.tickAtTime(m)
	return tick, err == nil && t.at(tick).Equal(m)
}

// restore makes a span of Given continue after a snapshot, or returns the reason why it cannot.
func (t *timeline) restore(s *span, n Snapshot, layoutLast uint64) (refused string) {
	switch {
	case n.Scheme != t.scheme:
		return "belongs to another scheme"
	case n.Number != s.number:
		return "belongs to another number, so it does not protect this one"
	case n.Slot < 0 || uint64(n.Slot) > layoutLast:
		return "has a slot that does not fit the layout"
	}
	const badTime = "has a time that does not fit the layout"
	tick, ok := t.stampAt(n.Time)
	if !ok {
		return badTime
	}
	slot := uint64(n.Slot)
	if slot < t.first || slot > t.last || n.Pool != (Pool{int(t.first), int(t.last)}) {
		slot = t.last
	}
	word := t.word(tick, slot)
	bit := uint64(0)
	if n.TickTock {
		bit, word = 1, word|tickTockBit
	}
	if !n.Other.IsZero() {
		other, ok := t.stampAt(n.Other)
		if !ok {
			return badTime
		}
		t.stamped[1-bit].Store(other)
	}
	nano := t.clock.UnixNano()
	now, err := t.tickAt(nano)
	if err != nil {
		return "cannot be compared with the clock: " + err.Error()
	}
	reached := tick
	if t.toggles {
		reached = min(reached, t.stamped[1-bit].Load())
	}
	if now < reached && t.timeOf(reached)-nano > int64(t.maxWait) {
		return "is from the future: the clock is behind it by more than MaxWait"
	}
	s.from = 1 // the snapshot says which times were used
	s.word.Store(word)
	t.issued.Add(-t.used(s, word)) // minted by the generator before this one
	return ""
}
