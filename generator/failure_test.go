package generator_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// TestFailsAtLookAhead: with a tenth of the counters left, a failure is nobody's error; it is tried
// again after another hundredth, and again until it works.
func TestFailsAtLookAhead(t *testing.T) {
	eachMint(t, func(t *testing.T, m mint) {
		src := newSource(92, 17)
		g := started(t, src)
		src.fail(errAway)
		at := func(counter, calls int) {
			t.Helper()
			g.SkipTo(counter)
			for range 3 {
				if _, err := m.mint(g, 1); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			src.wantCalls(t, calls)
		}
		const mark, percent = span / 10 * 9, span / 100
		at(mark+5000, 2)
		at(mark+5000+percent/2, 2)
		at(mark+10000+percent, 3)
		at(mark+10000+percent*3/2, 3)
		at(mark+15000+2*percent, 4)
		src.fail(nil)
		at(mark+20000+3*percent, 5)
		at(span-5000, 5) // it is there
		g.SkipTo(span)
		ids, err := m.mint(g, 1)
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, ids, id(1, 17))
		src.wantCalls(t, 5)
	})
}

// TestFailsAtEnd: the source is away from 90 % on. All counters are minted, then every call fails
// and asks again, and after that the IDs go on with the first of the next number.
func TestFailsAtEnd(t *testing.T) {
	eachMint(t, func(t *testing.T, m mint) {
		src := newSource(92, 17)
		g := started(t, src)
		src.fail(errAway)
		g.SkipTo(span - 3)
		ids, err := m.mint(g, 3)
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, ids, id(span-2, 92), id(span-1, 92), id(span, 92))
		synctest.Wait()
		src.wantCalls(t, 2)
		for try := 1; try <= 5; try++ {
			ids, err := m.mint(g, 2)
			wantNumberError(t, err, errAway)
			wantIDs(t, ids)
			src.wantCalls(t, 2+try)
		}
		src.fail(nil)
		ids, err = m.mint(g, 2)
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, ids, id(1, 17), id(2, 17))
	})
}

// TestFillPartly: what Fill could mint before it failed is valid, and is not minted again.
func TestFillPartly(t *testing.T) {
	src := newSource(92)
	g := started(t, src)
	g.SkipTo(span - 3)
	ids := []idtype.DecimalID{-1, -1, -1, -1, -1}
	n, err := g.Fill(ctx, ids)
	wantNumberError(t, err, errNoNumber)
	if n != 3 {
		t.Fatalf("minted %d, want 3", n)
	}
	wantIDs(t, ids, id(span-2, 92), id(span-1, 92), id(span, 92), -1, -1)
	src.add(17)
	if n, err := g.Fill(ctx, ids); n != 5 || err != nil {
		t.Fatalf("Fill = %d, %v", n, err)
	}
	wantIDs(t, ids, id(1, 17), id(2, 17), id(3, 17), id(4, 17), id(5, 17))
}

// TestBadNumbers: an answer that would overflow into the digits beside is refused wherever it comes.
func TestBadNumbers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		number int
	}{
		{"below the range", -1},
		{"above the range", 100_000},
		{"far above the range", 100_092},
	} {
		for _, m := range mints {
			t.Run(tt.name+"/"+m.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					src := newSource(17, 92)
					g := started(t, src)
					g.SkipTo(span)
					if ids, err := m.mint(g, 1); err != nil || ids[0] != id(1, 92) {
						t.Fatal(ids, err)
					}

					// at look-ahead, at the end, at the end once more
					src.add(tt.number, tt.number, 3)
					g.SkipTo(span - 1)
					ids, err := m.mint(g, 1)
					if err != nil {
						t.Fatal(err) // not yet anybody's error
					}
					wantIDs(t, ids, id(span, 92))
					synctest.Wait()

					ids, err = m.mint(g, 1)
					wantIDs(t, ids)
					var e *idtype.RangeError
					if !errors.As(err, &e) || e.Part != "generator_id" ||
						e.Value != int64(tt.number) {
						t.Fatalf("error is %v, want a *RangeError about generator_id %d", err,
							tt.number)
					}
					wantNumberError(t, err, e)

					ids, err = m.mint(g, 1)
					if err != nil {
						t.Fatal(err)
					}
					wantIDs(t, ids, id(1, 3))
				})
			})
		}
	}

	t.Run("at first", func(t *testing.T) {
		g := newDecimal(t, newSource(-1, 100_000, 99_999))
		for range 2 {
			var e *idtype.RangeError
			if id, err := g.Next(ctx); !errors.As(err, &e) || id != 0 {
				t.Errorf("minted %d, %v, want a *RangeError", id, err)
			}
		}
		if got, err := g.Next(ctx); err != nil || got != id(1, 99_999) {
			t.Errorf("minted %d, %v", got, err)
		}
	})
}

// TestLostNumbers: a source that hands out a number again has lost it, and others may be given what
// this generator has. It mints nothing more, not even by the number in use, and does not ask again.
func TestLostNumbers(t *testing.T) {
	for name, number := range map[string]int{"the current number": 92, "an earlier number": 17} {
		for _, m := range mints {
			t.Run(name+"/"+m.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
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
			})
		}
	}
}

// TestHammerFailing: calls that find the state used up have added to it before they know. However
// many they are and however long it goes on, the state may not creep up to where it wraps.
func TestHammerFailing(t *testing.T) {
	const goroutines, calls = 16, 40_000
	src := newSource()
	src.fail(errAway)
	g := newDecimal(t, src)
	var highest atomic.Int64
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			o := g.Owned(i + 1)
			for call := range calls / goroutines {
				var minted idtype.DecimalID
				var err error
				switch call % 8 { // mostly Next: only it adds first
				case 0:
					minted, err = o.Next(ctx)
				case 1:
					var ids [3]idtype.DecimalID
					_, err = g.Fill(ctx, ids[:])
					minted = ids[0]
				default:
					minted, err = g.Next(ctx)
				}
				if !errors.Is(err, errAway) || minted != 0 {
					t.Errorf("minted %d, %v", minted, err)
					return
				}
				above := int64(g.Above())
				for h := highest.Load(); above > h &&
					!highest.CompareAndSwap(h, above); h = highest.Load() {
				}
			}
		})
	}
	wg.Wait()
	if h := highest.Load(); h > goroutines {
		t.Errorf("the state was %d steps above used up, want one per goroutine at most", h)
	}
	if above := g.Above(); above != 0 {
		t.Errorf("the state is %d steps above used up after all calls have returned", above)
	}
	src.fail(nil)
	src.add(92)
	if got, err := g.Next(ctx); err != nil || got != id(1, 92) {
		t.Errorf("after all that: %d, %v", got, err)
	}
}
