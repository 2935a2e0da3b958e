package claims_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Simulated fleets are cheap: soak_test/simulations runs 10,000 seeds.
var (
	fleetSeed  = flag.Uint64("fleet.seed", 0, "the one seed to run; 0 runs many")
	fleetSeeds = flag.Uint64("fleet.seeds", seeds, "how many seeds to run")
)

// runFleet runs a seed in a bubble of its own.
func runFleet(t *testing.T, seed uint64, naive naive) (f *fleet) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)))
		f = newFleet(seed, naive)
		f.run()
		f.seen.seeds = 1
	})
	return f
}

// TestWholeFleet: simulated fleets repeat no ID, and no two windows of a number overlap. Every step
// of a counter begins where the one before ended. Every call ends, and no pool stays locked.
func TestWholeFleet(t *testing.T) {
	first, last := uint64(1), *fleetSeeds
	if *fleetSeed != 0 {
		first, last = *fleetSeed, *fleetSeed
	}
	var next atomic.Uint64
	next.Store(first)
	halves := make(chan figures, 2)
	t.Run("fleets", func(t *testing.T) {
		for _, half := range []string{"a", "b"} {
			t.Run(half, func(t *testing.T) {
				t.Parallel()
				var all figures
				defer func() { halves <- all }()
				for !t.Failed() {
					seed := next.Add(1) - 1
					if seed > last {
						return
					}
					f := runFleet(t, seed, sound)
					all.add(f.seen)
					for _, what := range f.broken {
						t.Errorf("-fleet.seed %d: %s", seed, what)
					}
				}
			})
		}
	})
	a := <-halves
	a.add(<-halves)
	t.Logf("%+v", a)
}

// TestFleetNotices: where one of the rules is broken, fleets repeat IDs and find it. And a seed
// does the same each time.
func TestFleetNotices(t *testing.T) {
	for _, naive := range []naive{ignoresNotes, comparesNot, trustsSilence} {
		t.Run(naive.String(), func(t *testing.T) {
			for seed := uint64(1); seed <= 200; seed++ {
				if f := runFleet(t, seed, naive); len(f.broken) > 0 {
					t.Logf("seed %d: %v", seed, f.broken)
					return
				}
			}
			t.Error("nothing was noticed")
		})
	}
	for seed := uint64(1); seed <= 3; seed++ {
		a, b := runFleet(t, seed, sound), runFleet(t, seed, sound)
		if a.seen != b.seen {
			t.Errorf("seed %d: %+v, %+v", seed, a.seen, b.seen)
		}
	}
}

// A fleet is a few apps of one scheme that claim their numbers, in virtual time. What it does
// follows from its seed alone. Clocks are off by seconds, stepped by up to years, or stand still.
// Apps mint in bursts, are stopped, crash and start again, some of them under one name. The store
// spoils what a network would. Operators free numbers, and configure clusters.
type fleet struct {
	seed  uint64
	rnd   *rand.Rand
	world *world
	pool  claims.Pool
	opts  claims.Options // that all have in common
	size  int            // numbers of the pool, as far as it is used
	far   time.Duration  // the longest step of a clock
	mode  idtype.EightByteMode

	mu      sync.Mutex // guards what follows; not held while time passes
	ids     map[int][]storetest.Range
	windows map[int][]generator.Window[int]
	broken  []string
	seen    figures
}

// figures are what a fleet saw.
type figures struct {
	seeds, ids, windows, starts, freed, steps, stops, failed int64

	sum uint64 // of the windows
}

func (f *figures) add(o figures) {
	f.seeds, f.ids, f.windows = f.seeds+o.seeds, f.ids+o.ids, f.windows+o.windows
	f.starts, f.freed, f.failed = f.starts+o.starts, f.freed+o.freed, f.failed+o.failed
	f.steps, f.stops = f.steps+o.steps, f.stops+o.stops
}

