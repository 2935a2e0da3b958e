package generator_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// The tests of whole ranges mint a small part of them, unless IDMINT_TEST_WHOLE is set, as
// scripts/test does. The race detector is too slow for more.

var (
	fleetIDs = flag.Int64("fleet.ids", 0,
		"IDs that the simulated fleets mint; 0 is 200 million or fewer")
	fleetSeed = flag.Uint64("fleet.seed", 1, "seed of the simulated fleets")
)

// whole is all, or a part of it.
func whole(all, part int64) int64 {
	if os.Getenv("IDMINT_TEST_WHOLE") != "" && !raceEnabled {
		return all
	}
	return part
}

// TestWholeNumber mints all IDs of a number, by Fill, and some of the next.
func TestWholeNumber(t *testing.T) {
	src := newSource(99_999, 0)
	g := started(t, src)
	minted := span - int(whole(span-1, 5_000_000))
	g.SkipTo(minted)
	block := make([]idtype.DecimalID, 1<<18)
	want := id(minted+1, 99_999)
	for minted < span {
		n, err := g.Fill(ctx, block[:min(len(block), span-minted)])
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range block[:n] {
			if got != want {
				t.Fatalf("ID %d is %d, want %d", minted+i+1, got, want)
			}
			want += 1_00000_00000
		}
		minted += n
	}
	if last := want - 1_00000_00000; last.String() != "9223372029999900065" {
		t.Errorf("the last ID is %d", last)
	}
	next, err := g.Next(ctx)
	if err != nil || next != id(1, 0) {
		t.Errorf("the ID after the last is %d, %v, want the first of the next number", next, err)
	}
	src.wantCalls(t, 2)
}

// TestWholeSno mints 200,000,000 IDs by generators that goroutines share, by the real clocks and
// over thousands of units of time, and finds each once. Next and Fill come in turn, with any
// metabyte: IDs that differ by that alone are repeats here.
func TestWholeSno(t *testing.T) {
	total := whole(200_000_000, 3_000_000)
	for _, run := range []struct {
		goroutines int
		clock      generator.Clock
	}{
		{2, generator.NewAnchoredClock()},
		{8, generator.WallClock{}},
		{64, generator.NewAnchoredClock()},
	} {
		t.Run(fmt.Sprint(run.goroutines, " goroutines"), func(t *testing.T) {
			wholeSno(t, run.clock, run.goroutines, total/3)
		})
	}
}

