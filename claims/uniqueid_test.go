package claims_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// What can go wrong with leases that have a session or a time to live, as docs/claims.md lists it,
// and does not here.

// once counts IDs, and complains about one that came before.
type once map[idtype.EightByteID]bool

func (o once) mint(t *testing.T, g *generator.EightByte, n int) error {
	t.Helper()
	for range n {
		id, err := g.Next(ctx)
		if err != nil {
			return err
		}
		if o[id] {
			t.Fatalf("%v came twice", id)
		}
		o[id] = true
	}
	return nil
}

// newPairs is an eightbyte generator over claims, by a clock of the test's.
func newPairs(
	t *testing.T, l *launchlog.Log, clock generator.Clock, o claims.Options,
) (*generator.EightByte, *claims.Source[generator.EightBytePair]) {
	t.Helper()
	s := must(claims.Pairs(l, &o))(t)
	g := must(generator.NewEightByte(idtype.EightByteSpread, s, &generator.Options{Clock: clock}))(t)
	return g, s
}

// A process is stopped for longer than its number is lent, after it has read its clock. Another one
// has the number by then. The first goes on with the time that it had read.
func TestPauseBeyondTheLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, FailWhenLent: true}
		o.Holder = "pod-1"
		minted := once{}
		stopped := generator.NewTestClock(time.Now())
		first, _ := newPairs(t, l, stopped, o)
		if err := minted.mint(t, first, 100); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		o.Holder = "pod-2"
		second, _ := newPairs(t, l, generator.NewTestClock(time.Now()), o)
		if err := minted.mint(t, second, 1000); err != nil {
			t.Fatal(err)
		}
		// It goes on: with the clock that stands still, then with a right one.
		if err := minted.mint(t, first, 100); err != nil {
			t.Error(err)
		}
		stopped.Set(time.Now())
		var lent *claims.LentError
		if err := minted.mint(t, first, 1); !errors.As(err, &lent) {
			t.Errorf("a number that another one has: %v", err)
		}
		if err := minted.mint(t, second, 1000); err != nil {
			t.Error(err)
		}
	})
}

// A claim that blocks gets a window. If that has passed by the time of the answer, nothing is
// stamped in it.
func TestClaimThatBlocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &stuck{Store: memory.New(nil), gate: make(chan struct{})}
		l := newLog(t, store)
		g := must(generator.NewTrace(must(claims.Nodes(l, nil))(t), nil))(t)
		var id idtype.TraceID
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			id, err = g.Next(ctx)
		}()
		synctest.Wait()
		time.Sleep(20 * time.Second) // four windows long
		answered := time.Now()
		close(store.gate)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		if at, _ := id.Times(time.Now().Add(time.Hour)); at.Before(answered.Truncate(time.Second)) {
			t.Errorf("%v is stamped with %v, and the number was had at %v", id, at, answered)
		}
		if last := last(t, l, fmt.Sprint("trace/", id.Node())); last < answered.Unix() {
			t.Errorf("the counter stands at %d, at %v", last, answered)
		}
	})
}

// Generator and cluster are one number. Whatever happens to the list of clusters meanwhile, a
// window's pair is that of the counter that was raised for it.
func TestPairIsOneNumber(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		windows := map[generator.EightBytePair][]storesuite.Range{}
		old := []int{0}
		part := &claims.Range{Min: 0, Max: 1}
		sources := make([]*claims.Source[generator.EightBytePair], 6)
		for i := range 200 {
			list := []int{i % 5, 5 + i%3}
			if err := claims.EightByte.SetClusters(ctx, l, old, list, "ann"); err != nil {
				t.Fatal(err)
			}
			old = list
			n := i % len(sources)
			if i%40 == n {
				sources[n] = nil // it crashes
			}
			if sources[n] == nil {
				o := &claims.Options{Part: part, FailWhenLent: true, Quiet: time.Second}
				sources[n] = must(claims.Pairs(l, o))(t)
			}
			w, err := sources[n].NextWindow(ctx, now(ms), ms)
			var lent *claims.LentError
			if errors.As(err, &lent) {
				time.Sleep(time.Second)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("eightbyte/%d/%d", w.Number.Cluster, w.Number.Generator)
			if got := last(t, l, name); got != w.To-1 {
				t.Errorf("%+v, and %s stands at %d", w, name, got)
			}
			windows[w.Number] = append(windows[w.Number],
				storesuite.Range{First: w.From, N: w.To - w.From})
			time.Sleep(700 * time.Millisecond)
		}
		for pair, list := range windows {
			if n := storesuite.Repeats(list); n != 0 {
				t.Errorf("%+v: %d windows overlap", pair, n)
			}
		}
		if len(windows) < 8 {
			t.Errorf("%d pairs show too little", len(windows))
		}
	})
}

// Processes that crash leave nothing that somebody has to clear up: their numbers come free by
// themselves, and the registry does not grow.
func TestCrashesLeakNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		o := claims.Options{Part: &claims.Range{Min: 0, Max: 3}}
		for range 60 {
			s := must(claims.Partitions(l, &o))(t)
			g := must(generator.NewSno(s, &generator.Options{MaxWait: 3 * time.Minute}))(t)
			before := time.Now()
			must(g.Next(ctx))(t)
			if d := time.Since(before); d > 90*time.Second {
				t.Errorf("it waited for %v", d)
			}
		} // and is gone
		if rows := must(l.Counters(ctx, "", 0))(t); len(rows) != 4 {
			t.Errorf("%d counters of 4 numbers", len(rows))
		}
	})
}

// A clock that goes back repeats nothing: within a millisecond, while an app runs, and over a
// restart, after which another number is at hand.
func TestClockSetBackRepeatsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		o := claims.Options{Holder: "pod-1"}
		minted := once{}
		at := time.Now()
		clock := generator.NewTestClock(at)
		g, _ := newPairs(t, l, clock, o)
		for _, after := range []time.Duration{0, 0, -1, 0, 1, -20, 5, -300, 2} {
			clock.Set(at.Add(after * time.Millisecond))
			if err := minted.mint(t, g, 10); err != nil {
				t.Fatalf("%d ms: %v", after, err)
			}
		}
		g, s := newPairs(t, l, generator.NewTestClock(at.Add(-time.Hour)), o)
		if err := minted.mint(t, g, 1000); err != nil {
			t.Error(err)
		}
		if rows := must(l.Counters(ctx, "", 0))(t); len(rows) != 2 || !slices.ContainsFunc(rows,
			func(r launchlog.CounterState) bool {
				return r.Name == "eightbyte/"+s.Stats().Number && r.Value < at.UnixMilli()-3_500_000
			}) {
			t.Errorf("%+v after a start an hour back with %+v", rows, s.Stats())
		}
		within, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := g.Ready(within); err != nil {
			t.Error(err)
		}
	})
}
