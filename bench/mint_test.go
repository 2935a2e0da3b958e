package bench

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// The generators in turn of each scheme with a cap. The turns of a round take longer than the unit
// of time in which a generator has its slots. One generator's turns take no more slots than it has.
const (
	traceGenerators, traceTurns         = 64, 16
	snoGenerators, snoTurns             = 16, 16
	shortGenerators, shortTurns         = 128, 8
	shortBlock                          = 32
	eightByteGenerators, eightByteTurns = 1024, 2
	eightByteBlock                      = 16
	snowflakeGenerators, snowflakeTurns = 64, 2
)

// BenchmarkMint is one ID of ours, below the caps.
func BenchmarkMint(b *testing.B) {
	b.Run("decimal", mintDecimal)
	b.Run("trace", mintTrace)
	b.Run("sno", mintSno)
	b.Run("short", mintShort)
	b.Run("eightbyte", mintEightByte)
	b.Run("snowflake", mintSnowflake)
}

// mintSnowflake is Twitter's layout, and one that bwmarrin/snowflake is measured with: 20 bits of
// step are no cap.
func mintSnowflake(b *testing.B) {
	r := ours(snowflakeGenerators, snowflakeTurns, func(i int) *generator.Snowflake {
		return must(generator.NewSnowflake(generator.Given(i), nil))
	})
	belowCap(b, "shared", r, time.Millisecond, block, func() (sum uint64) {
		g := r.next()
		for range block {
			id, err := g.Next(ctx)
			check(err)
			sum ^= uint64(id)
		}
		return sum
	})
	g := must(generator.NewSnowflakeIn[manySteps](generator.Given(1), nil))
	b.Run("20-step-bits", func(b *testing.B) {
		shared(b, block, func() (sum uint64) {
			for range block {
				id, err := g.Next(ctx)
				check(err)
				sum ^= uint64(id)
			}
			return sum
		})
	})
}

type manySteps struct{}

var manyStepsLayout = idtype.MustSnowflakeLayout(idtype.SnowflakeBits{Node: 2, Step: 20})

func (manySteps) Layout() *idtype.SnowflakeLayout { return manyStepsLayout }

func mintSno(b *testing.B) {
	r := ours(snoGenerators, snoTurns, func(i int) *generator.Sno {
		return must(generator.NewSno(generator.Given(i), nil))
	})
	belowCap(b, "shared", r, 4*time.Millisecond, block, func() (sum uint64) {
		g := r.next()
		for range block {
			id, err := g.Next(ctx)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
}

func mintShort(b *testing.B) {
	r := ours(shortGenerators, shortTurns, func(int) *generator.Short {
		return must(generator.NewShort(generator.Given(struct{}{}), nil))
	})
	belowCap(b, "shared", r, time.Millisecond, shortBlock, func() (sum uint64) {
		g := r.next()
		for range shortBlock {
			id, err := g.Next(ctx)
			check(err)
			sum ^= uint64(id)
		}
		return sum
	})
}

func mintEightByte(b *testing.B) {
	r := ours(eightByteGenerators, eightByteTurns, newEightByte)
	belowCap(b, "shared", r, time.Millisecond, eightByteBlock, func() (sum uint64) {
		g := r.next()
		for range eightByteBlock {
			id, err := g.Next(ctx)
			check(err)
			sum ^= binary.BigEndian.Uint64(id[:])
		}
		return sum
	})
}

func newEightByte(i int) *generator.EightByte {
	return must(generator.NewEightByte(idtype.EightByteSpread,
		generator.Given(generator.EightBytePair{Generator: i}), nil))
}

func mintDecimal(b *testing.B) {
	g := generator.NewTestDecimal(nil)
	b.Run("shared", func(b *testing.B) {
		shared(b, block, func() (sum uint64) {
			for range block {
				id, err := g.Next(ctx)
				check(err)
				sum ^= uint64(id)
			}
			return sum
		})
	})
	b.Run("owned", func(b *testing.B) {
		measure(b, block, func() func() uint64 {
			o := g.Owned(block)
			return func() (sum uint64) {
				for range block {
					id, err := o.Next(ctx)
					check(err)
					sum ^= uint64(id)
				}
				return sum
			}
		})
	})
	b.Run("fill", func(b *testing.B) {
		measure(b, block, func() func() uint64 {
			dst := make([]idtype.DecimalID, block)
			return func() uint64 {
				_, err := g.Fill(ctx, dst)
				check(err)
				return uint64(dst[block-1])
			}
		})
	})
}

func mintTrace(b *testing.B) {
	r := ours(traceGenerators, traceTurns, func(i int) *generator.Trace {
		return must(generator.NewTrace(generator.Given(i), nil))
	})
	belowCap(b, "shared", r, time.Second, block, func() (sum uint64) {
		g := r.next()
		for range block {
			id, err := g.Next(ctx)
			check(err)
			sum ^= uint64(id)
		}
		return sum
	})
}

// ours is a rotation that is ready to mint: a generator begins in the unit of time after the one in
// which it was made.
func ours[G interface {
	Next(context.Context) (T, error)
}, T any](n int, turns uint64, newGenerator func(i int) G) *rotation[G] {
	r := rotate(n, turns, newGenerator)
	for _, g := range r.generators { // after all were made, in order to wait once
		must(g.Next(ctx))
	}
	return r
}

// belowCap is a benchmark of a turn that must not wait: it fails where waiting for the unit of time
// took more than a hundredth.
func belowCap[G interface{ Stats() generator.Stats }](
	b *testing.B, name string, r *rotation[G], unit time.Duration, ids int, turn func() uint64,
) {
	waits := func() (n uint64) {
		for _, g := range r.generators {
			n += g.Stats().Waits
		}
		return n
	}
	b.Run(name, func(b *testing.B) {
		before := waits()
		u := shared(b, ids, turn)
		if n := waits() - before; time.Duration(n)*unit > u.wall/100+unit {
			b.Errorf("%d of %.0f calls waited at a cap: there are too few generators in turn", n,
				u.ids)
		}
	})
}
