package generator_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// TestLaunches: a number comes with its launch, which may change from one number to the next. A
// launch that no ID has is an error, and 0 is for tests.
func TestLaunches(t *testing.T) {
	all := []int{1, launch, 99_999, launch, 1}
	of := launches(all)
	g := newDecimal(t, &of)
	for _, launch := range all {
		id := next(t, g)
		if id.Parts().Launch != launch || g.Stats().Launch != launch || id.Parts().Counter != 1 {
			t.Errorf("%+v, want launch %d", id.Parts(), launch)
		}
		g.SkipTo(span)
	}
	if n := len(g.Stats().Generators); n != len(all) {
		t.Errorf("%d numbers", n)
	}
	for _, bad := range []int{0, -1, 100_000, math.MaxInt, math.MinInt} {
		_, err := newDecimal(t, &launches{bad}).Next(ctx)
		var e *idtype.RangeError
		if !errors.As(err, &e) || e.Part != "launch_id" || e.Value != int64(bad) {
			t.Errorf("launch %d: %v, want a *RangeError about launch_id", bad, err)
		}
	}
}

// launches gives a number of one launch after another.
type launches []int

func (l *launches) NextGenerator(context.Context) (launch, number int, err error) {
	launch, *l = (*l)[0], (*l)[1:]
	return launch, len(*l), nil
}

// TestNewTestDecimal: number 0 too, where the state of the generator is as close to its marks as it
// gets. Without a source the numbers are the same.
func TestNewTestDecimal(t *testing.T) {
	testTestDecimal(t, newSource(0, 1))
	testTestDecimal(t, nil)
}

func testTestDecimal(t *testing.T, numbers generator.Numbers) {
	g := generator.NewTestDecimal(numbers)
	for _, m := range mints {
		ids, err := m.mint(g, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if !id.IsTest() || id.Validate() != nil || id.Parts().Generator != 0 {
				t.Errorf("%s: %d is %+v, want a test ID of generator 0", m.name, id, id.Parts())
			}
		}
	}
	g.SkipTo(span - 1)
	ids, err := mints[0].mint(g, 2)
	if err != nil || ids[0].Parts().Counter != span ||
		ids[1].Parts() != (idtype.DecimalParts{Counter: 1, Generator: 1}) {
		t.Errorf("at the change: %v, %v", ids, err)
	}
}

// TestReady takes the first number, and mints nothing. Before it, nothing is asked for: a number is
// a claim on the launch log.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(7)
		g := newDecimal(t, src)
		g.Owned(1000)
		if n, err := g.Fill(ctx, nil); n != 0 || err != nil {
			t.Errorf("Fill of nothing = %d, %v", n, err)
		}
		synctest.Wait()
		src.wantCalls(t, 0)
		wantStats(t, "before", g, 0)
		for range 2 { // the second time nothing is to be done
			if err := g.Ready(ctx); err != nil {
				t.Fatal(err)
			}
		}
		src.wantCalls(t, 1)
		wantStats(t, "ready", g, 0, 7)
		first, err := g.Next(canceled) // needs nothing that it could wait for
		if err != nil || first != id(1, 7) {
			t.Errorf("the first ID is %v, %v", first, err)
		}
		wantNumberError(t, newDecimal(t, newSource(0)).Ready(canceled), context.Canceled)
	})
}

// The first number may not come, as within a transaction that has what the log waits for. The error
// then says what mends it, however short the caller's deadline is.
func TestFirstNumberIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(7)
		defer src.block()()
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		_, err := newDecimal(t, src).Next(soon)
		if !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "call Ready before") {
			t.Error(err)
		}
	})
}

// TestFirst: counters begin at 1, and the digits are those of the layout, at the edges of number
// and launch too. The launch is that of the numbers.
func TestFirst(t *testing.T) {
	for want, tt := range map[string]struct{ launch, number int }{
		"10009200065": {65, 92}, // of the example in formats.md
		"10000000001": {1, 0}, "19999999999": {99_999, 99_999},
	} {
		eachMint(t, func(t *testing.T, m mint) {
			g := newDecimal(t, ofLaunch{newSource(tt.number), tt.launch})
			ids, err := m.mint(g, 3)
			if err != nil || g.Stats().Launch != tt.launch {
				t.Fatal(err, g.Stats())
			}
			first := idtype.MustParse[idtype.DecimalID](want)
			wantIDs(t, ids, first, first+1_00000_00000, first+2_00000_00000)
			for _, id := range ids {
				if err := id.Validate(); err != nil || id.IsTest() {
					t.Errorf("%d: Validate %v, IsTest %v", id, err, id.IsTest())
				}
			}
		})
	}
}

