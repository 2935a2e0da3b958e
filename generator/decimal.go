package generator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Numbers hands out generator numbers. Each call returns one that no generator of the launch has had before, in whatever
// process, or an error. A number whose fate is unknown must not be returned again: a gap is safe, a repeat is not.
//
// A source that also has a method Launch() int says which launch its numbers are of, and [NewDecimal] refuses it for another.
// That of package launchlog has one.
type Numbers interface {
	NextGenerator(ctx context.Context) (int, error)
}

// ErrTestLaunch is returned by [NewDecimal] for launch 0, which is for tests only: see [NewTestDecimal].
var ErrTestLaunch = errors.New("launch 0 is for tests: NewTestDecimal makes such a generator")

// ErrOtherLaunch is wrapped by the error of [NewDecimal] for numbers of another launch: their pairs belong to others.
var ErrOtherLaunch = errors.New("the generator numbers are of another launch")

// ErrRepeatedNumber is wrapped by the [NumberError] for a [Numbers] that handed a generator the same number twice.
var ErrRepeatedNumber = errors.New("the source repeats a generator number")

var (
	errNoAnswer  = errors.New("the source ended its goroutine without an answer")
	errNoNumbers = errors.New("the generator was made without a source of numbers")
)

// A NumberError is returned by the methods of [Decimal] that need a generator number and could not get one: the launch log is
// away, the launch has ended, or its numbers are used up. Nothing is lost by it, and the next call asks again.
type NumberError struct {
	Launch int
	Err    error // from Numbers, or a *idtype.RangeError for a number that does not fit the layout
}

func (e *NumberError) Error() string {
	return fmt.Sprintf("generator: no generator number for launch %d: %v", e.Launch, e.Err)
}

func (e *NumberError) Unwrap() error { return e.Err }

// fetchTimeout bounds one request for a number, which belongs to no caller's context.
const fetchTimeout = time.Minute

// Decimal mints decimal IDs for one launch. It is safe for use by many goroutines. Its IDs ascend as long as it keeps its
// generator number, for 922,337,202 of them; it asks for the next number when a tenth of them is left, so calls wait for it
// only where the source takes longer than the app takes for that tenth.
//
// Counters are not kept: a restarted app takes a new number.
type Decimal struct {
	// last is the ID that was minted last: a call adds a step, and owns the ID that it gets. It names its generator number and
	// its counter, so this word is the whole state. From usedUp on, the number is used up or there is none yet; calls that
	// find it so put it back to usedUp. It is a plain word, used by functions of sync/atomic alone, because with the methods
	// of atomic.Uint64 Next is not inlined.
	last uint64
	_    [56]byte // calls write last all the time: the rest is not to share its cache line

	launch  int // immutable
	numbers Numbers

	// ask is the ID at which the next number is to be asked for: lookAhead, and usedUp once that was done.
	ask atomic.Uint64

	mu    sync.Mutex // guards next, used and begun; not held while waiting
	next  *fetch     // the request for the next number, if one was made
	used  []int      // the generator numbers so far, in order
	begun int        // how many of used were begun: all, or all but the last
}

// Counters are the leading digits of an ID, so these bounds hold whatever the generator number.
const (
	lookAhead = (span - span/10) * idtype.DecimalStep // a tenth of the counters is left
	usedUp    = (span + 1) * idtype.DecimalStep       // above every ID

	span = idtype.DecimalMaxCounter // counters per generator number
)

// A fetch is a request for a number, made by one goroutine and awaited by any.
type fetch struct {
	done chan struct{} // closed when base or err is set
	base uint64        // the ID that counter 0 of the number would have
	err  error         // from numbers, or about its answer
}

// NewDecimal makes a generator for a launch number, 1 ..= 99999, as the launch log gave it out. It asks numbers for its
// generator number when the first ID is wanted, not before. The error is [ErrTestLaunch] for launch 0, a [*idtype.RangeError]
// for other numbers outside the range, or one that wraps [ErrOtherLaunch].
func NewDecimal(launch int, numbers Numbers) (*Decimal, error) {
	if launch == 0 {
		return nil, ErrTestLaunch
	}
	if launch < 0 || launch > idtype.DecimalMaxLaunch {
		return nil, &idtype.RangeError{Type: "DecimalID", Part: "launch_id", Value: int64(launch), Min: 1, Max: idtype.DecimalMaxLaunch}
	}
	if of, ok := numbers.(interface{ Launch() int }); ok && of.Launch() != launch {
		return nil, fmt.Errorf("generator: launch %d: %w, %d", launch, ErrOtherLaunch, of.Launch())
	}
	return newDecimal(launch, numbers), nil
}

// NewTestDecimal makes a generator for launch 0, whose IDs must never be stored in production.
func NewTestDecimal(numbers Numbers) *Decimal { return newDecimal(0, numbers) }

func newDecimal(launch int, numbers Numbers) *Decimal {
	return &Decimal{launch: launch, numbers: numbers, last: usedUp}
}

// Ready waits until the generator has a number, without minting. An app that mints within transactions on the very database that
// its numbers come from calls it before: with SQLite the transaction holds the lock that taking a number waits for. The error is
// a [*NumberError].
func (g *Decimal) Ready(ctx context.Context) error {
	if atomic.LoadUint64(&g.last) < span*idtype.DecimalStep {
		return nil
	}
	return g.change(ctx)
}

