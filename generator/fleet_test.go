package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/generator"
)

// A fleet is many generators in virtual time, of one scheme, or of one in several modes. What it
// does depends on its seed alone. Each generator has a clock of its own, which is wrong by
// milliseconds to hours and is set now and then. They mint in bursts, at times beyond their cap,
// are paused, crash or end properly, and start again. Half of the numbers are claimed from a store.
// A quarter stand in configurations and have time ceilings, some of them by mistake in two
// configurations. A quarter have none: there it takes a snapshot, or a clock that is not behind, to
// start again.
type fleet struct {
	rnd       *rand.Rand
	store     store
	instances []*instance
	reckless  bool // instances without a ceiling start without snapshots, by clocks that are behind

	// world is held by the simulation, except while it waits for a request for a window: the
	// request goes on then only.
	world  sync.Mutex
	now    int64 // the true time
	start  int64
	base   int64         // before every time of an ID
	beat   time.Duration // the time of a few bursts: some units of the scheme's
	starts int64

	dst    []mark
	minted []bool // by number
	ledger ledger
	seen   fleetFigures
}

// fleetFigures are what a fleet saw.
type fleetFigures struct {
	ids, units                                          int64 // units of time of a number
	numbers                                             int   // that minted
	crashes, ends, pauses, steps, waits, errors, behind uint64
	// IDs minted after the number had gone to somebody else
	orphans int64
	sum     uint64 // of the IDs in their order
}

// How an instance comes to its number.
type origin int

const (
	claimed origin = iota
	withCeiling
	alone
)

// An instance is an app with one generator.
type instance struct {
	*fleet
	scheme scheme
	origin origin
	number int   // -1 for none
	holder int64 // who it is since its last start
	g      *timed
	clock  fleetClock
	paused int64 // until then
	saved  *generator.Snapshot
	latest time.Time // stamped so far
	unit   uint64    // the last unit of a number that it minted in
	waits  uint64    // of its generator so far
}

// A fleetClock is right, apart from its skew. Where a call sleeps, its own time passes, and the
// instance is busy until then.
type fleetClock struct {
	now        *int64
	rnd        *rand.Rand
	usual      int64 // skew
	skew, busy atomic.Int64
}

func (c *fleetClock) trueTime() int64 { return max(*c.now, c.busy.Load()) }

func (c *fleetClock) UnixNano() int64 { return c.trueTime() + c.skew.Load() }

// Sleep is late by up to 2 ms, as timers are.
func (c *fleetClock) Sleep(_ context.Context, d time.Duration) error {
	c.busy.Store(c.trueTime() + int64(d) + c.rnd.Int64N(int64(2*time.Millisecond)))
	return nil
}

// anySize is a number from least to most, of any order of magnitude.
func anySize[D ~int | ~int64](rnd *rand.Rand, least, most D) D {
	return D(float64(least) * math.Pow(float64(most)/float64(least), rnd.Float64()))
}

// anySkew is mostly small.
func (f *fleet) anySkew() int64 {
	most := f.beat / 20
	switch r := f.rnd.IntN(100); {
	case r < 2:
		most = 6 * time.Hour
	case r < 4:
		most = 10 * time.Second
	case r < 50:
		most = 10 * f.beat
	}
	return int64(anySize(f.rnd, f.beat/1000, most)) * int64(f.rnd.IntN(2)*2-1)
}

func newFleet(seed uint64, numbers int, schemes ...scheme) *fleet {
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	f := &fleet{
		rnd: rand.New(rand.NewPCG(seed, uint64(len(schemes)))), now: now, start: now,
		base: now - int64(240*time.Hour), minted: make([]bool, numbers),
	}
	f.beat = min(time.Second, 20*schemes[0].unit)
	f.store = store{
		rnd: f.rnd, now: func() int64 { return f.now }, lease: 2 * f.beat,
		leases: make([]lease, numbers), claims: numbers / 2,
	}
	for n := range numbers {
		i := &instance{fleet: f, scheme: schemes[n/4%len(schemes)], number: -1}
		if n%4 >= 2 {
			i.origin, i.number = origin(n%4-1), numbers/2+n/4*2+n%2
		}
		f.instances = append(f.instances, i)
		if n%64 == 2 {
			f.instances = append(f.instances,
				&instance{fleet: f, scheme: i.scheme, origin: i.origin, number: i.number})
		}
	}
	for _, i := range f.instances {
		i.clock.now, i.clock.rnd, i.clock.usual = &f.now, f.rnd, f.anySkew()
		i.clock.skew.Store(i.clock.usual)
	}
	return f
}

// run has every instance act a few times in the company of others, and again, until so many IDs are
// minted.
func (f *fleet) run(ids int64) error {
	const company, acts = 65, 12
	f.world.Lock()
	defer f.world.Unlock()
	for round := 0; round < 3 || f.seen.ids < ids; round++ {
		for first := 0; first < len(f.instances); first += company {
			group := f.instances[first:min(first+company, len(f.instances))]
			f.now += int64(anySize(f.rnd, f.beat, 1000*f.beat))
			for range acts * len(group) {
				f.now += int64(anySize(f.rnd, time.Microsecond, f.beat/10))
				if err := group[f.rnd.IntN(len(group))].act(); err != nil {
					return err
				}
			}
		}
	}
	if f.now-f.start > int64((1<<25-24*3600)*time.Second) {
		return errors.New("trace IDs may repeat after so long a time: mint fewer")
	}
	return nil
}

