package generator_test

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// A sharing is what goroutines share, as the tests of uniqueness see it.
type sharing struct {
	mint    func(user, n int) ([]uint64, error) // some IDs, as numbers
	ascends bool                                // for each user
	stats   func(t *testing.T, ids []uint64)    // of all IDs, in order
}

// TestSharedByGoroutines: each ID is minted once, and in order where there is one, by both ways.
// What is minted in steady use allocates nothing.
func TestSharedByGoroutines(t *testing.T) {
	for name, share := range map[string]func(t *testing.T) sharing{
		"sequence": sharedSequence, "buffer": sharedBuffer, "backdated": sharedBackdated,
	} {
		t.Run(name, func(t *testing.T) {
			s := share(t)
			const users, calls = 8, 500
			all := make([][]uint64, users)
			var wg sync.WaitGroup
			for user := range all {
				wg.Go(func() {
					for n := range calls {
						ids, err := s.mint(user, n)
						if err != nil {
							t.Error(err)
							return
						}
						all[user] = append(all[user], ids...)
					}
					if s.ascends && !slices.IsSorted(all[user]) {
						t.Error("IDs do not ascend")
					}
				})
			}
			wg.Wait()
			ids := slices.Concat(all...)
			slices.Sort(ids)
			if different := len(slices.Compact(slices.Clone(ids))); different != users*calls*8 {
				t.Errorf("%d different IDs, want %d", different, users*calls*8)
			}
			if s.stats != nil {
				s.stats(t, ids)
			}
		})
	}
}

// sharedSequence mints every ID of its counter, over changes of block.
func sharedSequence(t *testing.T) sharing {
	g := newSequence(t, newRegister(), 100)
	return sharing{ascends: true, mint: func(int, int) ([]uint64, error) {
		var ids [8]idtype.SequenceID
		_, err := g.Fill(ctx, ids[:7])
		if err == nil {
			ids[7], err = g.Next(ctx)
		}
		return numbersOf(ids[:], func(id idtype.SequenceID) uint64 { return uint64(id) }), err
	}, stats: func(t *testing.T, ids []uint64) {
		if last := ids[len(ids)-1]; last != uint64(len(ids)) {
			t.Errorf("the last of %d IDs is %d", len(ids), last)
		}
		if s := g.Stats(); s.Taken != uint64(len(ids)) || s.Blocks != uint64(len(ids)/100) {
			t.Errorf("%+v", s)
		}
		got := testing.AllocsPerRun(90, func() { _, sinkErr = g.Next(ctx) })
		if got != 0 || sinkErr != nil {
			t.Errorf("%v allocations, %v", got, sinkErr)
		}
	}}
}

// sharedBuffer has a real generator behind.
func sharedBuffer(t *testing.T) sharing {
	clock := generator.NewTestClock(noon)
	g, err := generator.NewSno(generator.Given(1), &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	b, err := generator.NewBuffer(g.With(9), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return sharing{ascends: true, mint: func(int, int) ([]uint64, error) {
		var ids [8]idtype.SnoID
		_, err := b.Fill(ctx, ids[:7])
		if err == nil {
			ids[7], err = b.Next(ctx)
		}
		for _, id := range ids {
			if id.Meta() != 9 {
				t.Errorf("minted %+v", id.Parts())
			}
		}
		return numbersOf(ids[:], slotOfSno), err
	}, stats: func(t *testing.T, _ []uint64) {
		got := testing.AllocsPerRun(100, func() { _, sinkErr = b.Next(ctx) })
		if got != 0 || sinkErr != nil {
			t.Errorf("%v allocations, %v", got, sinkErr)
		}
	}}
}

// sharedBackdated mints for a few times, with other metabytes for each user.
func sharedBackdated(t *testing.T) sharing {
	g := newBackdated(t, 7, nil)
	return sharing{mint: func(user, n int) ([]uint64, error) {
		var ids [8]idtype.SnoID
		for i := range ids {
			var err error
			ids[i], err = g.At(noon.Add(time.Duration((n*8+i)%50)*time.Millisecond), byte(user))
			if err != nil {
				return nil, err
			}
		}
		return numbersOf(ids[:], slotOfSno), nil
	}}
}

// slotOfSno is what is unique of an ID of one partition: its time, tick-tock bit and sequence.
func slotOfSno(id idtype.SnoID) uint64 {
	return binary.BigEndian.Uint64(id[:])>>24<<16 | uint64(id.Sequence())
}

func numbersOf[T any](ids []T, number func(T) uint64) []uint64 {
	var n []uint64
	for _, id := range ids {
		n = append(n, number(id))
	}
	return n
}
