package generator_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// stream is what one user of a generator sees: its IDs ascend within a number, and numbers come in
// the source's order.
type stream struct {
	what string
	ids  []idtype.DecimalID
}

// mintRandomly makes n IDs or some more, in one goroutine, by all ways at random, and returns them
// by stream. Its steps are small: each is a chance to meet another goroutine's.
func mintRandomly(g *generator.Decimal, rnd *rand.Rand, n int) ([]stream, error) {
	shared := stream{what: "shared"}
	var owned []*generator.OwnedDecimal
	streams := []stream{}
	for range 3 {
		block := 1 + rnd.IntN(30)
		owned = append(owned, g.Owned(block))
		streams = append(streams, stream{what: fmt.Sprintf("Owned(%d)", block)})
	}
	next := func(i int, times int) error {
		for range times {
			id, err := untilThere(owned[i].Next)
			if err != nil {
				return err
			}
			streams[i].ids = append(streams[i].ids, id)
		}
		return nil
	}
	for minted := 0; minted < n; {
		size := 1 + rnd.IntN(10)
		minted += size
		switch rnd.IntN(3) {
		case 0:
			for range size {
				id, err := untilThere(g.Next)
				if err != nil {
					return nil, err
				}
				shared.ids = append(shared.ids, id)
			}
		case 1:
			ids := make([]idtype.DecimalID, size)
			n, err := g.Fill(ctx, ids)
			if err != nil && !errors.Is(err, errAway) {
				return nil, err
			}
			shared.ids = append(shared.ids, ids[:n]...) // what it minted before it failed counts
		case 2:
			if err := next(rnd.IntN(len(owned)), size); err != nil {
				return nil, err
			}
		}
	}
	// With the rest of the blocks, everything that was taken is minted, and a missing counter is a
	// lost one.
	for i, o := range owned {
		if err := next(i, o.Left()); err != nil {
			return nil, err
		}
	}
	return append(streams, shared), nil
}

// untilThere calls next again while the source is away.
func untilThere(next func(context.Context) (idtype.DecimalID, error)) (idtype.DecimalID, error) {
	for {
		if id, err := next(ctx); !errors.Is(err, errAway) {
			return id, err
		}
	}
}

// TestUnique: over several changes of number, with 1 to 16 goroutines, each counter is minted
// exactly once. So it is where most answers of the source are errors, and callers try again.
func TestUnique(t *testing.T) {
	for _, goroutines := range []int{1, 2, 4, 8, 16, -8} { // below 0 with a source that fails
		fails := goroutines < 0
		goroutines = max(goroutines, -goroutines)
		t.Run(fmt.Sprintf("%d goroutines, fails %t", goroutines, fails), func(t *testing.T) {
			// In no order, so that nothing depends on one; with both ends of the range.
			numbers := []int{92, 99_999, 0, 42, 17, 5, 6, 7}
			var src generator.Numbers = newSource(numbers...)
			if fails {
				src = &flaky{source: newSource(numbers...)}
			}
			g := newDecimal(t, src)
			if _, err := untilThere(g.Next); err != nil {
				t.Fatal(err)
			}
			// Left in the number that ends, and minted altogether: enough that the goroutines run
			// side by side.
			changes, left, total := 5, 100_000, 300_000
			if raceEnabled {
				left, total = left/5, total/5
			}
			for change := range changes {
				g.SkipTo(span - left)
				seed := rand.Uint64()
				var wg sync.WaitGroup
				var mu sync.Mutex
				var all []stream
				start := make(chan struct{})
				for i := range goroutines {
					wg.Go(func() {
						<-start
						rnd := rand.New(rand.NewPCG(seed, uint64(i)))
						streams, err := mintRandomly(g, rnd, total/goroutines)
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							t.Error(err)
						}
						all = append(all, streams...)
					})
				}
				close(start)
				wg.Wait()
				checkStreams(t, all, numbers[change], numbers[change+1], span-left)
				if t.Failed() {
					t.Fatalf("change %d, seed %d", change, seed)
				}
			}
		})
	}
}

// checkStreams: the streams together are all counters of two numbers: those of old above skipped,
// and those of young from 1 up.
func checkStreams(t *testing.T, streams []stream, old, young, skipped int) {
	t.Helper()
	var all []idtype.DecimalID
	order := func(a, b idtype.DecimalID) int {
		if a.Generator() != b.Generator() {
			return cmp.Compare(b2i(a.Generator() == young), b2i(b.Generator() == young))
		}
		return a.Compare(b)
	}
	for _, s := range streams {
		if !slices.IsSortedFunc(s.ids, order) {
			t.Errorf("IDs of %s do not ascend", s.what)
		}
		all = append(all, s.ids...)
	}
	slices.SortFunc(all, order)
	number, counter := old, skipped
	for i, got := range all {
		counter++
		if counter > span && number == old {
			number, counter = young, 1
		}
		if want := id2(counter, number); got != want {
			t.Fatalf("in order, ID %d of %d is %d, want %d: repeated, lost, or of a wrong number",
				i, len(all), got, want)
		}
	}
	if number != young {
		t.Fatalf("the number did not change within %d IDs", len(all))
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// id2 is id without its text, for many of them.
func id2(counter, number int) idtype.DecimalID {
	return idtype.DecimalID(counter)*1_00000_00000 + idtype.DecimalID(number)*1_00000 + launch
}

// flaky fails each call but the third, the sixth and so on.
type flaky struct {
	*source
	mu    sync.Mutex // guards count
	count int
}

func (f *flaky) NextGenerator(ctx context.Context) (int, error) {
	f.mu.Lock()
	f.count++
	fails := f.count%3 != 0
	f.mu.Unlock()
	if fails {
		return 0, errAway
	}
	return f.source.NextGenerator(ctx)
}
