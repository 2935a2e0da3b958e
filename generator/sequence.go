package generator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/nilable"
)

// Sequence mints sequence IDs from a counter in a database. With a block size of 1, each ID is a
// step of the counter: IDs ascend over all processes, but minting is as slow as the database. With
// larger blocks (hi/lo), a process counts through a block without asking the database, and fetches
// the next block before it is needed: IDs ascend within each generator. The rest of a block stays
// unused when the generator is dropped. A Sequence is safe for use by many goroutines.
type Sequence struct {
	counter Counter
	size    int64
	most    int64                 // the highest ID allowed
	block   atomic.Pointer[block] // the block in use
	blocks  requester[*block]

	// For blocks of 1: the highest ID reserved, and the error after the counter fell below it.
	highest atomic.Uint64
	stopped atomic.Pointer[NumberError]

	taken, opened atomic.Uint64 // for Stats; taken does not include the block in use
}

// A block is a range of IDs in use.
type block struct {
	// last is the ID that was minted last. A call adds one, and owns the ID that it gets.
	last      atomic.Uint64
	_         [56]byte // calls write last all the time, so the rest must not share its cache line
	first     uint64
	lookAhead uint64 // a tenth of the block is left from this ID on
	end       uint64 // the last ID
	ask       uint64 // the ID from which the next block is requested; guarded by blocks.mu
}

// NewSequence returns a generator that takes size IDs from the counter at a time. A log counter
// must not have a name that idmint itself uses: see the Counter method of launchlog's Log. The
// error is an [*OptionError].
func NewSequence(counter Counter, size int64) (*Sequence, error) {
	return NewSequenceUpTo(counter, size, math.MaxInt64)
}

// NewSequenceUpTo is like NewSequence, but limits the IDs to most. A block that would exceed it is
// an [*idtype.RangeError] within a [*NumberError], and its numbers stay unused. IDs up to 1<<53 - 1
// fit into the numbers of JavaScript: see [idtype.AsNumber].
func NewSequenceUpTo(counter Counter, size, most int64) (*Sequence, error) {
	if most < 1 {
		return nil, &OptionError{"most", strconv.FormatInt(most, 10), "must be at least 1"}
	}
	if size < 1 || size > math.MaxInt32 {
		return nil, &OptionError{"size", strconv.FormatInt(size, 10), "must be in 1..2147483647"}
	}
	if nilable.IsNil(counter) {
		return nil, noSource("counter")
	}
	g := &Sequence{counter: counter, size: size, most: most}
	g.block.Store(&block{})
	g.blocks.ask = func(ctx context.Context) (*block, error) { return g.reserve(ctx, size) }
	g.blocks.trouble = troubleOf(counter)
	g.blocks.settled = g.check
	return g, nil
}

func (g *Sequence) reserve(ctx context.Context, n int64) (*block, error) {
	first, err := g.counter.Reserve(ctx, 1, n)
	if err != nil {
		return nil, asRepeated(err)
	}
	if first < 1 || first > g.most-n+1 {
		return nil, &idtype.RangeError{
			Type: "SequenceID", Part: "id", Value: first, Min: 1, Max: g.most - n + 1,
		}
	}
	end := uint64(first + n - 1)
	b := &block{first: uint64(first), lookAhead: end - uint64(n/10), end: end}
	b.ask = b.lookAhead
	b.last.Store(b.first - 1)
	return b, nil
}

// check validates a block that the counter returned. The caller holds blocks.mu.
func (g *Sequence) check(b *block, err error) (*block, error) {
	old := g.block.Load()
	if err == nil && b.first <= old.end {
		err = fmt.Errorf("a block from %d after one until %d: %w", b.first, old.end, ErrRepeated)
	}
	if errors.Is(err, ErrRepeated) {
		old.last.Store(old.end) // others may be given what is left of it
	}
	if err != nil { // do not ask again at once
		old.ask = old.last.Load() + uint64(g.size/100) + 1
	}
	return b, err
}

// Next mints one ID. With blocks, it looks at ctx only if it has to wait for one. The error is a
// [*NumberError].
func (g *Sequence) Next(ctx context.Context) (idtype.SequenceID, error) {
	b := g.block.Load()
	if b == nil {
		return 0, errNotMade
	}
	id := b.last.Add(1)
	if id < b.lookAhead {
		return idtype.SequenceID(id), nil
	}
	return g.beyond(ctx, b, id)
}

