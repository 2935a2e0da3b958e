//go:build !race

package generator_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	memorylog "github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// answerTime is how long the launch log of this test takes for an answer.
const answerTime = 40 * time.Millisecond

// orderBound is how much younger an ID must be to be above another, by the documentation: two
// looks, and the answers between them.
const orderBound = 2*10*time.Second + 6*answerTime

// A process holds the numbers of an app until it is killed.
type process struct {
	generator.Hinter
	killed atomic.Bool
}

func (p *process) Hint(ctx context.Context, epoch int, counter int64) (int64, error) {
	time.Sleep(answerTime / 2)
	if p.killed.Load() {
		return 0, errAway
	}
	defer time.Sleep(answerTime / 2)
	return p.Hinter.Hint(ctx, epoch, counter)
}

type row struct {
	id     idtype.DecimalID
	minted time.Time
}

// write mints at a rate per second until an end, in processes that live for 45 s or so and are then
// restarted or killed.
func write(
	t *testing.T, log *launchlog.Log, from func(generator.Numbers) generator.Numbers,
	random *rand.Rand, rate float64, end time.Time,
) (rows []row) {
	for time.Now().Before(end) {
		launch, err := log.Start(ctx, storetest.Request(launchlog.NewNote()))
		if err != nil {
			t.Error(err)
			return nil
		}
		p := &process{Hinter: log.Generators(launch.ID)}
		g, err := generator.NewDecimal(from(p))
		if err != nil {
			t.Error(err)
			return nil
		}
		seconds := (0.5 + random.Float64()) * 45
		for death := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(
			death) && time.Now().Before(end); {
			id, err := g.Next(ctx)
			if err != nil {
				t.Error(err)
				return nil
			}
			rows = append(rows, row{id, time.Now()})
			wait := time.Duration(random.ExpFloat64() / rate * float64(time.Second))
			time.Sleep(min(wait, time.Until(death)))
		}
		if p.killed.Store(random.IntN(2) == 0); p.killed.Load() {
			_ = g.Close(canceled)
		} else if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	return rows
}

// longestInversion is how much older than a row the oldest of those above it is, at most, and how
// many rows have an older one above.
func longestInversion(rows []row) (longest time.Duration, n int) {
	slices.SortFunc(rows, func(a, b row) int { return a.minted.Compare(b.minted) })
	tops := make([]idtype.DecimalID, len(rows)) // the highest ID up to each row
	for i, r := range rows {
		tops[i] = r.id
		if i > 0 && tops[i-1] > r.id {
			tops[i] = tops[i-1]
			at, _ := slices.BinarySearch(tops[:i], r.id) // the first that is above
			longest = max(longest, r.minted.Sub(rows[at].minted))
			n++
		}
	}
	return longest, n
}

// TestOrderOfFleet: of writers that run at once no row is above one that is younger by more than
// the bound, while they are restarted and killed. Without hints, rows of any age are.
func TestOrderOfFleet(t *testing.T) {
	run := func(from func(generator.Numbers) generator.Numbers) (longest time.Duration, n, of int) {
		synctest.Test(t, func(t *testing.T) {
			log, err := launchlog.New(memorylog.New(nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			end := time.Now().Add(4 * time.Minute)
			var all []row
			var mu sync.Mutex // guards all
			var wg sync.WaitGroup
			for i, rate := range []float64{500, 50, 5, 0.2} {
				wg.Go(func() {
					rows := write(t, log, from, rand.New(rand.NewPCG(1, uint64(i))), rate, end)
					mu.Lock()
					defer mu.Unlock()
					all = append(all, rows...)
				})
			}
			wg.Wait()
			time.Sleep(2 * answerTime) // for looks that a Close with an ended context left behind
			longest, n = longestInversion(all)
			of = len(all)
		})
		return longest, n, of
	}
	longest, n, of := run(func(n generator.Numbers) generator.Numbers { return n })
	t.Logf("of %d rows %d are below an older one, by up to %v", of, n, longest)
	if longest > orderBound {
		t.Errorf("want at most %v", orderBound)
	}
	if n == 0 {
		t.Error("the writers did not run at once: the test shows nothing")
	}
	longest, n, of = run(generator.FromOne)
	t.Logf("from one: %d of %d rows, by up to %v", n, of, longest)
	if longest < 2*orderBound {
		t.Error("without hints the longest inversion is as short: the test shows nothing")
	}
}
