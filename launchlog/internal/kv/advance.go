package kv

import (
	"context"
	"errors"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// AdvanceLaunches implements launchlog.Store. Launches end in partitions of their own, so this
// takes many commits. The first one raises the number, adds the event, and writes down the advance,
// with the launches that it is to end. Then they end. The last commit clears what was written down.
// Where this is cut off in between, the next advance carries on before anything else, whatever it
// finds. So no launch that was to end runs on after an advance that was acknowledged.
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
			return state.Last, finished, nil // which is above target
		}
		if pending.Word != own {
			finished = pending.To
		}
		now, err := s.finishAdvance(ctx, namespace, *pending)
		if err != nil {
			return 0, finished, doubtful(err)
		}
		// Somebody else's advance to the same number, with no launch since, did all that this one
		// is to do.
		if pending.Word == own || pending.To == target && now == target {
			return target, finished, nil
		}
	}
}

// doubtful is the error of a step that has written, and is not done.
func doubtful(err error) error {
	var attempt *launchlog.AttemptError
	if errors.As(err, &attempt) && attempt.Ambiguous {
		return err
	}
	return &launchlog.AttemptError{Ambiguous: true, Err: err}
}

// beginAdvance raises the last number and writes the advance down, and returns what is there then.
// It writes nothing where an advance is under way, or the number is higher already. It writes an
// advance to the number that is the last one down as well. Launches that started before it end, and
// those that start meanwhile run.
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

// finishAdvance ends the launches that an advance is to end, and clears what is written down of it,
// unless somebody else has. It returns the last number at that moment. Many may do so at once.
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

// endAll ends those of the launches that run.
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
