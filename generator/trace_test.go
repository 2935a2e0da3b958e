package generator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype/formats"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

var _ = add(scheme{
	name: "trace", id: idtype.SchemeTrace, typ: "TraceID", unit: time.Second,
	begin: time.Unix(0, 0), end: time.Unix(1<<33, 0),
	first: 1, last: 1<<22 - 1, numbers: 1 << 16, part: "node_no", ascends: true,
	make: func(w windows, o *generator.Options) (*timed, error) {
		g, err := generator.NewTrace(numbered(w, func(n int) int { return n }), o)
		if err != nil {
			return nil, err
		}
		return adapt(g, func(id idtype.TraceID) mark {
			intact(id)(id.Parts().ID())
			// Of the times with this timestamp, the nearest to what was stamped last. One that
			// was stamped before may be later, where the clock went back.
			last, _ := id.Times(g.Stats().Time.Add(formats.TracePeriod / 2))
			return mark{id.Parts().Node, last.UnixNano(), 0, id.Parts().Bottom}
		}), nil
	},
	zero: adapt[idtype.TraceID](new(generator.Trace), nil),
})

// TestTracePeriod: where the timestamp wraps, IDs begin again, and nothing of the time leaks into
// other bits.
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
