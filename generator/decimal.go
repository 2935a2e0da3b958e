package generator

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/idmint/idmint/idtype"
)

// Numbers hands out the generator numbers of one launch. A launchlog.Generators is one.
type Numbers interface {
	// Launch returns the launch that the numbers are of. It is always the same.
	Launch() int
	// NextGenerator returns a number that no generator of the launch has had before, in whatever
	// process, or an error. A number whose fate is unknown must not be returned again: a gap is
	// safe, a repeat is not.
	NextGenerator(ctx context.Context) (int, error)
}

// Decimal mints decimal IDs for one launch. It is safe for use by many goroutines. Its IDs ascend
// as long as it keeps its generator number, for 922,337,202 of them. When a tenth is left it asks
// for the next number. Calls wait for that only where the source takes longer than the app takes
// for the tenth.
//
// Counters are not kept: a restarted app takes a new number.
type Decimal struct {
	// word is the ID that was minted last, less usedUp, modulo 2^64: a call adds a step, and owns
	// the ID that it gets. An ID names its generator number and its counter, so this word is the
	// whole state. From usedUp on, the number is used up or there is none yet: so the zero word
	// mints nothing. Calls that find it so put it back. It is a plain word, used by functions of
	// sync/atomic alone, because with the methods of atomic.Uint64 Next is not inlined.
	word uint64
	_    [56]byte // calls write word all the time: the rest is not to share its cache line

	launch  int // immutable
	numbers Numbers

	// ask is the ID at which the next number is to be asked for: lookAhead, and usedUp once that
	// was done.
	ask atomic.Uint64

	bases requester[uint64] // for the ID that counter 0 of the next number would have

	// Guarded by bases.mu.
	used  []int // the generator numbers so far, in order
	begun int   // how many of used were begun: all, or all but the last
}

// Counters are the leading digits of an ID, so these bounds hold whatever the generator number.
const (
	lookAhead = (perNumber - perNumber/10) * idtype.DecimalStep // a tenth of the counters is left
	usedUp    = (perNumber + 1) * idtype.DecimalStep            // above every ID

	perNumber = idtype.DecimalMaxCounter // counters per generator number
)

// NewDecimal makes a generator for the launch of the numbers, 1 ..= 99999. It asks for its first
// generator number when the first ID is wanted, not before. The error is an [*OptionError] for nil,
// [ErrTestLaunch] for launch 0, or a [*idtype.RangeError] for other launches outside the range.
func NewDecimal(numbers Numbers) (*Decimal, error) {
	if isNil(numbers) {
		return nil, noSource("numbers")
	}
	launch := numbers.Launch()
	if launch == 0 {
		return nil, ErrTestLaunch
	}
	if launch < 0 || launch > idtype.DecimalMaxLaunch {
		return nil, &idtype.RangeError{
			Type: "DecimalID", Part: "launch_id", Value: int64(launch),
			Min: 1, Max: idtype.DecimalMaxLaunch,
		}
	}
	return newDecimal(launch, numbers), nil
}

// NewTestDecimal makes a generator for launch 0, whatever the launch of the numbers is. Its IDs
// must never be stored in production. Without numbers it mints none.
func NewTestDecimal(numbers Numbers) *Decimal { return newDecimal(0, numbers) }

func newDecimal(launch int, numbers Numbers) *Decimal {
	g := &Decimal{launch: launch, numbers: numbers}
	g.bases.ask, g.bases.settled = g.request, g.settled
	return g
}

// last is the ID that was minted last, or usedUp or more.
func (g *Decimal) last() uint64 { return atomic.LoadUint64(&g.word) + usedUp }

// advance moves from one last ID to another, unless another call did.
func (g *Decimal) advance(last, to uint64) bool {
	return atomic.CompareAndSwapUint64(&g.word, last-usedUp, to-usedUp)
}

// Ready takes the generator's first number, without minting. Call it before the first
// transaction. A transaction that mints on the log's own database holds the lock of a SQLite
// file, or a connection of a small pool. To take the number would wait for it. The error is a
// [*NumberError].
func (g *Decimal) Ready(ctx context.Context) error {
	if g.last() < perNumber*idtype.DecimalStep {
		return nil
	}
	return g.change(ctx)
}

// Next mints one ID. Only the first call, and calls at a change of number that the source is late
// for, look at ctx. The error is a [*NumberError]; of the zero Decimal it wraps [ErrNotMade].
func (g *Decimal) Next(ctx context.Context) (id idtype.DecimalID, err error) {
	// Written to be inlined, which is worth a fifth of its time.
	id = idtype.DecimalID(atomic.AddUint64(&g.word, idtype.DecimalStep) + usedUp)
	if uint64(id) >= lookAhead {
		id, err = g.beyond(ctx, id)
	}
	return
}

