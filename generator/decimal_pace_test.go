//go:build !race

package generator_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
)

// fleet makes generators of one launch, the first of which has a number.
func (r *registers) fleet(t testing.TB, n, number int) []*generator.Decimal {
	t.Helper()
	r.numbers[launch] = number
	all := make([]*generator.Decimal, n)
	for i := range all {
		all[i] = r.generator(t, launch)
		next(t, all[i])
	}
	return all
}

// mintEach has generators mint for so long, each once per its pause on the average. It calls each
// after every ID.
func mintEach(
	t testing.TB, all []*generator.Decimal, pauses []time.Duration, d time.Duration, each func(),
) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	due := make([]time.Time, len(all))
	for i := range due {
		due[i] = time.Now()
	}
	for end := time.Now().Add(d); ; {
		first := 0
		for i := range due {
			if due[i].Before(due[first]) {
				first = i
			}
		}
		if due[first].After(end) {
			return
		}
		time.Sleep(time.Until(due[first]))
		next(t, all[first])
		due[first] = due[first].Add(time.Duration(random.ExpFloat64() * float64(pauses[first])))
		each()
	}
}

// TestPaceOfLooks: few generators that mint at once look each 32 IDs, up to 50 times a second. One
// that is alone, and those with the numbers from 8 on, look every second.
func TestPaceOfLooks(t *testing.T) {
	const seconds = 10
	for _, tt := range []struct {
		name        string
		n, number   int
		pause       time.Duration // from an ID to the next
		least, most int           // looks a second of one generator
	}{
		{"alone", 1, 0, time.Millisecond, 1, 2},
		{"two", 2, 0, 4 * time.Millisecond, 4, 12},
		{"four", 4, 0, time.Millisecond, 28, 45},
		{"four of the last that keep close", 4, 4, time.Millisecond, 28, 45},
		{"four fast ones", 4, 0, 100 * time.Microsecond, 45, 68},
		{"four of many", 4, 8, time.Millisecond, 1, 2},
		{"two slow ones", 2, 0, 3 * time.Second, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRegisters()
				all := r.fleet(t, tt.n, tt.number)
				pauses := make([]time.Duration, tt.n)
				for i := range pauses {
					pauses[i] = tt.pause
				}
				mintEach(t, all, pauses, 2*time.Second, func() {}) // until they have their pace
				before, _ := r.looked()
				mintEach(t, all, pauses, seconds*time.Second, func() {})
				after, _ := r.looked()
				if looks := after - before; looks < tt.least*tt.n*seconds ||
					looks > (tt.most*seconds+1)*tt.n {
					t.Errorf("%d looks of %d generators within %d s, want %d to %d a second of each",
						looks, tt.n, seconds, tt.least, tt.most)
				}
				for _, g := range all {
					g.Close(ctx)
				}
			})
		})
	}
}

// TestKeepsClose: of few generators none is further behind than the IDs of some looks. Of many,
// those that are behind by little stay so: they move up seldom, and within 10 s.
func TestKeepsClose(t *testing.T) {
	spread := func(t *testing.T, number int, pauses ...time.Duration) (most, moves int) {
		synctest.Test(t, func(t *testing.T) {
			r := newRegisters()
			all := r.fleet(t, len(pauses), number)
			counters := func() (lowest, highest int) {
				lowest = all[0].Stats().Counter
				for _, g := range all {
					counter := g.Stats().Counter
					lowest, highest = min(lowest, counter), max(highest, counter)
				}
				return lowest, highest
			}
			begun := time.Now()
			mintEach(t, all, pauses, 30*time.Second, func() {
				if time.Since(begun) > 2*time.Second {
					lowest, highest := counters()
					most = max(most, highest-lowest)
				}
			})
			for _, g := range all {
				g.Close(ctx)
				moves += int(g.Stats().Hints.Moves)
			}
		})
		return most, moves
	}
	const ms = time.Millisecond
	even := []time.Duration{ms, ms, ms, ms}
	few, fewMoves := spread(t, 0, even...)
	uneven, _ := spread(t, 0, ms, ms, ms, 2*ms)
	many, manyMoves := spread(t, 8, even...)
	slow, slowMoves := spread(t, 8, 2*ms, 2*ms, 2*ms, 5*ms/2)
	t.Logf("behind by up to %d counters with %d moves, %d where one is slower; "+
		"of many generators %d with %d moves, %d with %d where one is slower",
		few, fewMoves, uneven, many, manyMoves, slow, slowMoves)
	if few > 150 || uneven > 200 {
		t.Errorf("few generators are behind by %d and %d counters", few, uneven)
	}
	if few >= many || manyMoves > 10 {
		t.Errorf("many generators are as close as few, or move as often")
	}
	// The slower one is 100 a second behind: it moves after 10 s at most. The third time is the
	// end, where it may come too late.
	if slow < 500 || slow > 1500 || slowMoves < 2 || slowMoves > 30 {
		t.Errorf("one of many that is slower is behind by %d, in %d moves", slow, slowMoves)
	}
}

// TestSlowLookWhileBehind: a generator of many that is behind by little moves up within 10 s, also
// where a look in between takes long. After such a look the register would be spared for 10 s.
func TestSlowLookWhileBehind(t *testing.T) {
	for _, answer := range []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond} {
		for at := time.Second; at < 10*time.Second; at += 500 * time.Millisecond {
			synctest.Test(t, func(t *testing.T) {
				r := newRegisters()
				g := r.fleet(t, 1, 8)[0]
				defer g.Close(ctx)
				for range 250 { // it looks each second
					next(t, g)
					time.Sleep(80 * time.Millisecond)
				}
				ahead := int64(next(t, g).Counter()) + 900
				begun := time.Now()
				r.set(0, ahead)
				r.answering(func(_ context.Context, _ int, is int64) (int64, error) {
					if since := time.Since(begun); since > at && since < at+2*time.Second {
						time.Sleep(answer)
					}
					return is, nil
				})
				for int64(next(t, g).Counter()) < ahead {
					if late := time.Since(begun); late > 10*time.Second+2*answer {
						t.Fatalf("a slow look after %v: it is behind after %v", at, late)
					}
					time.Sleep(80 * time.Millisecond)
				}
			})
		}
	}
}
