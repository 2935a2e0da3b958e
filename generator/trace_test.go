package generator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

func newTrace(
	t testing.TB, node int, o generator.Options,
) (*generator.Trace, *generator.TestClock) {
	t.Helper()
	clock := generator.NewTestClock(noon.Add(-time.Second))
	o.Clock = clock
	g, err := generator.NewTrace(generator.Given(node), &o)
	if err != nil {
		t.Fatal(err)
	}
	clock.Set(noon)
	return g, clock
}

// TestTracePeriod: where the timestamp wraps, IDs begin again, and nothing of the time leaks into
// other bits.
func TestTracePeriod(t *testing.T) {
	g, clock := newTrace(t, 65535, generator.Options{})
	clock.Set(time.Unix(55*(1<<25)-1, 0))
	for _, want := range []idtype.TraceParts{
		{Timestamp: 1<<25 - 1, Node: 65535, Bottom: 1},
		{Timestamp: 0, Node: 65535, Bottom: 1},
		{Timestamp: 1, Node: 65535, Bottom: 1},
	} {
		if id, err := g.Next(ctx); err != nil || id.Parts() != want {
			t.Errorf("minted %+v, %v, want %+v", id.Parts(), err, want)
		}
		clock.Add(time.Second)
	}
}

// TestTraceClockThatJumps: times repeat IDs if they are a multiple of the period apart, and only
// then. Trace says so of clocks that jump, for Ceiling as well.
func TestTraceClockThatJumps(t *testing.T) {
	period := idtype.TracePeriod
	for _, jump := range []time.Duration{
		period - time.Second, period, period + time.Second, 2 * period, 3*period + time.Hour,
	} {
		clock := generator.NewTestClock(noon)
		g, err := generator.NewTrace(generator.Ceiling(1, &kept{}, 3*time.Second),
			&generator.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		before, err := g.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		clock.Add(jump)
		after, err := g.Next(ctx)
		if repeats := after == before; err != nil || repeats != (jump%period == 0) {
			t.Errorf("a jump by %v repeats %v: %v, %v", jump, before, repeats, err)
		}
	}
}

// TestTraceThread: the pools of threads are the source's split, as docs/design/formats.md has it:
// the thread in front, a counter of at least 1 behind.
func TestTraceThread(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 100, 1000, 4096, 32767, 32768} {
		end, each := 0, 0
		for thread := range threads {
			p, err := generator.TraceThread(thread, threads)
			if err != nil {
				t.Fatal(err)
			}
			if thread == 0 {
				each = p.Max + 1
				if each&(each-1) != 0 || each*threads > 1<<22 || each*threads <= 1<<21 {
					t.Fatalf("%d threads have %d counters each: %d of 4194304", threads, each,
						each*threads)
				}
			}
			if p.Min != end+1 || p.Max != end+each-1 {
				t.Fatalf("thread %d of %d has %+v after %d, want counters 1 to %d", thread, threads,
					*p, end, each-1)
			}
			end += each
		}
		for _, thread := range []int{0, threads - 1} {
			p, _ := generator.TraceThread(thread, threads)
			if _, err := generator.NewTrace(generator.Given(1),
				&generator.Options{Pool: p}); err != nil {
				t.Errorf("thread %d of %d: %v", thread, threads, err)
			}
		}
	}
	for _, bad := range []struct {
		thread, threads int
		want            string
	}{
		{0, 0, "generator: threads 0 is outside 1..32768"},
		{0, -1, "generator: threads -1 is outside 1..32768"},
		{0, 32769, "generator: threads 32769 is outside 1..32768"},
		{-1, 4, "generator: thread -1 is outside 0..3"},
		{4, 4, "generator: thread 4 is outside 0..3"},
	} {
		p, err := generator.TraceThread(bad.thread, bad.threads)
		if !errors.As(err, new(*generator.OptionError)) || p != nil || err.Error() != bad.want {
			t.Errorf("TraceThread(%d, %d) = %v, %v, want %s", bad.thread, bad.threads, p, err,
				bad.want)
		}
	}
}

// wantOwned fails unless o mints this chunk and counter of the second that is so many after noon.
func wantOwned(t *testing.T, o *generator.OwnedTrace, second, chunk, counter int) {
	t.Helper()
	id, err := o.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := [4]int{id.Timestamp() - idtype.TraceTimestamp(noon), id.Node(), id.Chunk(), id.Counter()}
	if want := [4]int{second, 7, chunk, counter}; got != want {
		t.Fatalf("minted second, node, chunk and counter %d, want %d", got, want)
	}
}

