package generator_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// TestAscendingDeployments: ten deployments one after another mint IDs that ascend as a whole,
// however they mint, with and without IDs left over.
func TestAscendingDeployments(t *testing.T) {
	for _, m := range mints {
		t.Run(m.name, func(t *testing.T) {
			all := newRegisters()
			var ids []idtype.DecimalID
			for launch := range 10 {
				for range 3 { // starts
					g := all.generator(t, 10-launch) // smaller launch and generator numbers
					minted, err := m.mint(g, 1+launch*7)
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, minted...)
					if err := g.Close(ctx); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !slices.IsSorted(ids) || ids[0].Parts().Counter != 1 {
				t.Errorf("the IDs do not ascend from 1: %v", ids)
			}
		})
	}
}

// TestWildHints: whatever the register answers, a generator begins above it if that leaves room,
// else at 1. It does not ask for its next number at once, and what it counts is right. At the
// highest hint it asks only after it has minted the room.
func TestWildHints(t *testing.T) {
	for _, tt := range []struct {
		answer int64
		want   int
		wild   bool // an answer that makes no sense
	}{
		{0, 1, false},
		{1, 2, false},
		{5_000_000, 5_000_001, false},
		{generator.Highest - 1, generator.Highest, false},
		{generator.Highest, generator.Highest + 1, false},
		{generator.Highest + 1, 1, true},
		{span, 1, true},
		{span + 1, 1, true},
		{math.MaxInt64 / formats.DecimalStep, 1, true},
		{math.MaxInt64, 1, true},
		{math.MaxUint64/formats.DecimalStep + 7, 1, true}, // times the step it is 7 and some
		{-1, 1, true},
		{math.MinInt64, 1, true},
	} {
		for _, m := range mints {
			synctest.Test(t, func(t *testing.T) {
				all := newRegisters()
				all.say(tt.answer, nil)
				g := all.generator(t, launch)
				defer g.Close(ctx)
				ids, err := m.mint(g, 3)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				for i, id := range ids {
					want := idtype.DecimalParts{Counter: tt.want + i, Launch: launch}
					if id.Parts() != want || id.Validate() != nil {
						t.Errorf("%d, %s: ID %d is %d, want counter %d", tt.answer, m.name, i, id,
							tt.want+i)
					}
				}
				s := g.Stats()
				if tt.answer == generator.Highest && m.name == "Next" {
					g.SkipTo(generator.Highest + span/100 - 2)
					next(t, g)
					synctest.Wait()
					s.Generators = g.Stats().Generators
				}
				if len(s.Generators) != 1 || s.Taken > 1000 || (s.Unhinted == 1) != tt.wild ||
					(s.Err != nil) != tt.wild || s.Skipped != uint64(tt.want-1) {
					t.Errorf("%d, %s: %+v", tt.answer, m.name, s)
				}
			})
		}
	}
}

// TestMoveUp: a generator that is behind moves up at its next look, and one that keeps pace does
// not. None moves down.
func TestMoveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		fast, slow := all.generator(t, 1), all.generator(t, 2)
		defer fast.Close(ctx)
		defer slow.Close(ctx)
		wantCounter(t, slow, 1)
		if _, err := fast.Fill(ctx, make([]idtype.DecimalID, 1000)); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, slow, 2)
		time.Sleep(20 * time.Second) // the one reports, then the other hears of it
		synctest.Wait()
		wantCounter(t, slow, 1001)
		wantCounter(t, fast, 1001)
		if s := slow.Stats(); s.Moves != 1 || s.Skipped != 998 || s.Taken != 3 ||
			s.Counter != 1001 || s.Highest != 1000 {
			t.Errorf("the slow one: %+v", s)
		}
		if s := fast.Stats(); s.Moves != 0 || s.Taken != 1001 {
			t.Errorf("the fast one: %+v", s)
		}

		// Who is ahead stays there.
		if _, err := slow.Fill(ctx, make([]idtype.DecimalID, 1101)); err != nil {
			t.Fatal(err)
		}
		if err := slow.Look(ctx); err != nil {
			t.Fatal(err)
		}

		// A register that goes back, as a replica or a restored backup does, moves nobody down.
		all.say(7, nil)
		if err := slow.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, slow, 2103)
		if s := slow.Stats(); s.Highest != 2102 {
			t.Errorf("it forgot how far counters have come: %+v", s)
		}
		all.say(-7, nil)
		if err := slow.Look(ctx); !errors.As(err, new(*idtype.RangeError)) {
			t.Errorf("a counter below 0: %v", err)
		}
		wantCounter(t, slow, 2104)
		all.say(generator.Highest, nil)
		if err := slow.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, slow, generator.Highest+1) // no higher than that
		if s := slow.Stats(); s.Moves != 2 {
			t.Errorf("moves: %+v", s)
		}
	})
}

