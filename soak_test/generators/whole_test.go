// Package generators_test mints whole ranges of IDs, and runs the simulation of fleets that claim
// their numbers for long.
package generators_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
)

// numbers is a source of the generator numbers of a launch.
type numbers []int

func (*numbers) Launch() int { return 65 }

func (n *numbers) NextGenerator(context.Context) (int, error) {
	if len(*n) == 0 {
		return 0, errors.New("asked too often")
	}
	next := (*n)[0]
	*n = (*n)[1:]
	return next, nil
}

// TestWholeNumber mints all the 922,337,202 IDs of a generator number, and the first of the next.
func TestWholeNumber(t *testing.T) {
	g, err := generator.NewDecimal(&numbers{99_999, 0})
	if err != nil {
		t.Fatal(err)
	}
	block := make([]idtype.DecimalID, 1<<18)
	want, minted := idtype.MustParse[idtype.DecimalID]("19999900065"), 0
	for minted < formats.DecimalMaxCounter {
		n, err := g.Fill(t.Context(), block[:min(len(block), formats.DecimalMaxCounter-minted)])
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range block[:n] {
			if got != want {
				t.Fatalf("ID %d is %d, want %d", minted+i+1, got, want)
			}
			want += formats.DecimalStep
		}
		minted += n
	}
	if last := want - formats.DecimalStep; last.String() != "9223372029999900065" {
		t.Errorf("the last ID is %d", last)
	}
	if next, err := g.Next(t.Context()); err != nil || next.String() != "10000000065" {
		t.Errorf("the ID after the last is %d, %v, want the first of the next number", next, err)
	}
}

// TestWholeSno mints 200,000,000 IDs by generators that goroutines share, by the real clocks and
// over thousands of units of time, and finds each once. Next and Fill come in turn, with any
// metabyte: IDs that differ by that alone are repeats here.
func TestWholeSno(t *testing.T) {
	for _, run := range []struct {
		goroutines int
		clock      generator.Clock
	}{
		{2, nil},
		{8, generator.WallClock{}},
		{64, nil},
	} {
		t.Run(fmt.Sprint(run.goroutines, " goroutines"), func(t *testing.T) {
			wholeSno(t, run.clock, run.goroutines, 200_000_000/3)
		})
	}
}

func wholeSno(t *testing.T, clock generator.Clock, goroutines int, total int64) {
	const partition = 0xabcd
	g, err := generator.NewSno(generator.Given(partition), &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	left.Store(total)
	seed := rand.Uint64()
	var mu sync.Mutex // guards units
	// A bit for each sequence of a time with its tick-tock bit.
	units := map[uint64]*[(formats.SnoMaxSequence + 1) / 64]uint64{}
	note := func(ids []idtype.SnoID, meta byte) error {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			head, sequence := binary.BigEndian.Uint64(id[:]), id.Parts().Sequence
			if head&0xff_ffff != uint64(meta)<<16|partition {
				return fmt.Errorf("minted %+v, want partition %d and metabyte %d", id.Parts(),
					partition, meta)
			}
			unit := units[head>>24]
			if unit == nil {
				unit = new([(formats.SnoMaxSequence + 1) / 64]uint64)
				units[head>>24] = unit
			}
			if unit[sequence/64]&(1<<(sequence%64)) != 0 {
				return fmt.Errorf("minted %+v twice", id.Parts())
			}
			unit[sequence/64] |= 1 << (sequence % 64)
		}
		return nil
	}
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			ids := make([]idtype.SnoID, 1<<13)
			for !t.Failed() {
				n := 1 + random.Int64N(int64(len(ids)))
				n = min(n, n+left.Add(-n))
				if n <= 0 {
					return
				}
				meta := byte(random.Uint32())
				err := mint(t.Context(), g.With(meta), random, ids[:n])
				if err := errors.Join(err, note(ids[:n], meta)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d IDs of %d goroutines in %d units, 0 repeats", total, goroutines, len(units))
	if s := g.Stats(); s.Issued != uint64(total) {
		t.Errorf("the statistics say that %d were issued, want %d", s.Issued, total)
	}
}

// mint fills ids, half of the time one by one.
func mint(
	ctx context.Context, g generator.SnoMeta, random *rand.Rand, ids []idtype.SnoID,
) (err error) {
	if random.IntN(2) == 0 {
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

// TestWholeFleet runs 10,000 of the simulated fleets of package claims, whose own test runs some.
func TestWholeFleet(t *testing.T) {
	cmd := exec.Command("go", "test", "-v", "-timeout=60m", "-run=^TestWholeFleet$",
		"github.com/idmint/idmint/claims", "-fleet.seeds=10000")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