// anySpan is a time from least to most, of any order of magnitude. No two are the same, as good as:
// so no two things happen at once, and their order follows from the seed.
func anySpan(rnd *rand.Rand, least, most time.Duration) time.Duration {
	return time.Duration(float64(least) * math.Pow(float64(most)/float64(least), rnd.Float64()))
}

func newFleet(seed uint64, naive naive) *fleet {
	rnd := rand.New(rand.NewPCG(seed, 0))
	f := &fleet{
		seed: seed, rnd: rnd,
		ids: map[int][]storetest.Range{}, windows: map[int][]generator.Window[int]{},
		far: 3 * 365 * 24 * time.Hour,
	}
	f.pool = claims.Pools()[seed%4]
	f.mode = idtype.EightByteSpread
	if rnd.IntN(2) == 1 {
		f.mode = idtype.EightByteTimeSequential
	}
	f.world = newWorld(seed, naive, rnd.IntN(3) != 0, 0.3*rnd.Float64())
	if f.pool == trace { // whose IDs repeat after 388 days
		f.far = 100 * 24 * time.Hour
	}
	f.size = []int{1, 2, 3, 4, 6, 40}[rnd.IntN(6)]
	f.opts = claims.Options{
		Length: anySpan(rnd, 2*time.Second, 15*time.Second),
		Quiet:  anySpan(rnd, time.Millisecond, 30*time.Second),
		Part:   &generator.Pool{Min: 10, Max: 9 + f.size},
	}
	if rnd.IntN(10) == 0 {
		f.opts.Part = nil
	}
	return f
}

func (f *fleet) complain(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.broken) < 20 {
		f.broken = append(f.broken, fmt.Sprintf(format, args...))
	}
}

