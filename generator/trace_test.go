package generator_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/internal/testclock"
)

// TestTracePeriod: where the timestamp wraps, IDs begin again, and nothing of the time leaks into
// other bits. Times repeat IDs if they are a multiple of the period apart, and only then.
func TestTracePeriod(t *testing.T) {
	clock := testclock.New(noon)
	g := made(generator.NewTrace(generator.Given(65535), &generator.Options{Clock: clock}))
	clock.Set(time.Unix(55*(1<<25)-1, 0))
	for _, timestamp := range []int{1<<25 - 1, 0, 1} {
		want := idtype.TraceParts{Timestamp: timestamp, Node: 65535, Bottom: 1}
		if id, err := g.Next(ctx); err != nil || id.Parts() != want {
			t.Errorf("minted %+v, %v, want %+v", id.Parts(), err, want)
		}
		clock.Add(time.Second)
	}
	period := formats.TracePeriod
	for _, jump := range []time.Duration{
		period - time.Second, period, period + time.Second, 2 * period, 3*period + time.Hour,
	} {
		clock := testclock.New(noon)
		g := made(generator.NewTrace(generator.Ceiling(1, &kept{}, 3*time.Second),
			&generator.Options{Clock: clock}))
		before := made(g.Next(ctx))
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
	for threads, each := range map[int]int{
		1: 1 << 22, 2: 1 << 21, 3: 1 << 20, 4: 1 << 20, 5: 1 << 19, 100: 1 << 15, 4096: 1 << 10,
		32767: 1 << 7, 32768: 1 << 7,
	} {
		for thread := range threads {
			p, err := generator.TraceThread(thread, threads)
			if err != nil {
				t.Fatal(err)
			}
			if want := (generator.Pool{Min: thread*each + 1, Max: (thread+1)*each - 1}); *p != want {
				t.Fatalf("thread %d of %d has %+v, want %+v", thread, threads, *p, want)
			}
		}
	}
	for _, bad := range [][2]int{{0, 0}, {0, -1}, {0, 32769}, {-1, 4}, {4, 4}} {
		p, err := generator.TraceThread(bad[0], bad[1])
		if !errors.As(err, new(*generator.OptionError)) || p != nil {
			t.Errorf("TraceThread(%d, %d) = %v, %v", bad[0], bad[1], p, err)
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
	p := id.Parts()
	got := [4]int{
		p.Timestamp - int(noon.Unix()&(1<<25-1)), p.Node, p.Bottom >> 10, p.Bottom & 1023,
	}
	if want := [4]int{second, 7, chunk, counter}; got != want {
		t.Fatalf("minted second, node, chunk and counter %d, want %d", got, want)
	}
}

// TestOwnedTrace: chunks as elfo has them, which end with their second. A clock that goes back does
// not end it.
func TestOwnedTrace(t *testing.T) {
	clock := testclock.New(noon.Add(-time.Second))
	g := made(generator.NewTrace(generator.Given(7), &generator.Options{Clock: clock}))
	clock.Set(noon)
	a, b := g.Owned(), g.Owned()
	for counter := 1; counter <= 1023; counter++ {
		wantOwned(t, a, 0, 0, counter)
	}
	wantOwned(t, b, 0, 1, 1)
	wantOwned(t, a, 0, 2, 1)
	clock.Add(-5 * time.Second)
	wantOwned(t, b, 0, 1, 2)
	clock.Add(6*time.Second - 1)
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
		made(g.Next(ctx))
	}
	wantOwned(t, a, 2, 0, 11)
	wantOwned(t, b, 2, 1, 1)
	if id, err := g.Next(ctx); err != nil || id.Parts().Bottom != 2<<10 {
		t.Errorf("minted %+v, %v: the shared generator has no use for chunks", id.Parts(), err)
	}
	for chunk := 2; chunk < 4096; chunk++ {
		wantOwned(t, g.Owned(), 2, chunk, 1)
	}
	wantAt(t, clock, 2*time.Second)
	wantOwned(t, g.Owned(), 3, 0, 1) // a second has no more, and the next owner waits
	wantAt(t, clock, 3*time.Second)
}

// TestOwnedTracePools: owners keep to a pool, also one that is no multiple of a chunk, or smaller.
// Where a pool has no counter of 1 or more there are no chunks, and nobody waits for one.
func TestOwnedTracePools(t *testing.T) {
	for _, pool := range []generator.Pool{
		{1, 1},
		{1, 3},
		{1023, 1025},
		{1024, 1025},
		{5000, 9000},
		{1<<22 - 1, 1<<22 - 1},
		{2048, 2048},
	} {
		t.Run(fmt.Sprintf("%d..%d", pool.Min, pool.Max), func(t *testing.T) {
			g := made(generator.NewTrace(generator.Given(7),
				&generator.Options{Pool: &pool, Clock: testclock.New(noon)}))
			owners := []*generator.OwnedTrace{g.Owned(), g.Owned(), g.Owned()}
			seen := map[idtype.TraceID]bool{}
			for i := range 9 {
				id, err := owners[i%3].Next(ctx)
				bottom := id.Parts().Bottom
				bad := seen[id] || bottom < pool.Min || bottom > pool.Max || bottom&1023 == 0
				if (err != nil) != (pool.Min == 2048) || err == nil && bad {
					t.Errorf("minted %+v, %v", id.Parts(), err)
				}
				seen[id] = true
			}
		})
	}
}
