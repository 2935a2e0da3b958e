package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/internal/testclock"
)

// An asker is a new generator with a source. What it asks for, numbers, blocks, windows or IDs, is
// the same to these tests.
type asker struct {
	ways map[string]func(context.Context) (any, error) // to mint one ID
	look func()                                        // what a metric calls
}

// An answer is what a source does before it gives what it was asked for.
type answer func(context.Context) error

// askers make one of each kind.
func askers() map[string]func(*testing.T, answer) asker {
	all := map[string]func(*testing.T, answer) asker{
		"decimal": func(t *testing.T, a answer) asker {
			number := -1
			g := newDecimal(t, numbersFunc(func(ctx context.Context) (int, error) {
				if err := a(ctx); err != nil {
					return 7, err // a number beside an error is none
				}
				number++
				return number, nil
			}))
			ways := waysOf(g)
			ways["Owned"] = func(ctx context.Context) (any, error) { return one(g.Owned(5).Next(ctx)) }
			return asker{ways, func() { g.Stats() }}
		},
		"sequence": func(t *testing.T, a answer) asker {
			r := newRegister()
			g := newSequence(t, counterFunc(func(ctx context.Context, floor, n int64) (int64, error) {
				if err := a(ctx); err != nil {
					return 77, err
				}
				return r.Reserve(ctx, floor, n)
			}), 10)
			return asker{waysOf(g), func() { g.Stats() }}
		},
	}
	for _, s := range schemes {
		all[s.name] = func(t *testing.T, a answer) asker {
			from := noon.UnixNano() / int64(s.unit)
			ask := windowsFunc(func(c context.Context, now int64, u time.Duration) (window, error) {
				if now != from || u != s.unit {
					t.Errorf("asked at %d with unit %v, want %d and %v", now, u, from, s.unit)
				}
				return window{From: from, To: math.MaxInt64}, a(c)
			})
			g := s.must(t, windowsOf(ask), &generator.Options{Clock: testclock.New(noon)})
			return asker{waysOf(marks{g}), func() { g.stats(); g.snapshot() }}
		}
	}
	return all
}

// marks is a Source of what tells IDs from each other.
type marks struct{ g *timed }

func (m marks) Next(ctx context.Context) (mark, error) {
	id, err := m.g.next(ctx)
	return id.mark, err
}

func (m marks) Fill(ctx context.Context, dst []mark) (int, error) {
	ids, err := m.g.fill(ctx, len(dst))
	for i, id := range ids {
		dst[i] = id.mark
	}
	return len(ids), err
}

func waysOf[T comparable](g generator.Source[T]) map[string]func(context.Context) (any, error) {
	return map[string]func(context.Context) (any, error){
		"Next": func(ctx context.Context) (any, error) { return one(g.Next(ctx)) },
		"Fill": func(ctx context.Context) (any, error) {
			var ids [1]T
			n, err := g.Fill(ctx, ids[:])
			if (n == 1) != (err == nil) {
				err = errors.Join(err, fmt.Errorf("Fill of 1 minted %d", n))
			}
			return one(ids[0], err)
		},
	}
}

// one is an ID, or an error without an ID.
func one[T comparable](id T, err error) (any, error) { return id, errOf(id, err) }

// eachAsker runs a test for every kind and way, each with new generators.
func eachAsker(t *testing.T, test func(t *testing.T, way string, young func(answer) asker)) {
	for name, of := range askers() {
		for way := range of(t, func(context.Context) error { return nil }).ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					test(t, way, func(a answer) asker { return of(t, a) })
				})
			})
		}
	}
}