// TestBoundary: the last counter of a number is minted, none above it, and the next ID is the first
// of the next number.
func TestBoundary(t *testing.T) {
	eachMint(t, func(t *testing.T, m mint) {
		for _, left := range []int{0, 1, 2, 7} { // counters
			g := started(t, newSource(92, 17))
			g.SkipTo(span - left)
			var want []idtype.DecimalID
			for counter := span - left + 1; counter <= span; counter++ {
				want = append(want, id(counter, 92))
			}
			want = append(want, id(1, 17), id(2, 17))
			got, err := m.mint(g, len(want))
			if err != nil {
				t.Fatal(err)
			}
			wantIDs(t, got, want...)
		}
	})
}

// TestLookAhead follows one number: the next one is asked for at 90 %, once, and nobody waits for
// it before the end. A failure is nobody's error until then. It is tried again after another
// hundredth, and again until it works.
func TestLookAhead(t *testing.T) {
	eachMint(t, func(t *testing.T, m mint) {
		src := newSource(92, 17, 18)
		g := started(t, src)
		at := func(counter, calls int) {
			t.Helper()
			g.SkipTo(counter - 1)
			ids, err := m.mint(g, 2) // would never return if it waited for a source that is held
			if err != nil {
				t.Fatal(err)
			}
			number := g.Stats().Generators[len(g.Stats().Generators)-1]
			wantIDs(t, ids, id(counter, number), id(counter+1, number))
			synctest.Wait()
			src.wantCalls(t, calls)
		}
		const mark, percent = span / 10 * 9, span / 100
		at(span/2, 1)
		at(mark-2000, 1) // Owned(1000) takes up to two blocks
		src.fail(errAway)
		at(mark+2000, 2)
		at(mark+percent/2, 2)
		at(mark+percent+4000, 3)
		src.fail(nil)
		release := src.block()
		at(mark+2*percent+6000, 4)
		at(span-5000, 4)
		at(span-1, 4) // the last two

		var got []idtype.DecimalID
		var wg sync.WaitGroup
		wg.Go(func() { got, _ = m.mint(g, 1) })
		synctest.Wait()
		if got != nil {
			t.Fatalf("minted %v with no number", got)
		}
		release()
		wg.Wait()
		wantIDs(t, got, id(1, 17))
		src.wantCalls(t, 4) // it joined the request that was under way
		at(mark-2000, 4)    // and the same for the next number
		g.SkipTo(mark + 2000)
		if _, err := m.mint(g, 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		src.wantCalls(t, 5)
	})
}

// TestFailsAtEnd: the source is away from 90 % on. All counters are minted: what a call could mint
// before it failed is valid, and is not minted again. Then every call fails and asks again, and
// after that the IDs go on with the first of the next number.
func TestFailsAtEnd(t *testing.T) {
	eachMint(t, func(t *testing.T, m mint) {
		src := newSource(92, 17)
		g := started(t, src)
		src.fail(errAway)
		g.SkipTo(span - 3)
		ids, err := m.mint(g, 5)
		wantNumberError(t, err, errAway)
		wantIDs(t, ids, id(span-2, 92), id(span-1, 92), id(span, 92))
		src.mu.Lock()
		before := src.calls
		src.mu.Unlock()
		for try := 1; try <= 5; try++ {
			ids, err := m.mint(g, 2)
			wantNumberError(t, err, errAway)
			wantIDs(t, ids)
			src.wantCalls(t, before+try)
		}
		src.fail(nil)
		ids, err = m.mint(g, 2)
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, ids, id(1, 17), id(2, 17))
	})
}

