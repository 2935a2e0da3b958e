package generator_test

import (
	"cmp"
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

// answerTime is how long the launch log of these tests takes for an answer.
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

// A table is rows in the order of their IDs, or of their arrival.
type table struct {
	sorted bool
	mu     sync.Mutex // guards rows
	rows   []row
}

type row struct {
	id                idtype.DecimalID
	minted, committed time.Time
}

func byID(r row, id idtype.DecimalID) int { return cmp.Compare(r.id, id) }

func (tb *table) insert(r row) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	at := len(tb.rows)
	if tb.sorted {
		at, _ = slices.BinarySearchFunc(tb.rows, r.id, byID)
	}
	tb.rows = slices.Insert(tb.rows, at, r)
}

// page is the rows before an ID, the highest first.
func (tb *table) page(before idtype.DecimalID, limit int) []row {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	at, _ := slices.BinarySearchFunc(tb.rows, before, byID)
	page := slices.Clone(tb.rows[max(0, at-limit):at])
	slices.Reverse(page)
	return page
}

// after is the rows behind an ID.
func (tb *table) after(id idtype.DecimalID) []row {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	at, found := slices.BinarySearchFunc(tb.rows, id, byID)
	if found {
		at++
	}
	return slices.Clone(tb.rows[at:])
}

// Writers write rows, at different rates, in processes that are restarted or killed.
type writers struct {
	testing.TB
	table
	log  *launchlog.Log
	from func(generator.Numbers) generator.Numbers
	done chan struct{}
	wg   sync.WaitGroup
}

func newWriters(t testing.TB) *writers {
	log, err := launchlog.New(memorylog.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &writers{
		TB: t, log: log, done: make(chan struct{}),
		from: func(n generator.Numbers) generator.Numbers { return n },
	}
}

// write mints for so many seconds, at a rate per second, and stores each row a little later.
func (f *writers) write(random *rand.Rand, rate, lives float64) {
	for {
		launch, err := f.log.Start(ctx, storetest.Request(launchlog.NewNote()))
		if err != nil {
			f.Error(err)
			return
		}
		p := &process{Hinter: f.log.Generators(launch.ID)}
		g, err := generator.NewDecimal(f.from(p))
		if err != nil {
			f.Error(err)
			return
		}
		seconds := (0.5 + random.Float64()) * lives
		end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
		for time.Now().Before(end) {
			id, err := g.Next(ctx)
			if err != nil {
				f.Error(err)
				return
			}
			minted := time.Now()
			wait := time.Duration(random.ExpFloat64() / rate * float64(time.Second))
			commit := min(wait, time.Duration(random.IntN(50))*time.Millisecond)
			time.Sleep(commit)
			f.insert(row{id, minted, time.Now()})
			select {
			case <-later(min(wait-commit, time.Until(end))):
			case <-f.done:
				_ = g.Close(canceled)
				return
			}
		}
		if p.killed.Store(random.IntN(2) == 0); p.killed.Load() {
			_ = g.Close(canceled)
		} else if err := g.Close(ctx); err != nil {
			f.Error(err)
		}
	}
}

// later is time.After, and never at once. Goroutines of a bubble that find timers already due run
// them beside each other, which crashes the race detector: https://go.dev/issue/78156.
func later(d time.Duration) <-chan time.Time { return time.After(max(d, 1)) }

// run starts four writers, the fastest 5,000 times as fast as the slowest.
func (f *writers) run(seed uint64, fastest float64) {
	for i, rate := range []float64{fastest, fastest / 10, fastest / 100, fastest / 5000} {
		f.wg.Go(func() { f.write(rand.New(rand.NewPCG(seed, uint64(i))), rate, 45) })
	}
}

func (f *writers) end() {
	close(f.done)
	f.wg.Wait()
	time.Sleep(2 * answerTime) // for looks that a Close with an ended context left behind
}

// inversions are, for each row that is not above all older ones, how much older the oldest of those
// above it is.
func inversions(rows []row) (ages []time.Duration) {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b row) int {
		return a.minted.Compare(b.minted)
	})
	tops := make([]idtype.DecimalID, len(rows)) // the highest ID up to each row
	for i, r := range rows {
		tops[i] = r.id
		if i > 0 && tops[i-1] > r.id {
			tops[i] = tops[i-1]
			at, _ := slices.BinarySearch(tops[:i], r.id) // the first that is above
			ages = append(ages, r.minted.Sub(rows[at].minted))
		}
	}
	return ages
}

// share is that of the ages that are above one, of n rows.
func share(ages []time.Duration, than time.Duration, n int) float64 {
	over := 0
	for _, age := range ages {
		if age > than {
			over++
		}
	}
	return float64(over) / float64(n)
}

