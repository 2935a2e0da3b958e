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
	// number, 0 ..= 99999. It never returns the same pair to two generators, in any process. The
	// launch may differ from call to call. A number whose fate is unknown must not be returned
	// again: a gap is safe, and a repeat is not.
	NextGenerator(ctx context.Context) (launch, number int, err error)
}

// Decimal mints decimal IDs. It is safe for use by many goroutines. Its IDs ascend as long as it
// keeps its generator number, which lasts for 922,337,202 counters. When a tenth of them is left,
// it asks for the next number in the background. Calls wait for that number only if the source
// needs longer than the app needs for the last tenth.
//
// # Order
//
// A restarted app takes a new generator number. If its numbers have an order register, as the
// numbers of the launch log do, the new number begins above the counters that the service's
// generators have reported. Its rows therefore sort after the existing ones. A generator reports
// when it takes a number, at [Decimal.Close], and in the background while it mints. In the
// background it reports every second, or less often if more than ten generators of the service
// mint. Together they ask the register ten times a second, so that a hundred generators report
// every ten seconds each. A generator that does not mint does not report. After a kill, the next
// start may begin below the IDs that were minted since the last report, but never repeats one.
//
// With each report, a generator learns how far the others have come, and moves up to them if it is
// behind. An ID is therefore above all IDs that were reported before its generator last looked.
//
// A report raises the register by at most a million counters, plus ten thousand for each second
// since the last report that was answered, and by no more than 20 million in all. A generator that
// mints faster for long leaves the others behind: they do not move up to it, and its own next start
// begins below its last counters. Schemes that carry the time keep order at such rates.
//
// Uniqueness depends on none of this, because launch and generator number guarantee it. Calls of
// Next never wait for the register, except for a call that waits for a number, which waits for up
// to 2 s more. If the register does not answer, the number begins at 1, or at the counter that the
// generator last learned from the register, and moves up later. [DecimalStats] counts such starts.
//
// Counters restart at 1 once the register has reached the last 11 % of them. That takes 26 years at
// one ID a second, and 9.5 days at 1,000 a second. The fastest generator of the service sets the
// pace, because the others move up to it.
type Decimal struct {
	// word is the last ID minted, less usedUp, modulo 2^64. A call adds a step, and owns the ID
	// that it gets. Since an ID names its generator number and its counter, this word is the whole
	// state. An ID of usedUp or more means that the number is used up, or that there is none yet,
	// so the zero word mints nothing. Calls that find the word beyond usedUp put it back. It is a
	// plain word, accessed only by functions of sync/atomic, because Next is not inlined with the
	// methods of atomic.Uint64.
	word uint64
	_    [56]byte // calls write word all the time, so the rest must not share its cache line

	numbers Numbers // immutable, like test
	test    bool    // launch 0, whatever the launch of the numbers

	// ask is the ID at which the next number is requested: lookAhead, and usedUp after the request.
	ask atomic.Uint64

	bases requester[uint64] // for the ID that counter 0 of the next number would have

	// Guarded by bases.mu.
	used  []uint64 // the IDs that counter 0 of the numbers so far would have, in order
	begun int      // how many of used are in use or were: all, or all but the last
	order order
	// lost is an ErrRepeated: the source has lost numbers. The counter of the number in use was
	// then set to its end, and does not tell which IDs were minted.
	lost error
}

// Counters are the leading digits of an ID, so these bounds hold for every generator number.
const (
	lookAhead = (perNumber - perNumber/10) * formats.DecimalStep // a tenth of the counters is left
	usedUp    = (perNumber + 1) * formats.DecimalStep            // above every ID

	perNumber = formats.DecimalMaxCounter // counters per generator number
)

// NewDecimal returns a generator, which asks for its first generator number when the first ID is
// needed. The error is an [*OptionError] if numbers is nil.
func NewDecimal(numbers Numbers) (*Decimal, error) {
	if nilable.IsNil(numbers) {
		return nil, noSource("numbers")
	}
	return newDecimal(numbers, false), nil
}

// NewTestDecimal returns a generator for launch 0, and ignores the launch of the numbers. Its IDs
// must never be stored in production. If numbers is nil, the generator uses the generator numbers
// 0, 1, 2 …, so that any two such generators mint the same IDs.
func NewTestDecimal(numbers Numbers) *Decimal {
	if nilable.IsNil(numbers) {
		numbers = new(counting)
	}
	return newDecimal(numbers, true)
}

// counting hands out 0, 1, 2 … It needs no lock, because a generator asks for one number at a time.
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

// last returns the last ID minted, or usedUp or more.
func (g *Decimal) last() uint64 { return atomic.LoadUint64(&g.word) + usedUp }

// counter returns the last counter taken of the number in use. There must be such a number.
func (g *Decimal) counter() uint64 { return min(g.last()/formats.DecimalStep, perNumber) }

// advance moves the last ID from last to to, unless another call has moved it.
func (g *Decimal) advance(last, to uint64) bool {
	return atomic.CompareAndSwapUint64(&g.word, last-usedUp, to-usedUp)
}

// Ready takes the generator's first number without minting an ID. Call it before the first
// transaction. If a transaction on the log's own database mints, it holds the lock of a SQLite file
// or a connection of a small pool, so that taking the number would wait for the transaction itself.
// The error is a [*NumberError].
func (g *Decimal) Ready(ctx context.Context) error {
	if g.last() < perNumber*formats.DecimalStep {
		return nil
	}
	return g.change(ctx, "")
}

// Next mints one ID. It looks at ctx only in the first call, and if the source is late with the
// next number. The error is a [*NumberError].
func (g *Decimal) Next(ctx context.Context) (id idtype.DecimalID, err error) {
	// Written so that it is inlined, which saves a fifth of its time.
	id = idtype.DecimalID(atomic.AddUint64(&g.word, formats.DecimalStep) + usedUp)
	if uint64(id) >= lookAhead {
		id, err = g.beyond(ctx, id)
	}
	return
}

