package generator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/internal/nilable"
)

// Numbers hands out generator numbers. A launchlog.Generators is one.
type Numbers interface {
	// NextGenerator returns the last five digits of a launch number, 1 ..= 99999, and a generator
	// number, 0 ..= 99999. No generator has had the two before, in whatever process. The launch may be
	// another one each time. A number whose fate is unknown must not be returned again: a gap is safe, a repeat is
	// not.
	NextGenerator(ctx context.Context) (launch, number int, err error)
}

// Decimal mints decimal IDs. It is safe for use by many goroutines. Its IDs ascend
// as long as it keeps its generator number. That has the counters up to 922,337,202. When a tenth
// is left it asks for the next number. Calls wait for that only where the source takes longer than
// the app takes for the tenth.
//
// # Order
//
// A restarted app takes a new number. Where its numbers have a register of order, as those of the
// launch log have, the number begins above the counters that the service's generators have
// reported. So its rows come after those that are there. A generator reports at each number that it
// takes, at [Decimal.Close], and in the background while it mints: each second, or less often where
// more than ten generators of the service mint, so that all of them together ask the register ten
// times a second. A hundred generators report every ten seconds each. One that does not mint does
// not report. After a kill the next start may begin below the IDs since the last report, and never
// repeats one.
//
// At a report a generator sees how far others have come, and moves up to them where it is behind.
// So an ID is above all that were reported before its generator last looked.
//
// A report raises the register by a million counters, and ten thousand for each second since the
// report before that was answered, 20 million at most. A generator that mints faster for long is
// alone with its counters: others do not move up to it, and its own next start begins below it.
// Schemes that go by time keep order at such rates.
//
// Uniqueness depends on none of this: launch and generator number see to it. No call of Next waits
// for the register but the one that waits for a number, and that up to 2 s. Without an answer a
// number begins at 1, or where the generator knows others to be, and moves up later.
// [DecimalStats] counts such starts.
//
// Counters begin again at 1 once the register has come to the last 11 % of them. At one ID a second
// that takes 26 years, and 9.5 days at 1,000 a second. The fastest generator of the service decides,
// because others move up to it.
type Decimal struct {
	// word is the ID that was minted last, less usedUp, modulo 2^64: a call adds a step, and owns
	// the ID that it gets. An ID names its generator number and its counter, so this word is the
	// whole state. From usedUp on, the number is used up or there is none yet: so the zero word
	// mints nothing. Calls that find it so put it back. It is a plain word, used by functions of
	// sync/atomic alone, because with the methods of atomic.Uint64 Next is not inlined.
	word uint64
	_    [56]byte // calls write word all the time: the rest is not to share its cache line

	numbers Numbers // immutable, as test
	test    bool    // launch 0, whatever that of the numbers is

	// ask is the ID at which the next number is to be asked for: lookAhead, and usedUp once that
	// was done.
	ask atomic.Uint64

	bases requester[uint64] // for the ID that counter 0 of the next number would have

	// Guarded by bases.mu.
	used  []uint64 // the IDs that counter 0 of the numbers so far would have, in order
	begun int      // how many of used were begun: all, or all but the last
	order order
	// lost is an ErrRepeated: the source has lost numbers, and the counter of the one in use was
	// set to its end, which says nothing of the IDs that were minted.
	lost error
}

// Counters are the leading digits of an ID, so these bounds hold whatever the generator number.
const (
	lookAhead = (perNumber - perNumber/10) * formats.DecimalStep // a tenth of the counters is left
	usedUp    = (perNumber + 1) * formats.DecimalStep            // above every ID

	perNumber = formats.DecimalMaxCounter // counters per generator number
)

// NewDecimal makes a generator. It asks for its first generator number when the first ID is wanted,
// not before. The error is an [*OptionError] for nil.
func NewDecimal(numbers Numbers) (*Decimal, error) {
	if nilable.IsNil(numbers) {
		return nil, noSource("numbers")
	}
	return newDecimal(numbers, false), nil
}

// NewTestDecimal makes a generator for launch 0, whatever the launch of the numbers is. Its IDs
// must never be stored in production. Of nil it takes the generator numbers 0, 1, 2 … by itself, so
// any two such generators mint the same IDs.
func NewTestDecimal(numbers Numbers) *Decimal {
	if nilable.IsNil(numbers) {
		numbers = new(counting)
	}
	return newDecimal(numbers, true)
}

// counting hands out 0, 1, 2 … A generator asks for one number at a time.
type counting struct{ next int }

func (c *counting) NextGenerator(context.Context) (launch, number int, err error) {
	c.next++
	return 1, c.next - 1, nil
}

func newDecimal(numbers Numbers, test bool) *Decimal {
	g := &Decimal{numbers: numbers, test: test}
	g.bases.ask, g.bases.settled = g.request, g.settled
	g.bases.trouble = troubleOf(numbers)
	g.join()
	return g
}

