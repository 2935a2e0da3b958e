package scramble_test

import (
	"fmt"
	"testing"
)

// Through the interface, as a server holds it. "alone" waits for each ID before the next, "many"
// does not.
func BenchmarkScramble(b *testing.B) {
	for _, kind := range kinds {
		for _, d := range domains {
			p := kind.of(int(d), number(1))
			name := fmt.Sprintf("%s/Int%d/", kind.name, int(d))
			b.Run(name+"alone", func(b *testing.B) {
				b.ReportAllocs()
				v := int64(1)
				for range b.N {
					v, sinkErr = p.Scramble(v)
				}
				sinkInt = v
			})
			b.Run(name+"many", func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					sinkInt, sinkErr = p.Scramble(int64(i) + 1)
				}
			})
			b.Run(name+"back", func(b *testing.B) {
				b.ReportAllocs()
				v := int64(1)
				for range b.N {
					v, sinkErr = p.Unscramble(v)
				}
				sinkInt = v
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				sinkInt, sinkErr = kind.of(63, number(uint64(i))).Scramble(1)
			}
		})
	}
}
