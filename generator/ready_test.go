package generator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	memorylog "github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestReady(t *testing.T) {
	src := newSource(7)
	g := newDecimal(t, src)
	for range 2 { // the second time nothing is to be done
		if err := g.Ready(ctx); err != nil {
			t.Fatal(err)
		}
	}
	src.wantCalls(t, 1)
	if s := g.Stats(); s.Taken != 0 || len(s.Generators) != 1 {
		t.Errorf("ready, and nothing minted: %+v", s)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	first, err := g.Next(canceled) // needs nothing that it could wait for
	if err != nil || first != id(1, 7) {
		t.Errorf("the first ID is %v, %v", first, err)
	}
	var failed *generator.NumberError
	if err := newDecimal(t, newSource(0)).Ready(canceled); !errors.As(err, &failed) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
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
			!strings.Contains(err.Error(), "with Ready") {
			t.Error(err)
		}
	})
}

// The launch is that of the numbers: under another one they would be the pairs of somebody else.
func TestLaunchOfNumbers(t *testing.T) {
	log, err := launchlog.New(memorylog.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b"} {
		if _, err := log.Start(ctx, storetest.Request(key)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := generator.NewDecimal(log.Generators(2))
	if err != nil {
		t.Fatal(err)
	}
	if id, err := g.Next(ctx); err != nil || id.Launch() != 2 || g.Stats().Launch != 2 {
		t.Errorf("minted %d, %v, by a generator of launch %d, want launch 2", id, err,
			g.Stats().Launch)
	}
}
