package generator_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
)

// A lost is an error of a source that says that it has lost numbers.
type lost struct{ error }

func (lost) Lost() bool { return true }

// TestSourceSaysLost: a source may see by itself that it has lost numbers. Its generators mint
// nothing more, and do not ask again.
func TestSourceSaysLost(t *testing.T) {
	said := lost{errors.New("an older copy")}
	again := func(t *testing.T, mint func() error) {
		t.Helper()
		for range 3 {
			synctest.Wait()
			if err := mint(); !errors.Is(err, generator.ErrRepeated) || !errors.Is(err, said) {
				t.Errorf("got %v, want ErrRepeated", err)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		src := newSource(17)
		g := started(t, src)
		src.fail(said)
		g.SkipTo(span - 2000) // beyond the look-ahead
		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
		again(t, func() error { _, err := g.Next(ctx); return err })
		src.wantCalls(t, 2)
	})
	synctest.Test(t, func(t *testing.T) { // at a look in the background
		all := newRegisters()
		g := all.generator(t, launch)
		wantCounter(t, g, 1)
		all.say(0, said)
		time.Sleep(time.Minute)
		again(t, func() error { _, err := g.Next(ctx); return err })
		if err := g.Close(ctx); !errors.Is(err, said) {
			t.Errorf("closed: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRegister()
		g := newSequence(t, r, 100)
		wantSequence(t, g, 1)
		r.err = said
		for want := int64(2); want <= 90; want++ {
			wantSequence(t, g, want)
		}
		again(t, func() error { _, err := g.Next(ctx); return err })
		r.wantCalls(t, 2)
		g = newSequence(t, r, 1)
		again(t, func() error { _, err := g.Next(ctx); return err })
		r.wantCalls(t, 3)
	})
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			g, source, clock := lent(t, s, s.window(5, 0, 10))
			wantLent(t, s, g, 5, 0, 0)
			source.fail(said)
			clock.Set(noon.Add(s.units(8)))
			wantLent(t, s, g, 5, 8, 0)
			again(t, func() error { _, err := g.next(ctx); return err })
			source.wantCalls(t, 2)
		})
	})
}