// beyond goes on for a call of Next that took id.
func (g *Decimal) beyond(ctx context.Context, id idtype.DecimalID) (idtype.DecimalID, error) {
	last := uint64(id)
	if last < usedUp {
		g.prefetch(last)
		return id, nil
	}
	// A call that overshot puts the word back before it adds again. So the word is above usedUp
	// by a step per goroutine at most.
	for last > usedUp && !g.advance(last, usedUp) {
		last = g.last()
	}
	first, _, err := g.reserve(ctx, 1)
	return idtype.DecimalID(first), err
}

// Fill mints len(dst) IDs, from one reservation unless the generator number changes within it. It
// returns how many it minted, which is fewer only with an error; those are valid and will not be
// minted again.
func (g *Decimal) Fill(ctx context.Context, dst []idtype.DecimalID) (int, error) {
	n := 0
	for n < len(dst) {
		id, count, err := g.reserve(ctx, len(dst)-n)
		if err != nil {
			return n, err
		}
		for i := range dst[n : n+count] {
			dst[n+i] = idtype.DecimalID(id)
			id += idtype.DecimalStep
		}
		n += count
	}
	return n, nil
}

// reserve takes 1 to n consecutive counters and returns the first ID of them.
func (g *Decimal) reserve(ctx context.Context, n int) (first uint64, count int, err error) {
	for {
		last := g.last()
		counter := last / idtype.DecimalStep
		if counter >= perNumber {
			if err := g.change(ctx); err != nil {
				return 0, 0, err
			}
			continue
		}
		take := min(uint64(n), perNumber-counter)
		upto := last + take*idtype.DecimalStep
		if g.advance(last, upto) {
			g.prefetch(upto)
			return last + idtype.DecimalStep, int(take), nil
		}
	}
}

// change waits until the generator has a number with counters left.
func (g *Decimal) change(ctx context.Context) error {
	if g.numbers == nil {
		return &NumberError{idtype.SchemeDecimal, g.launch, ErrNotMade}
	}
	needed := func() bool { return g.last()/idtype.DecimalStep >= perNumber }
	if err := g.bases.refresh(ctx, needed, g.begin); err != nil {
		if err == ctx.Err() && g.Stats().Taken == 0 {
			err = fmt.Errorf("%w: take the first number before the first transaction, "+
				"with Ready", err)
		}
		return &NumberError{idtype.SchemeDecimal, g.launch, err}
	}
	return nil
}

// begin goes on with the next number. The caller holds bases.mu.
func (g *Decimal) begin(base uint64) {
	g.begun++
	g.ask.Store(lookAhead)
	atomic.StoreUint64(&g.word, base-usedUp)
}

// prefetch asks for the next number, once, when the generator has come as far as id.
func (g *Decimal) prefetch(id uint64) {
	if id < g.ask.Load() {
		return
	}
	g.bases.mu.Lock()
	defer g.bases.mu.Unlock()
	// The caller may have been held up over a change of number: then its ID says nothing about
	// the new one.
	if ask := g.ask.Load(); id >= ask && g.last() >= ask {
		g.ask.Store(usedUp)
		g.bases.startLocked()
	}
}

// request asks for a number.
func (g *Decimal) request(ctx context.Context) (uint64, error) {
	number, err := g.numbers.NextGenerator(ctx)
	return uint64(number), err
}

// settled makes the base of a number that numbers answered with. The caller holds bases.mu.
func (g *Decimal) settled(answer uint64, err error) (uint64, error) {
	number := int(answer)
	first, err := g.firstID(number, err)
	if err != nil {
		// Some later call asks again: the next one where no counters are left, else one a
		// hundredth of them further on.
		g.ask.Store(min(usedUp, g.last()+perNumber/100*idtype.DecimalStep))
		return 0, err
	}
	g.used = append(g.used, number)
	return uint64(first) - idtype.DecimalStep, nil
}

// firstID checks the answer of numbers. The caller holds bases.mu.
func (g *Decimal) firstID(number int, err error) (idtype.DecimalID, error) {
	if err != nil {
		return 0, err
	}
	if slices.Contains(g.used, number) {
		return 0, fmt.Errorf("%w: generator number %d", ErrRepeated, number)
	}
	return idtype.DecimalParts{Counter: 1, Generator: number, Launch: g.launch}.ID()
}

// DecimalStats is the state of a [Decimal].
type DecimalStats struct {
	Launch int
	// Generators are the generator numbers that were fetched, in order. The last may not be in use
	// yet.
	Generators []int
	Taken      uint64 // counters that were taken: IDs minted, and reserved by owned generators
}

// Stats reports the state, for metrics.
func (g *Decimal) Stats() DecimalStats {
	g.bases.mu.Lock()
	defer g.bases.mu.Unlock()
	s := DecimalStats{Launch: g.launch, Generators: slices.Clone(g.used)}
	if g.begun > 0 {
		s.Taken = uint64(g.begun-1)*perNumber + min(g.last()/idtype.DecimalStep, perNumber)
	}
	return s
}
