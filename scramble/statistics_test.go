package scramble_test

import (
	"math"
	"math/bits"
)

// The statistics by which numbers are told from random ones. Each gives how far they are from what
// is expected of random numbers, in standard deviations. It is the largest of all bits or bytes
// that the statistic looks at.

// limit is what no random numbers reach in the few hundred thousand looks of these tests: their
// chance is 1 in 5,000.
const limit = 6.5

type statistic struct {
	name string
	of   func(bits int, out []uint64) float64
}

var statistics = []statistic{
	{"bit frequency", bitFrequency},
	{"bit serial correlation", bitSerial},
	{"serial correlation", serial},
	{"runs", runs},
	{"byte frequency", byteFrequency},
	{"differences", differences},
}

// ones is how far counts of heads in n throws of a coin are from half of them.
func ones(counts []int, n int) (worst float64) {
	for _, c := range counts {
		worst = max(worst, math.Abs(float64(2*c-n))/math.Sqrt(float64(n)))
	}
	return worst
}

// addBits counts the bits that are set, each by itself.
func addBits(counts []int, x uint64) {
	for ; x != 0; x &= x - 1 {
		counts[bits.TrailingZeros64(x)]++
	}
}

// bitFrequency: each bit is set half of the time.
func bitFrequency(bits int, out []uint64) float64 {
	counts := make([]int, bits)
	for _, x := range out {
		addBits(counts, x)
	}
	return ones(counts, len(out))
}

// bitSerial: each bit differs from itself in the number before half of the time.
func bitSerial(bits int, out []uint64) float64 {
	counts := make([]int, bits)
	for i, x := range out[1:] {
		addBits(counts, x^out[i])
	}
	return ones(counts, len(out)-1)
}

// serial: a number says nothing about the size of the next.
func serial(bits int, out []uint64) float64 {
	centred := func(x uint64) float64 { return math.Ldexp(float64(x), -bits) - 0.5 }
	sum := 0.0
	for i, x := range out[1:] {
		sum += centred(x) * centred(out[i])
	}
	return math.Abs(sum) * 12 / math.Sqrt(float64(len(out)-1)) // each has a variance of 1/12
}

// runs: two thirds of the numbers end a run up or a run down.
func runs(_ int, out []uint64) float64 {
	ends := 0
	for i := 1; i < len(out)-1; i++ {
		if (out[i-1] < out[i]) != (out[i] < out[i+1]) {
			ends++
		}
	}
	n := float64(len(out))
	return math.Abs(float64(ends)-2*(n-2)/3) / math.Sqrt((16*n-29)/90)
}

// byteFrequency: any eight bits side by side have each of their 256 values as often, by chi-square.
func byteFrequency(bits int, out []uint64) (worst float64) {
	for shift := range bits - 7 {
		var counts [256]int
		for _, x := range out {
			counts[x>>shift&255]++
		}
		worst = max(worst, math.Abs(chiSquare(counts[:])))
	}
	return worst
}

// chiSquare is the deviation of counts that are expected to be equal. Numbers that are spread too
// evenly are negative.
func chiSquare(counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	expected, sum := float64(total)/float64(len(counts)), 0.0
	for _, c := range counts {
		sum += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	// Wilson and Hilferty: the cube root is normal, in the tails as well.
	free := float64(len(counts) - 1)
	return (math.Cbrt(sum/free) - (1 - 2/(9*free))) / math.Sqrt(2/(9*free))
}

// differences: those of consecutive numbers do not repeat, as long as they are few among 2^bits.
func differences(bits int, out []uint64) float64 {
	seen := make(map[uint64]bool, len(out))
	repeated := 0.0
	for i, x := range out[1:] {
		d := (x - out[i]) & (1<<bits - 1)
		if seen[d] {
			repeated++
		}
		seen[d] = true
	}
	expected := math.Ldexp(float64(len(out))*float64(len(out))/2, -bits)
	return math.Abs(repeated-expected) / math.Sqrt(expected)
}

// avalanche flips each bit of the inputs. It gives the largest deviation of any output bit from
// flipping half of the time. It also gives the smallest and the largest share of output bits that
// an input bit flips.
func avalanche(bits int, inputs []uint64, f func(uint64) uint64) (deviation, least, most float64) {
	least = 1
	for bit := range bits {
		counts, n := make([]int, bits), 0
		for _, x := range inputs {
			if flipped := x ^ 1<<bit; flipped != 0 {
				addBits(counts, f(x)^f(flipped))
				n++
			}
		}
		all := 0
		for _, c := range counts {
			all += c
		}
		share := float64(all) / float64(n*bits)
		deviation, least, most = max(
			deviation, ones(counts, n),
		), min(
			least, share,
		), max(
			most, share,
		)
	}
	return deviation, least, most
}

// overKeys looks at one ID and its neighbours under many keys: draw gives the permutation of 1 ..=
// 2^bits−1 for the next one. Three deviations. The first is that of an ID's scrambled forms from
// being spread evenly. The second is that of the differences between those of two IDs that differ
// in a bit. The third is that of how often those of four IDs that differ in two bits cancel out.
func overKeys(bits, count int, draw func() func(uint64) uint64) (one, two, four float64) {
	const id = 0xa5 // stays in the domain with two bits flipped
	values := make([]int, 1<<bits)
	pairs := make([][]int, bits)
	for bit := range pairs {
		pairs[bit] = make([]int, 1<<bits)
	}
	cancel := make([]int, bits*bits)
	for range count {
		f := draw()
		x := f(id)
		values[x]++
		near := make([]uint64, bits)
		for a := range near {
			near[a] = f(id ^ 1<<a)
			pairs[a][x^near[a]]++
			for b := range a {
				if x^near[a]^near[b] == f(id^1<<a^1<<b) {
					cancel[a*bits+b]++
				}
			}
		}
	}
	one = math.Abs(chiSquare(values[1:]))
	expected := float64(count) / float64(len(values)-3)
	for a := range pairs {
		two = max(two, math.Abs(chiSquare(pairs[a][1:])))
		for b := range a {
			four = max(four, math.Abs(float64(cancel[a*bits+b])-expected)/math.Sqrt(expected))
		}
	}
	return one, two, four
}
