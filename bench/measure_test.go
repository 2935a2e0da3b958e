package bench

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var (
	ctx  = context.Background()
	sink atomic.Uint64
)

// block is how many IDs a turn of RunParallel is, because taking a turn costs as much as an ID of
// the fast generators.
const block = 1000

// measure makes each goroutine of RunParallel do its own turn over and over, and reports per ID. A
// turn is ids IDs. It folds them into a number, so that nothing is optimised away. It is a loop
// written out, so that what can be inlined is.
func measure(b *testing.B, ids int, newTurn func() (turn func() uint64)) used {
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		turn, sum := newTurn(), uint64(0)
		for pb.Next() {
			sum ^= turn()
		}
		sink.Store(sum)
	})
	b.StopTimer()
	u := used{ids: float64(b.N) * float64(ids), wall: b.Elapsed(), cpu: cpuTime() - cpu}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(u.wall)/u.ids, "ns/op")
	b.ReportMetric(float64(u.cpu)/u.ids, "cpu-ns/op")
	// whole ones, as go test counts them
	b.ReportMetric(math.Floor(float64(after.TotalAlloc-before.TotalAlloc)/u.ids), "B/op")
	b.ReportMetric(math.Floor(float64(after.Mallocs-before.Mallocs)/u.ids), "allocs/op")
	return u
}

// used is what a benchmark took: time, and time of processors, which waiting takes none of.
type used struct {
	ids       float64
	wall, cpu time.Duration
}

// shared is measure of turns that have no state of their own.
func shared(b *testing.B, ids int, turn func() uint64) used {
	return measure(b, ids, func() func() uint64 { return turn })
}

// cpuTime is what the process has used, the system's time included.
func cpuTime() time.Duration {
	var r syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// rotation is several generators in turn, so that none comes to its cap. The goroutines share one
// for some turns, and all go on to the next.
type rotation[G any] struct {
	generators []G
	turns      uint64 // for each, before the next
	_          [32]byte
	taken      atomic.Uint64
	_          [56]byte
}

func rotate[G any](n int, turns uint64, newGenerator func(i int) G) *rotation[G] {
	r := &rotation[G]{turns: turns}
	for i := range n {
		r.generators = append(r.generators, newGenerator(i))
	}
	return r
}

func (r *rotation[G]) next() G {
	return r.generators[r.taken.Add(1)/r.turns%uint64(len(r.generators))]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
