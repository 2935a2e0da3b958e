package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

var uniqueSeed = flag.Uint64("unique.seed", 0, "seed of the tests of uniqueness; 0 is a new one")

// sources are the ways in which several generators, or one after the other, may come to their
// numbers.
var sources = []string{
	"one number", "pools of one number", "time ceilings of one number", "changing numbers",
}

// TestUniqueUnderChaos: generators that goroutines share mint nothing twice, for all schemes. Their
// clocks step at any moment. It goes over each policy, and numbers of every kind of source. Pools
// are so small that they run over all the time. There are restarts, canceled calls and failing
// sources.
func TestUniqueUnderChaos(t *testing.T) {
	for _, s := range schemes {
		chaos(t, s)
	}
}

func chaos(t *testing.T, s scheme) {
	seed := *uniqueSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Run(s.name, func(t *testing.T) {
		var all figures
		stream := uint64(0)
		for _, source := range sources {
			for policy := range generator.RegressionFails + 1 {
				for _, most := range []int{1, 16, 64} {
					stream++
					rnd := rand.New(rand.NewPCG(seed, stream))
					goroutines := most - rnd.IntN(most/2+1)
					r := &round{
						scheme: s, source: source, policy: policy, goroutines: goroutines, rnd: rnd,
					}
					f, err := r.run()
					if err != nil {
						t.Errorf("%s, policy %d, %d goroutines, -unique.seed %d: %v", source,
							policy, goroutines, seed, err)
					}
					all.add(f)
				}
			}
		}
		t.Logf(
			"%d IDs of up to 64 goroutines over %d steps of clocks, %d restarts, %d windows, %d "+
				"waits and %d regressions",
			all.ids, all.steps, all.restarts, all.windows, all.waits, all.regressions,
		)
	})
}

// figures are what rounds saw.
type figures struct {
	ids, steps, restarts        int
	windows, waits, regressions uint64
}

func (f *figures) add(g figures) {
	f.ids, f.steps, f.restarts = f.ids+g.ids, f.steps+g.steps, f.restarts+g.restarts
	f.windows, f.waits = f.windows+g.windows, f.waits+g.waits
	f.regressions += g.regressions
}

// A round is generators of one scheme that live, are made anew and live again.
type round struct {
	scheme
	source     string
	policy     generator.Regression
	goroutines int
	rnd        *rand.Rand

	atEnd   bool // of the layout's time, where calls fail
	clock   *chaosClock
	windows []windows // one per generator
	options []generator.Options
	figures figures
}

func (r *round) run() (figures, error) {
	total := int(whole(6_000, 3_000)) // in a life
	if raceEnabled {
		total = 1_500
	}
	r.begin()
	// A test that hangs ends by this, and says so: no call may answer with its error.
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	seen := map[mark]bool{}
	minted := 0
	var snapshots []generator.Snapshot
	for life := range 4 {
		// The first two lives crash, and it is up to who starts the next one that the clock is
		// where it was.
		if life == 1 {
			snapshots = nil
		}
		ids, after, err := r.live(ctx, snapshots, total)
		if err != nil && (!r.mayFail(err) || ctx.Err() != nil) {
			return r.figures, err
		}
		for _, id := range ids {
			seen[r.unique(id)] = true
		}
		minted += len(ids)
		snapshots = after
		r.figures.restarts++
	}
	steps, within := r.clock.seen()
	if !within {
		return r.figures, errors.New("the clock left its span")
	}
	r.figures.ids, r.figures.steps = minted, steps
	if len(seen) != minted {
		return r.figures, fmt.Errorf("%d of %d IDs are repeats", minted-len(seen), minted)
	}
	return r.figures, nil
}

// begin makes the clock, the sources and the options.
func (r *round) begin() {
	span := 20 * year // over which IDs are unique, or less
	if r.id == idtype.SchemeTrace {
		span = idtype.TracePeriod
	}
	from := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if r.atEnd = r.rnd.IntN(4) == 0; r.atEnd {
		from = r.end.Add(-span / 2)
	}
	r.clock = newChaosClock(r.rnd, r.unit, from, span)
	generators, numbers := 3, []int{7, 8, 9, 10}
	if r.source == "one number" {
		generators = 1
	}
	if r.numbers == 1 {
		numbers = []int{0}
	}
	counter := &tally{rnd: rand.New(rand.NewPCG(r.rnd.Uint64(), 0))}
	lent := &lending{
		numbers: numbers, rnd: rand.New(rand.NewPCG(r.rnd.Uint64(), 0)),
		ends: make([]int64, len(numbers)),
	}
	low := r.first
	for i := range generators {
		o := generator.Options{Regression: r.policy}
		if r.rnd.IntN(3) != 0 || r.source == "pools of one number" {
			o.Pool = r.pool(low)
			low = o.Pool.Max + 1
			if i == generators-1 && r.rnd.IntN(2) == 0 {
				o.Pool.Max = r.last
			}
		}
		r.options = append(r.options, o)
		switch r.source {
		case "time ceilings of one number":
			r.windows = append(r.windows, ceiling(counter, time.Duration(i)*r.unit))
		case "changing numbers":
			r.windows = append(r.windows, windowsOf(lent))
		default:
			r.windows = append(r.windows, given(numbers[0]))
		}
	}
}

