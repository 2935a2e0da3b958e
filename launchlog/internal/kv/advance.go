package kv

import (
	"context"
	"errors"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// AdvanceLaunches implements launchlog.Store. It needs many commits, because each launch ends in
// its own partition. The first commit raises the number, adds the event, and records the advance
// with the launches that it must end. Then these launches end. The last commit clears the record.
// If the advance is cut off in between, the next advance first completes it, whatever its own
// target is, so that no launch that had to end is still running after an acknowledged advance.
func (s *Store) AdvanceLaunches(
	ctx context.Context, namespace string, target int, ending launchlog.Ending,
) (last, finished int, err error) {
	own := word()
	for {
		state, err := s.beginAdvance(ctx, namespace, target, own, ending)
		if err != nil {
			return 0, finished, err
		}
		pending := state.Pending
		if pending == nil {
			return state.Last, finished, nil // Last is above target
		}
		if pending.Word != own {
			finished = pending.To
		}
		now, err := s.finishAdvance(ctx, namespace, *pending)
		if err != nil {
			return 0, finished, doubtful(err)
		}
		// Another advance to the same number, with no launch since, did everything that this one
		// must do.
		if pending.Word == own || pending.To == target && now == target {
			return target, finished, nil
		}
	}
}

// doubtful returns the error of a step that has written something but is not complete.
func doubtful(err error) error {
	var attempt *launchlog.AttemptError
	if errors.As(err, &attempt) && attempt.Ambiguous {
		return err
	}
	return &launchlog.AttemptError{Ambiguous: true, Err: err}
}

// beginAdvance raises the last number, records the advance, and returns the resulting state. It
// writes nothing if another advance is unfinished, or if the number is already higher. An advance
// to the current last number is recorded as well. Launches that started before it end; launches
// that start in the meantime continue.
func (s *Store) beginAdvance(
	ctx context.Context, namespace string, last int, own string, ending launchlog.Ending,
) (state launches, err error) {
	part := launchesPart(namespace)
	err = s.step(ctx, part, func(ctx context.Context) (bool, error) {
		there, r, err := row[launches](ctx, s, part, stateRow)
		state = there
		if err != nil || state.Pending != nil || state.Last > last {
			return true, err
		}
		state.Pending = &advance{
			Word: own, UpTo: state.Last, To: last,
			Actor: ending.Actor, Outcome: ending.Outcome, Reason: ending.Reason,
		}
		state.Advanced, state.Last, state.Write = state.Last, last, word()
		if last == there.Last {
			return s.commit(ctx, part, change{r, state})
		}
		state.At = later(s.clock(), state.At)
		state.Events++
		return s.commit(ctx, part, change{r, state}, change{
			Row{Name: eventRow(state.Events)}, happened{launchlog.Event{
				Namespace: namespace, Kind: "advanced", Actor: ending.Actor, At: state.At,
				Detail: detail.Advanced(there.Last, last),
			}, state.Write},
		})
	})
	return state, err
}

// finishAdvance ends the launches that an advance must end, and clears its record, unless another
// process has done so. It returns the last number at that moment. Several processes may run it at
// once.
func (s *Store) finishAdvance(
	ctx context.Context, namespace string, a advance,
) (last int, err error) {
	part := launchesPart(namespace)
	ending := launchlog.Ending{Actor: a.Actor, Outcome: a.Outcome, Reason: a.Reason}
	all := pages[started](ctx, s, part, launchRow(0), behind(launchRow(a.UpTo)), a.UpTo)
	for page, err := range all {
		if err == nil {
			err = s.endAll(ctx, namespace, page, ending)
		}
		if err != nil {
			return 0, err
		}
	}
	err = s.step(ctx, part, func(ctx context.Context) (bool, error) {
		state, r, err := row[launches](ctx, s, part, stateRow)
		last = state.Last
		if err != nil || state.Pending == nil || state.Pending.Word != a.Word {
			return true, err
		}
		state.Pending, state.Write = nil, word()
		return s.commit(ctx, part, change{r, state})
	})
	return last, err
}

// enders is how many launches end at once.
const enders = 16

// endAll ends those launches of a page that are running.
func (s *Store) endAll(
	ctx context.Context, namespace string, page []started, ending launchlog.Ending,
) error {
	states, err := s.progress(ctx, namespace, page)
	if err != nil {
		return err
	}
	return Parallel(ctx, len(page), enders, func(ctx context.Context, i int) error {
		if states[i].Ended != nil {
			return nil
		}
		ref := launchlog.Ref{Namespace: namespace, Launch: page[i].Launch}
		_, err := s.end(ctx, ref, page[i], ending)
		return err
	})
}