// Next mints one ID. Only the first call, and calls at a change of number that the source is late for, look at ctx. The
// error is a [*NumberError].
func (g *Decimal) Next(ctx context.Context) (id idtype.DecimalID, err error) {
	// Written to be inlined, which is worth a fifth of its time.
	id = idtype.DecimalID(atomic.AddUint64(&g.last, idtype.DecimalStep))
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
	// Whoever added to a word that is used up puts it back before adding again, so it is above by a step per goroutine at most.
	for last > usedUp && !atomic.CompareAndSwapUint64(&g.last, last, usedUp) {
		last = atomic.LoadUint64(&g.last)
	}
	first, _, err := g.reserve(ctx, 1)
	return idtype.DecimalID(first), err
}

// Fill mints len(dst) IDs, from one reservation unless the generator number changes within it. It returns how many it
// minted, which is fewer only with an error; those are valid and will not be minted again.
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
		last := atomic.LoadUint64(&g.last)
		counter := last / idtype.DecimalStep
		if counter >= span {
			if err := g.change(ctx); err != nil {
				return 0, 0, err
			}
			continue
		}
		take := min(uint64(n), span-counter)
		upto := last + take*idtype.DecimalStep
		if atomic.CompareAndSwapUint64(&g.last, last, upto) {
			g.prefetch(upto)
			return last + idtype.DecimalStep, int(take), nil
		}
	}
}

// change waits until the generator has a number with counters left.
func (g *Decimal) change(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &NumberError{g.launch, err}
	}
	g.mu.Lock()
	if atomic.LoadUint64(&g.last)/idtype.DecimalStep < span {
		g.mu.Unlock()
		return nil
	}
	f := g.fetchLocked()
	g.mu.Unlock()

	select {
	case <-f.done:
	case <-ctx.Done():
		return &NumberError{g.launch, ctx.Err()}
	}
	if f.err != nil {
		return &NumberError{g.launch, f.err}
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == f {
		g.next = nil
		g.begun++
		g.ask.Store(lookAhead)
		atomic.StoreUint64(&g.last, f.base)
	}
	return nil
}

// prefetch asks for the next number, once, when the generator has come as far as id.
func (g *Decimal) prefetch(id uint64) {
	if id < g.ask.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// The caller may have been held up over a change of number: then its ID says nothing about the new one.
	if ask := g.ask.Load(); id >= ask && atomic.LoadUint64(&g.last) >= ask {
		g.ask.Store(usedUp)
		g.fetchLocked()
	}
}

// fetchLocked joins the request for the next number, or makes one. The caller holds mu.
func (g *Decimal) fetchLocked() *fetch {
	if g.next == nil {
		g.next = &fetch{done: make(chan struct{})}
		go g.run(g.next)
	}
	return g.next
}

// run makes the request f. It ends when numbers answers, which has until fetchTimeout to do so.
func (g *Decimal) run(f *fetch) {
	defer close(f.done)
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	number, err := 0, errNoAnswer // which stays if NextGenerator panics or ends the goroutine
	defer func() { g.settle(f, number, err) }()
	if g.numbers == nil { // a panic here, in a goroutine of ours, would end the process
		err = errNoNumbers
		return
	}
	number, err = g.numbers.NextGenerator(ctx)
}

// settle records the outcome of the request f.
func (g *Decimal) settle(f *fetch, number int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first, err := g.firstID(number, err)
	if err == nil {
		f.base = uint64(first) - idtype.DecimalStep
		g.used = append(g.used, number)
		return
	}
	// Some later call asks again: the next one where no counters are left, else one a hundredth of them further on.
	f.err = err
	g.next = nil
	g.ask.Store(min(usedUp, atomic.LoadUint64(&g.last)+span/100*idtype.DecimalStep))
}

// firstID checks the answer of numbers. The caller holds mu.
func (g *Decimal) firstID(number int, err error) (idtype.DecimalID, error) {
	if err != nil {
		return 0, err
	}
	if slices.Contains(g.used, number) {
		return 0, fmt.Errorf("%w: %d", ErrRepeatedNumber, number)
	}
	return idtype.DecimalParts{Counter: 1, Generator: number, Launch: g.launch}.ID()
}

// DecimalStats is the state of a [Decimal].
type DecimalStats struct {
	Launch     int
	Generators []int  // the generator numbers that were fetched, in order; the last may be the next to be used
	Taken      uint64 // counters that were taken: IDs minted, and reserved by owned generators
}

// Stats reports the state, for metrics.
func (g *Decimal) Stats() DecimalStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := DecimalStats{Launch: g.launch, Generators: slices.Clone(g.used)}
	if g.begun > 0 {
		s.Taken = uint64(g.begun-1)*span + min(atomic.LoadUint64(&g.last)/idtype.DecimalStep, span)
	}
	return s
}

// Owned makes a generator for one goroutine, which takes counters from g in blocks and then counts without any atomic step.
// What is left of a block when the generator is dropped stays unused. A larger block costs less per ID and mixes the order
// of the goroutines' IDs more; 1,000 is plenty.
func (g *Decimal) Owned(block int) *OwnedDecimal {
	return &OwnedDecimal{shared: g, block: max(block, 1)}
}

// OwnedDecimal mints decimal IDs for the one goroutine that uses it. Its IDs ascend as those of [Decimal] do.
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
	o.id += idtype.DecimalStep
	return o.id, nil
}

func (o *OwnedDecimal) refill(ctx context.Context) (idtype.DecimalID, error) {
	first, count, err := o.shared.reserve(ctx, o.block)
	if err != nil {
		return 0, err
	}
	o.id = idtype.DecimalID(first)
	o.end = o.id + idtype.DecimalID(count-1)*idtype.DecimalStep
	return o.id, nil
}
