package generator_test

import (
	"context"
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
	eachAsker(t, func(t *testing.T, way string, young func(answer) asker) {
		calls := 0
		g := young(func(context.Context) error { calls++; return said })
		again(t, func() error { _, err := g.ways[way](ctx); return err })
		if calls != 1 {
			t.Errorf("the source was asked %d times", calls)
		}
	})
	synctest.Test(t, func(t *testing.T) { // at a look in the background
		all := newService()
		g := all.generator(t, launch)
		wantCounter(t, g, 1)
		all.say(0, said)
		time.Sleep(time.Minute)
		again(t, func() error { _, err := g.Next(ctx); return err })
		if err := g.Close(ctx); !errors.Is(err, said) {
			t.Errorf("closed: %v", err)
		}
	})
}
