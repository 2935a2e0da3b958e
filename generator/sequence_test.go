package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// register is a Counter.
type register struct {
	script[int64] // answers to come before next
	next          int64
}

func newRegister() *register { return &register{next: 1} }

func (r *register) Reserve(ctx context.Context, floor, n int64) (int64, error) {
	first, err := r.ask(ctx, 77) // a number beside an error is none
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != errNoNumber || r.next < 1 || r.next > math.MaxInt64-n+1 {
		return first, err
	}
	first = max(r.next, floor)
	r.next = first + n
	return first, nil
}

func (r *register) Last(context.Context) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next - 1, r.err
}

func newSequence(t testing.TB, c generator.Counter, size int64) *generator.Sequence {
	t.Helper()
	g, err := generator.NewSequence(c, size)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func wantSequence(t *testing.T, g *generator.Sequence, want int64) {
	t.Helper()
	if id, err := g.Next(ctx); err != nil || int64(id) != want {
		t.Fatalf("minted %d, %v, want %d", id, err, want)
	}
}

// TestSequenceOfOne: every ID is a step of the counter, so they ascend over all generators; a block
// is one step.
func TestSequenceOfOne(t *testing.T) {
	r := newRegister()
	a, b := newSequence(t, r, 1), newSequence(t, r, 1)
	if err := a.Ready(ctx); err != nil {
		t.Error(err)
	}
	r.wantCalls(t, 0)
	for i := int64(1); i <= 20; i += 2 {
		wantSequence(t, a, i)
		wantSequence(t, b, i+1)
	}
	ids := make([]idtype.SequenceID, 5)
	if n, err := a.Fill(ctx, ids); n != 5 || err != nil ||
		!slices.Equal(ids, []idtype.SequenceID{21, 22, 23, 24, 25}) {
		t.Errorf("Fill = %d, %v, %v", n, err, ids)
	}
	r.wantCalls(t, 21)
	if s := a.Stats(); s != (generator.SequenceStats{Taken: 15, Blocks: 11}) {
		t.Errorf("%+v", s)
	}
	r.hold = make(chan struct{})
	if id, err := a.Next(canceled); !errors.Is(err, context.Canceled) || id != 0 {
		t.Errorf("with a context that has ended: %d, %v", id, err)
	}
}

// TestSequenceUpTo: no ID is above the most, by Next or Fill, alone or in blocks, and every one below
// is minted.
func TestSequenceUpTo(t *testing.T) {
	const most = 1<<53 - 1
	for _, size := range []int64{1, 4} {
		r := newRegister()
		r.next = most - 7
		g, err := generator.NewSequenceUpTo(r, size, most)
		if err != nil {
			t.Fatal(err)
		}
		for want := int64(most - 7); want <= most; want++ {
			wantSequence(t, g, want)
		}
		id, err := g.Next(ctx)
		n, fillErr := g.Fill(ctx, make([]idtype.SequenceID, 3))
		var beyond *idtype.RangeError
		if id != 0 || n != 0 || !errors.As(err, &beyond) || !errors.As(fillErr, new(*idtype.RangeError)) ||
			beyond.Max != most-size+1 {
			t.Errorf("size %d, beyond: %d, %v; %d, %v", size, id, err, n, fillErr)
		}
	}
	if g, err := generator.NewSequenceUpTo(newRegister(), 1, 0); g != nil ||
		!errors.As(err, new(*generator.OptionError)) {
		t.Errorf("up to 0: %v", err)
	}
}

// TestSequenceBlocks: a block is counted through, and the next one is asked for when a tenth is
// left, once. Blocks of others are left out.
func TestSequenceBlocks(t *testing.T) {
	for _, size := range []int64{2, 9, 10, 100} {
		synctest.Test(t, func(t *testing.T) {
			r := newRegister()
			g := newSequence(t, r, size)
			for i := int64(1); i <= 3*size; i++ {
				wantSequence(t, g, i)
				synctest.Wait()
				block, used := (i-1)/size, (i-1)%size+1
				calls := int(block) + 1
				if used >= size-size/10 {
					calls++
				}
				r.wantCalls(t, calls)
				want := generator.SequenceStats{
					Taken: uint64(i), Blocks: uint64(block) + 1,
					BlockUsed: float64(used) / float64(size),
				}
				if s := g.Stats(); s != want {
					t.Fatalf("%+v, want %+v", s, want)
				}
			}
		})
	}
	r := newRegister()
	a, b := newSequence(t, r, 5), newSequence(t, r, 5)
	wantSequence(t, a, 1)
	wantSequence(t, b, 6)
	ids := make([]idtype.SequenceID, 9)
	if n, err := a.Fill(ctx, ids); n != 9 || err != nil {
		t.Fatalf("Fill = %d, %v", n, err)
	}
	if want := []idtype.SequenceID{2, 3, 4, 5, 11, 12, 13, 14, 15}; !slices.Equal(ids, want) {
		t.Errorf("minted %v, want %v", ids, want)
	}
	g := newSequence(t, newRegister(), 1000)
	wantSequence(t, g, 1)
	if got := testing.AllocsPerRun(90, func() { made(g.Next(ctx)) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestSequenceBadCounters: what would repeat IDs or is none is refused, wherever it comes, and the
// next call asks again.
func TestSequenceBadCounters(t *testing.T) {
	for _, bad := range []int64{0, -1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 8} {
		for size, n := range map[int64]int{1: 10, 10: 1} {
			r := newRegister()
			g := newSequence(t, r, size)
			r.answers = []int64{bad}
			m, err := g.Fill(ctx, make([]idtype.SequenceID, n))
			var e *idtype.RangeError
			if m != 0 || !errors.As(err, new(*generator.NumberError)) || !errors.As(err, &e) ||
				e.Value != bad || e.Max != math.MaxInt64-9 {
				t.Errorf("from %d on: minted %d, %v", bad, m, err)
			}
			wantSequence(t, g, 1)
		}
	}
}

// TestSequenceLostNumbers: where a counter hands out numbers again, the generator mints nothing
// more, not even what is left of its block, and does not ask again.
func TestSequenceLostNumbers(t *testing.T) {
	for _, tt := range []struct{ size, minted, bad int64 }{
		{100, 90, 1}, {100, 90, 10}, {100, 90, 5}, {1, 3, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRegister()
			g := newSequence(t, r, tt.size)
			if tt.size > 1 {
				r.answers = []int64{1, tt.bad}
			}
			for want := int64(1); want <= tt.minted; want++ { // a tenth is left
				wantSequence(t, g, want)
			}
			if tt.size == 1 {
				r.answers = []int64{tt.bad}
			}
			synctest.Wait()
			for range 3 {
				if id, err := g.Next(ctx); id != 0 || !errors.Is(err, generator.ErrRepeated) ||
					!errors.As(err, new(*generator.NumberError)) {
					t.Errorf("%+v: minted %d, %v", tt, id, err)
				}
			}
			r.wantCalls(t, map[int64]int{1: 4, 100: 2}[tt.size])
		})
	}
}

// TestSequenceEnds: the last ID of the domain is minted, and none after it.
func TestSequenceEnds(t *testing.T) {
	for _, size := range []int64{1, 3} {
		r := newRegister()
		r.next = math.MaxInt64 - 2
		g := newSequence(t, r, size)
		for want := int64(math.MaxInt64 - 2); ; want++ {
			if wantSequence(t, g, want); want == math.MaxInt64 {
				break
			}
		}
		for range 3 {
			if id, err := g.Next(ctx); err == nil || g.Stats().Taken != 3 {
				t.Errorf("minted %d after the last", id)
			}
		}
	}
	for _, size := range []int64{0, -1, math.MaxInt32 + 1} {
		var e *generator.OptionError
		if g, err := generator.NewSequence(newRegister(), size); g != nil || !errors.As(err, &e) ||
			e.Value != fmt.Sprint(size) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// counterFunc is a Counter for what register cannot do.
type counterFunc func(ctx context.Context, floor, n int64) (int64, error)

func (counterFunc) Last(context.Context) (int64, error) { return 0, nil }

func (f counterFunc) Reserve(ctx context.Context, floor, n int64) (int64, error) {
	return f(ctx, floor, n)
}
