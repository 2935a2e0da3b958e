package scramble_test

import (
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
