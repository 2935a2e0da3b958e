package claims

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
)

// A Source lends one number at a time to one generator. It is a [generator.Windows]. Two
// generators that share a source go on by turns.
//
// It takes a number at the first window, and renews it for the windows that follow. Where the
// number was lost, it takes another one. A step whose answer was lost is run again until it is
// known: before that, no other step is begun.
type Source[N any] struct {
	*source
	value func(int) N
}

// A source is what sources of all pools do.
type source struct {
	log  *launchlog.Log
	pool Pool
	opts Options

	turn  chan struct{}     // holds one element: who has it uses what follows, and may wait with it
	own   *lease            // the number's row when it was raised last; nil for none
	doubt *step             // whose outcome is not known; or nil
	seen  time.Time         // when the clusters were read last
	waits map[string]waited // numbers that name this holder, by their counters
	// shared is whether others have raised a number of this source under its holder's name.
	shared bool
	// The clock, as it was compared with the store's last.
	compared   int64 // unit
	comparedAt time.Time
	// ended is the end of the last window that was handed out, per number.
	ended  map[int]int64
	random *rand.Rand

	mu    sync.Mutex // guards what follows; not held while the store is asked
	stats Stats
}

// A waited is a number that names this holder, and that its counter is ahead of.
type waited struct {
	last  int64 // where the counter stood
	rises int   // how often it has risen since
}

// A step raises a counter. It stays in doubt until the row that it left is known.
type step struct {
	lease   lease // as it was read
	counter *launchlog.Counter
	raise   launchlog.Raise
	first   int64                  // unit of the window; the last one is raise.To
	row     launchlog.CounterState // that was there afterwards
}

func (d *step) done() bool { return d.raise.Done(d.row) }

