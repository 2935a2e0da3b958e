package generator_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/idtype"
)

// TestBoundary: the last counter of a number is minted, none above it, and the next ID is the first
// of the next number.
func TestBoundary(t *testing.T) {
	for _, m := range mints {
		for _, before := range []int{0, 1, 2, 3, 7} { // how many counters are left
			t.Run(fmt.Sprintf("%s/%d left", m.name, before), func(t *testing.T) {
				g := started(t, newSource(92, 17))
				g.SkipTo(span - before)
				var want []idtype.DecimalID
				for counter := span - before + 1; counter <= span; counter++ {
					want = append(want, id(counter, 92))
				}
				want = append(want, id(1, 17), id(2, 17))
				got, err := m.mint(g, len(want))
				if err != nil {
					t.Fatal(err)
				}
				wantIDs(t, got, want...)
			})
		}
	}
}

// TestLookAhead follows one number: the next one is asked for at 90 %, once, and nobody waits for
// it before the end.
func TestLookAhead(t *testing.T) {
	eachMint(t, func(t *testing.T, m mint) {
		src := newSource(92, 17, 18)
		g := started(t, src)
		release := src.block()
		mintAt := func(counter, calls int) {
			t.Helper()
			g.SkipTo(counter - 1)
			ids, err := m.mint(g, 2) // would never return if it waited for the source
			if err != nil {
				t.Fatal(err)
			}
			wantIDs(t, ids, id(counter, 92), id(counter+1, 92))
			synctest.Wait()
			src.wantCalls(t, calls)
		}
		mintAt(span/2, 1)
		mintAt(span/10*9-2000, 1) // Owned(1000) takes up to two blocks
		mintAt(span/10*9+2000, 2)
		mintAt(span/10*9+4000, 2)
		mintAt(span/100*99, 2)
		mintAt(span-1, 2) // the last two

		done := false
		var got []idtype.DecimalID
		var wg sync.WaitGroup
		wg.Go(func() {
			got, _ = m.mint(g, 1)
			done = true
		})
		synctest.Wait()
		if done {
			t.Fatalf("minted %v with no number", got)
		}
		release()
		wg.Wait()
		wantIDs(t, got, id(1, 17))
		src.wantCalls(t, 2) // it joined the request that was under way

		// And the same for the next number.
		g.SkipTo(span/10*9 - 2000)
		if _, err := m.mint(g, 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		src.wantCalls(t, 2)
		g.SkipTo(span/10*9 + 2000)
		if _, err := m.mint(g, 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		src.wantCalls(t, 3)
	})
}

// TestNoWaitAtChange: with the number there in time, no caller at the change waits. The source
// answers only after the call that had it asked has returned, and then never again. A caller that
// made a request itself, or waited for one, would be in a deadlock, and synctest reports that.
func TestNoWaitAtChange(t *testing.T) {
	eachMint(t, func(t *testing.T, m mint) {
		returned, end := make(chan struct{}), make(chan struct{})
		defer close(end)
		calls := 0
		g := started(t, numbersFunc(func(context.Context) (int, error) {
			calls++
			switch calls {
			case 1:
				return 92, nil
			case 2:
				<-returned
				return 17, nil
			default:
				<-end
				return 0, errNoNumber
			}
		}))
		g.SkipTo(span - 3000)
		if _, err := m.mint(g, 1); err != nil {
			t.Fatal(err)
		}
		close(returned)
		synctest.Wait() // the source answers
		for crossed := 0; crossed < 3000; {
			ids, err := m.mint(g, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if id.Generator() == 17 {
					crossed++
				}
			}
		}
		if calls != 2 {
			t.Errorf("the source was asked %d times, want 2", calls)
		}
	})
}

// TestLateAtChange: a caller that found no counters left, and was held up until another had brought
// the next number, goes on with that number. Another one would cost what is left of it.
func TestLateAtChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(92, 17, 18)
		g := started(t, src)
		if err := g.Change(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		src.wantCalls(t, 1)
		if got, err := g.Next(ctx); err != nil || got != id(2, 92) {
			t.Errorf("minted %d, %v, want the second ID of the same number", got, err)
		}
	})
}

// TestOneRequestPerNumber: a caller takes one of the last IDs of a number and then looks whether to
// ask for the next. One that was held up in between must not ask for the number after that as well.
func TestOneRequestPerNumber(t *testing.T) {
	const goroutines, changes = 16, 3000
	numbers := make([]int, changes+2)
	for i := range numbers {
		numbers[i] = i
	}
	src := newSource(numbers...)
	g := started(t, src)
	early := 0
	for change := range changes {
		g.SkipTo(span - 200)
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for i := range 20 {
					if _, err := g.Next(ctx); err != nil {
						t.Error(err)
						return
					}
					if i%4 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		wg.Wait()
		src.mu.Lock()
		if src.calls > change+2 {
			early++
		}
		src.mu.Unlock()
	}
	if early > 0 {
		t.Errorf("at %d of %d changes", early, changes)
	}
}
