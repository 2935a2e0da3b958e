package generator

import (
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Snapshot is how far a generator has come: what Options.Snapshot takes at the next start of an
// app. Take it after the last ID was minted; it knows nothing of later ones. Its JSON may be kept
// in a file.
type Snapshot struct {
	Scheme   idtype.Scheme `json:"scheme"`
	Number   uint64        `json:"number"` // the generator's, as bits of its IDs
	Time     time.Time     `json:"time"`   // the latest time that was stamped
	Slot     int           `json:"slot"`   // the last slot of it that was used
	Pool     Pool          `json:"pool"`   // the slots that the generator had
	TickTock bool          `json:"tick_tock,omitempty"`
	// Other is the latest time that is not to be stamped with the other tick-tock bit.
	Other time.Time `json:"other,omitzero"`
}

// A SnapshotError is returned by constructors for a snapshot that they cannot go on from.
type SnapshotError struct {
	Snapshot Snapshot
	Err      error
}

func (e *SnapshotError) Error() string {
	s := e.Snapshot
	at := s.Time.UTC().Format(time.RFC3339Nano)
	return fmt.Sprintf("generator: snapshot of %s number %d at %s: %v",
		s.Scheme, s.Number, at, e.Err)
}

func (e *SnapshotError) Unwrap() error { return e.Err }

var (
	errNotGiven = errors.New("a snapshot goes with Given: " +
		"other sources of numbers keep account themselves")
	errOtherScheme   = errors.New("is of another scheme")
	errOtherNumber   = errors.New("is of another number, and says nothing about this one")
	errBadTime       = errors.New("its time does not fit the layout")
	errBadSlot       = errors.New("its slot does not fit the layout")
	errFromTheFuture = errors.New("is from the future: the clock is further behind it than MaxWait")
)

// Snapshot is how far the generator has come.
func (t *timeline) Snapshot() Snapshot {
	// A toggle notes what it leaves before it changes the word, so the word comes first.
	s, word := t.state()
	bit := word >> 63
	n := Snapshot{
		Scheme: t.scheme, Number: s.number,
		Time: t.at(t.tickOf(word)), TickTock: bit == 1,
		Slot: int(min(t.slotOf(word), t.last)), Pool: Pool{int(t.first), int(t.last)},
	}
	if t.toggles { // nor is time from before the window to be stamped with it
		other := max(t.stamped[1-bit].Load(), s.from-1)
		n.Other = t.at(other)
	}
	return n
}

// stampAt is the tick that begins at a moment.
func (t *timeline) stampAt(m time.Time) (uint64, bool) {
	tick, err := t.tickAtTime(m)
	return tick, err == nil && t.at(tick).Equal(m)
}

// restore makes a span of Given go on where a snapshot ended.
func (t *timeline) restore(s *span, n Snapshot, layoutLast uint64) error {
	switch {
	case n.Scheme != t.scheme:
		return errOtherScheme
	case n.Number != s.number:
		return errOtherNumber
	case n.Slot < 0 || uint64(n.Slot) > layoutLast:
		return errBadSlot
	}
	tick, ok := t.stampAt(n.Time)
	if !ok {
		return errBadTime
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
			return errBadTime
		}
		t.stamped[1-bit].Store(other)
	}
	nano := t.clock.UnixNano()
	now, err := t.tickAt(nano)
	if err != nil {
		return err
	}
	reached := tick
	if t.toggles {
		reached = min(reached, t.stamped[1-bit].Load())
	}
	if now < reached && t.timeOf(reached)-nano > int64(t.maxWait) {
		return errFromTheFuture
	}
	s.from = 1 // the snapshot says what was used
	s.word.Store(word)
	t.issued.Add(-t.used(s, word)) // by the generator before this one
	return nil
}