func (f *fleet) count(n *int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

// run has the apps run for a while, and checks what they were told. It is called in a bubble.
func (f *fleet) run() {
	var group sync.WaitGroup
	apps := 2 + f.rnd.IntN(7)
	end := time.Now().Add(2 * time.Minute)
	for n := range apps {
		a := &app{
			fleet: f, rnd: rand.New(rand.NewPCG(f.seed, uint64(100+n))), end: end,
			name: []string{fmt.Sprint("pod-", n), "pod", fmt.Sprint("pod-", n/2), ""}[n%4],
		}
		a.clock.usual = int64(anySpan(a.rnd, time.Millisecond, 3*time.Second)) *
			int64(a.rnd.IntN(2)*2-1)
		a.clock.skew = a.clock.usual
		group.Go(a.run)
	}
	group.Go(func() { f.operate(end) })
	group.Wait()
	f.world.mu.Lock()
	f.world.calm = true
	f.world.mu.Unlock()
	time.Sleep(3 * time.Minute) // requests that are under way arrive
	f.audit()
	f.recovers()
	time.Sleep(time.Minute) // no request outlives the bubble
}

// direct is a log without faults, for operators.
func (f *fleet) direct() *launchlog.Log {
	l, err := launchlog.New(f.world.faulty.Store, nil)
	if err != nil {
		panic(err)
	}
	return l
}

// operate frees numbers that were locked far ahead, and configures clusters.
func (f *fleet) operate(end time.Time) {
	rnd := rand.New(rand.NewPCG(f.seed, 99))
	l := f.direct()
	for {
		time.Sleep(anySpan(rnd, time.Second, 40*time.Second))
		if !time.Now().Before(end) {
			return
		}
		f.free(l, time.Now())
		if f.pool == paired {
			old, err := f.pool.Clusters(ctx, l)
			if err == nil {
				list := []int{rnd.IntN(3)}
				if rnd.IntN(2) == 0 {
					list = append(list, 3+rnd.IntN(3))
				}
				err = f.pool.SetClusters(ctx, l, old, list, "ann")
			}
			if err != nil {
				f.complain("clusters: %v", err)
			}
		}
	}
}

// free frees what is locked for more than an hour, where it can be.
func (f *fleet) free(l *launchlog.Log, now time.Time) {
	list, err := f.pool.List(ctx, l, now)
	if err != nil {
		f.complain("list: %v", err)
	}
	for _, c := range list {
		if c.Gap[1].IsZero() || !c.Until.After(now.Add(time.Hour)) {
			continue
		}
		var refused *claims.OptionError
		_, err := f.pool.Free(ctx, l, c.Number, now, "ann")
		switch {
		case err == nil:
			f.count(&f.seen.freed)
		case !errors.As(err, &refused):
			f.complain("free %s: %v", c.Number, err)
		}
	}
}

// recovers checks that a fresh process with a right clock gets a number once the faults are over.
// With a clock of the store no number is locked for longer than MaxAhead, a window and the quiet
// time, which have passed. Without one, numbers are locked until the time comes to which clocks
// were stepped.
func (f *fleet) recovers() {
	if f.world.naive != sound {
		return
	}
	if !f.world.clock {
		time.Sleep(f.far + time.Hour)
	}
	a := &app{
		fleet: f, rnd: rand.New(rand.NewPCG(f.seed, 98)), name: "fresh",
		end: time.Now().Add(time.Hour),
	}
	if err := a.start(); err != nil {
		f.complain("a fresh process: %v", err)
		return
	}
	defer a.link.die()
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := a.fill(within, 1); err != nil {
		f.complain("the pool is locked for a fresh process: %v", err)
	}
}

// audit compares all that was told with what the store did.
func (f *fleet) audit() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	f.broken = append(f.broken, f.world.broken...)
	for number, list := range f.ids {
		if n := storetest.Repeats(list); n != 0 {
			f.broken = append(f.broken, fmt.Sprintf("number %d: %d runs of IDs repeat", number, n))
		}
	}
	for number, list := range f.windows {
		var ranges []storetest.Range
		for _, w := range list {
			ranges = append(ranges, storetest.Range{First: w.From, N: w.To - w.From})
			if f.world.naive == sound && !f.raised(number, w) {
				f.broken = append(f.broken, fmt.Sprintf("number %d: no step raised a counter to %+v",
					number, w))
			}
		}
		if n := storetest.Repeats(ranges); n != 0 {
			f.broken = append(f.broken, fmt.Sprintf("number %d: %d windows overlap", number, n))
		}
	}
}

// raised reports whether a step of one of the number's counters covers a window.
func (f *fleet) raised(number int, w generator.Window[int]) bool {
	name := fmt.Sprintf("%s/%d", f.pool.Scheme(), number)
	if f.pool == paired {
		name = fmt.Sprintf("%s/%d/%d", f.pool.Scheme(), number/2048, number%2048)
	}
	grain := int64(1)
	if f.pool == snowflake { // of 10 ms
		grain = 10
	}
	for counter, raises := range f.world.history {
		if counter != name && !strings.HasPrefix(counter, name+"/") {
			continue
		}
		if slices.ContainsFunc(raises, func(r launchlog.Raise) bool {
			return (r.To+1)/grain == w.To && r.From < w.From*grain
		}) {
			return true
		}
	}
	return false
}

// An app starts, mints and ends, again and again.
type app struct {
	*fleet
	rnd   *rand.Rand
	name  string
	end   time.Time
	clock fleetClock

	link *link
	fill func(context.Context, int) error
}

// A fleetClock is the true time, apart from its skew, or stands still.
type fleetClock struct {
	mu    sync.Mutex // guards what follows; not held while time passes
	usual int64
	skew  int64
	still int64     // what it says until
	until time.Time // then
}

func (c *fleetClock) UnixNano() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().Before(c.until) {
		return c.still
	}
	return time.Now().UnixNano() + c.skew
}

