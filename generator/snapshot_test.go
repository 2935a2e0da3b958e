package generator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
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

// TestSnapshotGoesOn: with the next slot of the same unit, in the next unit where there is none,
// and without a clock's goodwill.
func TestSnapshotGoesOn(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		pool := s.pool(0, 3)
		o := generator.Options{
			Pool: pool, Regression: generator.RegressionWaits, MaxWait: time.Minute,
		}
		g, clock := idle(t, s, o)
		wantNext(t, s, g, 0, 0, s.first)
		wantNext(t, s, g, 0, 0, s.first+1)

		g = restart(t, s, g, clock, o)
		wantNext(t, s, g, 0, 0, s.first+2)
		clock.Add(-s.units(20))
		g = restart(t, s, g, clock, o)
		wantAt(t, clock, -s.units(20))
		wantNext(t, s, g, 0, 0, s.first+3)
		wantAt(t, clock, -s.units(20))
		if st := g.stats(); st.Issued != 1 || st.Regressions != 1 || !st.Time.Equal(noon) {
			t.Errorf("%+v", st)
		}

		g = restart(t, s, g, clock, o)
		wantNext(t, s, g, 1, 0, s.first)
		wantAt(t, clock, s.unit)
		clock.Add(s.units(7))
		// a start that minted nothing loses nothing
		g = restart(t, s, restart(t, s, g, clock, o), clock, o)
		wantNext(t, s, g, 8, 0, s.first)

		clock.Add(-s.unit)
		o.Regression = generator.RegressionFails
		g = restart(t, s, g, clock, o)
		_, err := g.next(ctx)
		wantClockError(t, s, err, generator.ErrClockBehind, s.units(7), s.units(8))
	})
}

// TestSnapshotOfNothing: a generator that has minted nothing yet has not used the unit in which it
// was made.
func TestSnapshotOfNothing(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		clock := generator.NewTestClock(noon)
		g := restart(t, s, s.must(t, given(5%s.numbers), &generator.Options{Clock: clock}), clock,
			generator.Options{})
		wantNext(t, s, g, 1, 0, s.first)
		if st := g.stats(); st.Issued != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// TestSnapshotOfAnotherPool: what it says about slots is of no use there, so their unit is left.
func TestSnapshotOfAnotherPool(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
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
	s := snoScheme()
	o := generator.Options{Pool: &generator.Pool{Min: 7, Max: 8}}
	g, clock := idle(t, s, o)
	to := func(n int) { clock.Set(noon.Add(s.units(n))) }
	to(100)
	wantNext(t, s, g, 100, 0, 7)
	to(90)
	wantNext(t, s, g, 90, 1, 7)
	want := generator.Snapshot{
		Scheme: s.id, Number: 5, Time: noon.Add(s.units(90)), Slot: 7, Pool: *o.Pool,
		TickTock: true, Other: noon.Add(s.units(100)),
	}
	if got := g.snapshot(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	g = restart(t, s, g, clock, o)
	wantNext(t, s, g, 90, 1, 8)
	to(80) // both have stamped it
	g = restart(t, s, g, clock, o)
	wantNext(t, s, g, 91, 1, 7)
	wantAt(t, clock, s.units(91))
	to(110)
	wantNext(t, s, g, 110, 1, 7)
	to(105)
	g = restart(t, s, g, clock, o)
	wantNext(t, s, g, 105, 0, 7)
	to(99)
	g = restart(t, s, g, clock, o)
	wantNext(t, s, g, 105, 0, 8)
	wantNext(t, s, g, 106, 0, 7)

	to(10_000)
	wantNext(t, s, g, 10_000, 0, 7)
	// is too far behind to wait for 10,000, but not for 110, up to which the other value has
	// stamped
	to(100)
	g = restart(t, s, g, clock, o)
	wantNext(t, s, g, 10_000, 0, 8)
	wantNext(t, s, g, 111, 1, 7)
	wantAt(t, clock, s.units(111))
}

// A course is generators that come one after another with one number, and what they have minted.
type course struct {
	*testing.T
	scheme
	*timed
	clock *generator.TestClock
	seen  map[mark]bool
}

func begin(t *testing.T, s scheme) *course {
	g, clock := idle(t, s, generator.Options{})
	return &course{t, s, g, clock, map[mark]bool{}}
}

// mint mints n IDs when the clock is so many units after noon. None was minted before.
func (c *course) mint(unit, n int) {
	c.Helper()
	c.clock.Set(noon.Add(c.units(unit)))
	for range n {
		id, err := c.next(ctx)
		if err != nil {
			c.Fatal(err)
		}
		if c.seen[id.mark] {
			c.Errorf("at %v: %+v is a repeat", c.units(unit), id.mark)
		}
		c.seen[id.mark] = true
	}
}

// restart goes on from a snapshot, when the clock is so many units after noon.
func (c *course) restart(unit int, o generator.Options) {
	c.Helper()
	c.clock.Set(noon.Add(c.units(unit)))
	c.timed = restart(c.T, c.scheme, c.timed, c.clock, o)
}

// forget goes on without a snapshot.
func (c *course) forget(o generator.Options) {
	c.Helper()
	o.Clock = c.clock
	c.timed = c.must(c.T, given(5), &o)
}

// TestSnapshotKnowsTheBeginning: three runs, of which the second began without a snapshot. It knew
// nothing of the first, so it did not toggle the bit into the time before it began. A run that goes
// on from its snapshot must not either.
func TestSnapshotKnowsTheBeginning(t *testing.T) {
	for _, policy := range []generator.Regression{
		generator.RegressionDefault, generator.RegressionWaits,
	} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			c := begin(t, snoScheme())
			c.mint(100, 1)
			c.mint(90, 1) // toggles
			c.mint(110, 1)
			c.forget(generator.Options{Regression: policy})
			c.mint(120, 1)
			c.restart(90, generator.Options{}) // it survives that the clock was set back meanwhile
			c.mint(90, 1)
			c.mint(95, 1)
			c.restart(95, generator.Options{})
			c.mint(90, 1)
		})
	}
}