func (i *instance) act() error {
	if i.clock.busy.Load() > i.now || i.paused > i.now {
		return nil
	}
	if i.g == nil {
		return i.begin()
	}
	switch r := i.rnd.IntN(100); {
	case r < 72:
		return i.mint()
	case r < 82:
		i.step()
		return nil
	case r < 86:
		i.seen.pauses++
		i.paused = i.now + int64(anySize(i.rnd, i.beat/10, 1000*i.beat))
		return nil
	case r < 93:
		i.seen.crashes++
		i.g = nil
	default:
		if err := i.end(); err != nil {
			return err
		}
	}
	if i.rnd.IntN(2) == 0 {
		return nil
	}
	return i.begin() // at once
}

// step sets the clock, as wrong as it usually is or more.
func (i *instance) step() {
	i.seen.steps++
	i.clock.skew.Store(i.clock.usual)
	if i.rnd.IntN(2) == 0 {
		i.clock.skew.Add(i.anySkew())
	}
}

// end stops the app properly.
func (i *instance) end() error {
	i.seen.ends++
	if i.origin == claimed {
		i.store.release(i.holder, i.number)
	}
	if i.origin == alone && !i.reckless {
		text, err := json.Marshal(i.g.snapshot())
		if err != nil {
			return err
		}
		i.saved = new(generator.Snapshot)
		if err := json.Unmarshal(text, i.saved); err != nil {
			return err
		}
	}
	i.g = nil
	return nil
}

// begin starts the app.
func (i *instance) begin() (err error) {
	i.starts++
	i.holder = i.starts
	if i.reckless || i.rnd.IntN(4) == 0 { // the machine starts too
		i.step()
	}
	o := &generator.Options{Clock: &i.clock, Regression: generator.Regression(i.rnd.IntN(3))}
	if i.rnd.IntN(4) == 0 { // of a few slots: they are soon used up
		first := i.scheme.first + i.rnd.IntN(i.scheme.last-i.scheme.first+1)
		o.Pool = &generator.Pool{Min: first, Max: min(first+anySize(i.rnd, 1, 1000), i.scheme.last)}
	}
	windows := windowsOf(i)
	switch i.origin {
	case claimed:
		i.number = -1
	case alone:
		windows = given(i.number)
		if o.Snapshot = i.saved; i.saved == nil && !i.reckless {
			i.setForward()
		}
	}
	g, err := i.scheme.make(windows, o)
	if late := new(generator.SnapshotError); errors.As(err, &late) {
		i.setForward() // and tries again later
		return nil
	}
	i.g, i.saved, i.waits = g, nil, 0
	return err
}

// setForward sets the clock so that it is not behind what was stamped.
func (i *instance) setForward() {
	if behind := i.latest.UnixNano() - i.clock.UnixNano(); !i.latest.IsZero() && behind > 0 {
		i.clock.skew.Add(behind)
	}
}

// NextWindow makes the instance the source of its generator's windows. It is called by a goroutine
// of the generator.
func (i *instance) NextWindow(
	ctx context.Context, _ int64, unit time.Duration,
) (w generator.Window[int], _ error) {
	i.world.Lock()
	defer i.world.Unlock()
	if i.origin == claimed {
		number, err := i.store.claim(i.holder, i.number)
		if err != nil {
			return w, err
		}
		i.number = number
	}
	length := anySize(i.rnd, i.beat, 8*i.beat)
	source := generator.Ceiling(i.number, storeCounter{&i.store, i.number}, length)
	return source.NextWindow(ctx, i.clock.UnixNano()/int64(unit), unit)
}

// settling is the context of calls. Calls ask for the channel before they wait for a window.
type settling struct {
	context.Context
	settle func()
}

func (c settling) Done() <-chan struct{} {
	c.settle()
	return nil
}

// settle lets the generator's request for a window, if there is one, go on to its end.
func (i *instance) settle() {
	i.world.Unlock()
	defer i.world.Lock()
	i.g.settle()
}

// mint mints a burst.
func (i *instance) mint() error {
	ctx := settling{ctx, i.settle}
	n := anySize(i.rnd, 1, 600)
	switch r := i.rnd.IntN(400_000); {
	case r == 0:
		n = 5_000_000 // more than any second has
	case r < 2000:
		n *= 50
	}
	if n > len(i.dst) {
		i.dst = make([]mark, n)
	}
	minted, err := 0, error(nil)
	if i.rnd.IntN(8) == 0 {
		for minted < n && err == nil {
			id, e := i.g.next(ctx)
			if err = e; err == nil {
				i.dst[minted] = id.mark
				minted++
			}
		}
	} else {
		minted, err = i.g.marks(ctx, i.dst[:n])
	}
	i.settle()
	slotBits := bits.Len(uint(i.scheme.last))
	for _, id := range i.dst[:minted] {
		unit := uint64(id.time-i.base) / uint64(i.scheme.unit)
		k := uint64(id.number)<<48 | unit<<slotBits | uint64(id.slot)
		i.ledger.add(k)
		i.seen.sum = (i.seen.sum ^ k) * 0x9e3779b97f4a7c15
		if unit := k >> slotBits; unit != i.unit {
			i.unit = unit
			i.seen.units++
			if n := id.number; !i.fleet.minted[n] {
				i.fleet.minted[n] = true
				i.seen.numbers++
			}
		}
	}
	i.seen.ids += int64(minted)
	if i.origin == claimed && i.number >= 0 && i.store.leases[i.number].holder != i.holder {
		i.seen.orphans += int64(minted)
	}
	s := i.g.stats()
	i.seen.waits += s.Waits - i.waits
	i.waits = s.Waits
	if s.Time.After(i.latest) {
		i.latest = s.Time
	}
	if err != nil {
		i.seen.errors++
		if errors.Is(err, generator.ErrClockBehind) {
			i.seen.behind++
		}
		if !mayFail(err) && (i.store.fault == noFault || !errors.Is(err, generator.ErrRepeated)) {
			return fmt.Errorf("number %d: %w", i.number, err)
		}
	}
	return nil
}
