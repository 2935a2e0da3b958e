//go:build !race

package generator_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// TestWholeFleetNotices: fleets do the same at each run of a seed and mint no repeats; but where their store hands out what it must
// not, or instances start without care, they mint some and find them.
func TestWholeFleetNotices(t *testing.T) {
	type tracesOf = fleet[int, idtype.TraceID]
	type eightBytesOf = fleet[generator.EightBytePair, idtype.EightByteID]
	const numbers = 2048
	mint := func(seed uint64, fault fault, reckless bool) (*tracesOf, *eightBytesOf) {
		a, b := newFleet(seed, numbers, traces), newFleet(seed, numbers, eightBytes...)
		a.store.fault, a.reckless = fault, reckless
		b.store.fault, b.reckless = fault, reckless
		if err := errors.Join(a.run(0), b.run(0)); err != nil {
			t.Fatalf("-fleet.seed %d: %v", seed, err)
		}
		return a, b
	}
	repeats := func(a *tracesOf, b *eightBytesOf) [2]int64 {
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
	}{{"forgotten ceilings", forgets, false}, {"windows lent twice", lendsTwice, false}, {"starts without care", noFault, true}} {
		r := repeats(mint(seed, c.fault, c.reckless))
		if r[0] == 0 || r[1] == 0 {
			t.Errorf("-fleet.seed %d: %s: %d repeats", seed, c.what, r)
		}
		t.Logf("%s: %d repeats among the trace IDs, %d among the eightbyte IDs", c.what, r[0], r[1])
	}
}

// TestWholeOutOfRange: calls that fail because the layout has no such time do not add up to an ID, however many they are.
func TestWholeOutOfRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which the time is of 2000, and the IDs' begins in 2010
		g, err := generator.NewSno(generator.Ceiling(7, &tally{}, time.Second), nil)
		if err != nil {
			t.Fatal(err)
		}
		for call := range 5_000_000 {
			id, err := g.Next(ctx)
			if out := new(idtype.RangeError); !errors.As(err, &out) {
				t.Fatalf("call %d: minted %+v, error %v, want a *RangeError", call, id.Parts(), err)
			}
		}
	})
}
