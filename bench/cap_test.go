package bench

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// BenchmarkCap is one generator that is asked for all that it has. It reports how much of its cap
// the generator gives. It also reports what waiting for the next unit of time takes of a processor.
// Parallel are eight callers.
func BenchmarkCap(b *testing.B) {
	b.Run("eightbyte", func(b *testing.B) {
		g := newEightByte(0)
		atCap(b, 64, time.Millisecond, func(ctx context.Context) uint64 {
			id, err := g.Next(ctx)
			check(err)
			return binary.BigEndian.Uint64(id[:])
		})
	})
	b.Run("short", func(b *testing.B) {
		g := must(generator.NewShort(generator.Given(struct{}{}), nil))
		atCap(b, 512, time.Millisecond, func(ctx context.Context) uint64 {
			id, err := g.Next(ctx)
			check(err)
			return uint64(id)
		})
	})
	b.Run("sno", func(b *testing.B) {
		g := must(generator.NewSno(generator.Given(0), nil))
		atCap(b, 65536, 4*time.Millisecond, func(ctx context.Context) uint64 {
			id, err := g.Next(ctx)
			check(err)
			return fold(id[:])
		})
	})
	b.Run("snowflake-ours", func(b *testing.B) {
		g := must(generator.NewSnowflake(generator.Given(1), nil))
		atCap(b, 4096, time.Millisecond, func(ctx context.Context) uint64 {
			id, err := g.Next(ctx)
			check(err)
			return uint64(id)
		})
	})
	b.Run("sonyflake-ours", func(b *testing.B) {
		g := must(generator.NewSnowflakeIn[idtype.SonyflakeV2](generator.Given(1), nil))
		atCap(b, 256, 10*time.Millisecond, func(ctx context.Context) uint64 {
			id, err := g.Next(ctx)
			check(err)
			return uint64(id)
		})
	})
	b.Run("muyo-sno", func(b *testing.B) {
		g := newMuyo(0)
		atCap(b, 65536, 4*time.Millisecond, func(context.Context) uint64 {
			id := g.New(0)
			return fold(id[:])
		})
	})
	b.Run("snowflake", func(b *testing.B) {
		g := newSnowflake(10, 12)
		atCap(b, 4096, time.Millisecond, func(context.Context) uint64 {
			return uint64(g.Generate())
		})
	})
}

// BenchmarkCrowd is 200 goroutines that mint all the time by one generator, at its cap. It reports
// the longest call, and the fewest IDs of a goroutine as a share of the most. It also reports what
// that takes of a processor.
func BenchmarkCrowd(b *testing.B) {
	const callers = 200
	g := newEightByte(0)
	var taken atomic.Int64
	counts, longest := make([]float64, callers), make([]time.Duration, callers)
	var wg sync.WaitGroup
	cpu := cpuTime()
	b.ResetTimer()
	for i := range callers {
		wg.Go(func() {
			for taken.Add(1) <= int64(b.N) {
				began := time.Now()
				_, err := g.Next(ctx)
				check(err)
				longest[i] = max(longest[i], time.Since(began))
				counts[i]++
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(slices.Max(longest))/float64(time.Millisecond), "worst-ms")
	b.ReportMetric(slices.Min(counts)/slices.Max(counts), "fewest/most")
	b.ReportMetric(100*float64(cpuTime()-cpu)/float64(b.Elapsed()), "%core")
}

// atCap measures a generator of which a unit of time has slots. Callers have a context that can
// end, as those of a server do.
func atCap(b *testing.B, slots int, unit time.Duration, next func(context.Context) uint64) {
	if runtime.GOMAXPROCS(0) > 1 {
		b.SetParallelism(4)
	}
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	const ids = 16
	turn := func() (sum uint64) {
		for range ids {
			sum ^= next(live)
		}
		return sum
	}
	for range 4 * slots / ids { // it has to be at the cap when the time begins
		turn()
	}
	u := shared(b, ids, turn)
	b.ReportMetric(100*u.ids/float64(slots)/(float64(u.wall)/float64(unit)), "%cap")
	b.ReportMetric(100*float64(u.cpu)/float64(u.wall), "%core")
}
