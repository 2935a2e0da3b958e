//go:build !race

package generator_test

import (
	"testing"

	"github.com/idmint/idmint/generator"
)

// TestUnitUsedUp uses all slots of the layout up, by Next and by Fill in turn.
func TestUnitUsedUp(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		clock := generator.NewTestClock(noon.Add(-1))
		g := s.must(t, given(0), &generator.Options{Clock: clock})
		clock.Set(noon)
		var last minted
		for slot := s.first; slot <= s.last; {
			ids := make([]minted, 1)
			var err error
			if slot%2 == 0 {
				ids[0], err = g.next(ctx)
			} else {
				ids, err = g.fill(ctx, min(1+slot%7*(1+s.last>>12), s.last-slot+1))
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if id.mark != (mark{0, noon.UnixNano(), 0, slot}) {
					t.Fatalf("slot %d is %+v", slot, id)
				}
				if slot > s.first && s.ascends && id.bytes <= last.bytes {
					t.Fatalf("%x after %x", id.bytes, last.bytes)
				}
				last = id
				slot++
			}
		}
		wantAt(t, clock, 0)
		id, err := g.next(ctx)
		if err != nil || id.mark != (mark{0, noon.Add(s.unit).UnixNano(), 0, s.first}) ||
			s.ascends && id.bytes <= last.bytes {
			t.Errorf("after the last slot: %+v, %v", id.mark, err)
		}
		wantAt(t, clock, s.unit)
	})
}
