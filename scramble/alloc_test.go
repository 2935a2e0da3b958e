package scramble_test

import (
	"fmt"
	"testing"

	"github.com/idmint/idmint/scramble"
)

var (
	sinkInt int64
	sinkID  UserID
	sinkErr error
)

func TestAllocs(t *testing.T) {
	const id = UserID(14150009200065)
	for _, kind := range kinds {
		p := kind.of(63, number(1)) // in an interface, as in the field of a server
		for name, fn := range map[string]func(){
			"Scramble":   func() { sinkInt, sinkErr = p.Scramble(int64(id)) },
			"Unscramble": func() { sinkInt, sinkErr = p.Unscramble(int64(id)) },
			"ID":         func() { sinkID, sinkErr = scramble.ID(p, id) },
			"Original":   func() { sinkID, sinkErr = scramble.Original(p, id) },
		} {
			if got := testing.AllocsPerRun(1000, fn); got != 0 || sinkErr != nil {
				t.Errorf("%s of %s: %v allocations, %v, want 0", name, kind.name, got, sinkErr)
			}
		}
	}
}

// Through the interface, as a server holds it.
func BenchmarkScramble(b *testing.B) {
	for _, kind := range kinds {
		for _, d := range domains {
			p := kind.of(int(d), number(1))
			name := fmt.Sprintf("%s/Int%d/", kind.name, int(d))
			b.Run(name+"forth", func(b *testing.B) {
				b.ReportAllocs()
				v := int64(1)
				for range b.N {
					v, sinkErr = p.Scramble(v)
				}
				sinkInt = v
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
