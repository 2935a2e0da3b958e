package generator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// snoScheme is the one that toggles.
func snoScheme() scheme {
	for _, s := range schemes {
		if s.toggles {
			return s
		}
	}
	panic("no scheme toggles")
}

// TestTickTock follows the bit. A regression toggles it at once, in both directions, unless the
// other value of the bit has stamped the time. There the call waits.
func TestTickTock(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{Pool: &generator.Pool{Min: 7, Max: 9}})
	to := func(n int) { clock.Set(noon.Add(s.units(n))) }
	stats := func(regressions, waits uint64) {
		t.Helper()
		if st := g.stats(); st.Regressions != regressions || st.Waits != waits {
			t.Errorf("%+v, want %d regressions, %d waits", st, regressions, waits)
		}
	}
	to(110)
	wantNext(t, s, g, 110, 0, 7)
	to(90) // the first regression
	wantNext(t, s, g, 90, 1, 7)
	wantNext(t, s, g, 90, 1, 8)
	to(95)
	wantNext(t, s, g, 95, 1, 7)
	wantAt(t, clock, s.units(95))
	stats(1, 0)

	to(92) // both values have stamped this: 0 up to 110, 1 from 90 on
	wantNext(t, s, g, 95, 1, 8)
	wantNext(t, s, g, 95, 1, 9)
	wantAt(t, clock, s.units(92))
	wantNext(t, s, g, 96, 1, 7)
	wantAt(t, clock, s.units(96))
	stats(2, 1)

	to(105)
	wantNext(t, s, g, 105, 1, 7)
	to(110) // what 0 stamped is new to 1
	wantNext(t, s, g, 110, 1, 7)
	to(120)
	wantNext(t, s, g, 120, 1, 7)
	to(115) // after 110, so 0 is free
	wantNext(t, s, g, 115, 0, 7)
	wantAt(t, clock, s.units(115))
	stats(3, 1)

	to(114) // 1 has stamped up to 120
	wantNext(t, s, g, 115, 0, 8)
	wantNext(t, s, g, 115, 0, 9)
	wantNext(t, s, g, 116, 0, 7)
	wantAt(t, clock, s.units(116))
	to(130)
	wantNext(t, s, g, 130, 0, 7)
	to(121) // the first that 1 has not
	wantNext(t, s, g, 121, 1, 7)
	wantAt(t, clock, s.units(121))
	to(120)
	wantNext(t, s, g, 121, 1, 8)
	wantNext(t, s, g, 121, 1, 9)
	wantNext(t, s, g, 122, 1, 7)
	wantAt(t, clock, s.units(122))

	to(140)
	for slot := 7; slot <= 9; slot++ {
		wantNext(t, s, g, 140, 1, slot)
	}
	to(129) // 130 was stamped by 0: it is sooner over than 140
	wantNext(t, s, g, 131, 0, 7)
	wantAt(t, clock, s.units(131))
	stats(7, 4)
}

// TestTickTockFills: a block is not cut in two by another call's toggle, nor by its own.
func TestTickTockFills(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{Pool: &generator.Pool{Min: 0, Max: 9}})
	clock.Add(s.units(50))
	if _, err := g.fill(ctx, 5); err != nil {
		t.Fatal(err)
	}
	clock.Add(-s.units(20))
	ids, err := g.fill(ctx, 12)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		want := mark{5, noon.Add(s.units(30 + i/10)).UnixNano(), 1, i % 10}
		if id.mark != want {
			t.Errorf("ID %d is %+v, want %+v", i, id.mark, want)
		}
	}
}

// TestTickTockAtTheCap: a generator that was behind at its cap is not behind in the time that it
// goes back to.
func TestTickTockAtTheCap(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{Pool: &generator.Pool{Min: 0, Max: 9}})
	clock.Add(s.units(50))
	if _, err := g.fill(ctx, 25); err != nil {
		t.Fatal(err)
	}
	clock.Set(noon.Add(s.units(20)))
	for n := 20; n < 40; n++ {
		wantNext(t, s, g, n, 1, 0)
		clock.Add(s.unit)
	}
}

// TestRegressionsAreCounted, one by one, also where two lead away from the same time.
func TestRegressionsAreCounted(t *testing.T) {
	s := snoScheme()
	g, clock := idle(t, s, generator.Options{})
	to := func(n int) { clock.Set(noon.Add(s.units(n))) }
	to(100)
	wantNext(t, s, g, 100, 0, 0)
	to(90)
	wantNext(t, s, g, 90, 1, 0)
	to(100)
	wantNext(t, s, g, 100, 1, 0)
	to(95)
	wantNext(t, s, g, 100, 1, 1)
	wantNext(t, s, g, 100, 1, 2)
	if st := g.stats(); st.Regressions != 2 {
		t.Errorf("%d regressions, want 2", st.Regressions)
	}
}

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
		want := idtype.SnoParts{
			UnixMs: start.UnixMilli(), TickTock: 1, Partition: 5, Sequence: sequence,
		}
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