// Sleep is late, as timers are. It does not end while the clock stands still: neither would the
// process run.
func (c *fleetClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d + time.Duration(d%1_999_993))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *fleetClock) set(skew int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skew = skew
}

func (c *fleetClock) stop(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.still, c.until = now.UnixNano()+c.skew, now.Add(d)
}

type sonyflakeID = idtype.SnowflakeIn[any, idtype.SonyflakeV2]

func (a *app) run() {
	for {
		time.Sleep(anySpan(a.rnd, time.Millisecond, 10*time.Second))
		if !time.Now().Before(a.end) {
			return
		}
		if err := a.start(); err != nil {
			a.complain("start: %v", err)
			return
		}
		a.live()
		a.link.die()
	}
}

// live mints until the app crashes.
func (a *app) live() {
	for time.Now().Before(a.end) {
		switch r := a.rnd.IntN(100); {
		case r < 70:
			a.call()
		case r < 80:
			a.count(&a.seen.steps)
			skew := a.clock.usual
			if a.rnd.IntN(2) == 0 {
				skew += int64(anySpan(a.rnd, time.Millisecond, a.far)) * int64(a.rnd.IntN(2)*2-1)
			}
			a.clock.set(skew)
		case r < 84: // stopped, between what it reads and what it does with it
			a.count(&a.seen.stops)
			a.clock.stop(anySpan(a.rnd, 10*time.Millisecond, 40*time.Second))
		case r < 88: // stopped, while requests are under way
			a.count(&a.seen.stops)
			d := anySpan(a.rnd, 10*time.Millisecond, 40*time.Second)
			a.link.stop(d)
			time.Sleep(d)
		case r < 92:
			return
		}
		time.Sleep(anySpan(a.rnd, time.Millisecond, 4*time.Second))
	}
}

// call mints a burst, and checks that the call ends.
func (a *app) call() {
	within := anySpan(a.rnd, 10*time.Millisecond, 30*time.Second)
	calling, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	err := a.fill(calling, 1+a.rnd.IntN(300))
	if d := time.Since(began); d > within {
		a.complain("a call with %v took %v: %v", within, d, err)
	}
	if err == nil {
		return
	}
	a.count(&a.seen.failed)
	var clock *generator.ClockError
	var number *generator.NumberError
	var outside *idtype.RangeError
	switch {
	case strings.Contains(err.Error(), "panicked"),
		a.world.naive == sound && errors.Is(err, generator.ErrRepeated),
		!errors.As(err, &clock) && !errors.As(err, &number) && !errors.As(err, &outside):
		a.complain("a call: %v", err)
	}
}

// start starts a process with a source and a generator.
func (a *app) start() error {
	a.count(&a.seen.starts)
	a.link = &link{
		world: a.world, rnd: rand.New(rand.NewPCG(a.seed, a.rnd.Uint64())), giveUp: func() {},
	}
	log, err := launchlog.New(a.link, &launchlog.Options{Budget: 20 * time.Second})
	if err != nil {
		return err
	}
	o := a.opts
	o.Holder = a.name
	o.FailWhenLent = a.rnd.IntN(4) == 0
	switch a.pool {
	case trace:
		s, err := claims.Nodes(log, &o)
		return begin(a, s, err, func(n int) int { return n },
			func(w generator.Windows[int], o *generator.Options) (generator.Source[idtype.TraceID], error) {
				return generator.NewTrace(w, o)
			},
			func(id idtype.TraceID) (int, int64) {
				p := id.Parts()
				return p.Node, int64(p.Timestamp)<<formats.TraceBottomBits | int64(p.Bottom)
			})
	case sno:
		s, err := claims.Partitions(log, &o)
		return begin(a, s, err, func(n int) int { return n },
			func(w generator.Windows[int], o *generator.Options) (generator.Source[idtype.SnoID], error) {
				return generator.NewSno(w, o)
			},
			func(id idtype.SnoID) (int, int64) {
				head := binary.BigEndian.Uint64(id[:])
				return int(head & 0xffff), int64(head>>24<<16|
					uint64(binary.BigEndian.Uint16(id[8:]))) + 1
			})
	}
	if a.pool == snowflake {
		s, err := claims.Snowflakes[idtype.SonyflakeV2](log, &o)
		return begin(a, s, err, func(n int) int { return n },
			func(
				w generator.Windows[int], o *generator.Options,
			) (generator.Source[sonyflakeID], error) {
				return generator.NewSnowflakeIn[idtype.SonyflakeV2](w, o)
			},
			func(id sonyflakeID) (int, int64) {
				p := id.Parts()
				return p.Node, p.UnixMs/10<<8 | int64(p.Step)
			})
	}
	s, err := claims.Pairs(log, &o)
	return begin(a, s, err,
		func(p generator.EightBytePair) int { return p.Cluster*2048 + p.Generator },
		func(w generator.Windows[generator.EightBytePair], o *generator.Options) (
			generator.Source[idtype.EightByteID], error,
		) {
			return generator.NewEightByte(a.mode, w, o)
		},
		func(id idtype.EightByteID) (int, int64) {
			p := id.Parts()
			return p.Cluster*2048 + p.Generator, p.UnixMs<<6 + int64(p.Sequence) + 1
		})
}

