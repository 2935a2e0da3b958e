package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
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
			if !slices.IsSorted(ids) || ids[0].Counter() != 1 {
				t.Errorf("the IDs do not ascend from 1: %v", ids)
			}
		})
	}
}

// TestWildHints: whatever the register answers, a generator begins above it if that leaves room,
// else at 1. It does not ask for its next number at once, and what it counts is right.
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
		{math.MaxInt64 / idtype.DecimalStep, 1, true},
		{math.MaxInt64, 1, true},
		{math.MaxUint64/idtype.DecimalStep + 7, 1, true}, // times the step it is 7 and some
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
					if id.Counter() != tt.want+i || id.Generator() != 0 || id.Launch() != launch ||
						id.Validate() != nil {
						t.Errorf("%d, %s: ID %d is %d, want counter %d", tt.answer, m.name, i, id,
							tt.want+i)
					}
				}
				s := g.Stats()
				if len(s.Generators) != 1 || s.Taken > 1000 || (s.Hints.Unhinted == 1) != tt.wild ||
					(s.Hints.Err != nil) != tt.wild || s.Hints.Skipped != uint64(tt.want-1) {
					t.Errorf("%d, %s: %+v", tt.answer, m.name, s)
				}
			})
		}
	}
}

// TestYield: a start at the highest hint leaves room before the next number is asked for.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		all.set(0, generator.Highest)
		g := all.generator(t, launch)
		defer g.Close(ctx)
		wantCounter(t, g, generator.Highest+1)
		g.SkipTo(generator.Highest + span/100 - 2)
		wantCounter(t, g, generator.Highest+span/100-1)
		synctest.Wait()
		if s := g.Stats(); len(s.Generators) != 1 {
			t.Errorf("it has asked for the next number: %+v", s)
		}
	})
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
		if s := slow.Stats(); s.Hints.Moves != 1 || s.Hints.Skipped != 998 || s.Taken != 3 ||
			s.Counter != 1001 || s.Hints.Highest != 1000 {
			t.Errorf("the slow one: %+v", s)
		}
		if s := fast.Stats(); s.Hints.Moves != 0 || s.Taken != 1001 {
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
		if s := slow.Stats(); s.Hints.Highest != 2102 {
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
		if s := slow.Stats(); s.Hints.Moves != 2 {
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
		if s := young.Stats(); s.Hints.Epoch != 1 || s.Hints.Unhinted != 0 {
			t.Errorf("the young one: %+v", s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if all.get(0) != generator.Highest+1 || all.get(1) != 501 {
			t.Fatalf("the registers are %v", all.highest)
		}
		wantCounter(t, old, generator.Highest+2)
		if s := old.Stats(); s.Hints.Epoch != 0 || s.Hints.Newest != 1 || s.Hints.Moves != 0 ||
			s.Hints.Highest != 501 {
			t.Errorf("the old one: %+v", s)
		}

		// The next number of the old one is of the new epoch.
		old.SkipTo(span - 1)
		next(t, old)
		wantCounter(t, old, 502)
		if s := old.Stats(); s.Hints.Epoch != 1 || len(s.Generators) != 2 || s.Hints.Unhinted != 0 {
			t.Errorf("the old one: %+v", s)
		}
		// An operator ends an epoch in the same way, and the next and the next with it.
		for epoch := 1; epoch < 5; epoch++ {
			all.set(epoch, span)
		}
		third := all.generator(t, 3)
		defer third.Close(ctx)
		wantCounter(t, third, 1)
		if s := third.Stats(); s.Hints.Epoch != 5 {
			t.Errorf("after five epochs: %+v", s)
		}
		if _, err := third.Fill(ctx, make([]idtype.DecimalID, 10_000)); err != nil {
			t.Fatal(err)
		}
		// One of an earlier epoch that is below the newest register joins it.
		time.Sleep(time.Minute)
		synctest.Wait()
		wantCounter(t, young, 10_002)
		if s := young.Stats(); s.Hints.Epoch != 5 || s.Hints.Moves != 1 {
			t.Errorf("the young one: %+v", s)
		}
	})
}

// TestManyEpochs: an endless row of ended epochs ends a look, and the next one goes on from there.
func TestManyEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		for epoch := range 40 {
			all.set(epoch, math.MaxInt64)
		}
		g := all.generator(t, 1)
		defer g.Close(ctx)
		wantCounter(t, g, 1)
		if looks, _ := all.looked(); looks > 20 || g.Stats().Hints.Unhinted != 1 {
			t.Errorf("%d looks, %+v", looks, g.Stats())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := g.Stats(); s.Hints.Newest != 40 || s.Hints.Err != nil {
			t.Errorf("%+v", s)
		}
	})
}