// pool is one that begins with low, of at most a third of the slots.
func (r *round) pool(low int) *generator.Pool {
	return &generator.Pool{Min: low, Max: low + r.rnd.IntN(min(r.last/3, 1<<r.rnd.IntN(14)))}
}

// live makes the generators, has the goroutines mint some n IDs, and returns these and how far the
// generators came.
func (r *round) live(
	ctx context.Context, before []generator.Snapshot, n int,
) (ids []mark, after []generator.Snapshot, err error) {
	gs, err := r.start(before)
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	seed := r.rnd.Uint64()
	inParallel(r.goroutines, func(i int) {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		g := gs[i%len(gs)]
		minted, e := r.mint(ctx, g, rnd, n/r.goroutines+1)
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, minted...)
		err = errors.Join(err, e)
	})
	for _, g := range gs {
		s := g.stats()
		r.figures.windows += s.Windows
		r.figures.waits += s.Waits
		r.figures.regressions += s.Regressions
		if r.source == "one number" || r.source == "pools of one number" {
			text, e := json.Marshal(g.snapshot())
			var read generator.Snapshot
			err = errors.Join(err, e, json.Unmarshal(text, &read))
			after = append(after, read)
		}
	}
	return ids, after, err
}

// start makes the generators, without snapshots where the clock is as late as it ever was.
func (r *round) start(snapshots []generator.Snapshot) (gs []*timed, err error) {
	leave := r.clock.home()
	defer leave()
	if snapshots != nil {
		leave()
	}
	for i, o := range r.options {
		o.Clock = r.clock
		if r.source == "one number" { // another pool and policy in each life
			o.Pool, o.Regression = nil, generator.Regression(r.rnd.IntN(3))
			if r.rnd.IntN(3) != 0 {
				o.Pool = r.pool(r.first)
			}
		}
		if snapshots != nil {
			o.Snapshot = &snapshots[i]
		}
		g, err := r.make(r.windows[i], &o)
		// the clock is too far behind it
		if late := new(generator.SnapshotError); errors.As(err, &late) && !r.atEnd {
			leave := r.clock.home()
			g, err = r.make(r.windows[i], &o)
			leave()
		}
		if err != nil {
			return nil, err
		}
		gs = append(gs, g)
	}
	return gs, nil
}

// mint mints n IDs in all ways, or fewer where most calls fail.
func (r *round) mint(ctx context.Context, g *timed, rnd *rand.Rand, n int) (ids []mark, err error) {
	ways := []func(context.Context) (minted, error){g.next}
	if g.own != nil {
		ways = append(ways, g.own(), g.own())
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for calls := 0; len(ids) < n && calls < 2*n; calls++ {
		c := ctx
		if rnd.IntN(10) == 0 {
			c = gone
		}
		switch rnd.IntN(20) {
		case 0:
			err = g.ready(c)
		case 1:
			g.stats()
			g.snapshot()
		case 2, 3:
			var some []minted
			some, err = g.fill(c, rnd.IntN(100))
			for _, id := range some {
				ids = append(ids, id.mark)
			}
		default:
			var id minted
			if id, err = ways[rnd.IntN(len(ways))](c); err == nil {
				ids = append(ids, id.mark)
			}
		}
		if !r.mayFail(err) {
			return ids, err
		}
	}
	return ids, nil
}

// mayFail is mayFail, and knows the end of time.
func (r *round) mayFail(err error) bool {
	out, late := new(idtype.RangeError), new(generator.SnapshotError)
	return mayFail(err) || r.atEnd && (errors.As(err, &out) || errors.As(err, &late))
}

// mayFail tells whether a call may answer with err. The call may be canceled. The clock may be
// behind. The source may fail, or its windows may have passed.
func mayFail(err error) bool {
	var none *generator.NumberError
	switch {
	case errors.Is(err, generator.ErrRepeated), errors.Is(err, context.DeadlineExceeded):
		return false
	case err == nil, errors.Is(err, generator.ErrClockBehind),
		errors.Is(err, generator.ErrClockStopped), errors.Is(err, generator.ErrMaxWait):
		return true
	}
	return errors.Is(err, context.Canceled) || errors.As(err, &none)
}
