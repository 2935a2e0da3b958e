package bench

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/idmint/idmint/generator"
)

// BenchmarkRepeats counts what unique IDs have none of: repeats, in 2^24 IDs of one sno generator
// that goroutines share. An op is all of them.
func BenchmarkRepeats(b *testing.B) {
	const ids = 1 << 24
	keys := make([]uint64, ids)
	count := func(name string, goroutines int, newNext func() func() [10]byte) {
		b.Run(fmt.Sprintf("%s/goroutines=%d", name, goroutines), func(b *testing.B) {
			repeats := 0
			for range b.N {
				next := newNext()
				var wg sync.WaitGroup
				for i := range goroutines {
					own := keys[ids*i/goroutines : ids*(i+1)/goroutines]
					wg.Go(func() {
						for i := range own {
							// Time, tick-tock bit and sequence: the rest is the same in all.
							id := next()
							sequence := uint64(binary.BigEndian.Uint16(id[8:]))
							own[i] = binary.BigEndian.Uint64(id[:])>>24<<16 | sequence
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				slices.Sort(keys)
				repeats += ids - len(slices.Compact(keys))
				b.StartTimer()
			}
			b.ReportMetric(float64(repeats)/float64(b.N), "repeats")
			if repeats > 0 && name == "ours" {
				b.Errorf("%d repeats", repeats)
			}
		})
	}
	for goroutines := 2; goroutines <= 8; goroutines++ {
		count("muyo-sno", goroutines, func() func() [10]byte {
			g := newMuyo(0)
			return func() [10]byte { return g.New(0) }
		})
		count("ours", goroutines, func() func() [10]byte {
			g := must(generator.NewSno(generator.Given(0), nil))
			return func() [10]byte { return must(g.Next(ctx)) }
		})
	}
}
