package scramble_test

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/scramble"
)

type (
	User   struct{ ID UserID }
	UserID = idtype.Decimal[User]
)

// A kind is one of the constructions, over any number of bits.
type kind struct {
	name string
	of   func(bits int, k scramble.Key) scramble.Permutation
}

var (
	kinds = []kind{
		{"Multiplicative", func(bits int, k scramble.Key) scramble.Permutation {
			return scramble.SmallMultiplicative(bits, k)
		}},
		{"Network", func(bits int, k scramble.Key) scramble.Permutation {
			return scramble.SmallNetwork(bits, k)
		}},
	}
	domains = []scramble.Domain{scramble.Int63, scramble.Int53}
)

// number is the key that ends in the number n: 0 and 1 are those that a weak derivation would show.
func number(n uint64) scramble.Key {
	var k [16]byte
	binary.BigEndian.PutUint64(k[8:], n)
	return scramble.NewKey(k)
}

// keys are count keys: the simplest, and then arbitrary ones.
func keys(count int) []scramble.Key {
	all := [16]byte{}
	for i := range all {
		all[i] = 0xff
	}
	ks := []scramble.Key{number(0), number(1), number(2), scramble.NewKey(all)}
	r := rand.New(rand.NewPCG(1, 1))
	for len(ks) < count {
		k := number(r.Uint64()).Bytes()
		binary.BigEndian.PutUint64(k, r.Uint64())
		ks = append(ks, scramble.NewKey([16]byte(k)))
	}
	return ks[:count]
}