// TestTestLaunchHasNoHint: IDs for tests begin at 1, and nobody hears of them.
func TestTestLaunchHasNoHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		all.set(0, 1000)
		g := generator.NewTestDecimal(all.of(7))
		if _, err := g.Fill(ctx, make([]idtype.DecimalID, 5000)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := g.Close(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, g, 5001)
		if looks, _ := all.looked(); looks != 0 {
			t.Errorf("%d looks", looks)
		}
	})
}

// TestFromOne: the documents' numbering is to be had.
func TestFromOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		all.set(0, 1000)
		for number := range 2 {
			g, err := generator.NewDecimal(generator.FromOne(all.of(7)))
			if err != nil {
				t.Fatal(err)
			}
			if got := next(t, g); got.Parts() !=
				(idtype.DecimalParts{Counter: 1, Generator: number, Launch: 7}) {
				t.Errorf("the first ID is %+v", got.Parts())
			}
			time.Sleep(time.Minute)
			if err := g.Close(ctx); err != nil {
				t.Fatal(err)
			}
			if s := g.Stats(); s.Hints != (generator.HintStats{}) {
				t.Errorf("%+v", s)
			}
		}
		if looks, _ := all.looked(); looks != 0 {
			t.Errorf("%d looks", looks)
		}
	})
	for _, none := range []generator.Numbers{nil, (*source)(nil)} {
		if _, err := generator.NewDecimal(generator.FromOne(none)); !errors.As(err,
			new(*generator.OptionError)) {
			t.Errorf("FromOne of nil: %v", err)
		}
	}
}

// TestClose: it reports, and ends the looks. What is minted afterwards is unique still.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		if err := all.generator(t, launch).Close(ctx); err != nil {
			t.Errorf("without a number: %v", err)
		}
		if err := new(generator.Decimal).Close(ctx); err != nil {
			t.Errorf("the zero generator: %v", err)
		}
		if looks, _ := all.looked(); looks != 0 {
			t.Errorf("%d looks", looks)
		}
		g := all.generator(t, launch)
		for i := range 100 {
			wantCounter(t, g, i+1)
		}
		for range 2 {
			if err := g.Close(ctx); err != nil || all.get(0) != 100 {
				t.Errorf("%v, and the register has %d", err, all.get(0))
			}
		}
		wantCounter(t, g, 101)
		looks, _ := all.looked()
		time.Sleep(time.Hour)
		synctest.Wait()
		if now, _ := all.looked(); now != looks || all.get(0) != 100 {
			t.Errorf("closed, it has looked %d times", now-looks)
		}
		if err := g.Close(canceled); err != nil { // which the register did not look at
			t.Error(err)
		}
	})
}

// TestCloseDuringLook: Close ends a look in the background and waits for it, within its context.
func TestCloseDuringLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		g := all.generator(t, launch)
		wantCounter(t, g, 1)
		release := make(chan struct{})
		var ended bool
		all.answering(func(ctx context.Context, _ int, is int64) (int64, error) {
			<-ctx.Done()
			<-release // deaf for a while
			ended = true
			return 0, ctx.Err()
		})
		time.Sleep(time.Second / 2) // a look is under way
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		var e *generator.HintError
		if err := g.Close(soon); !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			all.answering(nil)
			close(release)
		}()
		if err := g.Close(ctx); err != nil || !ended {
			t.Errorf("Close: %v, and the look has ended: %t", err, ended)
		}
		looks, _ := all.looked()
		time.Sleep(time.Hour)
		if now, _ := all.looked(); now != looks {
			t.Errorf("closed, it has looked %d times", now-looks)
		}
	})
}

// TestNoLeak: the looks keep no generator alive that nobody uses.
func TestNoLeak(t *testing.T) {
	all := newRegisters()
	dropped := func() weak.Pointer[generator.Decimal] {
		g := all.generator(t, launch)
		wantCounter(t, g, 1)
		return weak.Make(g)
	}()
	for range 1000 {
		runtime.GC()
		if dropped.Value() == nil {
			return
		}
		runtime.Gosched()
	}
	t.Error("the generator is still there")
}