// begin makes the generator of a process, whatever its scheme is.
func begin[N, ID any](
	a *app, s *claims.Source[N], err error, number func(N) int,
	build func(generator.Windows[N], *generator.Options) (generator.Source[ID], error),
	read func(ID) (number int, id int64),
) error {
	if err != nil {
		return err
	}
	s.SetRandom(rand.New(rand.NewPCG(a.seed, a.rnd.Uint64())))
	g, err := build(told[N]{a, a.link, s, number}, &generator.Options{
		Clock: &a.clock, MaxWait: anySpan(a.rnd, time.Second, 30*time.Second),
	})
	var buf []ID
	a.fill = func(ctx context.Context, n int) error {
		if n > len(buf) {
			buf = make([]ID, n)
		}
		minted := 0
		if n <= 3 {
			for minted < n && err == nil {
				var id ID
				if id, err = g.Next(ctx); err == nil {
					buf[minted] = id
					minted++
				}
			}
		} else {
			minted, err = g.Fill(ctx, buf[:n])
		}
		record(a.fleet, buf[:minted], read)
		return err
	}
	return err
}

// record keeps IDs as runs, by number.
func record[ID any](f *fleet, ids []ID, read func(ID) (number int, id int64)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen.ids += int64(len(ids))
	for len(ids) > 0 {
		number, first := read(ids[0])
		n := 1
		for n < len(ids) {
			if other, id := read(ids[n]); other != number || id != first+int64(n) {
				break
			}
			n++
		}
		list := f.ids[number]
		if k := len(list) - 1; k >= 0 && list[k].First+list[k].N == first {
			list[k].N += int64(n)
		} else {
			f.ids[number] = append(list, storetest.Range{First: first, N: int64(n)})
		}
		ids = ids[n:]
	}
}

// told writes down the windows that a source hands to its generator.
type told[N any] struct {
	app    *app
	link   *link
	source *claims.Source[N]
	number func(N) int
}

func (t told[N]) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (generator.Window[N], error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.link.mu.Lock()
	t.link.giveUp = cancel
	t.link.mu.Unlock()
	w, err := t.source.NextWindow(ctx, now, unit)
	if err != nil {
		return w, err
	}
	f := t.app.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	n := t.number(w.Number)
	f.seen.windows++
	f.seen.sum = (f.seen.sum ^ uint64(n)<<48 ^ uint64(w.From)<<8 ^ uint64(w.To)) * 0x9e3779b97f4a7c15
	f.windows[n] = append(f.windows[n], generator.Window[int]{Number: n, From: w.From, To: w.To})
	return w, nil
}