// TestSnapshotOfOtherPools: a generator that mints nothing hands on what one with another pool had
// come to.
func TestSnapshotOfOtherPools(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		c := begin(t, s)
		c.mint(9, 30)
		first := s.first
		for _, pool := range []*generator.Pool{
			{Min: 5, Max: 9}, {Min: 5, Max: 9}, {Min: 40, Max: 49}, {Min: first, Max: 20}, nil,
		} {
			c.restart(9, generator.Options{Pool: pool})
		}
		c.mint(9, 30)
	})
}

// TestSnapshotOfOtherPolicy: a generator that does not toggle the tick-tock bit hands on where
// others before it did.
func TestSnapshotOfOtherPolicy(t *testing.T) {
	waits := generator.Options{Regression: generator.RegressionWaits}
	for _, back := range []int{250, 500} {
		c := begin(t, snoScheme())
		c.mint(500, 3)
		c.mint(250, 3) // toggles the bit
		if back == 250 {
			c.clock.Set(noon.Add(c.units(750)))
			c.forget(waits) // with the value that the bit begins with
		} else {
			c.restart(750, waits) // with the other value
		}
		c.mint(1000, 3)
		c.restart(back, generator.Options{})
		c.mint(back, 3)
	}
}

// TestSnapshotErrors: one that does not fit is refused, with what it is and why.
func TestSnapshotErrors(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, clock := idle(t, s, generator.Options{})
		wantNext(t, s, g, 0, 0, s.first)
		good := g.snapshot()
		for _, tt := range []struct {
			why    string
			change func(*generator.Snapshot)
		}{
			{"another scheme", func(n *generator.Snapshot) { n.Scheme = idtype.SchemeDecimal }},
			{"another scheme", func(n *generator.Snapshot) { n.Scheme = "" }},
			{"another number", func(n *generator.Snapshot) { n.Number++ }},
			{"slot", func(n *generator.Snapshot) { n.Slot = -1 }},
			{"slot", func(n *generator.Snapshot) { n.Slot = s.last + 1 }},
			{"time", func(n *generator.Snapshot) { n.Time = n.Time.Add(1) }},
			{"time", func(n *generator.Snapshot) { n.Time = n.Time.Add(-s.unit / 2) }},
			{"time", func(n *generator.Snapshot) { n.Time = time.Time{} }},
			{"time", func(n *generator.Snapshot) { n.Time = s.begin.Add(-s.unit) }},
			{"time", func(n *generator.Snapshot) { n.Time = s.end }},
			{
				"time",
				func(n *generator.Snapshot) {
					n.Time = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
				},
			},
			{"time", func(n *generator.Snapshot) { n.Other = n.Time.Add(1) }},
			{"time", func(n *generator.Snapshot) { n.Other = s.end }},
			{
				"the future",
				func(n *generator.Snapshot) {
					n.Time = n.Time.Add(11 * time.Second)
					n.Other = n.Time
				},
			},
			{
				"the future",
				func(n *generator.Snapshot) {
					n.Time, n.Other = s.end.Add(-s.unit), s.end.Add(-s.unit)
				},
			},
		} {
			bad := good
			tt.change(&bad)
			for _, policy := range []generator.Regression{
				0, generator.RegressionWaits, generator.RegressionFails,
			} {
				g, err := s.make(given(5%s.numbers),
					&generator.Options{Clock: clock, Snapshot: &bad, Regression: policy})
				var e *generator.SnapshotError
				if g != nil || !errors.As(err, &e) || e.Snapshot != bad ||
					!strings.Contains(e.Err.Error(), tt.why) {
					t.Errorf("%+v: %v, want a *SnapshotError about %q", bad, err, tt.why)
					continue
				}
				want := fmt.Sprintf("generator: snapshot of %s number %d at %s: %v",
					bad.Scheme, bad.Number, bad.Time.UTC().Format(time.RFC3339Nano), e.Err)
				if err.Error() != want {
					t.Errorf("text is %q, want %q", err, want)
				}
			}
		}
		for _, source := range []windows{
			windowsOf(newClaims()), ceiling(new(counterFrom), time.Second),
		} {
			_, err := s.make(source, &generator.Options{Clock: clock, Snapshot: &good})
			if e := new(generator.SnapshotError); !errors.As(err, &e) ||
				!strings.Contains(err.Error(), "goes with Given") {
				t.Errorf("with another source: %v", err)
			}
		}
		clock.Set(s.begin.Add(-1))
		_, err := s.make(given(5%s.numbers), &generator.Options{Clock: clock, Snapshot: &good})
		if !errors.As(err, new(*generator.SnapshotError)) ||
			!errors.As(err, new(*idtype.RangeError)) {
			t.Errorf("with a clock before the first time: %v", err)
		}
	})
}