// last is the ID that was minted last, or usedUp or more.
func (g *Decimal) last() uint64 { return atomic.LoadUint64(&g.word) + usedUp }

// counter is the one that was taken last of the number in use. There is one.
func (g *Decimal) counter() uint64 { return min(g.last()/formats.DecimalStep, perNumber) }

// advance moves from one last ID to another, unless another call did.
func (g *Decimal) advance(last, to uint64) bool {
	return atomic.CompareAndSwapUint64(&g.word, last-usedUp, to-usedUp)
}

// Ready takes the generator's first number, without minting. Call it before the first
// transaction. A transaction that mints on the log's own database holds the lock of a SQLite
// file, or a connection of a small pool. To take the number would wait for it. The error is a
// [*NumberError].
func (g *Decimal) Ready(ctx context.Context) error {
	if g.last() < perNumber*formats.DecimalStep {
		return nil
	}
	return g.change(ctx, "")
}

// Next mints one ID. Only the first call, and calls at a change of number that the source is late
// for, look at ctx. The error is a [*NumberError].
func (g *Decimal) Next(ctx context.Context) (id idtype.DecimalID, err error) {
	// Written to be inlined, which is worth a fifth of its time.
	id = idtype.DecimalID(atomic.AddUint64(&g.word, formats.DecimalStep) + usedUp)
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

// Fill mints len(dst) IDs, from one reservation unless the generator number changes within it: see
// [Source].
func (g *Decimal) Fill(ctx context.Context, dst []idtype.DecimalID) (int, error) {
	n := 0
	for n < len(dst) {
		id, count, err := g.reserve(ctx, len(dst)-n)
		if err != nil {
			return n, err
		}
		for i := range dst[n : n+count] {
			dst[n+i] = idtype.DecimalID(id)
			id += formats.DecimalStep
		}
		n += count
	}
	return n, nil
}

// reserve takes 1 to n consecutive counters and returns the first ID of them.
func (g *Decimal) reserve(ctx context.Context, n int) (first uint64, count int, err error) {
	for {
		last := g.last()
		if last/formats.DecimalStep >= perNumber {
			if err := g.change(ctx, ": take the first number before the first transaction, "+
				"with Ready"); err != nil {
				return 0, 0, err
			}
			continue
		}
		if count := g.takeFrom(last, n); count > 0 {
			g.prefetch(last + uint64(count)*formats.DecimalStep)
			return last + formats.DecimalStep, count, nil
		}
	}
}

// takeFrom takes up to n of the counters above last, or none if another call took some.
func (g *Decimal) takeFrom(last uint64, n int) (count int) {
	if counter := last / formats.DecimalStep; counter < perNumber {
		take := min(uint64(n), perNumber-counter)
		upto := last + take*formats.DecimalStep
		if g.advance(last, upto) {
			return int(take)
		}
	}
	return 0
}

// change waits until the generator has a number with counters left. Advice is for who waits for the
// first one in vain.
func (g *Decimal) change(ctx context.Context, advice string) error {
	if g.numbers == nil {
		return &NumberError{Scheme: idtype.SchemeDecimal, Err: errNoSource}
	}
	needed := func() bool { return g.last()/formats.DecimalStep >= perNumber }
	if err := g.bases.refresh(ctx, needed, g.begin); err != nil {
		if advice != "" && ctx.Err() != nil && errors.Is(err, ctx.Err()) && g.Stats().Taken == 0 {
			err = fmt.Errorf("%w%s", err, advice)
		}
		return &NumberError{idtype.SchemeDecimal, err}
	}
	return nil
}

// begin goes on with the next number. The caller holds bases.mu.
func (g *Decimal) begin(base uint64) {
	above := g.order.begin()
	g.begun++
	g.ask.Store(lookAhead)
	atomic.StoreUint64(&g.word, base+above*formats.DecimalStep-usedUp)
	g.lookOn()
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

// request asks for a number, and where it is to begin. The number does not depend on that.
func (g *Decimal) request(ctx context.Context) (uint64, error) {
	g.bases.mu.Lock()
	lost := g.lost
	g.bases.mu.Unlock()
	if lost != nil {
		return 0, lost
	}
	launch, number, err := g.numbers.NextGenerator(ctx)
	if err != nil {
		return 0, asRepeated(err)
	}
	if g.order.register != nil {
		ctx, cancel := context.WithTimeout(ctx, firstLook)
		defer cancel()
		_ = g.look(ctx) // which Stats tells of
	}
	return g.base(launch, number)
}

// base is the ID that counter 0 of a number would have.
func (g *Decimal) base(launch, number int) (uint64, error) {
	if g.test {
		launch = 0
	} else if launch < 1 {
		return 0, &idtype.RangeError{
			Type: "DecimalID", Part: "launch_id", Value: int64(launch),
			Min: 1, Max: formats.DecimalMaxLaunch,
		}
	}
	first, err := idtype.DecimalParts{Counter: 1, Generator: number, Launch: launch}.ID()
	return uint64(first) - formats.DecimalStep, err
}

// settled checks the base of a number that numbers answered with. The caller holds bases.mu.
func (g *Decimal) settled(base uint64, err error) (uint64, error) {
	if err == nil && slices.Contains(g.used, base) {
		launch, number := numberOf(base)
		err = fmt.Errorf("generator number %d of launch %d: %w", number, launch, ErrRepeated)
	}
	g.stopFor(err)
	if err != nil {
		// Some later call asks again: the next one where no counters are left, else one a
		// hundredth of them further on.
		g.ask.Store(min(usedUp, g.last()+perNumber/100*formats.DecimalStep))
		return 0, err
	}
	g.used = append(g.used, base)
	return base, nil
}

// numberOf is the number of a base, and its launch.
func numberOf(base uint64) (launch, number int) {
	parts := idtype.DecimalID(base + formats.DecimalStep).Parts()
	return parts.Launch, parts.Generator
}

// stopFor stops the generator for an ErrRepeated. The caller holds bases.mu.
func (g *Decimal) stopFor(err error) {
	if errors.Is(err, ErrRepeated) {
		g.lost = err
		atomic.StoreUint64(&g.word, 0) // used up: others may be given the number in use
	}
}

// taken is how many counters were taken of all numbers. There is one, and the caller holds
// bases.mu.
func (g *Decimal) taken() uint64 {
	return uint64(g.begun-1)*perNumber + g.counter() - g.order.skipped
}

// DecimalStats is the state of a [Decimal].
type DecimalStats struct {
	// Launch is that of the number in use, and 0 before the first one. A number may be of another
	// launch than the one before.
	Launch int
	// Generators are the generator numbers that were fetched, in order. The last may not be in use
	// yet.
	Generators []int
	Taken      uint64 // counters that were taken: IDs minted, and reserved by owned generators
	// Counter is the one that was taken last of the number in use, up to 922,337,202. Before the
	// first it is where the number begins, less 1.
	Counter int

	// What follows is of the register of order, and zero where its numbers have none. Round is how
	// often counters had begun again at 1 before those in use. Register is what the generator has
	// heard last: round × 820,880,110 + counter.
	Round, Register int

	Rest    time.Duration // before the next look in the background, about
	Blind   uint64        // numbers that were begun without an answer
	Unheard uint64        // looks that had no answer, or none that makes sense
	Moves   uint64        // times that the generator moved up to others
	Skipped uint64        // counters that it left unused, where it began and where it moved up
	Err     error         // of the last look
}

// Stats reports the state, for metrics.
func (g *Decimal) Stats() DecimalStats {
	g.bases.mu.Lock()
	defer g.bases.mu.Unlock()
	var s DecimalStats
	for i, base := range g.used {
		launch, number := numberOf(base)
		s.Generators = append(s.Generators, number)
		if i < g.begun {
			s.Launch = launch
		}
	}
	if g.begun > 0 {
		s.Counter, s.Taken = int(g.counter()), g.taken()
	}
	g.order.stats(&s)
	return s
}

// Owned makes a generator for one goroutine, which takes counters from g in blocks and then
// counts without any atomic step. What is left of a block when the generator is dropped stays
// unused. A larger block costs less per ID and mixes the order of the goroutines' IDs more; 1,000
// is plenty. A block does not move up when g does. Its IDs sort as those of the time at which it
// was taken.
func (g *Decimal) Owned(block int) *OwnedDecimal {
	return &OwnedDecimal{shared: g, block: max(block, 1)}
}

// OwnedDecimal mints decimal IDs for the one goroutine that uses it. Its IDs ascend as those of
// [Decimal] do.
type OwnedDecimal struct {
	id, end idtype.DecimalID // the last ID minted, and the last one reserved
	shared  *Decimal
	block   int
	_       [32]byte // owned generators of several goroutines are not to share a cache line
}

// Next mints one ID. See [Decimal.Next] for its errors.
func (o *OwnedDecimal) Next(ctx context.Context) (idtype.DecimalID, error) {
	if o.id == o.end {
		return o.refill(ctx)
	}
	o.id += formats.DecimalStep
	return o.id, nil
}

func (o *OwnedDecimal) refill(ctx context.Context) (idtype.DecimalID, error) {
	if o.shared == nil {
		return 0, errNotMade
	}
	first, count, err := o.shared.reserve(ctx, o.block)
	if err != nil {
		return 0, err
	}
	o.id = idtype.DecimalID(first)
	o.end = o.id + idtype.DecimalID(count-1)*formats.DecimalStep
	return o.id, nil
}
