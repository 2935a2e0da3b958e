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

// Short mints short IDs: 512 per millisecond, after which calls wait for the next one. It is safe
// for use by many goroutines.
//
// A short ID has no number of its generator in it. Generators that mint for one table may share
// its times, by a [Ceiling] each over one counter: then they wait for each other. Or they share
// its slots, with disjoint [Pool]s. To rely on the nine random bits is luck.
//
// A millisecond begins with any sequence number of the pool, goes on to the last one, and then from
// the first. So both ends of the texts vary. IDs of one generator ascend from one millisecond to the
// next, and within one except where they pass the pool's last number.
//
// At its cap, where it sleeps each millisecond, IDs may carry a time up to 8 ms old.
type Short struct {
	timeline
}

// NewShort makes a generator. IDs have no number, but windows are needed as for the other
// schemes: Given(struct{}{}) for all times, or Ceiling(struct{}{}, counter, length) for those
// that a counter lends. The error is an [*OptionError].
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

// sequence turns the slots of a tick around within the pool, by a number that the tick alone
// decides. So each slot has a number of its own, for whatever generator and in whatever run. A
// counter that goes on from the last ID would do so only with a memory that survives restarts.
func (g *Short) sequence(tick, slot uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio: multiples spread over all words
	n := g.perTick()
	slot += tick * golden >> 32 * n >> 32
	if slot > g.last {
		slot -= n
	}
	return slot
}

// Next mints one ID. It looks at ctx where it has to wait only. Errors: [*ClockError],
// [*NumberError], and [*idtype.RangeError] for a clock outside 2018-03-01..2157-07-13.
func (g *Short) Next(ctx context.Context) (idtype.ShortID, error) {
	word, s, err := g.next(ctx)
	if err != nil {
		return 0, err
	}
	return g.id(word, s), nil
}

// Fill mints len(dst) IDs, as many of a millisecond as it has left at once: see [Source].
func (g *Short) Fill(ctx context.Context, dst []idtype.ShortID) (int, error) {
	return fill(ctx, &g.timeline, dst, g.id)
}
