package scramble_test

import (
	"math/rand/v2"
	"testing"

	"github.com/idmint/idmint/scramble"
)

// Each bit of an ID flips each bit of what is shown half of the time.
func TestAvalanche(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, bits int, s sequence, f func(uint64) uint64) bool {
		deviation, least, most := avalanche(bits, s.ids()[:512], f)
		return deviation <= limit && least > 0.48 && most < 0.52
	}
	for _, kind := range kinds {
		for _, d := range domains {
			for _, s := range sequences {
				for _, k := range keys(3) {
					if s.bits <= int(d) && !check(t, int(d), s, function(t, kind.of(int(d), k))) {
						t.Errorf("%s of %d bits, %s, key %x: bits depend on others", kind.name,
							int(d), s.name, k)
					}
				}
			}
		}
	}
	for _, without := range []string{
		"first shift", "first product", "second shift", "second product", "third shift",
	} {
		if check(t, 63, sequences[0], multiplicativeBut(without, rand.New(rand.NewPCG(8, 8)))) {
			t.Errorf("Multiplicative passes without its %s", without)
		}
	}
}

// withRounds is the network with any number of rounds, and keys of its own.
func withRounds(bits, rounds int, r *rand.Rand) func(uint64) uint64 {
	keys := make([]uint64, rounds)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return func(x uint64) uint64 {
		if y := scramble.Rounds(bits, x, keys); y != 0 {
			return y
		}
		return scramble.Rounds(bits, 0, keys)
	}
}

// How many rounds it takes. With n bits each divides what is not random by 2^(n/2), so small
// networks show most.
func TestRounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ bits, enough int }{{8, 6}, {12, 5}} {
		for rounds := tt.enough - 1; rounds <= scramble.RoundsOfNetwork; rounds++ {
			r := rand.New(rand.NewPCG(6, 6))
			one, two, four := overKeys(
				tt.bits, 100_000,
				func() func(uint64) uint64 { return withRounds(tt.bits, rounds, r) },
			)
			t.Logf(
				"%d bits, %d rounds: %.1f, %.1f, %.1f standard deviations", tt.bits, rounds, one,
				two, four,
			)
			if passes := max(one, two, four) <= limit; passes != (rounds >= tt.enough) {
				t.Errorf("%d bits: %d rounds pass: %v, want that %d are enough", tt.bits, rounds,
					passes, tt.enough)
			}
		}
	}
	// With 63 bits three rounds would do, as far as can be seen.
	for rounds := 2; rounds <= 3; rounds++ {
		r := rand.New(rand.NewPCG(7, 7))
		passed := 0
		for _, s := range sequences {
			f := withRounds(63, rounds, r)
			deviation, _, _ := avalanche(63, s.ids()[:1024], f)
			if rejected(63, s.ids(), f) == nil && deviation <= limit {
				passed++
			}
		}
		if passes := passed == len(sequences); passes != (rounds >= 3) {
			t.Errorf("63 bits: %d rounds pass with %d sequences of %d", rounds, passed,
				len(sequences))
		}
	}
}

// Of two IDs that differ in a bit, one says nothing about the other under Network. Under
// Multiplicative it does.
func TestOverKeys(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		r := rand.New(rand.NewPCG(5, 5))
		one, two, four := overKeys(
			8, 100_000,
			func() func(uint64) uint64 { return function(t, kind.of(8, number(r.Uint64()))) },
		)
		t.Logf("%s: %.1f, %.1f, %.1f standard deviations", kind.name, one, two, four)
		if one > limit {
			t.Errorf("%s: an ID is not spread evenly over keys", kind.name)
		}
		if passes := max(two, four) <= limit; passes != (kind.name == network.name) {
			t.Errorf("%s: neighbours look independent: %v, unlike documented", kind.name, passes)
		}
	}
}