// TestBadNumbers: an answer that would overflow into the digits beside is refused wherever it
// comes.
func TestBadNumbers(t *testing.T) {
	for _, number := range []int{-1, 100_000, 100_092} {
		eachMint(t, func(t *testing.T, m mint) {
			src := newSource(17, number, number, 3)
			g := started(t, src)
			g.SkipTo(span - 1)
			ids, err := m.mint(g, 1)
			if err != nil {
				t.Fatal(err) // not yet anybody's error
			}
			wantIDs(t, ids, id(span, 17))
			synctest.Wait()

			ids, err = m.mint(g, 1)
			wantIDs(t, ids)
			var e *idtype.RangeError
			if !errors.As(err, &e) || e.Part != "generator_id" || e.Value != int64(number) {
				t.Fatalf("error is %v, want a *RangeError about generator_id %d", err, number)
			}
			wantNumberError(t, err, e)
			ids, err = m.mint(g, 1)
			if err != nil {
				t.Fatal(err)
			}
			wantIDs(t, ids, id(1, 3))
		})
	}
}

// TestLostNumbers: a source that hands out a number again has lost it, and others may be given what
// this generator has. It mints nothing more, not even by the number in use, and does not ask again.
func TestLostNumbers(t *testing.T) {
	for _, number := range []int{92, 17} { // the current one, and an earlier one
		eachMint(t, func(t *testing.T, m mint) {
			src := newSource(17, 92)
			g := started(t, src)
			g.SkipTo(span)
			if _, err := m.mint(g, 1); err != nil {
				t.Fatal(err)
			}
			src.add(number, 3)
			g.SkipTo(span - 2000) // far beyond the look-ahead, with counters left
			if _, err := m.mint(g, 1); err != nil {
				t.Fatal(err) // not yet anybody's error
			}
			synctest.Wait()
			for range 3 {
				ids, err := m.mint(g, 1)
				wantIDs(t, ids)
				wantNumberError(t, err, generator.ErrRepeated)
				synctest.Wait()
				src.wantCalls(t, 3)
			}
		})
	}
}

func wantStats(t *testing.T, when string, g *generator.Decimal, taken uint64, numbers ...int) {
	t.Helper()
	s := g.Stats()
	if taken > 0 && s.Launch != launch || s.Taken != taken || !slices.Equal(s.Generators, numbers) {
		t.Errorf("%s: %+v, want launch %d, generators %v, %d taken", when, s, launch, numbers,
			taken)
	}
}

// TestStats, also at the moments at which a number is there and none of its counters is taken.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(92, 17)
		release := src.block()
		g := newDecimal(t, src)
		waiting, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := g.Next(waiting); err == nil {
			t.Fatal("minted without a number")
		}
		release()
		synctest.Wait()
		wantStats(t, "first number there, its caller gone", g, 0, 92)
		next(t, g)
		if _, err := g.Fill(ctx, make([]idtype.DecimalID, 10)); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Owned(100).Next(ctx); err != nil {
			t.Fatal(err)
		}
		wantStats(t, "after Next, Fill and a reservation", g, 111, 92)
		g.SkipTo(span - 1)
		next(t, g)
		synctest.Wait()
		wantStats(t, "used up, the next number there", g, span, 92, 17)
		next(t, g)
		wantStats(t, "after the change", g, span+1, 92, 17)
		g.SkipTo(span)
		if _, err := g.Next(ctx); err == nil {
			t.Fatal("minted without a number")
		}
		wantStats(t, "used up, no number to be had", g, 2*span, 92, 17)
	})
}

var (
	sinkID  idtype.DecimalID
	sinkErr error
)

// TestAllocs: minting allocates nothing, also behind the look-ahead, where Next takes a longer way.
func TestAllocs(t *testing.T) {
	g := started(t, newSource(92, 17))
	dst := make([]idtype.DecimalID, 1000)
	own := g.Owned(7) // a refill each seventh time
	for _, from := range []int{1, span / 100 * 95} {
		g.SkipTo(from)
		next(t, g) // it asks for the number
		for name, call := range map[string]func(){
			"Next":       func() { sinkID, sinkErr = g.Next(ctx) },
			"Fill":       func() { _, sinkErr = g.Fill(ctx, dst) },
			"Owned.Next": func() { sinkID, sinkErr = own.Next(ctx) },
		} {
			if got := testing.AllocsPerRun(1000, call); got != 0 || sinkErr != nil {
				t.Errorf("from %d, %s: %v allocations, %v", from, name, got, sinkErr)
			}
		}
	}
}
