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
)

// TestAscendingDeployments: ten deployments one after another mint IDs that ascend as a whole,
// however they mint, with and without IDs left over.
func TestAscendingDeployments(t *testing.T) {
	for _, m := range mints {
		inBubble(t, m.name, func(t *testing.T) { // where the register answers in time
			all := newService()
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

// TestWildRegister: whatever the register answers, a generator begins above it or in a later round,
// with room enough to be in no hurry for its next number.
func TestWildRegister(t *testing.T) {
	const round = generator.RoundLength
	for _, tt := range []struct {
		answer      int64
		want, round int
		wild        bool // an answer that makes no sense
	}{
		{0, 1, 0, false},
		{1, 2, 0, false},
		{5_000_000, 5_000_001, 0, false},
		{round - 1, round, 0, false},
		{round, 1, 1, false},
		{round + 7, 8, 1, false},
		{7*round - 1, round, 6, false},
		{math.MaxInt64, math.MaxInt64%round + 1, math.MaxInt64 / round, false},
		{-1, 1, 0, true},
		{math.MinInt64, 1, 0, true},
	} {
		for _, m := range mints {
			synctest.Test(t, func(t *testing.T) {
				all := newService()
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
				if tt.want == round && m.name == "Next" {
					g.SkipTo(round + span/100 - 2)
					next(t, g)
					synctest.Wait()
					s.Generators = g.Stats().Generators
				}
				if len(s.Generators) != 1 || s.Taken > 1000 || (s.Blind == 1) != tt.wild ||
					(s.Err != nil) != tt.wild || s.Skipped != uint64(tt.want-1) || s.Round != tt.round {
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
		all := newService()
		fast, slow := all.generator(t, 1), all.generator(t, 2)
		defer fast.Close(ctx)
		defer slow.Close(ctx)
		wantCounter(t, slow, 1)
		fill(t, fast, 1000)
		if err := fast.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, slow, 2)
		if err := slow.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, slow, 1001)
		wantCounter(t, fast, 1001)
		if s := slow.Stats(); s.Moves != 1 || s.Skipped != 998 || s.Taken != 3 ||
			s.Counter != 1001 || s.Register != 1000 {
			t.Errorf("the slow one: %+v", s)
		}
		if s := fast.Stats(); s.Moves != 0 || s.Taken != 1001 {
			t.Errorf("the fast one: %+v", s)
		}

		// Who is ahead stays there.
		fill(t, slow, 1101)
		if err := slow.Look(ctx); err != nil {
			t.Fatal(err)
		}

		// A register that goes back, as a replica or a restored backup does, moves nobody down.
		all.say(7, nil)
		if err := slow.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, slow, 2103)
		if s := slow.Stats(); s.Register != 2102 {
			t.Errorf("it forgot how far counters have come: %+v", s)
		}
		all.say(-7, nil)
		if err := slow.Look(ctx); !errors.As(err, new(*idtype.RangeError)) {
			t.Errorf("a register below 0: %v", err)
		}
		wantCounter(t, slow, 2104)
		all.say(generator.RoundLength-1, nil)
		if err := slow.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, slow, generator.RoundLength) // no higher than that
		if s := slow.Stats(); s.Moves != 2 {
			t.Errorf("moves: %+v", s)
		}
	})
}

// TestRounds: a generator that comes to the end of the round begins the next one for the others.
// Who starts then begins at 1, and who runs stays where it is until its number is used up, or the
// next round has come there.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const round = generator.RoundLength
		all := newService()
		all.set(round - 500)
		old := all.generator(t, 1)
		defer old.Close(ctx)
		wantCounter(t, old, round-499)
		fill(t, old, 1000)
		if err := old.Look(ctx); err != nil {
			t.Fatal(err)
		}
		if is, _ := all.get(); is != round {
			t.Fatalf("it reported %d", is)
		}
		young := all.generator(t, 2)
		defer young.Close(ctx)
		wantCounter(t, young, 1)
		fill(t, young, 500)
		if s := young.Stats(); s.Round != 1 || s.Blind != 0 {
			t.Errorf("the young one: %+v", s)
		}
		if err := young.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, old, round+502)
		if err := old.Look(ctx); err != nil {
			t.Fatal(err)
		}
		if is, _ := all.get(); is != round+501 {
			t.Errorf("the register is %d", is)
		}
		if s := old.Stats(); s.Round != 0 || s.Register != round+501 || s.Moves != 0 {
			t.Errorf("the old one: %+v", s)
		}

		// The next number of the old one is of the new round.
		old.SkipTo(span - 1)
		next(t, old)
		wantCounter(t, old, 502)
		if s := old.Stats(); s.Round != 1 || len(s.Generators) != 2 || s.Blind != 0 {
			t.Errorf("the old one: %+v", s)
		}
		// One of an earlier round that is below the register joins its round.
		all.set(5*round + 10_000)
		if err := young.Look(ctx); err != nil {
			t.Fatal(err)
		}
		wantCounter(t, young, 10_001)
		if s := young.Stats(); s.Round != 5 || s.Moves != 1 {
			t.Errorf("the young one: %+v", s)
		}
	})
}

