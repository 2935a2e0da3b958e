package generator_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// counter is the least that a shared generator can be: a word on a cache line of its own, and an
// atomic add.
type counter struct {
	last uint64
	_    [56]byte
}

// The loops that are compared have one shape. A call is inlined, and its result is folded into a
// local variable. So nothing is optimised away, and nothing else is measured. The loops themselves
// are not inlined, or some would be.

//go:noinline
func addLoop(c *counter, n int) (sum uint64) {
	for range n {
		sum ^= atomic.AddUint64(&c.last, idtype.DecimalStep)
	}
	return sum
}

//go:noinline
func nextLoop(g *generator.Decimal, n int) (sum uint64) {
	for range n {
		id, err := g.Next(ctx)
		if err != nil {
			panic(err)
		}
		sum ^= uint64(id)
	}
	return sum
}

//go:noinline
func ownedLoop(o *generator.OwnedDecimal, n int) (sum uint64) {
	for range n {
		id, err := o.Next(ctx)
		if err != nil {
			panic(err)
		}
		sum ^= uint64(id)
	}
	return sum
}

//go:noinline
func fillLoop(g *generator.Decimal, dst []idtype.DecimalID, n int) (sum uint64) {
	for ; n >= len(dst); n -= len(dst) {
		if _, err := g.Fill(ctx, dst); err != nil {
			panic(err)
		}
		sum ^= uint64(dst[len(dst)-1])
	}
	return sum
}

var sum atomic.Uint64

func benchGenerator(tb testing.TB) *generator.Decimal {
	numbers := make([]int, 1000)
	for i := range numbers {
		numbers[i] = i
	}
	return started(tb, newSource(numbers...))
}

func BenchmarkMint(b *testing.B) {
	const block = 1000
	for _, bb := range []struct {
		name string
		loop func(tb testing.TB) func() func(n int) uint64 // per benchmark, and in it per goroutine
	}{
		{"atomic-add", func(testing.TB) func() func(int) uint64 {
			c := new(counter)
			return func() func(int) uint64 { return func(n int) uint64 { return addLoop(c, n) } }
		}},
		{"Next", func(tb testing.TB) func() func(int) uint64 {
			g := benchGenerator(tb)
			return func() func(int) uint64 { return func(n int) uint64 { return nextLoop(g, n) } }
		}},
		{"Owned", func(tb testing.TB) func() func(int) uint64 {
			g := benchGenerator(tb)
			return func() func(int) uint64 {
				o := g.Owned(block)
				return func(n int) uint64 { return ownedLoop(o, n) }
			}
		}},
		{"Fill", func(tb testing.TB) func() func(int) uint64 {
			g := benchGenerator(tb)
			return func() func(int) uint64 {
				dst := make([]idtype.DecimalID, block)
				return func(n int) uint64 { return fillLoop(g, dst, n) }
			}
		}},
	} {
		b.Run(bb.name+"/serial", func(b *testing.B) {
			loop := bb.loop(b)()
			b.ReportAllocs()
			b.ResetTimer()
			sum.Add(loop(roundUp(b.N, block)))
		})
		// RunParallel hands out turns one by one, which costs as much as an ID: each goroutine
		// loops over its share instead.
		b.Run(bb.name+"/parallel", func(b *testing.B) {
			goroutines := runtime.GOMAXPROCS(0)
			perGoroutine := bb.loop(b)
			loops := make([]func(int) uint64, goroutines)
			for i := range loops {
				loops[i] = perGoroutine()
			}
			b.ReportAllocs()
			b.ResetTimer()
			inParallel(
				goroutines, func(i int) { sum.Add(loops[i](roundUp(b.N/goroutines, block))) },
			)
		})
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

func inParallel(goroutines int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// BenchmarkRatio measures what the documentation claims. One loop has rounds of an atomic add and
// of ours in turn, so that whatever else the machine does meets both. The ratio is the median over
// the rounds. Its ns/op is of no meaning.
func BenchmarkRatio(b *testing.B) {
	const (
		rounds = 50
		ids    = 2_000_000 // per round
		block  = 1000
	)
	for _, goroutines := range slices.Compact([]int{1, runtime.GOMAXPROCS(0)}) {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			c, g := new(counter), benchGenerator(b)
			owned := make([]*generator.OwnedDecimal, goroutines)
			dst := make([][]idtype.DecimalID, goroutines)
			for i := range goroutines {
				owned[i], dst[i] = g.Owned(block), make([]idtype.DecimalID, block)
			}
			each := ids / goroutines
			timed := func(f func(i int)) float64 {
				start := time.Now()
				inParallel(goroutines, f)
				return float64(time.Since(start).Nanoseconds()) / ids
			}
			var add, next, own, fill, ratio []float64
			for range b.N {
				for round := range rounds {
					g.SkipTo(1) // away from the look-ahead, behind which Next takes a longer way
					var a, n float64
					for turn := range 2 { // each is first in half of the rounds
						if turn == round%2 {
							a = timed(func(i int) { sum.Add(addLoop(c, each)) })
						} else {
							n = timed(func(i int) { sum.Add(nextLoop(g, each)) })
						}
					}
					add, next, ratio = append(add, a), append(next, n), append(ratio, n/a)
					own = append(own, timed(func(i int) { sum.Add(ownedLoop(owned[i], each)) }))
					fill = append(fill, timed(func(i int) { sum.Add(fillLoop(g, dst[i], each)) }))
				}
			}
			b.ReportMetric(0, "ns/op") // suppresses it
			b.ReportMetric(median(ratio), "x-atomic-add")
			b.ReportMetric(median(add), "ns/atomic-add")
			b.ReportMetric(median(next), "ns/Next")
			b.ReportMetric(median(own), "ns/Owned")
			b.ReportMetric(median(fill), "ns/Fill")
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
