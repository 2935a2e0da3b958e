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
	m, err := scramble.NewMultiplicative(scramble.Int63, number(1))
	if err != nil {
		t.Fatal(err)
	}
	n, err := scramble.NewNetwork(scramble.Int63, number(1))
	if err != nil {
		t.Fatal(err)
	}
	stored := []scramble.Permutation{m, n} // as in the field of a server
	const id = UserID(14150009200065)
	for name, fn := range map[string]func(){
		"Multiplicative.Scramble":   func() { sinkInt, sinkErr = m.Scramble(int64(id)) },
		"Multiplicative.Unscramble": func() { sinkInt, sinkErr = m.Unscramble(int64(id)) },
		"Network.Scramble":          func() { sinkInt, sinkErr = n.Scramble(int64(id)) },
		"Network.Unscramble":        func() { sinkInt, sinkErr = n.Unscramble(int64(id)) },
		"ID of a Multiplicative":    func() { sinkID, sinkErr = scramble.ID(m, id) },
		"ID of a Network":           func() { sinkID, sinkErr = scramble.ID(n, id) },
		"ID of an interface":        func() { sinkID, sinkErr = scramble.ID(stored[1], id) },
		"Original of a Network":     func() { sinkID, sinkErr = scramble.Original(n, id) },
		"Original of an interface":  func() { sinkID, sinkErr = scramble.Original(stored[0], id) },
	} {
		t.Run(name, func(t *testing.T) {
			sinkErr = nil
			if got := testing.AllocsPerRun(1000, fn); got != 0 || sinkErr != nil {
				t.Errorf("%v allocations, %v, want 0", got, sinkErr)
			}
		})
	}
}