// beyond completes a call of Next that took id.
func (g *Decimal) beyond(ctx context.Context, id idtype.DecimalID) (idtype.DecimalID, error) {
	last := uint64(id)
	if last < usedUp {
		g.prefetch(last)
		return id, nil
	}
	// A call that overshot puts the word back before it adds again, so that the word exceeds usedUp
	// by at most one step per goroutine.
	for last > usedUp && !g.advance(last, usedUp) {
		last = g.last()
	}
	first, _, err := g.reserve(ctx, 1)
	return idtype.DecimalID(first), err
}

// Fill mints len(dst) IDs, from one reservation unless the generator number changes meanwhile: see
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

// reserve takes 1 to n consecutive counters and returns the ID of the first.
func (g *Decimal) reserve(ctx context.Context, n int) (first uint64, count int, err error) {
	for {
		last := g.last()
		if last/formats.DecimalStep >= perNumber {
			if err := g.change(ctx, ": call Ready before the first transaction, "+
				"which takes the first number"); err != nil {
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

// takeFrom takes up to n of the counters above last, or none if another call took some of them.
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

// change waits until the generator has a number with counters left. Its errors end with advice if a
// context ended while the call waited for the first number.
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

// begin switches to the next number. The caller holds bases.mu.
func (g *Decimal) begin(base uint64) {
	above := g.order.begin()
	g.begun++
	g.ask.Store(lookAhead)
	atomic.StoreUint64(&g.word, base+above*formats.DecimalStep-usedUp)
	g.lookOn()
}

// prefetch requests the next number, once, when the generator has reached id.
func (g *Decimal) prefetch(id uint64) {
	if id < g.ask.Load() {
		return
	}
	g.bases.mu.Lock()
	defer g.bases.mu.Unlock()
	// The caller may have been held up during a change of number, in which case its ID does not
	// concern the new number.
	if ask := g.ask.Load(); id >= ask && g.last() >= ask {
		g.ask.Store(usedUp)
		g.bases.startLocked()
	}
}

// request asks for a number, and for the counter at which it is to begin. The two are independent.
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
		_ = g.look(ctx) // Stats reports its error
	}
	return g.base(launch, number)
}

// base returns the ID that counter 0 of a number would have.
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

// settled checks the base of a number that the source returned. The caller holds bases.mu.
func (g *Decimal) settled(base uint64, err error) (uint64, error) {
	if err == nil && slices.Contains(g.used, base) {
		launch, number := numberOf(base)
		err = fmt.Errorf("generator number %d of launch %d: %w", number, launch, ErrRepeated)
	}
	g.stopFor(err)
	if err != nil {
		// A later call asks again: the next one if no counters are left, or else one that comes a
		// hundredth of the counters later.
		g.ask.Store(min(usedUp, g.last()+perNumber/100*formats.DecimalStep))
		return 0, err
	}
	g.used = append(g.used, base)
	return base, nil
}

// numberOf returns the launch and the number of a base.
func numberOf(base uint64) (launch, number int) {
	parts := idtype.DecimalID(base + formats.DecimalStep).Parts()
	return parts.Launch, parts.Generator
}

// stopFor stops the generator if err is an ErrRepeated. The caller holds bases.mu.
func (g *Decimal) stopFor(err error) {
	if errors.Is(err, ErrRepeated) {
		g.lost = err
		atomic.StoreUint64(&g.word, 0) // used up: others may be given the number in use
	}
}

// taken returns how many counters of all numbers were taken. There must be a number in use, and the
// caller holds bases.mu.
func (g *Decimal) taken() uint64 {
	return uint64(g.begun-1)*perNumber + g.counter() - g.order.skipped
}

// DecimalStats is the state of a [Decimal].
type DecimalStats struct {
	// Launch is the launch of the number in use, or 0 before the first number. It may change with
	// the number.
	Launch int
	// Generators lists the generator numbers that were fetched, in order. The last one may not be
	// in use yet.
	Generators []int
	Taken      uint64 // counters taken: IDs minted, and those reserved by owned generators
	// Counter is the last counter taken of the number in use, up to 922,337,202. Before the first
	// ID, it is one less than the counter at which the number begins.
	Counter int

	// The fields below concern the order register, and are zero for numbers without one. Round is
	// how often counters had restarted at 1 before those in use. Register is the value that the
	// generator last received from the register: round × 820,880,110 + counter.
	Round, Register int

	Rest    time.Duration // approximate time between two looks in the background
	Blind   uint64        // numbers that began without an answer of the register
	Unheard uint64        // looks without an answer, or with a nonsensical one
	Moves   uint64        // how often the generator moved up to others
	Skipped uint64        // counters left unused where a number began, or by moving up
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

// Owned returns a generator for one goroutine, which takes counters from g in blocks and then
// counts without atomic operations. The rest of a block stays unused when the generator is dropped.
// A larger block costs less per ID, but mixes the order of the goroutines' IDs more; 1,000 is
// plenty. A block does not move up when g does, so its IDs sort by the time at which the block was
// taken.
func (g *Decimal) Owned(block int) *OwnedDecimal {
	return &OwnedDecimal{shared: g, block: max(block, 1)}
}

// OwnedDecimal mints decimal IDs for the one goroutine that uses it. Its IDs ascend as in
// [Decimal].
type OwnedDecimal struct {
	id, end idtype.DecimalID // the last ID minted, and the last one reserved
	shared  *Decimal
	block   int
	_       [32]byte // generators of different goroutines must not share a cache line
}

// Next mints one ID. Its errors are described at [Decimal.Next].
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
