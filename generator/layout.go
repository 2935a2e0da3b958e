package generator

import (
	"time"

	"github.com/idmint/idmint/idtype"
)

// A layout is how a scheme divides time into units, called ticks, each of which has a number of
// slots. An ID consists of a number, a tick and a slot. Ticks count from the scheme's epoch, which
// is a whole number of units after 1970.
type layout struct {
	scheme  idtype.Scheme
	typ     string // type of the IDs, for errors
	maxTick uint64
	first   uint64 // the first slot
	lag     uint64 // how many ticks late a generator at its cap may stamp: see timeline.due
	toggles bool   // a clock that goes back toggles the tick-tock bit of IDs

	// These fields are read by each call, and are kept together here and in timeline.
	unit  time.Duration // of a tick
	epoch int64         // nanoseconds since 1970 at which tick 0 begins
	last  uint64        // the last slot
	shift uint8         // where the tick begins in a word
}

const tickTockBit = 1 << 63

// A shift is below 64. The "& 63" spares each call a comparison.

func (l *layout) slotOf(word uint64) uint64 { return word & (1<<(l.shift&63) - 1) }
func (l *layout) tickOf(word uint64) uint64 { return word &^ tickTockBit >> (l.shift & 63) }

func (l *layout) word(tick, slot uint64) uint64 { return tick<<(l.shift&63) | slot }

// perTick returns the number of slots of a tick.
func (l *layout) perTick() uint64 { return l.last - l.first + 1 }

// fit returns how many of n slots can be taken from slot on.
func (l *layout) fit(slot, n uint64) uint64 { return min(n, l.last-slot+1) }

// timeOf returns the beginning of a tick, in nanoseconds since 1970.
func (l *layout) timeOf(tick uint64) int64 { return l.epoch + int64(tick)*int64(l.unit) }

// at returns the beginning of a tick.
func (l *layout) at(tick uint64) time.Time { return time.Unix(0, l.timeOf(tick)).UTC() }

// tickAt returns the tick of a moment, or an error if the moment is outside the layout.
func (l *layout) tickAt(nano int64) (uint64, error) {
	if tick := uint64(nano-l.epoch) / uint64(l.unit); nano >= l.epoch && tick <= l.maxTick {
		return tick, nil
	}
	return 0, l.rangeError(time.Unix(0, nano))
}

// tickAtTime is tickAt for moments that may exceed an int64 of nanoseconds.
func (l *layout) tickAtTime(t time.Time) (uint64, error) {
	// The difference saturates at a value outside every layout.
	tick, err := l.tickAt(l.epoch + int64(t.Sub(time.Unix(0, l.epoch))))
	if err != nil {
		err = l.rangeError(t)
	}
	return tick, err
}

func (l *layout) rangeError(t time.Time) error {
	const milli = int64(time.Millisecond)
	return &idtype.RangeError{
		Type: l.typ, Part: "unix_ms", Value: t.UnixMilli(),
		Min: l.epoch / milli, Max: l.timeOf(l.maxTick+1)/milli - 1,
	}
}

// unitAt returns the unit of a moment, counted from 1970, as windows count.
func (l *layout) unitAt(nano int64) int64 {
	units := nano / int64(l.unit)
	if nano%int64(l.unit) < 0 {
		units--
	}
	return units
}

// tickOfUnit returns the tick of a unit that is counted from 1970. Units before the layout return
// tick 0, and units beyond it the tick after the last.
func (l *layout) tickOfUnit(units int64) uint64 {
	first := l.epoch / int64(l.unit)
	if units <= first {
		return 0
	}
	return min(uint64(units-first), l.maxTick+1)
}