// beyond completes a call of Next that took id of b.
func (g *Sequence) beyond(ctx context.Context, b *block, id uint64) (idtype.SequenceID, error) {
	if id <= b.end {
		g.prefetch(b, id)
		return idtype.SequenceID(id), nil
	}
	var ids [1]idtype.SequenceID
	_, err := g.Fill(ctx, ids[:])
	return ids[0], err
}

// Fill mints len(dst) IDs. With a block size of 1, it takes one step of the counter: see [Source].
func (g *Sequence) Fill(ctx context.Context, dst []idtype.SequenceID) (int, error) {
	switch g.size {
	case 0:
		return 0, errNotMade
	case 1:
		return g.direct(ctx, dst)
	}
	n := 0
	for n < len(dst) {
		b := g.block.Load()
		last := b.last.Load()
		if last >= b.end {
			if err := g.renew(ctx, b); err != nil {
				return n, err
			}
			continue
		}
		upto := min(last+uint64(len(dst)-n), b.end)
		if !b.last.CompareAndSwap(last, upto) {
			continue
		}
		for id := last + 1; id <= upto; id++ {
			dst[n] = idtype.SequenceID(id)
			n++
		}
		if upto >= b.lookAhead {
			g.prefetch(b, upto)
		}
	}
	return n, nil
}

// direct reserves the IDs that a call needs, within its context.
func (g *Sequence) direct(ctx context.Context, dst []idtype.SequenceID) (int, error) {
	if len(dst) == 0 {
		return 0, nil
	}
	before := g.highest.Load() // the step must return IDs above it
	if stopped := g.stopped.Load(); stopped != nil {
		return 0, stopped
	}
	b, err := g.reserve(ctx, int64(len(dst)))
	if err == nil && b.first <= before {
		err = fmt.Errorf("%d after %d: %w", b.first, before, ErrRepeated)
	}
	if err != nil {
		failed := &NumberError{Scheme: idtype.SchemeSequence, Err: err}
		if errors.Is(failed, ErrRepeated) {
			g.stopped.Store(failed)
		}
		return 0, failed
	}
	for h := before; h < b.end && !g.highest.CompareAndSwap(h, b.end); {
		h = g.highest.Load()
	}
	for i := range dst {
		dst[i] = idtype.SequenceID(b.first + uint64(i))
	}
	g.taken.Add(uint64(len(dst)))
	g.opened.Add(1)
	return len(dst), nil
}

func (g *Sequence) install(b *block) {
	old := g.block.Swap(b)
	g.taken.Add(old.used())
	g.opened.Add(1)
}

func (b *block) used() uint64 {
	if b.end == 0 {
		return 0
	}
	return min(b.last.Load(), b.end) + 1 - b.first
}

// prefetch requests the block after b, once b has reached id.
func (g *Sequence) prefetch(b *block, id uint64) {
	g.blocks.mu.Lock()
	defer g.blocks.mu.Unlock()
	if g.block.Load() == b && id >= b.ask {
		g.blocks.startLocked()
	}
}

// Ready waits until the generator has a block, without minting: see [Decimal.Ready]. With a block
// size of 1, Ready does nothing, and each Next asks the counter. In that case, do not call Next
// within a transaction on SQLite. The error is a [*NumberError].
func (g *Sequence) Ready(ctx context.Context) error {
	b := g.block.Load()
	switch {
	case b == nil:
		return errNotMade
	case g.size == 1 || b.last.Load() < b.end:
		return nil
	}
	return g.renew(ctx, b)
}

// renew waits for the block after b.
func (g *Sequence) renew(ctx context.Context, b *block) error {
	err := g.blocks.refresh(ctx, func() bool { return g.block.Load() == b }, g.install)
	if err != nil {
		return &NumberError{Scheme: idtype.SchemeSequence, Err: err}
	}
	return nil
}

// SequenceStats is the state of a [Sequence].
type SequenceStats struct {
	Taken     uint64  // IDs minted
	Blocks    uint64  // blocks begun, or steps of the counter
	BlockUsed float64 // used share of the block, 0 to 1
}

// Stats reports the state, for metrics.
func (g *Sequence) Stats() SequenceStats {
	b := g.block.Load()
	if b == nil {
		return SequenceStats{}
	}
	s := SequenceStats{Taken: g.taken.Load() + b.used(), Blocks: g.opened.Load()}
	if b.end != 0 {
		s.BlockUsed = float64(b.used()) / float64(b.end-b.first+1)
	}
	return s
}
