package generator

import (
	"context"
	"math/bits"
	"strconv"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

var eightByteLayout = layout{
	scheme: idtype.SchemeEightByte, typ: "EightByteID",
	unit: time.Millisecond, maxTick: formats.EightByteMaxUnixMs, shift: 21,
	last: formats.EightByteMaxSequence, lag: 8,
}

// EightBytePair is the number of an eightbyte generator: the generator_id and the cluster_id of
// docs/design/formats.md, claimed together.
type EightBytePair struct {
	Generator int `json:"generator_id"` // 0 ..= 2047
	Cluster   int `json:"cluster_id"`   // 0 ..= 15
}

// EightByte mints eightbyte IDs of one mode: up to 64 per millisecond, after which calls wait for
// the next millisecond. It is safe for use by many goroutines.
//
// At its cap, when it sleeps in every millisecond, its IDs may carry a time up to 8 ms old.
type EightByte struct {
	timeline
	spread bool
}

// NewEightByte returns a generator for a pair, which is [Given] or claimed. docs/design/formats.md
// names the corresponding generators of java-uniqueid for both modes. Errors: [*idtype.RangeError],
// [*OptionError].
func NewEightByte(
	mode idtype.EightByteMode, pairs Windows[EightBytePair], opts *Options,
) (*EightByte, error) {
	if mode != idtype.EightByteSpread && mode != idtype.EightByteTimeSequential {
		return nil, &OptionError{
			"mode", strconv.Quote(string(mode)), "must be SPREAD or TIME_SEQUENTIAL",
		}
	}
	g := &EightByte{spread: mode == idtype.EightByteSpread}
	encode := func(p EightBytePair) (uint64, error) {
		id, err := idtype.EightByteParts{
			Mode: mode, UnixMs: 1, Generator: p.Generator, Cluster: p.Cluster,
		}.ID()
		return id.Uint64() & (1<<eightByteTail - 1), err
	}
	return orNil(g, start(&g.timeline, eightByteLayout, pairs, encode, opts))
}

// Positions of the layout's parts in the eight bytes, read as a number.
const (
	eightByteTime = 64 - formats.EightByteTimeBits                // bits below the time
	eightByteTail = eightByteTime - formats.EightByteSequenceBits // of generator, mode and cluster
)

func (g *EightByte) id(word uint64, s *span) idtype.EightByteID {
	ms := g.tickOf(word)
	stamp := ms << eightByteTime
	if g.spread {
		stamp = bits.Reverse64(ms)
	}
	return idtype.EightByteFromUint64(stamp | g.slotOf(word)<<eightByteTail | s.number)
}

// Next mints one ID. It looks at ctx only if it has to wait. Errors: [*ClockError], [*NumberError],
// and [*idtype.RangeError] for a clock outside 1970-01-01..2109-05-15.
func (g *EightByte) Next(ctx context.Context) (idtype.EightByteID, error) {
	word, s, err := g.next(ctx)
	if err != nil {
		return idtype.EightByteID{}, err
	}
	return g.id(word, s), nil
}

// Fill mints len(dst) IDs, and takes as many as are left of a millisecond at once, like
// java-uniqueid's batch: see docs/design/formats.md and [Source].
func (g *EightByte) Fill(ctx context.Context, dst []idtype.EightByteID) (int, error) {
	return fill(ctx, &g.timeline, dst, g.id)
}