// TestOwnedTrace: chunks as elfo has them, which end with their second.
func TestOwnedTrace(t *testing.T) {
	g, clock := newTrace(t, 7, generator.Options{})
	a, b := g.Owned(), g.Owned()
	for counter := 1; counter <= 1023; counter++ {
		wantOwned(t, a, 0, 0, counter)
	}
	wantOwned(t, b, 0, 1, 1)
	wantOwned(t, a, 0, 2, 1)
	wantOwned(t, b, 0, 1, 2)
	clock.Add(time.Second - 1)
	wantOwned(t, a, 0, 2, 2)
	clock.Add(1)
	wantOwned(t, a, 1, 0, 1)
	wantOwned(t, b, 1, 1, 1)
	wantOwned(t, a, 1, 0, 2)
	if st := g.Stats(); st.Issued != 1023+1024+1024+1023+1024 {
		t.Errorf("%+v", st)
	}

	// The shared generator mints between, and the rest of its chunk goes to one owner.
	clock.Add(time.Second)
	for range 10 {
		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	wantOwned(t, a, 2, 0, 11)
	wantOwned(t, b, 2, 1, 1)
	if id, err := g.Next(ctx); err != nil || id.Bottom() != 2<<10 {
		t.Errorf("minted %+v, %v: the shared generator has no use for chunks", id.Parts(), err)
	}
	wantOwned(t, g.Owned(), 2, 2, 1)
}

// TestOwnedTraceSecond: a second has 4,096 chunks, and the next owner waits.
func TestOwnedTraceSecond(t *testing.T) {
	g, clock := newTrace(t, 7, generator.Options{})
	owners := make([]*generator.OwnedTrace, 4096)
	for chunk := range owners {
		owners[chunk] = g.Owned()
		wantOwned(t, owners[chunk], 0, chunk, 1)
	}
	wantAt(t, clock, 0)
	wantOwned(t, g.Owned(), 1, 0, 1)
	wantAt(t, clock, time.Second)
	for counter := 2; counter <= 1023; counter++ { // it has moved on, and so have the others
		wantOwned(t, owners[9], 1, 1, counter-1)
	}
}

// TestOwnedTraceUsesChunksUp: also while the clock is behind their second, which has not ended
// then.
func TestOwnedTraceUsesChunksUp(t *testing.T) {
	g, clock := newTrace(t, 7, generator.Options{})
	o := g.Owned()
	wantOwned(t, o, 0, 0, 1)
	clock.Add(-5 * time.Second)
	for counter := 2; counter <= 1023; counter++ {
		wantOwned(t, o, 0, 0, counter)
	}
	wantOwned(t, o, 0, 1, 1)
	wantAt(t, clock, -5*time.Second)
}

// TestOwnedTraceFails: a regression is an error for an owner as well, where that is the policy.
func TestOwnedTraceFails(t *testing.T) {
	g, clock := newTrace(t, 7, generator.Options{Regression: generator.RegressionFails})
	o := g.Owned()
	wantOwned(t, o, 0, 0, 1)
	clock.Add(-1)
	if id, err := o.Next(ctx); !errors.Is(err, generator.ErrClockBehind) || id != 0 {
		t.Errorf("minted %+v, %v", id.Parts(), err)
	}
	clock.Add(1)
	wantOwned(t, o, 0, 0, 2)
}

// TestOwnedTracePools: owners keep to a pool, also one that is no multiple of a chunk, or smaller.
func TestOwnedTracePools(t *testing.T) {
	for _, pool := range []generator.Pool{
		{1, 1},
		{1, 3},
		{1023, 1025},
		{1024, 1025},
		{5000, 9000},
		{1<<22 - 1, 1<<22 - 1},
		{1024, 1024},
		{2048, 2048},
	} {
		t.Run(fmt.Sprintf("%d..%d", pool.Min, pool.Max), func(t *testing.T) {
			stop, cancel := context.WithCancel(ctx)
			defer cancel()
			counting := &stopping{Clock: generator.NewTestClock(noon), left: 20, stop: cancel}
			g, err := generator.NewTrace(generator.Given(7),
				&generator.Options{Pool: &pool, Clock: counting})
			if err != nil {
				t.Fatal(err)
			}
			owners := []*generator.OwnedTrace{g.Owned(), g.Owned(), g.Owned()}
			seen := map[idtype.TraceID]bool{}
			for i := range 9 {
				id, err := owners[i%3].Next(stop)
				if stop.Err() != nil {
					t.Fatalf("it waits for a chunk for ever: %v", err)
				}
				if err != nil {
					break // a pool without any counter of 1 or more has no chunks
				}
				if seen[id] || id.Bottom() < pool.Min || id.Bottom() > pool.Max ||
					id.Counter() == 0 {
					t.Errorf("minted %+v", id.Parts())
				}
				seen[id] = true
			}
		})
	}
}

// stopping ends a context after so many sleeps.
type stopping struct {
	generator.Clock
	left int
	stop context.CancelFunc
}

func (s *stopping) Sleep(ctx context.Context, d time.Duration) error {
	if s.left--; s.left == 0 {
		s.stop()
	}
	return s.Clock.Sleep(ctx, d)
}
