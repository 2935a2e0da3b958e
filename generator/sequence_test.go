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
	floors        []int64
}

func newRegister() *register { return &register{next: 1} }

func (r *register) Reserve(ctx context.Context, floor, n int64) (int64, error) {
	first, err := r.ask(ctx, 77) // a number beside an error is none
	r.mu.Lock()
	defer r.mu.Unlock()
	r.floors = append(r.floors, floor)
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
	r.wantCalls(t, 20)
	ids := make([]idtype.SequenceID, 5)
	if n, err := a.Fill(ctx, ids); n != 5 || err != nil ||
		!slices.Equal(ids, []idtype.SequenceID{21, 22, 23, 24, 25}) {
		t.Errorf("Fill = %d, %v, %v", n, err, ids)
	}
	r.wantCalls(t, 21)
	wantSequence(t, b, 26)
	if s := a.Stats(); s != (generator.SequenceStats{Taken: 15, Blocks: 11}) {
		t.Errorf("%+v", s)
	}
	for _, floor := range r.floors {
		if floor != 1 {
			t.Errorf("asked from %d on", floor)
		}
	}
	r.hold = make(chan struct{})
	if id, err := a.Next(canceled); !errors.Is(err, context.Canceled) || id != 0 {
		t.Errorf("with a context that has ended: %d, %v", id, err)
	}
}

// TestSequenceBlocks: a block is counted through, and the next one is asked for when a tenth is
// left, once.
func TestSequenceBlocks(t *testing.T) {
	for _, size := range []int64{2, 3, 9, 10, 11, 100, 1000} {
		for _, fill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%v", size, fill), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRegister()
					g := newSequence(t, r, size)
					r.wantCalls(t, 0)
					for i := int64(1); i <= 3*size; i++ {
						var ids [1]idtype.SequenceID
						var err error
						if fill {
							_, err = g.Fill(ctx, ids[:])
						} else {
							ids[0], err = g.Next(ctx)
						}
						if err != nil || int64(ids[0]) != i {
							t.Fatalf("minted %d, %v, want %d", ids[0], err, i)
						}
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
			})
		}
	}
}

// TestSequenceFill: over several blocks, with what another generator took left out.
func TestSequenceFill(t *testing.T) {
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
	if s := a.Stats(); s.Taken != 10 || s.Blocks != 2 {
		t.Errorf("%+v", s)
	}
}

// TestSequenceFails: ahead of the end it is nobody's error, and tried again after a hundredth; at
// the end it is every call's.
func TestSequenceFails(t *testing.T) {
	for _, fill := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRegister()
			g := newSequence(t, r, 1000)
			r.fail(errAway)
			mint := func(n int) (int, error) {
				if fill {
					return g.Fill(ctx, make([]idtype.SequenceID, n))
				}
				for i := range n {
					if _, err := g.Next(ctx); err != nil {
						return i, err
					}
				}
				return n, nil
			}
			wantError := func(calls int) {
				t.Helper()
				n, err := mint(3)
				var e *generator.NumberError
				if n != 0 || !errors.As(err, &e) || e.Scheme != idtype.SchemeSequence ||
					!errors.Is(err, errAway) {
					t.Fatalf("minted %d, %v", n, err)
				}
				want := "generator: no numbers for sequence IDs: " + errAway.Error()
				if err.Error() != want {
					t.Errorf("text is %q, want %q", err, want)
				}
				r.wantCalls(t, calls)
			}
			upto := func(id, calls int) {
				t.Helper()
				if n := id - int(g.Stats().Taken); n > 0 {
					if done, err := mint(n); done != n || err != nil {
						t.Fatalf("minted %d of %d, %v", done, n, err)
					}
				}
				synctest.Wait()
				r.wantCalls(t, calls)
			}
			wantError(1)
			wantError(2)
			if err := g.Ready(ctx); !errors.Is(err, errAway) {
				t.Errorf("Ready: %v", err)
			}
			r.fail(nil)
			if err := g.Ready(ctx); err != nil {
				t.Error(err)
			}
			upto(1, 4)
			r.fail(errAway)
			upto(899, 4)
			upto(900, 5)
			upto(910, 5)
			upto(911, 6)
			upto(921, 6)
			upto(922, 7)
			// one by one: how far minting comes while a request fails is not known
			for id := 923; id <= 1000; id++ {
				upto(id, 7+(id-922)/11)
			}
			wantError(15)
			wantError(16)
			r.fail(nil)
			upto(1001, 17)
			if s := g.Stats(); s.Taken != 1001 || s.Blocks != 2 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestSequenceBadCounters: what would repeat IDs or is none is refused, wherever it comes, and the
// next call asks again.
func TestSequenceBadCounters(t *testing.T) {
	for _, bad := range []int64{0, -1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 8} {
		for _, size := range []int64{1, 10} {
			r := newRegister()
			g := newSequence(t, r, size)
			r.answers = []int64{bad}
			n := 10
			if size == 10 {
				n = 1
			}
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

// TestSequenceLostNumbers: where a counter hands out numbers again, the generator mints nothing more,
// not even what is left of its block, and does not ask again.
func TestSequenceLostNumbers(t *testing.T) {
	wantLost := func(t *testing.T, g *generator.Sequence, bad int64) {
		t.Helper()
		for range 3 {
			if id, err := g.Next(ctx); id != 0 || !errors.Is(err, generator.ErrRepeated) ||
				!errors.As(err, new(*generator.NumberError)) {
				t.Errorf("a block from %d again: minted %d, %v", bad, id, err)
			}
		}
	}
	for _, bad := range []int64{1, 10, 5} {
		synctest.Test(t, func(t *testing.T) {
			r := newRegister()
			g := newSequence(t, r, 100)
			r.answers = []int64{1, bad}
			for want := int64(1); want <= 90; want++ { // a tenth is left
				wantSequence(t, g, want)
			}
			synctest.Wait()
			wantLost(t, g, bad)
			r.wantCalls(t, 2)
		})
	}
	r := newRegister()
	g := newSequence(t, r, 1)
	for want := int64(1); want <= 3; want++ {
		wantSequence(t, g, want)
	}
	r.answers = []int64{3}
	wantLost(t, g, 3)
	r.wantCalls(t, 4)
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
			if id, err := g.Next(ctx); err == nil {
				t.Errorf("minted %d after the last", id)
			}
		}
		if s := g.Stats(); s.Taken != 3 {
			t.Errorf("%+v", s)
		}
	}
}

func TestSequenceSizes(t *testing.T) {
	for _, size := range []int64{0, -1, math.MinInt64, math.MaxInt32 + 1} {
		var e *generator.OptionError
		if g, err := generator.NewSequence(newRegister(), size); g != nil || !errors.As(err, &e) ||
			e.Value != fmt.Sprint(size) {
			t.Errorf("size %d: %v", size, err)
		}
	}
	wantSequence(t, newSequence(t, newRegister(), math.MaxInt32), 1)
}

// counterFunc is a Counter for what register cannot do.
type counterFunc func(ctx context.Context, floor, n int64) (int64, error)

func (f counterFunc) Reserve(ctx context.Context, floor, n int64) (int64, error) {
	return f(ctx, floor, n)
}
