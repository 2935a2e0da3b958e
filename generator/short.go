package generator

import (
	"context"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

var shortLayout = layout{
	scheme: idtype.SchemeShort, typ: "ShortID",
	unit: time.Millisecond, epoch: formats.ShortEpoch * int64(time.Millisecond),
	maxTick: formats.ShortMaxUnixMs - formats.ShortEpoch,
	shift:   21, last: formats.ShortMaxSequence, lag: 8,
}

// Short mints short IDs: up to 512 per millisecond, after which calls wait for the next
// millisecond. It is safe for use by many goroutines.
//
// A short ID does not contain a number of its generator. Generators that mint for one table must
// therefore share either time or slots. To share time, each has a [Ceiling] over one common
// counter, and they wait for each other. To share slots, they have disjoint [Pool]s. The nine
// random bits alone do not make IDs unique.
//
// A millisecond begins with any sequence number of the pool, continues to the last one, and then
// from the first, so that both ends of the texts vary. IDs of one generator ascend from one
// millisecond to the next, and also within a millisecond, except after the pool's last number.
//
// At its cap, when it sleeps in every millisecond, its IDs may carry a time up to 8 ms old.
type Short struct {
	timeline
}

// NewShort returns a generator. Its IDs contain no number, but it needs windows like the other
// schemes: Given(struct{}{}) for all times, or Ceiling(struct{}{}, counter, length) for times that
// a counter lends. The error is an [*OptionError].
func NewShort(windows Windows[struct{}], opts *Options) (*Short, error) {
	g := &Short{}
	none := func(struct{}) (uint64, error) { return 0, nil }
	return orNil(g, start(&g.timeline, shortLayout, windows, none, opts))
}

func (g *Short) id(word uint64, _ *span) idtype.ShortID {
	tick := g.tickOf(word)
	id := tick*formats.ShortTimeStep | g.sequence(tick, g.slotOf(word))*formats.ShortSequenceStep
	return idtype.ShortID(id | g.random.Uint64()&formats.ShortMaxRandom)
}

// sequence rotates the slots of a tick within the pool, by an offset that depends on the tick
// alone. Each slot therefore has a different number, which is the same in every generator and every
// run. A sequence that continued from the last ID would need a memory that survives restarts.
func (g *Short) sequence(tick, slot uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 / golden ratio: its multiples spread over all words
	n := g.perTick()
	slot += tick * golden >> 32 * n >> 32
	if slot > g.last {
		slot -= n
	}
	return slot
}

// Next mints one ID. It looks at ctx only if it has to wait. Errors: [*ClockError], [*NumberError],
// and [*idtype.RangeError] for a clock outside 2018-03-01..2157-07-13.
func (g *Short) Next(ctx context.Context) (idtype.ShortID, error) {
	word, s, err := g.next(ctx)
	if err != nil {
		return 0, err
	}
	return g.id(word, s), nil
}

// Fill mints len(dst) IDs, and takes as many as are left of a millisecond at once: see [Source].
func (g *Short) Fill(ctx context.Context, dst []idtype.ShortID) (int, error) {
	return fill(ctx, &g.timeline, dst, g.id)
}