// TestRunaway: a generator that mints 700 million IDs within a second is alone with its counters.
// The register goes on by a million at once, and by ten thousand a second while the generator mints,
// also where there are many of its kind.
func TestRunaway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		var runaways []*generator.Decimal
		for i := range 5 {
			g := all.generator(t, i+1)
			defer g.Close(ctx)
			next(t, g)
			runaways = append(runaways, g)
		}
		for _, g := range runaways {
			fill(t, g, 7_000_000)
			g.SkipTo(700_000_000)
		}
		mintFor(t, 10*time.Second, runaways...)
		// Each has a bucket of its own at first.
		is, _ := all.get()
		if most := int64(5*generator.Burst + 15*generator.PerSecond); is > most || is < generator.Burst {
			t.Errorf("after 10 s the register is %d, want up to %d", is, most)
		}
		mintFor(t, 1000*time.Second, runaways...)
		now, _ := all.get()
		if most := is + 1002*generator.PerSecond; now > most || now < is+900*generator.PerSecond {
			t.Errorf("after 1000 s more it is %d, was %d, want up to %d", now, is, most)
		}
		fresh := all.generator(t, 6)
		defer fresh.Close(ctx)
		wantCounter(t, fresh, int(now)+1)
		// Idle, they do not raise it.
		time.Sleep(time.Hour)
		if later, looks := all.get(); later > now+3*generator.PerSecond {
			t.Errorf("after an hour of nothing it is %d, was %d, with %d looks", later, now, looks)
		}
	})
}

// TestRunawayAfterRest: the time of a generator that minted nothing fills no bucket. So what it
// mints at once after a day does not use up the round of its service.
func TestRunawayAfterRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		next(t, g)
		time.Sleep(25 * time.Hour)
		g.SkipTo(900_000_000)
		mintFor(t, 10*time.Second, g)
		if is, _ := all.get(); is > generator.RoundLength/20 || is < generator.Burst {
			t.Errorf("the register is %d, of %d of a round", is, generator.RoundLength)
		}
	})
}

// TestSlowOutage: a generator reports all that it has minted while the register did not answer, if
// it minted no faster than reports may go.
func TestSlowOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		next(t, g)
		all.say(0, errAway)
		for range 1500 {
			fill(t, g, generator.PerSecond/2)
			time.Sleep(time.Second)
		}
		all.set(1) // nothing came there
		all.answering(nil)
		mintFor(t, 3*time.Minute, g)
		if is, _ := all.get(); is < 1500*generator.PerSecond/2 {
			t.Errorf("the register is %d after %d IDs", is, g.Stats().Taken)
		}
	})
}

// TestFewLooksOfOthers: a generator whose look failed, in the beginning or for an hour, does not
// take what others looked meanwhile for their pace.
func TestFewLooksOfOthers(t *testing.T) {
	for _, minted := range []int{60, 0} { // seconds before it fails
		synctest.Test(t, func(t *testing.T) {
			all := newService()
			all.count(1_000_000)
			g := all.generator(t, launch)
			defer g.Close(ctx)
			mintFor(t, time.Duration(minted)*time.Second, g)
			all.say(0, errAway)
			next(t, g)
			if minted > 0 {
				mintFor(t, time.Hour, g)
				all.count(10 * 3600)
			}
			all.answering(nil)
			mintFor(t, 6*time.Minute, g) // two rests, of up to 150 s
			if s := g.Stats(); s.Unheard == 0 || s.Rest != time.Second {
				t.Errorf("after %d s: %+v", minted, s)
			}
		})
	}
}

// TestIDsDuringLook: what is minted while a look is under way is reported by the next one, also
// where nothing is minted after it.
func TestIDsDuringLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		asked := make(chan struct{}, 1)
		next(t, g)
		all.answering(func(_ context.Context, is int64) (int64, error) {
			asked <- struct{}{}
			time.Sleep(time.Millisecond)
			return is, nil
		})
		next(t, g)
		<-asked
		next(t, g)
		time.Sleep(time.Minute)
		all.answering(nil)
		if is, _ := all.get(); is != 3 {
			t.Errorf("the register is %d after 3 IDs", is)
		}
		time.Sleep(time.Hour)
		if _, looks := all.get(); looks != 3 {
			t.Errorf("%d looks", looks)
		}
	})
}

