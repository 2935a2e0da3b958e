package generator_test

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// ones is a source of random numbers that are all ones, or all of another number.
type ones uint64

func (o ones) Uint64() uint64 { return uint64(o) }

func newShort(t testing.TB, o generator.Options) (*generator.Short, *generator.TestClock) {
	t.Helper()
	clock := generator.NewTestClock(noon.Add(-time.Millisecond))
	o.Clock = clock
	g, err := generator.NewShort(generator.Given(struct{}{}), &o)
	if err != nil {
		t.Fatal(err)
	}
	clock.Set(noon)
	return g, clock
}

// TestShortRandom: the random bits are those of the source, and stay within their nine.
func TestShortRandom(t *testing.T) {
	for _, random := range []ones{0, 98, 511, 512, 1<<64 - 1} {
		g, _ := newShort(t, generator.Options{Random: random})
		for sequence := range 600 {
			id, err := g.Next(ctx)
			want := idtype.ShortParts{UnixMs: noon.UnixMilli() + int64(sequence/512), Sequence: sequence % 512, Random: int(random & 511)}
			if err != nil || id.Parts() != want {
				t.Fatalf("minted %+v, %v, want %+v", id.Parts(), err, want)
			}
		}
	}
}

// TestShortRandomByDefault: all nine bits are used, one for each ID, by Fill as by Next.
func TestShortRandomByDefault(t *testing.T) {
	g, _ := newShort(t, generator.Options{})
	ids := make([]idtype.ShortID, 4096)
	if _, err := g.Fill(ctx, ids[:2048]); err != nil {
		t.Fatal(err)
	}
	for i := range ids[2048:] {
		var err error
		if ids[2048+i], err = g.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var set [9]int
	different := map[int]bool{}
	for _, id := range ids {
		different[id.Random()] = true
		for r := uint(id.Random()); r != 0; r &= r - 1 {
			set[bits.TrailingZeros(r)]++
		}
	}
	for bit, n := range set {
		if n < 1700 || n > 2400 { // 2048 ± 10 deviations
			t.Errorf("bit %d is set in %d of 4096", bit, n)
		}
	}
	if len(different) < 500 {
		t.Errorf("%d different values of 512", len(different))
	}
}

// TestShortCeilings: generators that share their times by one counter repeat no time and sequence, though an ID has no number.
func TestShortCeilings(t *testing.T) {
	counter := new(counterFrom)
	var mu sync.Mutex
	shared := lockedCounter{&mu, counter}
	all := make([][]idtype.ShortID, 4)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			g, err := generator.NewShort(generator.Ceiling(struct{}{}, shared, 3*time.Millisecond),
				&generator.Options{Clock: generator.NewTestClock(noon), Random: ones(5), MaxWait: time.Hour})
			if err != nil {
				t.Error(err)
				return
			}
			all[i] = make([]idtype.ShortID, 5000)
			if _, err := g.Fill(ctx, all[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := map[idtype.ShortID]bool{}
	for _, ids := range all {
		for i, id := range ids {
			if seen[id] || i > 0 && id <= ids[i-1] {
				t.Fatalf("minted %+v again, or not in order", id.Parts())
			}
			seen[id] = true
		}
	}
}

// lockedCounter is a counter for several goroutines.
type lockedCounter struct {
	mu *sync.Mutex
	generator.ReadCounter
}

func (c lockedCounter) Reserve(ctx context.Context, floor, n int64) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ReadCounter.Reserve(ctx, floor, n)
}

func (c lockedCounter) Last(ctx context.Context) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ReadCounter.Last(ctx)
}

// TestShortErrors: there is no number that could be wrong, so what is left are options.
func TestShortErrors(t *testing.T) {
	g, err := generator.NewShort(generator.Given(struct{}{}), &generator.Options{Pool: &generator.Pool{Min: 0, Max: 512}})
	var e *generator.OptionError
	if g != nil || !errors.As(err, &e) || e.Option != "Pool" || e.Value != "0..512" {
		t.Errorf("%v", err)
	}
}
