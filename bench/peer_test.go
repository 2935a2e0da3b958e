package bench

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	muyo "github.com/muyo/sno"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/sony/sonyflake/v2"
)

func newMuyo(partition int) *muyo.Generator {
	var p muyo.Partition
	p.PutUint16(uint16(partition))
	return must(muyo.NewGenerator(&muyo.GeneratorSnapshot{Partition: p}, nil))
}

// newSnowflake makes a node with its bits for node and step, which the library takes from variables
// of the package.
func newSnowflake(nodeBits, stepBits uint8) *snowflake.Node {
	oldNode, oldStep := snowflake.NodeBits, snowflake.StepBits
	defer func() { snowflake.NodeBits, snowflake.StepBits = oldNode, oldStep }()
	snowflake.NodeBits, snowflake.StepBits = nodeBits, stepBits
	return must(snowflake.NewNode(1))
}

// fold makes a number of an ID's bytes. It reads the first eight as a word, as most libraries write
// them: a read across two words that were just written waits for both.
func fold(id []byte) uint64 { return binary.BigEndian.Uint64(id) ^ uint64(id[len(id)-1]) }

// BenchmarkPeer is one ID of others, from one generator.
func BenchmarkPeer(b *testing.B) {
	b.Run("muyo-sno", func(b *testing.B) {
		g := newMuyo(0)
		shared(b, block, func() (sum uint64) {
			for range block {
				id := g.New(0)
				sum ^= fold(id[:])
			}
			return sum
		})
	})
	b.Run("muyo-sno-below-cap", func(b *testing.B) { // beside Mint/sno, in the same way
		r := rotate(snoGenerators, snoTurns, newMuyo)
		shared(b, block, func() (sum uint64) {
			g := r.next()
			for range block {
				id := g.New(0)
				sum ^= fold(id[:])
			}
			return sum
		})
	})
	b.Run("xid", func(b *testing.B) {
		shared(b, block, func() (sum uint64) {
			for range block {
				id := xid.New()
				sum ^= fold(id[:])
			}
			return sum
		})
	})
	snowflakes := func(b *testing.B, g *snowflake.Node) {
		shared(b, block, func() (sum uint64) {
			for range block {
				sum ^= uint64(g.Generate())
			}
			return sum
		})
	}
	b.Run("snowflake", func(b *testing.B) { snowflakes(b, newSnowflake(10, 12)) })
	b.Run("snowflake-20-step-bits", func(b *testing.B) { snowflakes(b, newSnowflake(2, 20)) })
	b.Run("sonyflake-20-bits-1ms", func(b *testing.B) {
		g := must(sonyflake.New(sonyflake.Settings{
			BitsSequence: 20, BitsMachineID: 4, TimeUnit: time.Millisecond,
			MachineID: func() (int, error) {
				return 1, nil
			},
		}))
		shared(b, block, func() (sum uint64) {
			for range block {
				id, err := g.NextID()
				check(err)
				sum ^= uint64(id)
			}
			return sum
		})
	})
	b.Run("ulid", func(b *testing.B) {
		shared(b, block, func() (sum uint64) {
			for range block {
				id := ulid.Make()
				sum ^= fold(id[:])
			}
			return sum
		})
	})
	googles := func(b *testing.B) {
		shared(b, block, func() (sum uint64) {
			for range block {
				id, err := google.NewV7()
				check(err)
				sum ^= fold(id[:])
			}
			return sum
		})
	}
	b.Run("google-uuid7", googles)
	b.Run("google-uuid7-pooled", func(b *testing.B) {
		google.EnableRandPool()
		defer google.DisableRandPool()
		googles(b)
	})
	b.Run("gofrs-uuid7", func(b *testing.B) {
		shared(b, block, func() (sum uint64) {
			for range block {
				id, err := gofrs.NewV7()
				check(err)
				sum ^= fold(id[:])
			}
			return sum
		})
	})
}
