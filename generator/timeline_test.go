package generator_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

// pools are ranges of slots at the edges of a scheme's, and odd ones between.
func (s scheme) pools() []generator.Pool {
	return []generator.Pool{
		{Min: s.first, Max: s.first},
		{Min: s.last, Max: s.last},
		{Min: s.first, Max: s.first + 6},
		{Min: s.last - 2, Max: s.last},
		{Min: s.first + 12, Max: s.first + 16},
	}
}

// TestRollOver: all slots of a pool are used, in order. The next ID is the first of the next unit,
// and the call waits for that.
func TestRollOver(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		for _, pool := range s.pools() {
			size := pool.Max - pool.Min + 1
			var want []mark
			for unit := range 4 {
				for slot := pool.Min; slot <= pool.Max; slot++ {
					want = append(
						want, mark{5 % s.numbers, noon.Add(s.units(unit)).UnixNano(), 0, slot},
					)
				}
			}
			for _, n := range []int{0, 1, 3, size, size + 1, 2*size + 1} { // Fill of none is Next
				inBubble(t, fmt.Sprintf("%d..%d/by %d", pool.Min, pool.Max, n), func(t *testing.T) {
					// so that a new generator begins at noon
					clock := testclock.New(noon.Add(-1))
					g := s.must(t, given(5%s.numbers),
						&generator.Options{Clock: clock, Pool: &pool})
					clock.Set(noon)
					for done := 0; done < len(want); {
						var ids []minted
						var err error
						if n == 0 {
							ids = make([]minted, 1)
							ids[0], err = g.next(ctx)
						} else {
							ids, err = g.fill(ctx, min(n, len(want)-done))
						}
						if err != nil {
							t.Fatal(err)
						}
						for _, id := range ids {
							if id.mark != want[done] {
								t.Fatalf("ID %d is %+v, want %+v", done, id.mark, want[done])
							}
							done++
						}
						// TestClock is exact: no call waited longer than it had to
						wantAt(t, clock, s.units((done-1)/size))
					}
					if st := g.stats(); st.Issued != uint64(len(want)) || st.Waits != 3 ||
						st.PoolUsed != 1 || st.Regressions != 0 {
						t.Errorf("%+v, want %d issued, 3 waits, all of the pool used", st,
							len(want))
					}
				})
			}
		}
	})
}

// TestEnds: the first unit is left out, the last is used, and outside there are none, also for a
// clock that comes back.
func TestEnds(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		endless := func() *claims { // a window that begins before time does
			return newClaims(
				generator.Window[int]{
					Number: 5 % s.numbers, From: math.MinInt64, To: math.MaxInt64,
				},
			)
		}
		wantRangeError := func(t *testing.T, g *timed, clock *testclock.Clock) {
			t.Helper()
			at := clock.UnixNano()
			_, err := g.next(ctx)
			var e *idtype.RangeError
			if !errors.As(err, &e) {
				t.Fatalf("at %v: error is %v, want a *RangeError", time.Unix(0, at).UTC(), err)
			}
			want := idtype.RangeError{
				Type: s.typ, Part: "unix_ms", Value: time.Unix(0, at).UnixMilli(),
				Min: s.begin.UnixMilli(), Max: s.end.UnixMilli() - 1,
			}
			if *e != want {
				t.Errorf("error is %+v, want %+v", *e, want)
			}
			if err := g.ready(ctx); !errors.As(err, &e) {
				t.Errorf("Ready: %v, want a *RangeError", err)
			}
			if got := clock.UnixNano(); got != at {
				t.Errorf("it waited %v", time.Duration(got-at))
			}
		}
		wantID := func(t *testing.T, g *timed, at time.Time, slot int) {
			t.Helper()
			id, err := g.next(ctx)
			if err != nil || id.mark != (mark{5 % s.numbers, at.UnixNano(), 0, slot}) {
				t.Errorf("minted %+v, %v, want slot %d of %v", id.mark, err, slot, at.UTC())
			}
		}

		inBubble(t, "begin", func(t *testing.T) {
			clock := testclock.New(s.begin.Add(-1))
			g := s.must(t, windowsOf(endless()), &generator.Options{Clock: clock})
			wantRangeError(t, g, clock)
			clock.Set(s.begin)
			wantID(t, g, s.begin.Add(s.unit), s.first) // an ID of the first unit may be zero
			clock.Set(s.begin.Add(-1))
			wantRangeError(t, g, clock)
			clock.Set(s.begin.Add(-time.Hour))
			wantRangeError(t, g, clock)
			clock.Set(time.Unix(0, math.MinInt64))
			wantRangeError(t, g, clock)
			clock.Set(s.begin.Add(s.unit))
			wantID(t, g, s.begin.Add(s.unit), s.first+1)
		})
		inBubble(t, "end", func(t *testing.T) {
			for _, source := range []windows{given(5 % s.numbers), windowsOf(endless())} {
				clock := testclock.New(s.end.Add(-s.units(3)))
				g := s.must(t, source, &generator.Options{Clock: clock})
				clock.Set(s.end.Add(-1))
				if _, err := g.fill(ctx, 2); err != nil {
					t.Fatal(err)
				}
				for _, beyond := range []time.Time{
					s.end, s.end.Add(time.Hour), time.Unix(0, math.MaxInt64),
				} {
					clock.Set(beyond)
					wantRangeError(t, g, clock)
				}
				clock.Set(s.end.Add(-s.unit))
				wantID(t, g, s.end.Add(-s.unit), s.first+2)
			}
		})
	})
}

// late is a clock whose sleepers oversleep.
type late struct {
	*testclock.Clock
	by time.Duration
}

func (l *late) Sleep(ctx context.Context, d time.Duration) error {
	return l.Clock.Sleep(ctx, d+l.by)
}

// TestMintAllocs: minting allocates nothing, below the cap and at it.
func TestMintAllocs(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		for name, clock := range map[string]generator.Clock{
			"default": nil, "wall": generator.WallClock(), "test": testclock.New(noon),
		} {
			// it begins at once
			g := s.must(t, ceiling(new(kept), time.Hour),
				&generator.Options{Clock: clock, MaxWait: time.Hour})
			if _, err := g.next(ctx); err != nil {
				t.Fatal(err)
			}
			for i, mint := range g.bare {
				var err error
				got := testing.AllocsPerRun(200, func() { err = cmp.Or(err, mint()) })
				if got != 0 || err != nil {
					t.Errorf("%s clock, %s: %v allocations, %v", name,
						[]string{"Next", "Fill"}[i], got, err)
				}
			}
		}
	})
}
