package generator

import (
	"math"
	"testing"
)

// TestUnitsAreTicks: a counter counts units since 1970, which are a scheme's ticks and its epoch.
// No rounding is between them, and a time that a layout does not have is at its ends.
func TestUnitsAreTicks(t *testing.T) {
	for _, l := range []layout{traceLayout, eightByteLayout, shortLayout, snoLayout} {
		if l.epoch%int64(l.unit) != 0 {
			t.Fatalf("%s: the epoch is not at a whole number of units", l.scheme)
		}
		first := l.epoch / int64(l.unit)
		for units, want := range map[int64]uint64{
			math.MinInt64: 0, -1: 0, first - 1: 0, first: 0, first + 1: 1,
			first + int64(l.maxTick): l.maxTick, first + int64(l.maxTick) + 1: l.maxTick + 1,
			first + int64(l.maxTick) + 2: l.maxTick + 1, NoEnd: l.maxTick + 1,
		} {
			if got := l.tickOfUnit(units); got != want {
				t.Errorf("%s: unit %d is tick %d, want %d", l.scheme, units, got, want)
			}
		}
		for _, tick := range []uint64{0, 1, 77, l.maxTick} {
			begin := l.timeOf(tick)
			for _, nano := range []int64{begin, begin + int64(l.unit) - 1} {
				if got, err := l.tickAt(nano); got != tick || err != nil ||
					l.tickOfUnit(l.unitAt(nano)) != tick {
					t.Errorf("%s: %d ns are tick %d, %v, and unit %d; want tick %d",
						l.scheme, nano, got, err, l.unitAt(nano), tick)
				}
			}
		}
		if got := l.unitAt(-1); got != -1 {
			t.Errorf("%s: the moment before 1970 is in unit %d", l.scheme, got)
		}
	}
}