func newSource[N any](
	log *launchlog.Log, opts *Options, p Pool, value func(int) N,
) (*Source[N], error) {
	if log == nil {
		return nil, &OptionError{"", "log", "nil", "lends no numbers: launchlog.New makes one"}
	}
	o, err := opts.complete(p)
	if err != nil {
		return nil, err
	}
	s := &source{
		log: log, pool: p, opts: o, turn: make(chan struct{}, 1),
		waits: map[string]waited{}, ended: map[int]int64{},
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
	s.turn <- struct{}{}
	s.stats.Scheme, s.stats.Holder = p.scheme, o.Holder
	return &Source[N]{s, value}, nil
}

// NextWindow implements [generator.Windows]. Errors: [*LentError], [*ClockError], an [*OptionError]
// for a generator of another scheme, a [*generator.NotBeforeError] where a number comes later, or
// what the log says.
func (s *Source[N]) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (w generator.Window[N], err error) {
	if s == nil || s.source == nil {
		return w, &OptionError{"", "log", "nil", "lends no numbers: a constructor makes a source"}
	}
	d, err := s.window(ctx, now, unit)
	if err != nil {
		return w, err
	}
	return generator.Window[N]{
		Number: s.value(d.lease.number), From: d.first, To: d.raise.To + 1,
	}, nil
}

// Trouble is that of the source's log: what is in the way of a window.
func (s *Source[N]) Trouble() error {
	if s == nil || s.source == nil {
		return nil
	}
	return s.log.Trouble()
}

// Stats reports the state.
func (s *Source[N]) Stats() Stats {
	if s == nil || s.source == nil {
		return Stats{}
	}
	return s.state()
}

// window comes to a step whose window nobody has had.
func (s *source) window(ctx context.Context, now int64, unit time.Duration) (*step, error) {
	if unit != s.pool.unit {
		return nil, &OptionError{"", "generator", "of units of " + unit.String(), "is not of " +
			string(s.pool.scheme) + " IDs, whose numbers this source lends"}
	}
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()
	if now > s.pool.most {
		return nil, &ClockError{Scheme: s.pool.scheme, Now: s.pool.time(now)}
	}
	d, err := s.next(ctx, max(now, 1))
	for err == nil && d.first > d.raise.To { // all of that window lies below the pool's floor
		d, err = s.next(ctx, max(now, 1))
	}
	s.answered(err)
	if err != nil {
		return nil, err
	}
	s.ended[s.own.number] = max(s.ended[s.own.number], d.raise.To+1)
	return d, nil
}

// answered tells when the store begins to fail, and when it answers again.
func (s *source) answered(err error) {
	var lent *LentError
	var clock *ClockError
	var later *generator.NotBeforeError
	failed := err != nil && !errors.As(err, &lent) && !errors.As(err, &clock) &&
		!errors.As(err, &later)
	before := !s.state().Away.IsZero()
	s.count(func(st *Stats) {
		switch {
		case !failed:
			st.Away = time.Time{}
		case !before:
			st.Away = time.Now()
		}
		if failed {
			st.Failed++
		}
	})
	switch {
	case errors.Is(err, launchlog.ErrBehind): // for good
		if !before {
			s.tell(Behind, err)
		}
	case failed && !before:
		s.tell(Away, err)
	case !failed && before:
		s.tell(Back, nil)
	}
}

// next comes to a step that is known to have been carried out. Its steps are those of the models
// claims.pml, gap.pml and pool.pml of docs/design/models.
func (s *source) next(ctx context.Context, now int64) (*step, error) {
	if d := s.doubt; d != nil {
		if err := s.settle(ctx, d); err != nil {
			return nil, err
		}
		// What is left of its window may be used, as it was never handed out. A clock that was set
		// back meanwhile would have to wait for it.
		if d.done() && now <= d.raise.To && d.raise.To <= now+s.units(s.opts.Length) {
			return d, nil
		}
	}
	if s.own != nil {
		if d, err := s.renew(ctx, now); d != nil || err != nil {
			return d, err
		}
	}
	return s.take(ctx, now)
}

// renew raises the counter of the number that this source has, or finds it lost.
func (s *source) renew(ctx context.Context, now int64) (*step, error) {
	if why, err := s.unusable(ctx, now); err != nil {
		return nil, err
	} else if why != nil {
		s.drop(Freed, why)
		return nil, nil
	}
	d, err := s.raise(ctx, *s.own, now)
	switch {
	case err != nil:
		return nil, err
	case d.done():
		return d, nil
	}
	s.shared = s.shared || d.row.Holder == s.opts.Holder
	s.drop(Lost, errors.New("another generator has raised its counter"))
	return nil, nil
}

// unusable says why the number that this source has is not to be renewed.
func (s *source) unusable(ctx context.Context, now int64) (why, err error) {
	switch {
	case max(now, s.own.last()+1) >= s.own.end():
		return errors.New("the time that was freed ends"), nil
	case now < s.own.at && s.own.last() > now+s.units(s.opts.Length):
		return errors.New("the clock was set back"), nil // another number need not wait for it
	}
	if s.pool.clusters == 0 || time.Since(s.seen) < s.opts.Quiet {
		return nil, nil
	}
	clusters, err := s.pool.readClusters(ctx, s.log)
	if err != nil {
		return nil, err
	}
	s.seen = time.Now()
	if !s.pool.usable(s.own.number, *s.opts.Part, s.pool.allowed(clusters)) {
		return errors.New("its cluster is not to be used any more"), nil
	}
	return nil, nil
}

// takeTries bounds the numbers that others may take between a look at the pool and this holder's
// step. After that the look is out of date, or the store's answers are not to be believed.
const takeTries = 64

var errTaken = errors.New("claims: numbers that were free were taken by others")

// take takes a number that is free.
func (s *source) take(ctx context.Context, now int64) (*step, error) {
	t, err := s.pool.read(ctx, s.log)
	if err != nil {
		return nil, err
	}
	s.seen = time.Now()
	c := s.choice(&t, now)
	for tries := 0; ; tries++ {
		l, ok := c.pick(tries, s.random)
		if !ok {
			return nil, s.lent(c)
		}
		if free := s.mine(l, now); free > 0 { // others are not taken, or each restart would lock one
			err := &LentError{
				Scheme: s.pool.scheme, Numbers: c.size, Number: s.pool.number(l.number),
				Holder: s.opts.Holder, Until: s.pool.time(free),
			}
			if s.opts.FailWhenLent {
				return nil, err
			}
			return nil, &generator.NotBeforeError{From: free, Unit: s.pool.unit, Err: err}
		}
		d, err := s.raise(ctx, l, now)
		if err != nil {
			return nil, err
		}
		if d.done() {
			s.count(func(st *Stats) { st.Taken++ })
			s.tell(Taken, nil)
			return d, nil
		}
		if tries+1 == takeTries {
			return nil, &generator.NotBeforeError{From: now + 1, Unit: s.pool.unit, Err: errTaken}
		}
		c.lend(l.number, now+c.quiet+1) // somebody else has it
	}
}

// mine says when a number that names this holder may be raised, or 0 for at once. While its counter
// is ahead, a start waits instead of pushing it further: see [source.isMine].
func (s *source) mine(l lease, now int64) int64 {
	if l.row.Holder != s.opts.Holder || l.last() < now {
		return 0
	}
	if name := s.pool.counter(l); s.waits[name].last == 0 {
		s.waits[name] = waited{last: l.last()}
	}
	return l.last() + 1
}

// isMine reports whether a number names this holder, and may be taken again. Where its counter
// rises twice while a start waits, somebody else lives under this name. Once may be a request of
// this holder's dead process, which came late.
func (s *source) isMine(l lease, now int64) bool {
	if l.row.Holder != s.opts.Holder || s.shared || l.last() > now+s.units(s.opts.Length) {
		return false
	}
	name := s.pool.counter(l)
	w, waits := s.waits[name]
	if waits && w.last != l.last() {
		w = waited{l.last(), w.rises + 1}
		s.waits[name] = w
	}
	return w.rises < 2
}

// raise takes or renews a number: one compare-and-swap of what was read. The step is not done where
// somebody else was faster.
func (s *source) raise(ctx context.Context, l lease, now int64) (*step, error) {
	length := s.units(s.opts.Length)
	first := max(now, l.last()+1)
	if err := s.checkClock(ctx, now, first-l.last()); err != nil {
		return nil, err
	}
	counter, err := s.log.Counter(s.pool.counter(l))
	if err != nil {
		return nil, err
	}
	gaps := gapsOf(l.row.Note)
	if l.gap == nil && first-l.last() > s.units(s.opts.Quiet) {
		gaps = append(gaps, gap{l.last(), first})
	}
	l.at = now
	d := &step{lease: l, counter: counter, first: first, raise: launchlog.Raise{
		From: l.row.Value, To: min(max(now+length-1, first), l.end()-1),
		Note: noteOf(gaps), Holder: s.opts.Holder,
	}}
	return d, s.settle(ctx, d)
}

// settle runs a step, again if need be, until the row is known that it left. Where that stays
// unknown, the next call of [Source.NextWindow] goes on with it.
func (s *source) settle(ctx context.Context, d *step) error {
	row, err := d.counter.Raise(ctx, d.raise)
	if err != nil {
		var lost *launchlog.UnresolvedError
		switch {
		case s.doubt != nil: // it stays, whatever keeps this attempt from being made
		case errors.As(err, &lost) && lost.Uncertain:
			s.doubt = d
			s.count(func(st *Stats) { st.Doubts++ })
		}
		return err
	}
	settled := s.doubt != nil
	s.doubt, d.row = nil, row
	if !d.done() {
		return nil
	}
	if err := s.fresh(ctx, d); err != nil {
		return err
	}
	taken := s.own == nil
	d.lease.row = row
	s.own = &d.lease
	clear(s.waits)
	s.count(func(st *Stats) {
		st.Raised++
		st.Number, st.Until = s.pool.number(d.lease.number), s.pool.time(d.raise.To+1)
	})
	if settled && taken {
		s.count(func(st *Stats) { st.Taken++ })
		s.tell(Taken, nil)
	}
	return nil
}

// fresh keeps the first window of a number above the pool's floor, and that of a number that was
// not renewed for long. This source may have chosen the number, or sent its step, before the store
// failed over to a copy without the newest rows. In between somebody else may have had the number,
// and that copy does not know. The step came to the row before the operator did.
func (s *source) fresh(ctx context.Context, d *step) error {
	if s.own != nil && d.first-d.lease.last() <= s.units(s.opts.Quiet) {
		return nil
	}
	floor, err := s.pool.floor(ctx, s.log)
	if err != nil {
		s.doubt = d // run again, it finds its row
		return err
	}
	d.lease.known = floor
	d.first = max(d.first, floor+1)
	return nil
}

// checkClock refuses to raise a counter over a stretch of time to where the store's clock is not.
// It compares the clocks before a jump, and where this clock has gained since they were compared
// last.
func (s *source) checkClock(ctx context.Context, now, jump int64) error {
	most := s.units(s.opts.MaxAhead)
	gained := now - s.compared - s.units(time.Since(s.comparedAt))
	if jump <= most && gained <= most && !s.comparedAt.IsZero() {
		return nil
	}
	store, err := s.log.Now(ctx)
	if err != nil {
		return err
	}
	s.compared, s.comparedAt = now, time.Now()
	if store.IsZero() {
		return nil
	}
	// Now was read before the store was asked: so the difference is not less than this.
	if at := s.pool.time(now); at.Sub(store) > s.opts.MaxAhead {
		err := &ClockError{Scheme: s.pool.scheme, Now: at, Store: store, Most: s.opts.MaxAhead}
		s.tell(Refused, err)
		s.comparedAt = time.Time{} // and again, until it is right
		return err
	}
	return nil
}

// lent is the error where no number is free.
func (s *source) lent(c *choice) error {
	err := &LentError{Scheme: s.pool.scheme, Numbers: c.size}
	if c.earliest <= s.pool.most {
		err.Until = s.pool.time(c.earliest)
	}
	s.tell(Lent, err)
	if s.opts.FailWhenLent {
		return err
	}
	// Not much later than others would find one, and not all at once. Clusters may be added
	// meanwhile, and numbers freed.
	look := s.units(min(s.opts.Length, time.Minute))
	again := c.now + 1 + look/2 + s.random.Int64N(look)
	free := max(c.now+1, c.earliest) + s.random.Int64N(s.units(min(s.opts.Length, defaultLength)))
	return &generator.NotBeforeError{From: min(again, free), Unit: s.pool.unit, Err: err}
}

// drop gives up the number.
func (s *source) drop(kind EventKind, why error) {
	s.tell(kind, why)
	s.own = nil
	s.count(func(st *Stats) {
		st.Number, st.Until = "", time.Time{}
		switch kind {
		case Lost:
			st.Lost++
		case Freed:
			st.Freed++
		}
	})
}

// units is a duration in units, rounded up.
func (s *source) units(d time.Duration) int64 {
	return int64((d-1)/s.pool.unit) + 1
}

// time is when a unit begins. Units beyond the IDs' last are the one after it.
func (p Pool) time(units int64) time.Time {
	return time.UnixMilli(min(units, p.most+1) * p.unit.Milliseconds()).UTC()
}

// A choice is the numbers that may be taken, for one call.
type choice struct {
	now, quiet int64
	mine       []lease // that name this holder, the longest unused first
	free       []lease // unused for the quiet time, the longest first
	fresh      []int   // that were never used
	size       int     // of the pool, as far as it may be used
	lent       map[int]bool
	earliest   int64 // unit from which one that is lent is free; beyond the IDs' last for none
}

// lend notes that a number is not to be had before a unit.
func (c *choice) lend(number int, until int64) {
	c.lent[number] = true
	c.earliest = min(c.earliest, until)
}

// choice sorts what the store knows of the pool.
func (s *source) choice(t *table, now int64) *choice {
	never := s.pool.most + 1
	c := &choice{
		now: now, quiet: s.units(s.opts.Quiet), earliest: never, lent: map[int]bool{},
	}
	clusters := s.pool.allowed(t.clusters)
	part := *s.opts.Part
	used := map[int]bool{}
	restored := t.floor >= now // all numbers count as lent until then
	for _, l := range t.leases {
		if !s.pool.usable(l.number, part, clusters) {
			continue
		}
		used[l.number] = true
		last := l.last()
		free := last + c.quiet + 1
		switch {
		case restored:
			c.lend(l.number, t.floor+1)
		case max(now, last+1) >= l.end(): // what was freed is over
			continue
		case l.gap != nil && max(now, last+1) < s.ended[l.number]:
			// Its generator takes a window before one that it had for a repeat.
			c.lend(l.number, never)
		case s.isMine(l, now):
			c.mine = append(c.mine, l)
		case free <= now:
			c.free = append(c.free, l)
		default:
			c.lend(l.number, free)
		}
	}
	for _, cluster := range clusters {
		for n := part.Min; n <= part.Max; n++ {
			c.size++
			number := cluster*s.pool.each + n
			switch {
			case used[number]:
			case restored:
				c.lend(number, t.floor+1)
			default:
				c.fresh = append(c.fresh, number)
			}
		}
	}
	for _, list := range [][]lease{c.mine, c.free} {
		slices.SortFunc(list, func(a, b lease) int { return cmp.Compare(a.last(), b.last()) })
	}
	s.count(func(st *Stats) { st.Lent, st.Numbers = len(c.lent), c.size })
	return c
}

// pick takes a number out of the choice. It prefers this holder's. Then it takes one of the better
// half of those that were used before, or one of the first that never were. So the pool has as many
// counters as there were generators at a time, and a listing stays short. Who loses a race looks
// further around.
func (c *choice) pick(tries int, random *rand.Rand) (lease, bool) {
	switch {
	case len(c.mine) != 0:
		return draw(&c.mine, 0), true
	case len(c.free) != 0:
		return draw(&c.free, random.IntN((len(c.free)+1)/2)), true
	case len(c.fresh) != 0:
		return lease{number: draw(&c.fresh, random.IntN(min(len(c.fresh), 4<<min(tries, 20))))}, true
	}
	return lease{}, false
}

// draw takes one out of the list.
func draw[T any](list *[]T, i int) T {
	v := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return v
}
