package scramble_test

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The statistics accept random numbers.
func TestStatisticsAccept(t *testing.T) {
	t.Parallel()
	for _, d := range domains {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 2))
			next := func(uint64) uint64 { return r.Uint64() >> (64 - d) }
			if by := rejected(int(d), make([]uint64, sample), next); by != nil {
				t.Errorf("random numbers of seed %d are rejected by %v", seed, by)
			}
		}
	}
}

// Each statistic rejects numbers that are random except for a slight defect of its kind.
func TestStatisticsReject(t *testing.T) {
	t.Parallel()
	const n = 63
	for _, tt := range []struct {
		by, defect string
		number     func(r *rand.Rand, last uint64) uint64
	}{
		{
			"bit frequency", "bit 5 is set 53 % of the time",
			func(r *rand.Rand, _ uint64) uint64 {
				x := r.Uint64() >> 1
				if r.IntN(100) < 6 {
					x |= 1 << 5
				}
				return x
			},
		},
		{
			"bit serial correlation", "bit 40 repeats itself 54 % of the time",
			func(r *rand.Rand, last uint64) uint64 {
				x := r.Uint64() >> 1
				if r.IntN(100) < 8 {
					x = x&^(1<<40) | last&(1<<40)
				}
				return x
			},
		},
		{
			"serial correlation", "one number in ten is near the last",
			func(r *rand.Rand, last uint64) uint64 {
				if r.IntN(10) == 0 {
					return last ^ r.Uint64()>>8
				}
				return r.Uint64() >> 1
			},
		},
		{
			"runs", "one number in ten is above the last",
			func(r *rand.Rand, last uint64) uint64 {
				x := r.Uint64() >> 1
				if r.IntN(10) == 0 {
					return max(x, last)
				}
				return x
			},
		},
		{
			"byte frequency", "one value of the lowest byte is five times as frequent",
			func(r *rand.Rand, _ uint64) uint64 {
				x := r.Uint64() >> 1
				if r.IntN(64) == 0 {
					x = x&^0xff | 0x5a
				}
				return x
			},
		},
		{
			"differences", "one number in a thousand follows the last by 12345",
			func(r *rand.Rand, last uint64) uint64 {
				if r.IntN(1000) == 0 {
					return (last + 12345) & (1<<n - 1)
				}
				return r.Uint64() >> 1
			},
		},
	} {
		r, last := rand.New(rand.NewPCG(3, 3)), uint64(0)
		by := rejected(
			n, make([]uint64, sample),
			func(uint64) uint64 { last = tt.number(r, last); return last },
		)
		if !strings.Contains(strings.Join(by, ", "), tt.by) {
			t.Errorf("%s: rejected by %v, want %s", tt.defect, by, tt.by)
		}
	}
}
