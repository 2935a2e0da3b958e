package claims_test

import (
	"flag"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Simulated fleets are cheap: soak_test/generators runs 10,000 seeds.
var (
	fleetSeed  = flag.Uint64("fleet.seed", 0, "the one seed to run; 0 runs many")
	fleetSeeds = flag.Uint64("fleet.seeds", seeds, "how many seeds to run")
)

// runFleet runs a seed in a bubble of its own.
func runFleet(t *testing.T, seed uint64, naive naive) (f *fleet) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)))
		f = newFleet(seed, naive)
		f.run()
		f.seen.seeds = 1
	})
	return f
}

// TestWholeFleet: simulated fleets repeat no ID, and no two windows of a number overlap. Every step
// of a counter begins where the one before ended. Every call ends, and no pool stays locked.
func TestWholeFleet(t *testing.T) {
	first, last := uint64(1), *fleetSeeds
	if *fleetSeed != 0 {
		first, last = *fleetSeed, *fleetSeed
	}
	var next atomic.Uint64
	next.Store(first)
	halves := make(chan figures, 2)
	t.Run("fleets", func(t *testing.T) {
		for _, half := range []string{"a", "b"} {
			t.Run(half, func(t *testing.T) {
				t.Parallel()
				var all figures
				defer func() { halves <- all }()
				for !t.Failed() {
					seed := next.Add(1) - 1
					if seed > last {
						return
					}
					f := runFleet(t, seed, sound)
					all.add(f.seen)
					for _, what := range f.broken {
						t.Errorf("-fleet.seed %d: %s", seed, what)
					}
				}
			})
		}
	})
	a := <-halves
	a.add(<-halves)
	t.Logf("%d fleets: %d IDs and %d windows", a.seeds, a.ids, a.windows)
	t.Logf("  %d starts of processes, %d crashes, %d stops, %d clock steps", a.starts, a.crashes,
		a.stops, a.steps)
	t.Logf("  %d calls failed; %d steps in doubt for longer, %d numbers lost to others, %d freed; "+
		"%d calls found all lent, %d a clock ahead", a.failed, a.doubts, a.lost, a.freed, a.lent,
		a.refused)
}

// TestFleetNotices: where one of the rules is broken, fleets repeat IDs and find it. And a seed
// does the same each time.
func TestFleetNotices(t *testing.T) {
	for _, naive := range []naive{ignoresNotes, comparesNot, lowersCounters, trustsSilence} {
		t.Run(naive.String(), func(t *testing.T) {
			for seed := uint64(1); seed <= 200; seed++ {
				if f := runFleet(t, seed, naive); len(f.broken) > 0 {
					t.Logf("seed %d: %v", seed, f.broken)
					return
				}
			}
			t.Error("nothing was noticed")
		})
	}
	for seed := uint64(1); seed <= 3; seed++ {
		a, b := runFleet(t, seed, sound), runFleet(t, seed, sound)
		if a.seen != b.seen {
			t.Errorf("seed %d: %+v, %+v", seed, a.seen, b.seen)
		}
	}
}
