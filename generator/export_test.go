package generator

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// What the tests need to see and move: 922 million counters are too many to mint them in each test.

// SkipTo makes g as if it had minted its current number's counters up to the given one. No other
// goroutine may use g.
func (g *Decimal) SkipTo(counter int) {
	last := g.last()
	if last >= usedUp {
		panic("no number to skip within")
	}
	atomic.StoreUint64(&g.word, uint64(counter)*formats.DecimalStep+last%formats.DecimalStep-usedUp)
}

// AnchoredClock makes the default clock, of a system's clock of the test's.
func AnchoredClock(system func() time.Time) Clock { return newAnchoredClock(system) }

// What a register counts on by, and how fast a report raises it.
const (
	RoundLength = roundLength
	Burst       = burst
	PerSecond   = perSecond
)

// Look is a look at the register.
func (g *Decimal) Look(ctx context.Context) error { return g.look(ctx) }

// Begins is the sequence number with which a time begins.
func (g *Short) Begins(at time.Time) int {
	tick, err := g.tickAtTime(at)
	if err != nil {
		panic(err)
	}
	return int(g.sequence(tick, g.first))
}
