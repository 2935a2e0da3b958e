package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// Disturb runs workers that start and end launches, claim numbers, and reserve and raise the
// numbers of log counters, each for the given number of rounds. Meanwhile it calls disturb again
// and again, with a different n each time, and a third of the calls have a context that ends within
// milliseconds. Then it audits the log. If disturb is nil, no call is cut off, no number may be
// left out, and the launches share few digits.
func Disturb(
	t *testing.T, store launchlog.Store, rounds int, disturb func(l *launchlog.Log, n int) error,
) {
	t.Helper()
	d := newTold(t, newLog(t, store, nil), uint64(time.Now().UnixNano()), disturb != nil)
	if disturb == nil {
		d.fewDigits(t)
	}
	working, done := context.WithCancel(ctx)
	disturbances := 0
	var disturber sync.WaitGroup
	disturber.Go(func() {
		for ; disturb != nil && working.Err() == nil; disturbances++ {
			if err := disturb(d.log, disturbances); err != nil {
				t.Errorf("disturbance %d: %v", disturbances, err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	d.work(t, 8, rounds)
	done()
	disturber.Wait()
	d.audit(t, disturb == nil)
	t.Logf("seed %d: %d disturbances, %d calls cut off: %d launches, %d claims, %d ranges, "+
		"%d windows", d.seed, disturbances, d.cut, len(d.keys), len(d.pairs),
		len(d.dense)+len(d.floors), len(d.windows))
}

// Simulate runs a few such workers on a [Faulty] store, and audits the log. The faults and the
// workers' choices depend on seed. With every second seed the workers also trim the launches.
func Simulate(t *testing.T, store launchlog.Store, seed uint64, rounds int) {
	t.Helper()
	const workers = 3
	faulty := NewFaulty(store, seed, 0.4)
	d := newTold(t, newLog(t, faulty, nil), seed, false)
	if seed%2 == 1 {
		d.trim = faulty.TrimClaims
	}
	d.fewDigits(t)
	d.work(t, workers, rounds/workers)
	d.audit(t, false)
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
}

// Operator is for [Disturb]. It advances the launches and a log counter, which interferes with the
// rows of the workers.
func Operator(l *launchlog.Log, n int) error {
	found, err := l.List(ctx, launchlog.Filter{Limit: 1})
	if err != nil {
		return err
	}
	last := 1 + n%3
	if len(found) != 0 {
		last += found[0].ID
	}
	var refused *launchlog.RequestError // another launch was started since
	if _, err := l.Advance(ctx, last, "operator"); err != nil && !errors.As(err, &refused) {
		return err
	}
	c, err := l.Counter("floors")
	if err == nil {
		_, err = c.Advance(ctx, int64(n+1)*7, "operator")
	}
	return err
}

// told records what workers were told, and how often they were told nothing.
type told struct {
	log                 *launchlog.Log
	seed                uint64
	cutting             bool               // whether a third of the calls are cut off
	gapless, high, step *launchlog.Counter // reserved without and with floors, and raised
	// trim trims a launch below the number of a claim; if it is nil, nobody trims.
	trim func(ctx context.Context, launch launchlog.Ref, below int) error

	mu                     sync.Mutex // guards the fields below
	keys                   map[string]int
	pairs                  map[[2]int]bool
	dense, floors, windows []Range
	cut                    int
	lost                   int // claims among the calls that were cut
	twice                  []string
}

func newTold(t *testing.T, l *launchlog.Log, seed uint64, cutting bool) *told {
	return &told{
		log: l, seed: seed, cutting: cutting, keys: map[string]int{}, pairs: map[[2]int]bool{},
		gapless: newCounter(t, l, "dense"), high: newCounter(t, l, "floors"),
		step: newCounter(t, l, "raised"),
	}
}

// A worker is a goroutine of told.work.
type worker struct {
	*told
	random     *rand.Rand
	last, step int64 // the last known numbers of the counters
}

// fewDigits makes launches take over digits from each other.
func (d *told) fewDigits(t *testing.T) {
	t.Helper()
	wantError(t, d.log.SetDigits(ctx, launchlog.Digits{First: 1, Last: 4}), nil)
}

func (d *told) work(t *testing.T, workers, rounds int) {
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			w := worker{told: d, random: rand.New(rand.NewPCG(d.seed, uint64(i+1)))}
			for round := range rounds {
				key := fmt.Sprint("key ", w.random.IntN(max(1, workers*rounds/2)))
				if err := w.launches(key, round%3 == 0); err != nil {
					t.Errorf("seed %d: %v", d.seed, err)
					return
				}
				if err := w.counters(fmt.Sprint("worker ", i)); err != nil {
					t.Errorf("seed %d: %v", d.seed, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// launches starts the launch with a key, claims one of its numbers, and may end it.
func (w *worker) launches(key string, end bool) error {
	launch, _, err := insist(w, func(ctx context.Context) (launchlog.Launch, error) {
		return w.log.Start(ctx, Request(key))
	})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	claim, lost, err := insist(w, func(ctx context.Context) (launchlog.Claim, error) {
		return w.log.Claim(ctx, launch.ID)
	})
	if err != nil && !errors.Is(err, launchlog.ErrEnded) {
		return fmt.Errorf("claim: %w", err)
	}
	w.mu.Lock()
	if id, ok := w.keys[key]; ok && id != launch.ID {
		w.twice = append(w.twice, fmt.Sprintf("key %q is launch %d and %d", key, id, launch.ID))
	}
	w.keys[key] = launch.ID
	if pair := [2]int{claim.Launch % launchlog.Lap, claim.Generator}; err == nil {
		if w.pairs[pair] {
			w.twice = append(w.twice, fmt.Sprintf("pair %v was handed out twice", pair))
		}
		w.pairs[pair] = true
	}
	w.lost += lost
	w.mu.Unlock()
	if w.trim != nil && err == nil {
		ref := launchlog.Ref{Namespace: launch.Namespace, Launch: launch.ID}
		err := w.trim(ctx, ref, claim.Generator)
		if failed := (*launchlog.AttemptError)(nil); err != nil && !errors.As(err, &failed) {
			return fmt.Errorf("trim: %w", err)
		}
	}
	if !end {
		return nil
	}
	_, _, err = insist(w, func(ctx context.Context) (launchlog.Launch, error) {
		return w.log.End(ctx, launch.ID, launchlog.Ending{Outcome: launchlog.Superseded})
	})
	var other *launchlog.ConflictError // another operation ended it
	if errors.As(err, &other) &&
		(other.Outcome == launchlog.HandedOn || other.Outcome == launchlog.Advanced) {
		err = nil
	}
	return err
}

// counters takes numbers of each log counter. Sometimes an operator advances one first.
func (w *worker) counters(holder string) error {
	reserve := func(c *launchlog.Counter, floor, last int64, to *[]Range) (int64, error) {
		n := 1 + w.random.Int64N(5)
		first, _, err := insist(w, func(ctx context.Context) (int64, error) {
			return c.Reserve(ctx, floor, n)
		})
		if err != nil || first < floor || first <= last {
			return 0, fmt.Errorf("%d numbers of at least %d, after %d: from %d on, %w", n, floor,
				last, first, err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		*to = append(*to, Range{first, n})
		return first + n - 1, nil
	}
	if _, err := reserve(w.gapless, 0, 0, &w.dense); err != nil {
		return err
	}
	floor := max(0, w.last+w.random.Int64N(40)-20)
	if w.random.IntN(8) == 0 {
		now, err := w.high.Advance(ctx, floor+1, "operator")
		if err != nil || now <= floor || now < w.last {
			return fmt.Errorf("advanced to %d after %d: %d, %w", floor+1, w.last, now, err)
		}
		w.last = max(w.last, floor+1)
	}
	var err error
	if w.last, err = reserve(w.high, floor, w.last, &w.floors); err != nil {
		return err
	}
	r := newRaise(w.step, w.step+1+w.random.Int64N(2), holder) // all compete for the same values
	row, _, err := insist(w, func(ctx context.Context) (launchlog.CounterState, error) {
		return w.told.step.Raise(ctx, r)
	})
	if err != nil || row.Value <= r.From {
		return fmt.Errorf("raised from %d to %d: %+v, %w", r.From, r.To, row, err)
	}
	w.step = row.Value
	if r.Done(row) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.windows = append(w.windows, Range{r.From + 1, r.To - r.From})
	}
	return nil
}

// insist repeats a call until it is not cut off by a context that ends early, and returns how often
// it was.
func insist[T any](w *worker, call func(context.Context) (T, error)) (v T, cut int, err error) {
	for ; ; cut++ {
		calling, cancel := context.WithCancel(ctx)
		if w.cutting && w.random.IntN(3) == 0 {
			calling, cancel = context.WithTimeout(ctx, rand.N(6*time.Millisecond))
		}
		v, err = call(calling)
		cancel()
		var unresolved *launchlog.UnresolvedError
		if !errors.As(err, &unresolved) || !errors.Is(err, context.DeadlineExceeded) ||
			calling.Err() != context.DeadlineExceeded {
			return v, cut, err
		}
		w.mu.Lock()
		w.cut++
		w.mu.Unlock()
	}
}

// audit compares what the workers were told with the log, once no operation is in progress. Whole
// means that no number may be left out.
func (d *told) audit(t *testing.T, whole bool) {
	t.Helper()
	for _, twice := range d.twice {
		t.Error(twice)
	}
	launches := must(d.log.List(ctx, launchlog.Filter{Limit: launchlog.MaxLaunch}))(t)
	want(t, "launches: one per key", len(launches), len(d.keys))
	if whole && len(launches) > 0 {
		digits := must(d.log.Digits(ctx))(t)
		n, size := len(launches)-1, digits.Last-digits.First+1
		want(t, "the last launch", launches[0].ID, n/size*launchlog.Lap+digits.First+n%size)
	}
	recorded := 0
	for _, launch := range launches {
		want(t, "launch of "+launch.Key, launch.ID, d.keys[launch.Key])
		claims := must(d.log.Claims(ctx, launch.ID, 0, launchlog.MaxGenerators))(t)
		all := launch.NextGenerator - launch.FirstGenerator
		switch n := len(claims); {
		case d.trim == nil:
			want(t, "every number has its record", n, all)
		case n > all || all > 0 && (n == 0 || claims[n-1].Generator != launch.NextGenerator-1):
			t.Errorf("launch %d: %d claims of %d, and not the newest", launch.ID, n, all)
		}
		recorded += len(claims)
		events := must(d.log.Events(ctx, launch.ID))(t)
		var kinds []string
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		wanted := []string{"started", "ended"}
		if launch.Running() {
			wanted = wanted[:1]
		}
		want(t, "events", kinds, wanted)
	}
	if d.trim != nil {
		recorded = len(d.pairs)
	}
	for pair := range d.pairs {
		launch := must(d.log.Find(ctx, pair[0], pair[1]))(t)
		claims := must(d.log.Claims(ctx, launch.ID, pair[1], 1))(t)
		if d.trim != nil && pair[1] < launch.NextGenerator {
			continue
		}
		if len(claims) != 1 || claims[0].Generator != pair[1] {
			t.Errorf("pair %v was handed out, and has no record", pair)
		}
	}
	if recorded < len(d.pairs) || recorded > len(d.pairs)+d.lost {
		t.Errorf("%d claims are recorded, %d were acknowledged, and %d cut off", recorded,
			len(d.pairs), d.lost)
	}
	for c, ranges := range map[*launchlog.Counter][]Range{
		d.gapless: d.dense, d.high: d.floors, d.step: d.windows,
	} {
		want(t, "ranges of "+c.Name()+" with repeated numbers", Repeats(ranges), 0)
		last := must(c.Last(ctx))(t)
		highest, sum := int64(0), int64(0)
		for _, r := range ranges {
			highest, sum = max(highest, r.First+r.N-1), sum+r.N
		}
		if highest > last || whole && c != d.high && sum != last {
			t.Errorf("%d numbers up to %d were handed out by %s, which is at %d", sum, highest,
				c.Name(), last)
		}
	}
}

// Range is N numbers beginning with First, as a log counter hands them out.
type Range struct{ First, N int64 }

// Repeats counts the ranges that share a number with another range, or that contain an invalid
// number.
func Repeats(ranges []Range) (repeats int) {
	last := int64(0)
	for _, r := range slices.SortedFunc(slices.Values(ranges), func(a, b Range) int {
		return cmp.Compare(a.First, b.First)
	}) {
		if r.First <= last {
			repeats++
		}
		last = max(last, r.First+r.N-1)
	}
	return repeats
}
