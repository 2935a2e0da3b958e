package generator_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

func wantStats(t *testing.T, when string, g *generator.Decimal, taken uint64, numbers ...int) {
	t.Helper()
	s := g.Stats()
	if s.Launch != launch || s.Taken != taken || !slices.Equal(s.Generators, numbers) {
		t.Errorf("%s: %+v, want launch %d, generators %v, %d taken", when, s, launch, numbers,
			taken)
	}
}

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(92, 17, 99_999)
		src.fail(errAway)
		g := newDecimal(t, src)
		next := func(want int) {
			t.Helper()
			if got, err := g.Next(ctx); err != nil || got.Counter() != want {
				t.Fatalf("Next = %d, %v, want counter %d", got, err, want)
			}
			synctest.Wait()
		}
		wantStats(t, "before", g, 0)
		if _, err := g.Next(ctx); err == nil {
			t.Fatal("minted without a number")
		}
		wantStats(t, "after a failure", g, 0)
		src.fail(nil)

		next(1)
		wantStats(t, "after the first ID", g, 1, 92)
		var ids [10]idtype.DecimalID
		if _, err := g.Fill(ctx, ids[:]); err != nil {
			t.Fatal(err)
		}
		wantStats(t, "after Fill", g, 11, 92)
		if _, err := g.Owned(100).Next(ctx); err != nil {
			t.Fatal(err)
		}
		wantStats(t, "after a reservation", g, 111, 92)

		g.SkipTo(span / 2)
		wantStats(t, "in the middle", g, span/2, 92)
		g.SkipTo(span - 2)
		next(span - 1)
		wantStats(t, "with the next number there", g, span-1, 92, 17)
		next(span)
		next(1)
		wantStats(t, "after the change", g, span+1, 92, 17)
		g.SkipTo(span - 1)
		next(span)
		next(1)
		wantStats(t, "after the second change", g, 2*span+1, 92, 17, 99_999)
	})
}

// TestStatsBetween has the moments at which a number is there and none of its counters is taken.
func TestStatsBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(92, 17)
		release := src.block()
		g := newDecimal(t, src)
		waiting, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = g.Next(waiting) })
		synctest.Wait()
		cancel()
		wg.Wait()
		release()
		synctest.Wait()
		wantStats(t, "first number there, its caller gone", g, 0, 92)

		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
		g.SkipTo(span - 1)
		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantStats(t, "used up, the next number there", g, span, 92, 17)
		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
		wantStats(t, "after the change", g, span+1, 92, 17)
		src.fail(errAway)
		g.SkipTo(span)
		for range 3 {
			if _, err := g.Next(ctx); err == nil {
				t.Fatal("minted without a number")
			}
			wantStats(t, "used up, no number to be had", g, 2*span, 92, 17)
		}
	})
}

// TestStatsIsACopy: a metric may keep and sort what it got.
func TestStatsIsACopy(t *testing.T) {
	src := newSource(92, 17)
	g := started(t, src)
	g.Stats().Generators[0] = 17
	g.SkipTo(span)
	if got, err := g.Next(ctx); err != nil || got != id(1, 17) {
		t.Errorf("minted %d, %v", got, err)
	}
	wantStats(t, "after a reader changed its own", g, span+1, 92, 17)
}