// TestReportsInBackground: without Close, a register is behind by no more than the generator is
// old, and by a second at most where it mints much.
func TestReportsInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		begun := time.Now()
		next(t, g)
		for range 100_000 { // every 10 ms
			time.Sleep(10 * time.Millisecond)
			counter := int64(next(t, g).Counter())
			behind := time.Duration(counter-all.get(0)) * 10 * time.Millisecond
			if most := min(time.Since(begun), time.Second); behind > most+10*time.Millisecond {
				t.Fatalf("after %v the register is behind by %v", time.Since(begun), behind)
			}
		}
		looks, _ := all.looked()
		if looks < 1000 || looks > 1400 { // it mints many, so a look comes after 0.75 to 1 s
			t.Errorf("%d looks within 1000 s", looks)
		}
	})
}

// TestIdleLooks: a generator that mints nothing writes nothing.
func TestIdleLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		next(t, g)
		time.Sleep(time.Hour)
		if looks, reports := all.looked(); reports != 1 || looks < 360 || looks > 490 {
			t.Errorf("%d looks, %d reports within an hour", looks, reports)
		}
		// A slow register is spared.
		all.answering(func(_ context.Context, _ int, is int64) (int64, error) {
			time.Sleep(400 * time.Millisecond)
			return is, nil
		})
		before, _ := all.looked()
		for range 10_000 { // every 100 ms
			time.Sleep(100 * time.Millisecond)
			next(t, g)
		}
		if after, _ := all.looked(); after-before > 170 { // a look comes after 6 to 8 s
			t.Errorf("%d looks within 1000 s", after-before)
		}
	})
}

// TestHintsAndChanges is a fleet of generators and goroutines that mint in all ways. Their numbers
// change, the registers answer anything, and looks come at any moment. No ID is minted twice, and
// each number that is used up has had the room of its IDs.
func TestHintsAndChanges(t *testing.T) {
	const goroutines = 4
	ids, rounds := 3000, 15
	seen := map[idtype.DecimalID]string{}
	all := newRegisters()
	var lie int64
	all.answering(func(_ context.Context, epoch int, is int64) (int64, error) {
		all.mu.Lock()
		defer all.mu.Unlock()
		lie++
		switch lie % 7 {
		case 0:
			return 0, errAway
		case 1:
			return -lie, nil
		case 2:
			return math.MaxInt64 - lie, nil
		case 3:
			return is / 2, nil // late
		case 4:
			return min(is+lie*1000, generator.Highest), nil
		default:
			return is, nil
		}
	})
	for round := range rounds {
		g := all.generator(t, 1+round%3)
		next(t, g)
		switch round % 3 { // near the marks
		case 1:
			g.SkipTo(generator.Highest - ids)
		case 2:
			g.SkipTo(span - ids)
		}
		var minters, lookers sync.WaitGroup
		minted := make([][]idtype.DecimalID, goroutines)
		done := make(chan struct{})
		for i := range goroutines {
			minters.Go(func() {
				m := mints[(round+i)%len(mints)]
				got, err := m.mint(g, ids)
				if err != nil {
					t.Error(err)
				}
				minted[i] = got
			})
		}
		for range 2 {
			lookers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						_ = g.Look(ctx)
						_ = g.Stats()
						runtime.Gosched()
					}
				}
			})
		}
		minters.Wait()
		close(done)
		lookers.Wait()
		for i, got := range minted {
			for _, id := range got {
				if err := id.Validate(); err != nil {
					t.Error(err)
				}
				who := fmt.Sprintf("round %d, goroutine %d", round, i)
				if before, ok := seen[id]; ok {
					t.Fatalf("%d was minted by %s, and again by %s", id, before, who)
				}
				seen[id] = who
			}
		}
		s := g.Stats()
		if taken := uint64(len(minted)*ids + 1); s.Taken < taken && round%3 == 0 {
			t.Errorf("round %d: %d IDs, and Stats has %+v", round, taken, s)
		}
		if used := len(s.Generators); used > 3 {
			t.Errorf("round %d: %d numbers were used up for %d IDs", round, used, len(minted)*ids)
		}
		_ = g.Close(ctx)
	}
	t.Logf("%d IDs, 0 repeats", len(seen))
}