// TestEpochs: a register that has come too far ends its epoch. Who starts then begins at 1, and who
// runs stays where it is until its number is used up.
func TestEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		old := all.generator(t, 1)
		defer old.Close(ctx)
		wantCounter(t, old, 1)
		old.SkipTo(generator.Highest)
		wantCounter(t, old, generator.Highest+1)
		if err := old.Look(ctx); err != nil {
			t.Fatal(err)
		}
		if got := all.get(0); got != generator.Highest+1 {
			t.Fatalf("it reported %d", got)
		}
		young := all.generator(t, 2)
		defer young.Close(ctx)
		wantCounter(t, young, 1)
		if _, err := young.Fill(ctx, make([]idtype.DecimalID, 500)); err != nil {
			t.Fatal(err)
		}
		if s := young.Stats(); s.Epoch != 1 || s.Unhinted != 0 {
			t.Errorf("the young one: %+v", s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if all.get(0) != generator.Highest+1 || all.get(1) != 501 {
			t.Fatalf("the registers are %v", all.highest)
		}
		wantCounter(t, old, generator.Highest+2)
		if s := old.Stats(); s.Epoch != 0 || s.Newest != 1 || s.Moves != 0 ||
			s.Highest != 501 {
			t.Errorf("the old one: %+v", s)
		}

		// The next number of the old one is of the new epoch.
		old.SkipTo(span - 1)
		next(t, old)
		wantCounter(t, old, 502)
		if s := old.Stats(); s.Epoch != 1 || len(s.Generators) != 2 || s.Unhinted != 0 {
			t.Errorf("the old one: %+v", s)
		}
		// An operator ends an epoch in the same way, and the next and the next with it.
		for epoch := 1; epoch < 5; epoch++ {
			all.set(epoch, span)
		}
		third := all.generator(t, 3)
		defer third.Close(ctx)
		wantCounter(t, third, 1)
		if s := third.Stats(); s.Epoch != 5 {
			t.Errorf("after five epochs: %+v", s)
		}
		if _, err := third.Fill(ctx, make([]idtype.DecimalID, 10_000)); err != nil {
			t.Fatal(err)
		}
		// One of an earlier epoch that is below the newest register joins it.
		time.Sleep(time.Minute)
		synctest.Wait()
		wantCounter(t, young, 10_002)
		if s := young.Stats(); s.Epoch != 5 || s.Moves != 1 {
			t.Errorf("the young one: %+v", s)
		}
	})
}

// TestFromOne: the documents' numbering is to be had. IDs for tests have it too, and nobody hears
// of either.
func TestFromOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		all.set(0, 1000)
		for number, g := range []*generator.Decimal{
			made(generator.NewDecimal(generator.FromOne(all.of(7)))),
			generator.NewTestDecimal(all.of(7)),
		} {
			if got := next(t, g).Parts(); got.Counter != 1 || got.Generator != number {
				t.Errorf("the first ID is %+v", got)
			}
			time.Sleep(time.Minute)
			if err := g.Close(ctx); err != nil || g.Stats().Skipped != 0 || g.Stats().Err != nil {
				t.Errorf("%v, %+v", err, g.Stats())
			}
		}
		if looks, _ := all.looked(); looks != 0 {
			t.Errorf("%d looks", looks)
		}
	})
	if _, err := generator.NewDecimal(generator.FromOne((*source)(nil))); err == nil {
		t.Error("FromOne of nil is a source")
	}
}

// TestClose: it reports, and ends the looks, also one that is under way, within its context. What
// is minted afterwards is unique still.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		for _, unused := range []*generator.Decimal{all.generator(t, launch), {}} {
			if err := unused.Close(ctx); err != nil {
				t.Errorf("without a number: %v", err)
			}
		}
		g := all.generator(t, launch)
		for i := range 100 {
			wantCounter(t, g, i+1)
		}
		release := make(chan struct{})
		all.answering(func(ctx context.Context, _ int, is int64) (int64, error) {
			<-ctx.Done()
			<-release // deaf for a while
			return 0, ctx.Err()
		})
		time.Sleep(time.Second / 2) // a look is under way
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := g.Close(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		all.answering(nil)
		close(release)
		for range 2 {
			if err := g.Close(ctx); err != nil || all.get(0) != 100 {
				t.Errorf("%v, and the register has %d", err, all.get(0))
			}
		}
		wantCounter(t, g, 101)
		looks, _ := all.looked()
		time.Sleep(time.Hour)
		if now, _ := all.looked(); now != looks || all.get(0) != 100 {
			t.Errorf("closed, it has looked %d times", now-looks)
		}
	})
}

// TestReportsInBackground: without Close, a register is behind by no more than the generator is
// old, and by a second at most where it mints much. A generator that mints nothing writes nothing.
func TestReportsInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		begun := time.Now()
		next(t, g)
		for range 20_000 { // every 10 ms
			time.Sleep(10 * time.Millisecond)
			counter := int64(next(t, g).Parts().Counter)
			behind := time.Duration(counter-all.get(0)) * 10 * time.Millisecond
			if most := min(time.Since(begun), time.Second); behind > most+10*time.Millisecond {
				t.Fatalf("after %v the register is behind by %v", time.Since(begun), behind)
			}
		}
		time.Sleep(time.Minute)
		_, before := all.looked()
		time.Sleep(time.Hour)
		if _, after := all.looked(); after != before {
			t.Errorf("%d reports within an hour of nothing", after-before)
		}
	})
}