func wholeSno(t *testing.T, clock generator.Clock, goroutines int, total int64) {
	const partition = 0xabcd
	g, err := generator.NewSno(generator.Given(partition), &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var mu sync.Mutex
	var l ledger // guarded by mu
	var left atomic.Int64
	left.Store(total)
	seed := rand.Uint64()
	inParallel(goroutines, func(i int) {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		ids := make([]idtype.SnoID, 1<<13)
		for !t.Failed() {
			n := 1 + rnd.Int64N(int64(len(ids)))
			n = min(n, n+left.Add(-n))
			if n <= 0 {
				return
			}
			meta := byte(rnd.Uint32())
			if err := mintSno(g.With(meta), rnd, ids[:n]); err != nil {
				t.Error(err)
				return
			}
			want := uint64(meta)<<16 | partition
			mu.Lock()
			for _, id := range ids[:n] {
				head := binary.BigEndian.Uint64(id[:])
				if head&0xff_ffff != want {
					t.Errorf("minted %+v, want partition %d and metabyte %d", id.Parts(), partition,
						meta)
					break
				}
				l.add(slotOfSno(id))
			}
			mu.Unlock()
		}
	})
	different, repeats := l.count()
	t.Logf("%d IDs of %d goroutines in %.1f s, %d repeats", total, goroutines,
		time.Since(start).Seconds(), repeats)
	if repeats != 0 || different != total {
		t.Errorf("%d different IDs and %d repeats, want %d and 0", different, repeats, total)
	}
	if s := g.Stats(); s.Issued != uint64(total) {
		t.Errorf("the statistics say that %d were issued, want %d", s.Issued, total)
	}
}

// mintSno fills ids, half of the time one by one.
func mintSno(g generator.SnoMeta, rnd *rand.Rand, ids []idtype.SnoID) (err error) {
	if rnd.IntN(2) == 0 {
		_, err = g.Fill(ctx, ids)
		return err
	}
	for i := range ids {
		if ids[i], err = g.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// The schemes whose numbers are many.
var traces, eightBytes = schemes[:1], schemes[1:3]

const (
	traceNodes     = idtype.TraceMaxNode + 1
	eightBytePairs = (idtype.EightByteMaxGenerator + 1) * (idtype.EightByteMaxCluster + 1)
)

// TestWholeFleet: 65,536 trace nodes, and the eightbyte generators of 2,048 × 16 pairs in both
// modes, mint nothing twice. For more IDs there is -fleet.ids, for another course of events
// -fleet.seed.
func TestWholeFleet(t *testing.T) {
	part, ids := 1, *fleetIDs
	if ids == 0 {
		part, ids = int(whole(1, 64)), whole(200_000_000, 500_000)
	}
	t.Run("trace", func(t *testing.T) {
		t.Parallel()
		wholeFleet(t, ids/2, traceNodes/part, traces...)
	})
	t.Run("eightbyte", func(t *testing.T) {
		t.Parallel()
		wholeFleet(t, ids/2, eightBytePairs/part, eightBytes...)
	})
}

// wholeFleet has fleets mint ids in all. More than a thousand million would take one over the end
// of the time of trace IDs.
func wholeFleet(t *testing.T, ids int64, numbers int, schemes ...scheme) {
	const most = 1_000_000_000
	for seed := *fleetSeed; ids > 0; seed, ids = seed+1, ids-most {
		start := time.Now()
		f := newFleet(seed, numbers, schemes...)
		if err := f.run(min(ids, most)); err != nil {
			t.Fatalf("-fleet.seed %d: %v", seed, err)
		}
		different, repeats := f.ledger.count()
		s, st := f.seen, &f.store
		t.Logf(
			"%d IDs of %d numbers and %d instances in %.1f s, of %d units of a number's time, "+
				"within %v: %d repeats",
			s.ids, s.numbers, len(f.instances), time.Since(start).Seconds(), s.units,
			time.Duration(f.now-f.start).Round(time.Minute), repeats,
		)
		t.Logf("  %d crashes, %d proper ends, %d pauses, %d clock steps, %d waits",
			s.crashes, s.ends, s.pauses, s.steps, s.waits)
		t.Logf(
			"  %d numbers claimed anew, whose old holders minted %d IDs after that; %d answers "+
				"lost, %d requests late",
			st.reassigned, s.orphans, st.lost, st.delayed,
		)
		t.Logf("  %d calls failed because the clock was behind, %d for faults of the store",
			s.behind, s.errors-s.behind)
		if repeats != 0 || different != s.ids {
			t.Errorf("-fleet.seed %d: %d of %d IDs are repeats", seed, repeats, s.ids)
		}
		// Here and there is one whose clock was hours ahead once, when its number was claimed, and
		// nobody could use it since.
		if few := len(f.minted)/100 + 10; s.numbers < len(f.minted)-few {
			t.Errorf("-fleet.seed %d: IDs of %d numbers, want nearly %d", seed, s.numbers,
				len(f.minted))
		}
	}
}

// TestWholeFleetNotices: fleets do the same at each run of a seed and mint no repeats. But where
// their store hands out what it must not, or instances start without care, they mint some and find
// them.
func TestWholeFleetNotices(t *testing.T) {
	numbers := int(whole(2048, 512))
	mint := func(seed uint64, fault fault, reckless bool) (a, b *fleet) {
		a, b = newFleet(seed, numbers, traces...), newFleet(seed, numbers, eightBytes...)
		a.store.fault, a.reckless = fault, reckless
		b.store.fault, b.reckless = fault, reckless
		if err := errors.Join(a.run(0), b.run(0)); err != nil {
			t.Fatalf("-fleet.seed %d: %v", seed, err)
		}
		return a, b
	}
	repeats := func(a, b *fleet) [2]int64 {
		_, inA := a.ledger.count()
		_, inB := b.ledger.count()
		return [2]int64{inA, inB}
	}
	seed := *fleetSeed
	a, b := mint(seed, noFault, false)
	if r := repeats(a, b); r != [2]int64{} {
		t.Errorf("-fleet.seed %d: %d repeats without a fault", seed, r)
	}
	again, _ := mint(seed, noFault, false)
	other, _ := mint(seed+1, noFault, false)
	if a.seen != again.seen || a.seen.sum == other.seen.sum {
		t.Errorf("seeds %d, %[1]d, %d: %+v, %+v, %+v", seed, seed+1, a.seen, again.seen, other.seen)
	}
	for _, c := range []struct {
		what     string
		fault    fault
		reckless bool
	}{
		{"forgotten ceilings", forgets, false},
		{"windows lent twice", lendsTwice, false},
		{"starts without care", noFault, true},
	} {
		r := repeats(mint(seed, c.fault, c.reckless))
		if r[0] == 0 || r[1] == 0 {
			t.Errorf("-fleet.seed %d: %s: %d repeats", seed, c.what, r)
		}
		t.Logf("%s: %d repeats among the trace IDs, %d among the eightbyte IDs", c.what, r[0], r[1])
	}
}

// TestWholeOutOfRange: a call fails where the layout has no such time. Such calls do not add up to
// an ID, however many there are. Here there are more than a word has room for above its last slot.
func TestWholeOutOfRange(t *testing.T) {
	// in which the time is of 2000, and the IDs' begins in 2010
	synctest.Test(t, func(t *testing.T) {
		g, err := generator.NewSno(generator.Ceiling(7, &tally{}, time.Second), nil)
		if err != nil {
			t.Fatal(err)
		}
		for call := range whole(5_000_000, 100_000) {
			id, err := g.Next(ctx)
			if out := new(idtype.RangeError); !errors.As(err, &out) {
				t.Fatalf("call %d: minted %+v, error %v, want a *RangeError", call, id.Parts(), err)
			}
		}
	})
}