// TestOrderOfFleet: of writers that run at once no row is above one that is younger by more than
// the bound. The writers are restarted and killed. Without hints, rows of any age are.
func TestOrderOfFleet(t *testing.T) {
	minutes := 5
	if raceEnabled {
		minutes = 2
	}
	run := func(t *testing.T, from func(generator.Numbers) generator.Numbers) (
		longest time.Duration, ages []time.Duration, rows int,
	) {
		synctest.Test(t, func(t *testing.T) {
			f := newWriters(t)
			if from != nil {
				f.from = from
			}
			f.run(1, 1000)
			time.Sleep(time.Duration(minutes) * time.Minute)
			f.end()
			ages, rows = inversions(f.rows), len(f.rows)
		})
		return slices.Max(append(ages, 0)), ages, rows
	}
	longest, ages, rows := run(t, nil)
	t.Logf("%d rows of 4 writers at 1000, 100, 10 and 0.2 a second, restarted or killed each 45 s: "+
		"the oldest of those above a younger one is older by %v", rows, longest)
	for _, than := range []time.Duration{0, time.Second, 5 * time.Second, 10 * time.Second} {
		t.Logf("by more than %v: %.2f %% of the rows", than, 100*share(ages, than, rows))
	}
	if longest > orderBound {
		t.Errorf("want at most %v", orderBound)
	}
	if all := share(ages, 0, rows); all == 0 || rows < minutes*60_000 {
		t.Errorf("%d rows, a share of %v: the test shows nothing", rows, all)
	}
	longest, ages, rows = run(t, generator.FromOne)
	t.Logf("from one: %.2f %% of the rows, by up to %v", 100*share(ages, 0, rows), longest)
	if longest < 2*orderBound {
		t.Errorf("without hints the longest inversion is %v: the test shows nothing", longest)
	}
}

// TestWalks: while writers run, pages are read from time to time, the newest rows first. A walk
// ends at a row that is older than the last walk by the bound. Nothing is missed. Who asks for the
// rows behind the highest ID of some time ago misses nothing either.
func TestWalks(t *testing.T) {
	// A row may be stored 50 ms after its ID was minted.
	const bound = orderBound + 50*time.Millisecond
	missed := func(t *testing.T, from func(generator.Numbers) generator.Numbers) (walks, polls int) {
		synctest.Test(t, func(t *testing.T) {
			f := newWriters(t)
			if from != nil {
				f.from = from
			}
			f.sorted = true
			f.run(2, 200)
			walked, polled := map[idtype.DecimalID]bool{}, map[idtype.DecimalID]bool{}
			var wg sync.WaitGroup
			var lastWalk, lastPoll time.Time
			wg.Go(func() { // pages, newest first
				random := rand.New(rand.NewPCG(3, 3))
				for last := time.Now(); ; {
					began := time.Now()
				walk:
					for before := idtype.MaxDecimalID; ; {
						page := f.page(before, 500)
						for _, r := range page {
							if r.minted.Before(last.Add(-bound)) {
								break walk
							}
							walked[r.id] = true
							before = r.id
						}
						if len(page) == 0 {
							break
						}
						time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
					}
					last, lastWalk = began, began
					select {
					case <-later(time.Duration(random.IntN(20)) * time.Second):
					case <-f.done:
						return
					}
				}
			})
			wg.Go(func() { // what is behind the highest ID of some time ago
				type seen struct {
					at time.Time
					id idtype.DecimalID
				}
				var tops []seen
				for {
					since, now := idtype.DecimalID(0), time.Now()
					for _, s := range tops {
						if now.Sub(s.at) >= bound {
							since = s.id
						}
					}
					top := since
					for _, r := range f.after(since) {
						polled[r.id] = true
						top = r.id
					}
					tops = append(tops, seen{now, top})
					lastPoll = now
					select {
					case <-time.After(5 * time.Second):
					case <-f.done:
						return
					}
				}
			})
			time.Sleep(3 * time.Minute)
			f.end()
			wg.Wait()
			for _, r := range f.rows {
				if !walked[r.id] && r.committed.Before(lastWalk) {
					walks++
				}
				if !polled[r.id] && r.committed.Before(lastPoll) {
					polls++
				}
			}
			t.Logf("%d rows, %d missed by walks, %d by polls", len(f.rows), walks, polls)
		})
		return walks, polls
	}
	if walks, polls := missed(t, nil); walks+polls > 0 {
		t.Error("rows were missed")
	}
	if walks, polls := missed(t, generator.FromOne); walks == 0 || polls == 0 {
		t.Error("without hints none was missed: the test shows nothing")
	}
}
