package generator_test

import (
	"flag"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

var (
	fleetIDs  = flag.Int64("fleet.ids", 200_000_000, "IDs that the simulated fleets mint")
	fleetSeed = flag.Uint64("fleet.seed", 1, "seed of the simulated fleets")
)

const (
	traceNodes     = idtype.TraceMaxNode + 1
	eightBytePairs = (idtype.EightByteMaxGenerator + 1) * (idtype.EightByteMaxCluster + 1)
)

// TestWholeFleet: 65,536 trace nodes, and the eightbyte generators of 2,048 × 16 pairs in both modes, mint nothing twice. For more
// IDs than the default there is -fleet.ids, for another course of events -fleet.seed.
func TestWholeFleet(t *testing.T) {
	part, ids := 1, *fleetIDs
	if raceEnabled || testing.Short() {
		part, ids = 64, ids/100
	}
	t.Run("trace", func(t *testing.T) {
		t.Parallel()
		wholeFleet(t, ids/2, func(seed uint64) *fleet[int, idtype.TraceID] { return newFleet(seed, traceNodes/part, traces) })
	})
	t.Run("eightbyte", func(t *testing.T) {
		t.Parallel()
		wholeFleet(t, ids/2, func(seed uint64) *fleet[generator.EightBytePair, idtype.EightByteID] {
			return newFleet(seed, eightBytePairs/part, eightBytes...)
		})
	})
}

// wholeFleet has fleets mint ids in all. More than a thousand million would take one over the end of the time of trace IDs.
func wholeFleet[N, T any](t *testing.T, ids int64, newFleet func(seed uint64) *fleet[N, T]) {
	const most = 1_000_000_000
	for seed := *fleetSeed; ids > 0; seed, ids = seed+1, ids-most {
		start := time.Now()
		f := newFleet(seed)
		if err := f.run(min(ids, most)); err != nil {
			t.Fatalf("-fleet.seed %d: %v", seed, err)
		}
		different, repeats := f.ledger.count()
		s, st := f.seen, &f.store
		t.Logf("%d IDs of %d numbers and %d instances in %.1f s, of %d units of a number's time, within %v: %d repeats",
			s.ids, s.numbers, len(f.instances), time.Since(start).Seconds(), s.units,
			time.Duration(f.now-f.start).Round(time.Minute), repeats)
		t.Logf("  %d crashes, %d proper ends, %d pauses, %d clock steps, %d waits", s.crashes, s.ends, s.pauses, s.steps, s.waits)
		t.Logf("  %d numbers claimed anew, whose old holders minted %d IDs after that; %d answers lost, %d requests late",
			st.reassigned, s.orphans, st.lost, st.delayed)
		t.Logf("  %d calls failed because the clock was behind, %d for faults of the store", s.behind, s.errors-s.behind)
		if repeats != 0 || different != s.ids {
			t.Errorf("-fleet.seed %d: %d of %d IDs are repeats", seed, repeats, s.ids)
		}
		// Here and there is one whose clock was hours ahead once, when its number was claimed, and nobody could use it since.
		if few := len(f.minted)/100 + 10; s.numbers < len(f.minted)-few {
			t.Errorf("-fleet.seed %d: IDs of %d numbers, want nearly %d", seed, s.numbers, len(f.minted))
		}
	}
}