// TestCanceledBefore: a call whose context has ended asks for nothing. While IDs are there it need
// not wait, and its context is not looked at.
func TestCanceledBefore(t *testing.T) {
	eachAsker(t, func(t *testing.T, way string, young func(answer) asker) {
		var calls atomic.Int64
		g := young(func(context.Context) error { calls.Add(1); return nil })
		_, err := g.ways[way](canceled)
		if synctest.Wait(); !errors.Is(err, context.Canceled) || calls.Load() != 0 {
			t.Errorf("%v, and the source was asked %d times", err, calls.Load())
		}
		if _, err := g.ways["Next"](ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := g.ways["Next"](canceled); err != nil {
			t.Errorf("with IDs left: %v", err)
		}
	})
}

// TestOneRequestForAll: all calls that come before the first answer wait for one request, and each
// gets an ID of its own. Who leaves, leaves at once: the request goes on for the others, and
// whoever waits holds no lock. What is answered after the only caller has left serves the next one.
func TestOneRequestForAll(t *testing.T) {
	eachAsker(t, func(t *testing.T, way string, young func(answer) asker) {
		var calls atomic.Int64
		hold := make(chan struct{})
		held := func(ctx context.Context) error {
			calls.Add(1)
			select {
			case <-hold:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		g, alone := young(held), young(held)
		began := time.Now()
		var wg sync.WaitGroup
		var mu sync.Mutex // guards seen
		seen := map[any]bool{}
		for i := range 24 {
			wg.Go(func() {
				limit := time.Duration(2*i+1) * time.Second
				limited, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				if i%2 == 0 {
					limited = ctx
				}
				id, err := g.ways[way](limited)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case i%2 == 0 && (err != nil || seen[id]):
					t.Errorf("without a deadline: minted %v, %v", id, err)
				case i%2 != 0 && (!errors.Is(err, context.DeadlineExceeded) ||
					time.Since(began) != limit):
					t.Errorf("with a deadline after %v: %v after %v", limit, err, time.Since(began))
				}
				seen[id] = err == nil
			})
		}
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := alone.ways[way](soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		g.look()
		time.Sleep(50 * time.Second)
		if n := calls.Load(); n != 2 {
			t.Errorf("two sources were asked %d times", n)
		}
		close(hold)
		wg.Wait()
		if id, err := alone.ways[way](ctx); err != nil || !seen[id] {
			t.Errorf("minted %v, %v, want the first ID: nothing is lost", id, err)
		}
	})
}

// TestRequestContext: a request carries nothing of the context of the call that made it, but it has
// an end. A source that hangs costs a minute, not the generator.
func TestRequestContext(t *testing.T) {
	type key struct{}
	eachAsker(t, func(t *testing.T, way string, young func(answer) asker) {
		hangs := true
		g := young(func(ctx context.Context) error {
			if ctx.Value(key{}) != nil {
				t.Error("the request has the values of its caller's context")
			}
			if hangs {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		began := time.Now()
		id, err := g.ways[way](context.WithValue(ctx, key{}, "caller"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("minted %v, %v, after %v", id, err, time.Since(began))
		}
		hangs = false
		if id, err := g.ways[way](ctx); err != nil {
			t.Errorf("minted %v, %v", id, err)
		}
	})
}

// TestSourceFails: a source that fails, panics or ends its goroutine has given nothing, whatever it
// says beside. Its goroutine is the generator's, where nobody else could recover. Each call asks
// again, and no failure costs an ID.
func TestSourceFails(t *testing.T) {
	eachAsker(t, func(t *testing.T, way string, young func(answer) asker) {
		want, err := young(func(context.Context) error { return nil }).ways["Next"](ctx)
		if err != nil {
			t.Fatal(err)
		}
		fails := []func() error{
			func() error { return errAway },
			func() error { return errAway },
			func() error { panic(errAway) },
			func() error { runtime.Goexit(); return nil },
		}
		var g asker
		calls := 0
		g = young(func(context.Context) error {
			g.look() // no lock is held
			if calls++; calls <= len(fails) {
				return fails[calls-1]()
			}
			return nil
		})
		for try := range fails {
			id, err := g.ways[way](ctx)
			isPanic := err != nil && strings.Contains(err.Error(), "panicked") &&
				strings.Contains(err.Error(), "request_test.go") // the stack
			if !errors.As(err, new(*generator.NumberError)) ||
				try < 3 != errors.Is(err, errAway) || try == 2 != isPanic || calls != try+1 {
				t.Errorf("try %d: minted %v, %v; the source was asked %d times", try, id, err, calls)
			}
		}
		if id, err := g.ways["Next"](ctx); err != nil || id != want {
			t.Errorf("minted %v, %v, want the first ID, %v", id, err, want)
		}
	})
}