// TestFleet: however many generators mint, all together look at the register about ten times a
// second, once each has looked twice, and no more often than once a second each. A fleet that shrinks
// looks as often soon.
func TestFleet(t *testing.T) {
	for _, n := range []int{1, 8, 100, 10_000} {
		synctest.Test(t, func(t *testing.T) {
			all := newService()
			fleet := make([]*generator.Decimal, n)
			for i := range fleet {
				fleet[i] = all.generator(t, 1)
				defer fleet[i].Close(ctx)
			}
			// mint mints for so many rests of the generators, before each look of each.
			mint := func(of []*generator.Decimal, rests int) (perSecond float64) {
				_, before := all.get()
				began, rest := time.Now(), time.Duration(max(len(of)/10, 1))*time.Second
				for range 2 * rests {
					for _, g := range of {
						next(t, g)
					}
					time.Sleep(rest / 2)
				}
				_, after := all.get()
				return float64(after-before) / time.Since(began).Seconds()
			}
			mint(fleet, 3)
			if _, looks := all.get(); looks > int64(8*n) {
				t.Errorf("%d generators: %d looks in the beginning", n, looks)
			}
			most := min(float64(n), 14)
			if rate := mint(fleet, 20); rate > most || rate < most/2 {
				t.Errorf("%d generators look %.1f times a second, want up to %.1f", n, rate, most)
			}
			if n >= 100 { // the others are idle
				of := fleet[:n/10]
				mint(of, 50)
				if rate := mint(of, 20); rate > 14 || rate < 5 {
					t.Errorf("%d of %d look %.1f times a second", len(of), n, rate)
				}
			}
		})
	}
}

// TestEven: the generators of a fleet look about as often as each other, also where most of it has
// gone, and some have heard of that before others.
func TestEven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		fleet := make([]*generator.Decimal, 1000)
		for i := range fleet {
			fleet[i] = all.generator(t, 1)
			defer fleet[i].Close(ctx)
		}
		mintFor(t, 10*time.Minute, fleet...)
		fleet = fleet[:100]
		mintFor(t, 2*time.Hour, fleet...)
		for i, g := range fleet {
			if rest := g.Stats().Rest; rest < 4*time.Second || rest > 25*time.Second {
				t.Errorf("generator %d rests %v, want about 10 s", i, rest)
			}
		}
	})
}

// TestIdle: a generator that mints nothing asks nothing.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		mintFor(t, time.Minute, g)
		time.Sleep(2 * time.Second)
		_, before := all.get()
		time.Sleep(24 * time.Hour)
		if _, after := all.get(); after != before {
			t.Errorf("%d looks within a day of nothing", after-before)
		}
		next(t, g)
		time.Sleep(2 * time.Second)
		if _, after := all.get(); after != before+1 {
			t.Errorf("%d looks after an ID", after-before)
		}
	})
}

// TestTestsHaveNoOrder: nobody hears of IDs for tests, and they begin at 1.
func TestTestsHaveNoOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		all.set(1000)
		g := generator.NewTestDecimal(all.of(7))
		wantCounter(t, g, 1)
		mintFor(t, time.Minute, g)
		if err := g.Close(ctx); err != nil || g.Stats().Skipped != 0 || g.Stats().Err != nil {
			t.Errorf("%v, %+v", err, g.Stats())
		}
		if _, looks := all.get(); looks != 0 {
			t.Errorf("%d looks", looks)
		}
	})
}

// TestClose: it reports, and ends the looks, also one that is under way, within its context. What
// is minted afterwards is unique still.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
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
		all.answering(func(ctx context.Context, is int64) (int64, error) {
			<-ctx.Done()
			<-release // deaf for a while
			return 0, ctx.Err()
		})
		time.Sleep(2 * time.Second) // a look is under way
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := g.Close(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		all.answering(nil)
		close(release)
		for range 2 {
			err := g.Close(ctx)
			if is, _ := all.get(); err != nil || is != 100 {
				t.Errorf("%v, and the register has %d", err, is)
			}
		}
		wantCounter(t, g, 101)
		_, looks := all.get()
		time.Sleep(time.Hour)
		if is, now := all.get(); now != looks || is != 100 {
			t.Errorf("closed, it has looked %d times", now-looks)
		}
	})
}

// TestReportsInBackground: without Close, a register is behind by a second and a half at most.
func TestReportsInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		g := all.generator(t, launch)
		defer g.Close(ctx)
		next(t, g)
		for range 20_000 { // every 10 ms
			time.Sleep(10 * time.Millisecond)
			counter := int64(next(t, g).Parts().Counter)
			is, _ := all.get()
			behind := time.Duration(counter-is) * 10 * time.Millisecond
			if behind > 1510*time.Millisecond {
				t.Fatalf("at counter %d the register is behind by %v", counter, behind)
			}
		}
	})
}
