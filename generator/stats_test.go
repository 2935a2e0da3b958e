package generator_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// TestTimelineStats, one by one.
func TestTimelineStats(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		g, _, clock := lent(t, s, s.window(5, 0, 4), s.window(5, 8, 20))
		want := func(when string, want generator.Stats) {
			t.Helper()
			want.Scheme, want.Now = s.id, time.Unix(0, clock.UnixNano()).UTC()
			switch want.Windows {
			case 1:
				want.Until = noon.Add(s.units(4))
			case 2:
				want.Until = noon.Add(s.units(20))
			}
			if got := g.stats(); got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
		}
		want("new", generator.Stats{})
		if err := g.ready(ctx); err != nil {
			t.Fatal(err)
		}
		want("ready", generator.Stats{Windows: 1})
		wantLent(t, s, g, 5, 0, 0)
		want("one ID", generator.Stats{Issued: 1, Windows: 1, Time: noon, PoolUsed: 1.0 / 3})
		clock.Add(s.unit)
		want("a unit later", generator.Stats{Issued: 1, Windows: 1, Time: noon})
		if _, err := g.fill(ctx, 5); err != nil {
			t.Fatal(err)
		}
		latest := noon.Add(s.units(2))
		want(
			"after a wait",
			generator.Stats{Issued: 6, Windows: 1, Waits: 1, Time: latest, PoolUsed: 2.0 / 3},
		)
		clock.Add(-s.unit)
		want(
			"behind",
			generator.Stats{Issued: 6, Windows: 1, Waits: 1, Time: latest, PoolUsed: 2.0 / 3},
		)
		clock.Set(noon.Add(s.units(6)))
		if err := g.ready(ctx); err != nil {
			t.Fatal(err)
		}
		want(
			"before the next window",
			generator.Stats{Issued: 6, Windows: 2, Waits: 1, Time: latest},
		)
		wantLent(t, s, g, 5, 8, 0)
		want(
			"in the next window",
			generator.Stats{
				Issued: 7, Windows: 2, Waits: 2, Time: noon.Add(s.units(8)), PoolUsed: 1.0 / 3,
			},
		)
	})
}

// TestStatsWhileWindowsChange: whoever looks meanwhile does not see a time that was not stamped,
// nor more than was issued.
func TestStatsWhileWindowsChange(t *testing.T) {
	s := schemes[0]
	clock := generator.NewTestClock(noon)
	g := s.must(t, ceiling(new(counterFrom), 0), &generator.Options{Clock: clock})
	const units = 4_000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range units {
			clock.Add(s.unit)
			if _, err := g.next(ctx); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for {
		st := g.stats()
		if now := clock.UnixNano(); st.Time.UnixNano() > now || st.Issued > units ||
			st.PoolUsed > 0.5 {
			t.Fatalf("%+v at %v", st, time.Unix(0, now).UTC())
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
