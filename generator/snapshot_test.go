package generator_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// restart makes a generator that goes on from what another one had come to, by way of JSON.
func restart(t *testing.T, s scheme, g *timed, clock generator.Clock, o generator.Options) *timed {
	t.Helper()
	before := g.snapshot()
	text, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	var back generator.Snapshot
	if err := json.Unmarshal(text, &back); err != nil || back != before {
		t.Fatalf("%+v is %+v after JSON %s, %v", before, back, text, err)
	}
	o.Clock, o.Snapshot = clock, &back
	young := s.must(t, given(5%s.numbers), &o)
	if st := young.stats(); st.Issued != 0 || st.Windows != 1 {
		t.Errorf("it has minted nothing yet: %+v", st)
	}
	return young
}

// TestSnapshotOfAnotherPool: what it says about slots is of no use there, so their unit is left.
func TestSnapshotOfAnotherPool(t *testing.T) {
	eachBubble(t, func(t *testing.T, s scheme) {
		for _, tt := range []struct {
			pool generator.Pool
			unit int
			slot int
		}{
			{generator.Pool{Min: s.first, Max: s.first + 10}, 1, s.first}, // the slot is above
			{generator.Pool{Min: s.first + 40, Max: s.first + 50}, 1, s.first + 40},
			{generator.Pool{Min: s.first + 5, Max: s.first + 50}, 1, s.first + 5},
			{generator.Pool{Min: s.first + 20, Max: s.first + 30}, 0, s.first + 23}, // the same
		} {
			g, clock := idle(t, s, generator.Options{Pool: s.pool(20, 30)})
			for slot := s.first + 20; slot <= s.first+22; slot++ {
				wantNext(t, s, g, 0, 0, slot)
			}
			g = restart(t, s, g, clock, generator.Options{Pool: &tt.pool})
			wantNext(t, s, g, tt.unit, 0, tt.slot)
			if st := g.stats(); st.Issued != 1 {
				t.Errorf("%+v: %+v", tt.pool, st)
			}
		}
	})
}

// TestSnapshotOfTickTock: both values of the bit survive, with what they have stamped.
func TestSnapshotOfTickTock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := snoScheme()
		o := generator.Options{Pool: &generator.Pool{Min: 7, Max: 8}}
		g, clock := idle(t, s, o)
		for _, p := range []step{
			{100, 100, 0, 7, false},
			{90, 90, 1, 7, false},
			{90, 90, 1, 8, false},
			{80, 91, 1, 7, true}, // both have stamped it
			{110, 110, 1, 7, false},
			{105, 105, 0, 7, false},
			{99, 105, 0, 8, false},
			{99, 106, 0, 7, true},
			{10_000, 10_000, 0, 7, false},
			// too far behind to wait for 10,000, but not for 110, up to which the other value has
			// stamped
			{100, 10_000, 0, 8, false},
			{100, 111, 1, 7, true},
		} {
			clock.Set(noon.Add(s.units(p.at)))
			g = restart(t, s, g, clock, o)
			s.take(t, g, clock, p)
		}
		want := generator.Snapshot{
			Scheme: s.id, Number: 5, Time: noon.Add(s.units(111)), Slot: 7, Pool: *o.Pool,
			TickTock: true, Other: noon.Add(s.units(10_000)),
		}
		if got := g.snapshot(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// TestSnapshotErrors: one that does not fit is refused, with what it is and why.
func TestSnapshotErrors(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, clock := idle(t, s, generator.Options{})
		wantNext(t, s, g, 0, 0, s.first)
		good := g.snapshot()
		far := s.end.Add(-s.unit)
		for i, tt := range []struct {
			why    string
			change func(*generator.Snapshot)
		}{
			{"another scheme", func(n *generator.Snapshot) { n.Scheme = idtype.SchemeDecimal }},
			{"another number", func(n *generator.Snapshot) { n.Number++ }},
			{"slot", func(n *generator.Snapshot) { n.Slot = -1 }},
			{"slot", func(n *generator.Snapshot) { n.Slot = s.last + 1 }},
			{"time", func(n *generator.Snapshot) { n.Time = n.Time.Add(1) }},
			{"time", func(n *generator.Snapshot) { n.Time = time.Time{} }},
			{"time", func(n *generator.Snapshot) { n.Time = s.begin.Add(-s.unit) }},
			{"time", func(n *generator.Snapshot) { n.Time = s.end }},
			{"time", func(n *generator.Snapshot) { n.Other = n.Time.Add(1) }},
			{"the future", func(n *generator.Snapshot) { n.Time, n.Other = far, far }},
		} {
			bad := good
			tt.change(&bad)
			g, err := s.make(given(5%s.numbers),
				&generator.Options{Clock: clock, Snapshot: &bad})
			var e *generator.OptionError
			if g != nil || !errors.As(err, &e) || e.Option != "Snapshot" ||
				!strings.Contains(e.Reason, tt.why) {
				t.Errorf("%d: %+v: %v, want an *OptionError about %q", i, bad, err, tt.why)
			}
		}
		_, err := s.make(windowsOf(newClaims()), &generator.Options{Clock: clock, Snapshot: &good})
		if err == nil || !strings.Contains(err.Error(), "only be combined with Given") {
			t.Errorf("with another source: %v", err)
		}
		clock.Set(s.begin.Add(-1))
		_, err = s.make(given(5%s.numbers), &generator.Options{Clock: clock, Snapshot: &good})
		if err == nil || !strings.Contains(err.Error(), "unix_ms") {
			t.Errorf("with a clock before the first time: %v", err)
		}
	})
}
