package generator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// wantLeft mints what is left of the 4 ms at a moment, and returns the error that follows.
func wantLeft(t *testing.T, g *generator.Sno, at time.Time, left int) error {
	t.Helper()
	ids := make([]idtype.SnoID, left+1)
	n, err := g.Fill(ctx, ids)
	if n != left || err == nil {
		t.Fatalf("minted %d IDs, %v, want %d and an error", n, err, left)
	}
	for _, id := range ids[:n] {
		if !id.Time().Equal(at) || id.TickTock() != 0 {
			t.Fatalf("minted %+v, want the time %v and the tick-tock bit 0", id.Parts(), at)
		}
	}
	return err
}

// TestTickTockEndsAtTheStart: a generator knows nothing of what was minted before its start.
// Where the clock is set back further, it uses up the 4 ms that it is in, and fails. It toggles
// once the clock is at its start again.
func TestTickTockEndsAtTheStart(t *testing.T) {
	clock := generator.NewTestClock(noon)
	g, err := generator.NewSno(generator.Given(5), &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	start := noon.Add(4 * time.Millisecond) // the unit after the one in which it was made
	at := noon.Add(time.Second)
	clock.Set(at)
	if id, err := g.Next(ctx); err != nil || !id.Time().Equal(at) {
		t.Fatalf("minted %+v, %v", id.Parts(), err)
	}

	clock.Set(at.Add(-time.Hour))
	err = wantLeft(t, g, at, 65_535)
	var e *generator.ClockError
	if !errors.As(err, &e) || !errors.Is(err, generator.ErrClockBehind) || !e.Until.Equal(start) {
		t.Fatalf("error is %#v, want one that waits for %v", err, start)
	}
	if got := clock.UnixNano(); got != at.Add(-time.Hour).UnixNano() {
		t.Errorf("it slept until %v", time.Unix(0, got))
	}

	clock.Set(start.Add(-time.Second)) // so near that it waits
	for sequence := range 2 {
		id, err := g.Next(ctx)
		want := idtype.SnoParts{UnixMs: start.UnixMilli(), TickTock: 1, Partition: 5, Sequence: sequence}
		if err != nil || id.Parts() != want {
			t.Fatalf("minted %+v, %v, want %+v", id.Parts(), err, want)
		}
	}
}

// TestTickTockEndsAtTheWindow: with a Ceiling the times that are its own begin with the window
// in use.
func TestTickTockEndsAtTheWindow(t *testing.T) {
	clock := generator.NewTestClock(noon)
	ceiling := generator.Ceiling(5, new(counterFrom), 3*time.Second)
	g, err := generator.NewSno(ceiling, &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	var at time.Time
	for i := range 10 { // windows pass
		at = noon.Add(time.Duration(i) * 4 * time.Second)
		clock.Set(at)
		if id, err := g.Next(ctx); err != nil || !id.Time().Equal(at) {
			t.Fatalf("minted %+v, %v, want the time %v", id.Parts(), err, at)
		}
	}
	clock.Set(at.Add(-20 * time.Second)) // after the start, and in a window of its own
	if err := wantLeft(t, g, at, 65_535); !errors.Is(err, generator.ErrClockBehind) {
		t.Fatal(err)
	}
	clock.Set(at.Add(time.Second))
	if id, err := g.Next(ctx); err != nil || id.TickTock() != 0 ||
		!id.Time().Equal(at.Add(time.Second)) {
		t.Fatalf("minted %+v, %v, want the same bit a second later", id.Parts(), err)
	}
}
