package generator_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// Courses of events, which the tests of uniqueness came upon, that made generators repeat what others had minted.

func newSno(t *testing.T, c generator.Clock, o generator.Options, s *generator.Snapshot) *generator.Sno {
	t.Helper()
	if s != nil { // as it comes from a file
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		s = new(generator.Snapshot)
		if err := json.Unmarshal(text, s); err != nil {
			t.Fatal(err)
		}
	}
	o.Clock, o.Snapshot = c, s
	g, err := generator.NewSno(generator.Given(7), &o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// mintNew mints n IDs, none of which is in seen.
func mintNew(t *testing.T, g *generator.Sno, seen map[idtype.SnoID]bool, n int) {
	t.Helper()
	for range n {
		id, err := g.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if seen[id] {
			t.Fatalf("minted again: %+v", id.Parts())
		}
		seen[id] = true
	}
}

// TestSnapshotOfOtherPool: a generator that mints nothing hands on what one with another pool had come to.
func TestSnapshotOfOtherPool(t *testing.T) {
	c := generator.NewTestClock(noon)
	seen := map[idtype.SnoID]bool{}
	g := newSno(t, c, generator.Options{}, nil)
	c.Add(time.Second)
	mintNew(t, g, seen, 30)
	for _, pool := range []*generator.Pool{{Min: 5, Max: 9}, {Min: 5, Max: 9}, {Min: 40, Max: 49}, {Min: 0, Max: 20}, nil} {
		s := g.Snapshot()
		g = newSno(t, c, generator.Options{Pool: pool}, &s)
	}
	mintNew(t, g, seen, 30)
}

// TestSnapshotOfOtherPolicy: a generator that does not toggle the tick-tock bit hands on where others before it did.
func TestSnapshotOfOtherPolicy(t *testing.T) {
	waits := generator.Options{Regression: generator.RegressionWaits}
	for _, back := range []time.Duration{time.Second, 2 * time.Second} {
		c := generator.NewTestClock(noon)
		seen := map[idtype.SnoID]bool{}
		g := newSno(t, c, generator.Options{}, nil)
		c.Set(noon.Add(2 * time.Second))
		mintNew(t, g, seen, 3)
		c.Set(noon.Add(time.Second)) // toggles the bit
		mintNew(t, g, seen, 3)
		s := g.Snapshot()
		c.Set(noon.Add(3 * time.Second))
		if back == time.Second { // without a snapshot, so with the value that the bit begins with
			g = newSno(t, c, waits, nil)
		} else { // with the other value
			g = newSno(t, c, waits, &s)
		}
		c.Set(noon.Add(4 * time.Second))
		mintNew(t, g, seen, 3)
		s = g.Snapshot()
		c.Set(noon.Add(back))
		mintNew(t, newSno(t, c, generator.Options{}, &s), seen, 3)
	}
}
