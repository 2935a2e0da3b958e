package claims

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
)

// A Source lends one number at a time to one generator. It implements [generator.Windows]. If two
// generators share a source, they take turns.
//
// A source takes a number for the first window, and renews it for the windows that follow. If the
// number was lost, the source takes another one. A step whose answer was lost is repeated until its
// outcome is known, and no other step begins before that.
type Source[N any] struct {
	*source
	value func(int) N
}

// A source is the part of a Source that does not depend on the pool.
type source struct {
	log   *launchlog.Log
	pool  Pool
	grain int64 // units of the pool per unit of the generator
	opts  Options

	turn  chan struct{}     // holds one element, which guards the fields below, also while waiting
	own   *lease            // the number's row when it was last raised; nil if there is none
	doubt *step             // a step whose outcome is unknown; or nil
	seen  time.Time         // when the clusters were last read
	waits map[string]waited // numbers with this source's holder, by their counters
	// shared is true if other sources have raised a number of this source under its holder's name.
	shared bool
	// This clock, when it was last compared with the store's.
	compared   int64 // unit
	comparedAt time.Time
	// ended is the end of the last window handed out, per number.
	ended  map[int]int64
	random *rand.Rand

	mu    sync.Mutex // guards what follows; not held while the store is asked
	stats Stats
}

func newSource[N any](
	log *launchlog.Log, opts *Options, p Pool, value func(int) N,
) (*Source[N], error) {
	if log == nil {
		return nil, &OptionError{"", "log", "nil", "must not be nil: create one with launchlog.New"}
	}
	o, err := opts.complete(p)
	if err != nil {
		return nil, err
	}
	s := &source{
		log: log, pool: p, grain: 1, opts: o, turn: make(chan struct{}, 1),
		waits: map[string]waited{}, ended: map[int]int64{},
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
	s.turn <- struct{}{}
	s.stats.Scheme, s.stats.Holder = p.scheme, o.Holder
	return &Source[N]{s, value}, nil
}

// NextWindow implements [generator.Windows]. Errors: [*LentError], [*ClockError], an [*OptionError]
// for a generator of another scheme, a [*generator.NotBeforeError] if a number will be free later,
// or an error of the log.
func (s *Source[N]) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (w generator.Window[N], err error) {
	if s == nil || s.source == nil {
		return w, &OptionError{
			"", "log", "nil", "must not be nil: create the source with a constructor",
		}
	}
	d, err := s.window(ctx, now, unit)
	if err != nil {
		return w, err
	}
	return generator.Window[N]{
		Number: s.value(d.lease.number), From: s.from(d), To: s.to(d),
	}, nil
}

// Trouble returns what is delaying the source's log, and therefore a window.
func (s *Source[N]) Trouble() error {
	if s == nil || s.source == nil {
		return nil
	}
	return s.log.Trouble()
}

// Stats reports the state, for metrics.
func (s *Source[N]) Stats() Stats {
	if s == nil || s.source == nil {
		return Stats{}
	}
	return s.state()
}

// from and to return a step's window in whole units of the generator that are within it. Windows
// that do not overlap therefore do not overlap in the units of other layouts either.
func (s *source) from(d *step) int64 { return (d.first + s.grain - 1) / s.grain }
func (s *source) to(d *step) int64   { return (d.raise.To + 1) / s.grain }

// window gets a step whose window was not handed out before.
func (s *source) window(ctx context.Context, now int64, unit time.Duration) (*step, error) {
	if unit != s.pool.unit*time.Duration(s.grain) {
		return nil, &OptionError{"", "generator", "of units of " + unit.String(), "is not of " +
			string(s.pool.scheme) + " IDs, whose numbers this source lends"}
	}
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()
	if now > s.pool.most/s.grain {
		return nil, &ClockError{Scheme: s.pool.scheme, Now: s.pool.time(s.pool.most + 1)}
	}
	now *= s.grain
	d, err := s.next(ctx, max(now, 1))
	// The whole window is below the pool's floor, or it contains no whole unit of the generator.
	for err == nil && s.from(d) >= s.to(d) {
		d, err = s.next(ctx, max(now, 1))
	}
	s.answered(err)
	var later *generator.NotBeforeError
	if errors.As(err, &later) {
		later.From = (later.From + s.grain - 1) / s.grain
		later.Unit = unit
	}
	if err != nil {
		return nil, err
	}
	s.ended[s.own.number] = max(s.ended[s.own.number], d.raise.To+1)
	return d, nil
}

// answered notifies when the store begins to fail, and when it answers again.
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

// next gets a step that is known to have been carried out. It takes the steps of the models
// claims.pml, gap.pml and pool.pml of docs/design/models.
func (s *source) next(ctx context.Context, now int64) (*step, error) {
	if d := s.doubt; d != nil {
		if err := s.settle(ctx, d); err != nil {
			return nil, err
		}
		// The rest of its window may be used, because it was never handed out. If the clock was set
		// back meanwhile, it would have to wait for the window.
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

// renew raises the counter of the number that this source has, or finds that the number was lost.
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

// unusable returns the reason why this source's number must not be renewed.
func (s *source) unusable(ctx context.Context, now int64) (why, err error) {
	switch {
	case max(now, s.own.last()+1) >= s.own.end():
		return errors.New("the freed time has ended"), nil
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
		return errors.New("its cluster may not be used any more"), nil
	}
	return nil, nil
}

// takeTries bounds the numbers that others may take between the reading of the pool and this
// source's step. After that, the reading is out of date, or the store's answers cannot be trusted.
const takeTries = 64

var errTaken = errors.New("claims: others took the numbers that were free")

// take takes a free number.
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
		// No other number is taken, or each restart would lock one.
		if free := s.mine(l, now); free > 0 {
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
			return d, nil
		}
		if tries+1 == takeTries {
			return nil, &generator.NotBeforeError{From: now + 1, Unit: s.pool.unit, Err: errTaken}
		}
		c.lend(l.number, now+c.quiet+1) // another source has it
	}
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

// units returns a duration in units, rounded up.
func (s *source) units(d time.Duration) int64 {
	return int64((d-1)/s.pool.unit) + 1
}

// time returns the beginning of a unit. Units beyond the IDs' last one count as the one after it.
func (p Pool) time(units int64) time.Time {
	return time.UnixMilli(min(units, p.most+1) * p.unit.Milliseconds()).UTC()
}
