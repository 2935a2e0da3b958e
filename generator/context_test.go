package generator_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// withContext are the three methods that take a context.
var withContext = []struct {
	name string
	mint func(ctx context.Context, g *generator.Decimal) (idtype.DecimalID, error)
}{
	{"Next", func(ctx context.Context, g *generator.Decimal) (idtype.DecimalID, error) { return g.Next(ctx) }},
	{"Fill", func(ctx context.Context, g *generator.Decimal) (idtype.DecimalID, error) {
		var ids [1]idtype.DecimalID
		_, err := g.Fill(ctx, ids[:])
		return ids[0], err
	}},
	{"Owned", func(ctx context.Context, g *generator.Decimal) (idtype.DecimalID, error) { return g.Owned(5).Next(ctx) }},
}

func TestCanceledBefore(t *testing.T) {
	for _, m := range withContext {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := newSource(92, 17)
				g := newDecimal(t, src)
				got, err := m.mint(canceled, g)
				wantNumberError(t, err, context.Canceled)
				if got != 0 {
					t.Errorf("minted %d beside the error", got)
				}
				synctest.Wait()
				src.wantCalls(t, 0) // nobody wants a number

				// With counters left there is nothing to wait for, and the context is not looked at.
				if got, err := m.mint(ctx, g); err != nil || got != id(1, 92) {
					t.Fatalf("minted %d, %v", got, err)
				}
				if _, err := m.mint(canceled, g); err != nil {
					t.Errorf("with counters left: %v", err)
				}

				g.SkipTo(span)
				_, err = m.mint(canceled, g)
				wantNumberError(t, err, context.Canceled)
				if got, err := m.mint(ctx, g); err != nil || got != id(1, 17) {
					t.Errorf("minted %d, %v", got, err)
				}
			})
		})
	}
}

// TestCanceledWhileWaiting: the caller returns at once; the request, which may have claimed a number already, goes on and
// serves the next caller.
func TestCanceledWhileWaiting(t *testing.T) {
	for _, m := range withContext {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := newSource(92)
				release := src.block()
				g := newDecimal(t, src)
				waiting, cancel := context.WithCancel(ctx)
				var err error
				var wg sync.WaitGroup
				wg.Go(func() { _, err = m.mint(waiting, g) })
				synctest.Wait()
				src.wantCalls(t, 1)
				cancel()
				wg.Wait() // the source has still not answered
				wantNumberError(t, err, context.Canceled)

				release()
				synctest.Wait()
				got, err := m.mint(ctx, g)
				if err != nil || got != id(1, 92) {
					t.Errorf("minted %d, %v, want the first ID: nothing is lost", got, err)
				}
				src.wantCalls(t, 1)
			})
		})
	}
}

// TestWaitersAreFree: of several waiting callers each obeys its own context, and Stats answers meanwhile: whoever waits
// holds no lock. The request has no caller's deadline.
func TestWaitersAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(92)
		release := src.block()
		g := newDecimal(t, src)
		start := time.Now()
		var wg sync.WaitGroup
		for i, m := range withContext {
			wg.Go(func() {
				if _, err := m.mint(ctx, g); err != nil {
					t.Errorf("%s without a deadline: %v", m.name, err)
				}
			})
			limit := time.Duration(i+1) * time.Second
			wg.Go(func() {
				limited, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				_, err := m.mint(limited, g)
				wantNumberError(t, err, context.DeadlineExceeded)
				if waited := time.Since(start); waited != limit { // synctest's clock is exact
					t.Errorf("%s with a deadline after %v returned after %v", m.name, limit, waited)
				}
			})
		}
		synctest.Wait()
		if s := g.Stats(); s.Launch != launch {
			t.Errorf("Stats while callers wait: %+v", s)
		}
		time.Sleep(10 * time.Second)
		src.wantCalls(t, 1)
		release()
		wg.Wait()
	})
}

// TestRequestContext: a request outlives the call that made it, and carries nothing of its context, but it has an end: a
// source that hangs costs a minute, not the generator.
func TestRequestContext(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		g := newDecimal(t, numbersFunc(func(ctx context.Context) (int, error) {
			calls++
			if ctx.Value(key{}) != nil {
				t.Error("the request has the values of its caller's context")
			}
			if calls == 1 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 92, nil
		}))
		start := time.Now()
		_, err := g.Next(context.WithValue(ctx, key{}, "caller"))
		wantNumberError(t, err, context.DeadlineExceeded)
		if waited := time.Since(start); waited < 30*time.Second || waited > 5*time.Minute {
			t.Errorf("a source that hangs was given %v", waited)
		}
		if got, err := g.Next(ctx); err != nil || got != id(1, 92) {
			t.Errorf("minted %d, %v", got, err)
		}
	})
}

// TestSourceMayLook: the source is called without a lock: a fake or a metric in it may ask for Stats, and other callers
// get IDs as long as there are some.
func TestSourceMayLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *generator.Decimal
		calls := 0
		g = newDecimal(t, numbersFunc(func(ctx context.Context) (int, error) {
			calls++
			s := g.Stats()
			if calls == 2 {
				if got, err := g.Next(ctx); err != nil || got.Generator() != 0 {
					t.Errorf("from within the source: %d, %v", got, err)
				}
			}
			return len(s.Generators), nil
		}))
		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
		g.SkipTo(span - 10)
		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := g.Stats(); len(s.Generators) != 2 {
			t.Errorf("generators %v, want two", s.Generators)
		}
	})
}
