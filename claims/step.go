package claims

import (
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// A step raises a counter. It is in doubt until the resulting row is known.
type step struct {
	lease   lease // as it was read
	counter *launchlog.Counter
	raise   launchlog.Raise
	first   int64                  // first unit of the window; the last one is raise.To
	row     launchlog.CounterState // the resulting row
}

func (d *step) done() bool { return d.raise.Done(d.row) }

// raise takes or renews a number by one compare-and-swap of the row that was read. The step is not
// done if another source was faster.
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
	end := max(now+length, first+1)
	end += s.grain - 1 // round up to a whole unit of the generator, where the next window begins
	end -= end % s.grain
	d := &step{lease: l, counter: counter, first: first, raise: launchlog.Raise{
		From: l.row.Value, To: min(end, l.end()) - 1,
		Note: noteOf(gaps), Holder: s.opts.Holder,
	}}
	return d, s.settle(ctx, d)
}

// settle runs a step, and repeats it if necessary, until the resulting row is known. If that stays
// unknown, the next call of [Source.NextWindow] continues with the step.
func (s *source) settle(ctx context.Context, d *step) error {
	row, err := d.counter.Raise(ctx, d.raise)
	if err != nil {
		var lost *launchlog.UnresolvedError
		switch {
		case s.doubt != nil: // still in doubt, whatever prevented this attempt
		case errors.As(err, &lost) && lost.Uncertain:
			s.doubt = d
			s.count(func(st *Stats) { st.Doubts++ })
		}
		return err
	}
	d.row = row
	if !d.done() {
		s.doubt = nil
		return nil
	}
	if err := s.fresh(ctx, d); err != nil {
		s.doubt = d // run again, it finds its row
		return err
	}
	s.doubt = nil
	taken := s.own == nil
	d.lease.row = row
	s.own = &d.lease
	clear(s.waits)
	s.count(func(st *Stats) {
		st.Raised++
		st.Number, st.Until = s.pool.number(d.lease.number), s.pool.time(d.raise.To+1)
	})
	if taken {
		s.count(func(st *Stats) { st.Taken++ })
		s.tell(Taken, nil)
	}
	return nil
}

// fresh ensures that a window begins above the pool's floor, if the window is the first of a number
// or the number was not renewed for long. This source may have chosen the number, or sent its step,
// before the store failed over to a copy without the newest rows. That copy does not know who had
// the number in between, and the step may have changed the row before the operator advanced it.
func (s *source) fresh(ctx context.Context, d *step) error {
	if s.own != nil && d.first-d.lease.last() <= s.units(s.opts.Quiet) {
		return nil
	}
	floor, err := s.pool.floor(ctx, s.log)
	if err != nil {
		return err
	}
	d.lease.known = floor
	d.first = max(d.first, floor+1)
	return nil
}

// checkClock returns an error instead of letting a counter jump over time that the store's clock
// has not reached. It compares the clocks before a jump, and if this clock has gained since the
// last comparison.
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
	// Now was read before the store was asked, so the clocks differ by at least this much.
	if at := s.pool.time(now); at.Sub(store) > s.opts.MaxAhead {
		err := &ClockError{Scheme: s.pool.scheme, Now: at, Store: store, Most: s.opts.MaxAhead}
		s.tell(Refused, err)
		s.comparedAt = time.Time{} // compare again, until the clock is right
		return err
	}
	return nil
}
