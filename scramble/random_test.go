package scramble_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// The mapping never changes: what it was chosen by was measured once. These tests show that IDs of
// generators look random under it, and that the tests can tell.

// sample is how many IDs are looked at in a row.
const sample = 1 << 14

// A sequence is the IDs of a generator in the order of minting, from i = 0.
type sequence struct {
	name string
	bits int // of the smallest domain that holds them
	id   func(i int) int64
}

var sequences = []sequence{
	{"counter", 53, func(i int) int64 { return int64(i) + 1 }},
	{"decimal", 53, func(i int) int64 { return (int64(i)+1)*1e10 + 92_00065 }},
	{
		"decimal, four generators", 53,
		func(i int) int64 { return (int64(i/4)+1)*1e10 + int64(i%4)*1e5 + 65 },
	},
	{"trace, one a second", 63, func(i int) int64 { return (int64(i)+12_345_678)<<38 | 7<<22 | 1 }},
	{
		"trace, sixteen a second", 63,
		func(i int) int64 { return (int64(i/16)+12_345_678)<<38 | 7<<22 | int64(i%16) + 1 },
	},
}

// deviation is how far numbers are from random ones, in standard deviations: by how often each bit
// is set, by how often it differs from the number before, by how often a number is above the one
// before and the one behind, or below both, and by how often each value of its lowest byte comes.
func deviation(width int, s sequence, f func(uint64) uint64) (worst float64) {
	out := make([]uint64, sample)
	for i := range out {
		out[i] = f(uint64(s.id(i)))
	}
	set, changed, turns, values := make([]int, width), make([]int, width), 0, [256]int{}
	for i, x := range out {
		values[x&255]++
		addBits(set, x)
		if i == 0 || i == sample-1 {
			continue
		}
		addBits(changed, x^out[i-1])
		if (out[i-1] < x) != (x < out[i+1]) {
			turns++
		}
	}
	const n = float64(sample)
	for _, c := range slices.Concat(set, changed) {
		worst = max(worst, math.Abs(2*float64(c)-n)/math.Sqrt(n))
	}
	square := 0.0 // of values, whose expectation is 255
	for _, v := range values {
		square += (float64(v) - n/256) * (float64(v) - n/256) / (n / 256)
	}
	return max(worst, math.Abs(float64(turns)-2*(n-2)/3)/math.Sqrt((16*n-29)/90),
		math.Abs(square-255)/math.Sqrt(2*255))
}

// addBits counts the bits that are set, each by itself.
func addBits(counts []int, x uint64) {
	for ; x != 0; x &= x - 1 {
		counts[bits.TrailingZeros64(x)]++
	}
}

// limit is what no random numbers reach in these looks: their chance is less than 1 in 10,000.
const limit = 6.5

func TestLooksRandom(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, d := range domains {
			for _, s := range sequences {
				if s.bits > int(d) {
					continue
				}
				for _, k := range keys(12) {
					p := kind.of(int(d), k)
					got := deviation(int(d), s, func(x uint64) uint64 {
						y, err := p.Scramble(int64(x))
						if err != nil {
							t.Fatal(err)
						}
						return uint64(y)
					})
					if got > limit {
						t.Errorf("%s/%d/%s, key %x: %.1f", kind.name, int(d), s.name, k.Bytes(), got)
					}
				}
			}
		}
	}
}

// Random numbers pass. What is less than the permutations of this package does not.
func TestDeviation(t *testing.T) {
	t.Parallel()
	const mask = 1<<63 - 1
	r := rand.New(rand.NewPCG(4, 4))
	a, c := r.Uint64()|1, r.Uint64()
	for name, bad := range map[string]func(x uint64) uint64{
		"identity":               func(x uint64) uint64 { return x },
		"exclusive or":           func(x uint64) uint64 { return x ^ c&mask },
		"plain multiplication":   func(x uint64) uint64 { return x * a & mask },
		"multiplication and sum": func(x uint64) uint64 { return (x*a + c) & mask },
	} {
		for _, s := range sequences {
			if s.name == "counter" && deviation(63, s, bad) <= limit {
				t.Errorf("%s of %s passes", name, s.name)
			}
		}
	}
	for range 40 {
		random := func(uint64) uint64 { return r.Uint64() >> 1 }
		if got := deviation(63, sequences[0], random); got > limit {
			t.Errorf("random numbers deviate by %.1f", got)
		}
	}
}
