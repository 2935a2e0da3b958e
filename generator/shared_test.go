package generator_test

import (
	"context"
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
	all := map[string]func(t *testing.T) sharing{
		"decimal": sharedDecimal, "sequence": sharedSequence, "buffer": sharedBuffer,
		"backdated": sharedBackdated,
	}
	for _, s := range schemes {
		all[s.name] = func(t *testing.T) sharing { return sharedTimeline(t, s) }
	}
	for name, share := range all {
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
			if different := len(slices.Compact(slices.Clone(ids))); different != len(ids) ||
				different < users*calls*8 {
				t.Errorf("%d different IDs of %d", different, len(ids))
			}
			if s.stats != nil {
				s.stats(t, ids)
			}
		})
	}
}

// sharedDecimal has a number that is soon used up, and leaves out no counter.
func sharedDecimal(t *testing.T) sharing {
	const left = 5000
	g := started(t, newSource(92, 17))
	g.SkipTo(span - left)
	place := func(id idtype.DecimalID) uint64 {
		if id.Generator() == 17 {
			return span + uint64(id.Counter())
		}
		return uint64(id.Counter())
	}
	return sharing{ascends: true, mint: func(_, n int) ([]uint64, error) {
		var ids [8]idtype.DecimalID
		minted := ids[:]
		var err error
		switch n % 3 {
		case 0:
			for i := range ids {
				if ids[i], err = g.Next(ctx); err != nil {
					return nil, err
				}
			}
		case 1:
			_, err = g.Fill(ctx, ids[:])
		case 2: // more than 8, if a block ends with the number
			for o := g.Owned(8); err == nil && (len(minted) < 16 || o.Left() > 0); {
				var id idtype.DecimalID
				id, err = o.Next(ctx)
				minted = append(minted, id)
			}
			minted = minted[8:]
		}
		return numbersOf(minted, place), err
	}, stats: func(t *testing.T, ids []uint64) {
		if first, last := ids[0], ids[len(ids)-1]; first != span-left+1 ||
			last-first+1 != uint64(len(ids)) {
			t.Errorf("%d IDs are the places %d to %d", len(ids), first, last)
		}
	}}
}

// sharedTimeline has few slots and short windows of several numbers, so that units and windows end
// all the time. The clock is set back now and then.
func sharedTimeline(t *testing.T, s scheme) sharing {
	const length = 8 // of windows, whose second half is enough to ask for the next one
	var ends [3]int64
	asked := 0
	source := windowsFunc(func(_ context.Context, now int64, _ time.Duration) (window, error) {
		asked++
		number := asked % min(len(ends), s.numbers)
		from := max(now, ends[number])
		ends[number] = from + length
		return window{Number: number, From: from, To: from + length}, nil
	})
	clock := generator.NewTestClock(noon)
	g := s.must(t, windowsOf(source), &generator.Options{
		Clock: clock, Pool: s.pool(0, 12), MaxWait: time.Hour,
	})
	place := func(m mark) uint64 {
		unit := 1000 + (m.time-noon.UnixNano())/int64(s.unit)
		return uint64(m.number)<<48 | uint64(m.bit)<<47 | uint64(unit)<<23 | uint64(m.slot)
	}
	return sharing{mint: func(user, n int) ([]uint64, error) {
		next := g.next
		switch {
		case n%50 == 7*user:
			clock.Add(-s.units(1 + user))
		case n%3 == 0:
			g.stats()
			g.snapshot()
		case n%3 == 1 && g.own != nil:
			next = g.own()
		case n%3 == 2:
			ids, err := g.fill(ctx, 8)
			return numbersOf(ids, func(id minted) uint64 { return place(id.mark) }), err
		}
		var ids []uint64
		for range 8 {
			id, err := next(ctx)
			if err != nil {
				return nil, err
			}
			ids = append(ids, place(id.mark))
		}
		return ids, nil
	}, stats: func(t *testing.T, _ []uint64) {
		if st := g.stats(); st.Windows < 20 || st.Regressions == 0 {
			t.Errorf("%+v: the test shows too little", st)
		}
	}}
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
