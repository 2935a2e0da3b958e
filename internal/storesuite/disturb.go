package storesuite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// Disturb has workers start and end launches, claim numbers and reserve some of a counter. A third
// of the calls have a context that ends within milliseconds. Meanwhile disturb is called again and
// again, with what it needs to be different each time. Then the log is audited.
func Disturb(
	t *testing.T, store launchlog.Store, rounds int, disturb func(l *launchlog.Log, n int) error,
) {
	t.Helper()
	const workers = 8
	seed := uint64(time.Now().UnixNano())
	l := newLog(t, store, nil)
	c := newCounter(t, l, "c")
	d := newTold()
	working, done := context.WithCancel(ctx)
	disturbances := 0
	var disturber, group sync.WaitGroup
	disturber.Go(func() {
		for ; working.Err() == nil; disturbances++ {
			if err := disturb(l, disturbances); err != nil {
				t.Errorf("disturbance %d: %v", disturbances, err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	for w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			for r := range rounds {
				if err := d.round(l, c, random, fmt.Sprint("key ", random.IntN(workers*rounds/2)),
					r); err != nil {
					t.Errorf("seed %d: %v", seed, err)
					return
				}
			}
		})
	}
	group.Wait()
	done()
	disturber.Wait()
	d.audit(t, l, c)
	t.Logf(
		"seed %d: %d rounds, %d disturbances, %d calls cut off: %d launches, %d claims, %d "+
			"ranges, 0 repeats",
		seed, workers*rounds, disturbances, d.cut, len(d.keys), len(d.pairs), len(d.ranges),
	)
}

// told is what workers were told, and how often they were not.
type told struct {
	mu     sync.Mutex // guards what follows
	keys   map[string]int
	pairs  map[[2]int]bool
	ranges []Range
	cut    int
	lost   int // claims among those that were cut
	twice  []string
}

func newTold() *told { return &told{keys: map[string]int{}, pairs: map[[2]int]bool{}} }

// add notes a launch of a key, a claim unless it is nil, how many claims were cut off before, and a
// range.
func (d *told) add(key string, launch int, claim *launchlog.Claim, lost int, r Range) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.keys[key]; ok && id != launch {
		d.twice = append(d.twice, fmt.Sprintf("key %q is launch %d and %d", key, id, launch))
	}
	d.keys[key] = launch
	if claim != nil {
		pair := [2]int{claim.Launch, claim.Generator}
		if d.pairs[pair] {
			d.twice = append(d.twice, fmt.Sprintf("pair %v was handed out twice", pair))
		}
		d.pairs[pair] = true
	}
	d.lost += lost
	d.ranges = append(d.ranges, r)
}

func (d *told) round(
	l *launchlog.Log, c *launchlog.Counter, random *rand.Rand, key string, r int,
) error {
	launch, _, err := insist(d, random, func(ctx context.Context) (launchlog.Launch, error) {
		return l.Start(ctx, Request(key))
	})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	claim, lost, err := insist(d, random, func(ctx context.Context) (launchlog.Claim, error) {
		return l.Claim(ctx, launch.ID)
	})
	claimed := &claim
	if errors.Is(err, launchlog.ErrEnded) {
		claimed = nil
	} else if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	n := 1 + random.Int64N(5)
	first, _, err := insist(d, random, func(ctx context.Context) (int64, error) {
		return c.Reserve(ctx, 0, n)
	})
	if err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	if r%3 == 0 {
		_, _, err := insist(d, random, func(ctx context.Context) (launchlog.Launch, error) {
			return l.End(ctx, launch.ID, launchlog.Ending{Outcome: launchlog.Superseded})
		})
		if err != nil {
			return fmt.Errorf("end: %w", err)
		}
	}
	d.add(key, launch.ID, claimed, lost, Range{first, n})
	return nil
}

// insist calls until it is not cut off by a context that ends early, and says how often it was.
func insist[T any](
	d *told, random *rand.Rand, call func(context.Context) (T, error),
) (v T, cut int, err error) {
	for ; ; cut++ {
		calling, cancel := context.WithCancel(ctx)
		if random.IntN(3) == 0 {
			calling, cancel = context.WithTimeout(ctx, rand.N(6*time.Millisecond))
		}
		v, err = call(calling)
		cancel()
		var unresolved *launchlog.UnresolvedError
		if !errors.As(err, &unresolved) || !errors.Is(err, context.DeadlineExceeded) ||
			calling.Err() != context.DeadlineExceeded {
			return v, cut, err
		}
		d.mu.Lock()
		d.cut++
		d.mu.Unlock()
	}
}

// audit compares what the workers were told with what the log says when nothing is under way any
// more.
func (d *told) audit(t *testing.T, l *launchlog.Log, c *launchlog.Counter) {
	t.Helper()
	for _, twice := range d.twice {
		t.Error(twice)
	}
	launches, err := l.List(ctx, launchlog.Filter{Limit: launchlog.MaxLaunch})
	wantError(t, err, nil)
	want(t, "launches: one per key", len(launches), len(d.keys))
	recorded := 0
	for _, launch := range launches {
		want(t, "launch of "+launch.Key, launch.ID, d.keys[launch.Key])
		claims, err := l.Claims(ctx, launch.ID, 0, launchlog.MaxGenerators)
		wantError(t, err, nil)
		want(t, "every number has its record", len(claims), launch.NextGenerator)
		recorded += len(claims)
		events, err := l.Events(ctx, launch.ID)
		wantError(t, err, nil)
		kinds := []string{"started"}
		if !launch.Running() {
			kinds = append(kinds, "ended")
		}
		want(t, "number of events", len(events), len(kinds))
		for i := range min(len(events), len(kinds)) {
			want(t, "event", events[i].Kind, kinds[i])
		}
	}
	for pair := range d.pairs {
		claims, err := l.Claims(ctx, pair[0], pair[1], 1)
		wantError(t, err, nil)
		if len(claims) != 1 || claims[0].Generator != pair[1] {
			t.Errorf("pair %v was handed out, and has no record", pair)
		}
	}
	if recorded < len(d.pairs) || recorded > len(d.pairs)+d.lost {
		t.Errorf("%d claims are recorded, %d were acknowledged, and %d cut off", recorded,
			len(d.pairs), d.lost)
	}
	want(t, "ranges with repeated numbers", Repeats(d.ranges), 0)
	last, err := c.Last(ctx)
	wantError(t, err, nil)
	for _, r := range d.ranges {
		if r.First+r.N-1 > last {
			t.Errorf("numbers from %d on were handed out by a counter that is at %d", r.First, last)
		}
	}
}

// Operator is for [Disturb]. It advances the launches and a counter, which takes rows that the
// others have and want.
func Operator(l *launchlog.Log, n int) error {
	found, err := l.List(ctx, launchlog.Filter{Limit: 1})
	if err != nil {
		return err
	}
	last := 1 + n%3
	if len(found) != 0 {
		last += found[0].ID
	}
	var refused *launchlog.RequestError // another one was started since
	if _, err := l.Advance(ctx, last, "operator"); err != nil && !errors.As(err, &refused) {
		return err
	}
	c, err := l.Counter("c")
	if err == nil {
		_, err = c.Advance(ctx, int64(n+1)*7, "operator")
	}
	return err
}
