package generator

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

var snoLayout = layout{
	scheme: idtype.SchemeSno, typ: "SnoID",
	unit: formats.SnoTimeUnit * time.Millisecond, epoch: formats.SnoEpoch * int64(time.Millisecond),
	maxTick: 1<<formats.SnoTimeBits - 1,
	shift:   21, last: formats.SnoMaxSequence, lag: 4, toggles: true,
}

// Sno mints sno IDs of one partition: up to 65,536 per 4 ms, with all metabytes together, after
// which calls wait for the next 4 ms. It is safe for use by many goroutines.
//
// At its cap, when it sleeps every 4 ms, its IDs may carry a time up to 16 ms old. If the clock
// goes back, the generator toggles the tick-tock bit, and continues with the clock's time. There
// are two exceptions: times that both values of the bit have covered, and times before the start of
// the generator or of its window, when others may have minted. At such times it uses up what is
// left of the latest time, and then waits, as the generators of other schemes do.
type Sno struct {
	timeline
}

// NewSno returns a generator for a partition, 0 ..= 65535. Errors: [*idtype.RangeError],
// [*OptionError].
func NewSno(partitions Windows[int], opts *Options) (*Sno, error) {
	g := &Sno{}
	return orNil(g, start(&g.timeline, snoLayout, partitions, func(partition int) (uint64, error) {
		_, err := idtype.SnoParts{UnixMs: formats.SnoEpoch + 4, Partition: partition}.ID()
		return uint64(partition), err
	}, opts))
}

// Positions of the layout's parts in the first eight bytes. The sequence is in the last two.
const (
	snoMeta     = formats.SnoPartitionBits
	snoTickTock = snoMeta + formats.SnoMetaBits
	snoTime     = snoTickTock + formats.SnoTickTockBits
)

// snoID is SnoParts.ID without its checks.
func snoID(tick, tickTock uint64, meta byte, partition, sequence uint64) (id idtype.SnoID) {
	putSno(&id, tick, tickTock, meta, partition, sequence)
	return id
}

// putSno is snoID for an ID that is already in place: two stores, and no copy.
func putSno(id *idtype.SnoID, tick, tickTock uint64, meta byte, partition, sequence uint64) {
	head := tick<<snoTime | tickTock<<snoTickTock | uint64(meta)<<snoMeta | partition
	binary.BigEndian.PutUint64(id[:], head)
	binary.BigEndian.PutUint16(id[8:], uint16(sequence))
}

// With returns a source of the generator's IDs with a given metabyte. Its errors come from the
// generator.
func (g *Sno) With(meta byte) Source[idtype.SnoID] { return withMeta{g, meta} }

// Next mints one ID with metabyte 0. It looks at ctx only if it has to wait. Errors: [*ClockError],
// [*NumberError], and [*idtype.RangeError] for a clock outside 2010-01-01..2079-09-07.
func (g *Sno) Next(ctx context.Context) (idtype.SnoID, error) { return withMeta{g, 0}.Next(ctx) }

// Fill mints len(dst) IDs with metabyte 0, and takes as many as are left of a time unit at once:
// see [Source].
func (g *Sno) Fill(ctx context.Context, dst []idtype.SnoID) (int, error) {
	return withMeta{g, 0}.Fill(ctx, dst)
}

// withMeta is a [Sno] with a metabyte.
type withMeta struct {
	g    *Sno
	meta byte
}

func (m withMeta) id(word uint64, s *span) idtype.SnoID {
	t := &m.g.timeline
	return snoID(t.tickOf(word), word>>63, m.meta, s.number, t.slotOf(word))
}

func (m withMeta) Next(ctx context.Context) (id idtype.SnoID, err error) {
	if m.g == nil {
		return id, errNotMade
	}
	t := &m.g.timeline
	word, s, err := t.next(ctx)
	if err == nil {
		putSno(&id, t.tickOf(word), word>>63, m.meta, s.number, t.slotOf(word))
	}
	return
}

func (m withMeta) Fill(ctx context.Context, dst []idtype.SnoID) (int, error) {
	if m.g == nil {
		return 0, errNotMade
	}
	return fill(ctx, &m.g.timeline, dst, m.id)
}
