package kv

import (
	"context"
	"iter"
	"math"
	"regexp"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// raise reads a log counter, and writes what decide makes of it. Decide returns the event to add,
// and whether there is anything to write. Raise returns the log counter as it is afterwards.
func (s *Store) raise(
	ctx context.Context, ref launchlog.CounterRef,
	decide func(*counted) (event *launchlog.Event, write bool, err error),
) (now counted, err error) {
	part := counterPart(ref)
	err = s.step(ctx, part, func(ctx context.Context) (bool, error) {
		was, r, err := row[counted](ctx, s, part, stateRow)
		if err != nil {
			return false, err
		}
		now = was
		event, write, err := decide(&now)
		if err != nil || !write {
			return true, err
		}
		if r.Version == 0 {
			if err := s.index(ctx, ref); err != nil {
				return false, err
			}
		}
		now.At = later(s.clock(), was.At)
		now.Write = word()
		changes := []change{{r, &now}}
		if event != nil {
			now.Events++
			event.Namespace, event.At = ref.Namespace, now.At
			changes = append(
				changes, change{Row{Name: eventRow(now.Events)}, happened{*event, now.Write}},
			)
		}
		return s.commit(ctx, part, changes...)
	})
	return now, err
}

// index records that a log counter exists, before it is created, so that every existing log counter
// is listed.
func (s *Store) index(ctx context.Context, ref launchlog.CounterRef) error {
	// It does not matter whose row it is.
	_, err := s.commit(ctx, countersPart(ref.Namespace),
		change{Row{Name: counterRow(ref.Name)}, indexed{ref.Name, word()}})
	return err
}

// ReserveNumbers implements launchlog.Store.
func (s *Store) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	now, err := s.raise(ctx, ref, func(c *counted) (*launchlog.Event, bool, error) {
		before := max(c.Value, floor-1)
		if before > math.MaxInt64-n {
			return nil, false, launchlog.ErrCounterExhausted
		}
		c.Value, c.Note, c.Holder = before+n, "", ""
		return nil, true, nil
	})
	if err != nil {
		return 0, err
	}
	return now.Value - n + 1, nil
}

// AdvanceCounter implements launchlog.Store. A single commit raises the log counter and adds the
// event.
func (s *Store) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	now, err := s.raise(ctx, ref, func(c *counted) (*launchlog.Event, bool, error) {
		if c.Value >= target {
			return nil, false, nil
		}
		event := &launchlog.Event{
			Kind: "counter-advanced", Actor: actor,
			Detail: detail.Counter(ref.Name, c.Value, target),
		}
		c.Value, c.Note, c.Holder = target, "", ""
		return event, true, nil
	})
	if err != nil {
		return 0, err
	}
	return now.Value, nil
}

// RaiseCounter implements launchlog.Store.
func (s *Store) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	now, err := s.raise(ctx, ref, func(c *counted) (*launchlog.Event, bool, error) {
		if c.Value != raise.From {
			return nil, false, nil
		}
		c.Value, c.Note, c.Holder = raise.To, raise.Note, raise.Holder
		return nil, true, nil
	})
	if err != nil || now.Value == 0 {
		return launchlog.CounterState{}, err
	}
	return now.state(ref), nil
}

// lookTries is how often a look is tried when other processes are faster. After that it is not
// counted, so that processes which would repeat it at once do not add to the load.
const lookTries = 3

// Order implements launchlog.Store, with two reads and a commit. If other processes are faster than
// a look that raises nothing, such as a generator's first, it returns what it has read.
func (s *Store) Order(
	ctx context.Context, look launchlog.Look,
) (value, looks int64, err error) {
	if look.Token != "" {
		state, claim, _, err := two[progress, claimed](
			ctx, s, launchPart(look.Ref), claimRow(look.Generator))
		if err == nil {
			err = look.Kept(claim.Token, state.NextGenerator)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	part := orderPart(look)
	leave, err := s.queue.enter(ctx, part)
	if err != nil {
		return 0, 0, err
	}
	defer leave()
	var was ordered
	for range lookTries {
		var r Row
		if was, r, err = row[ordered](ctx, s, part, stateRow); err != nil {
			return 0, 0, err
		}
		now := ordered{
			max(was.Value, look.Reached), was.Looks + 1, later(s.clock(), was.At), word(),
		}
		if done, err := s.commit(ctx, part, change{r, now}); done || err != nil {
			return now.Value, now.Looks, err
		}
	}
	if look.Reached > 0 {
		err = errRaced
	}
	return was.Value, was.Looks, err
}

// LastNumber implements launchlog.Store.
func (s *Store) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	c, _, err := row[counted](ctx, s, counterPart(ref), stateRow)
	return c.Value, err
}

// Counters implements launchlog.Store. The result is not a snapshot.
func (s *Store) Counters(
	ctx context.Context, namespace, after string, limit int,
) (found []launchlog.CounterState, err error) {
	for c, err := range s.counters(ctx, namespace, after) {
		if err != nil {
			return nil, err
		}
		if c.Value != 0 { // otherwise it was indexed but not created
			found = append(found, c.state(c.ref))
		}
		if len(found) == limit {
			break
		}
	}
	return found, nil
}

func (c counted) state(ref launchlog.CounterRef) launchlog.CounterState {
	return launchlog.CounterState{
		Namespace: ref.Namespace, Name: ref.Name, Value: c.Value, UpdatedAt: c.At,
		Note: c.Note, Holder: c.Holder,
	}
}

var counterName = regexp.MustCompile(`^[a-z0-9][a-z0-9._/-]*$`)

type listed struct {
	counted
	ref launchlog.CounterRef
}

// counters lists the log counters that exist or were about to be created, whose names follow after.
func (s *Store) counters(
	ctx context.Context, namespace, after string,
) iter.Seq2[listed, error] {
	part, from := countersPart(namespace), counterRow(after)
	if !counterName.MatchString(after) { // not a valid name: look through all counters
		from = ""
	}
	return func(yield func(listed, error) bool) {
		for page, err := range pages[indexed](ctx, s, part, from, "", math.MaxInt) {
			var refs []launchlog.CounterRef
			var parts []string
			for _, counter := range page {
				if counter.Name > after {
					ref := launchlog.CounterRef{Namespace: namespace, Name: counter.Name}
					refs, parts = append(refs, ref), append(parts, counterPart(ref))
				}
			}
			var all []counted
			if err == nil {
				all, err = states[counted](ctx, s, parts)
			}
			if err != nil {
				yield(listed{}, err)
				return
			}
			for i, c := range all {
				if !yield(listed{c, refs[i]}, nil) {
					return
				}
			}
		}
	}
}
