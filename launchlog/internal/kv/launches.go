package kv

import (
	"context"
	"fmt"
	"slices"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// StartLaunch implements launchlog.Store. One commit raises the last number, and inserts the key
// and the launch. If the launch takes its digits over from another, that launch has ended earlier,
// so its next generator number stays the same, no matter which process creates the launch that
// continues it.
func (s *Store) StartLaunch(ctx context.Context, start launchlog.Launch) (launchlog.Launch, error) {
	part := launchesPart(start.Namespace)
	var there int // the launch that has the key
	var made started
	err := s.step(ctx, part, func(ctx context.Context) (bool, error) {
		state, key, rows, err := two[launches, keyed](ctx, s, part, keyRow(start.Key))
		if err != nil {
			return false, err
		}
		switch {
		case state.Last < start.KnownLaunch:
			return false, fmt.Errorf("%w: launch %d is known, the last one is %d",
				launchlog.ErrBehind, start.KnownLaunch, state.Last)
		case key.Launch != 0:
			there = key.Launch
			return true, nil
		}
		id, first, err := s.next(ctx, start, state)
		if err != nil {
			return false, err
		}
		state.Last = id
		state.At = later(s.clock(), state.At)
		state.Write = word()
		made = started{
			Launch: state.Last, Request: start.Request, RequestHash: start.RequestHash,
			Host: start.Host, FirstGenerator: first, StartedAt: state.At, Write: state.Write,
		}
		made.KnownLaunch = 0
		return s.commit(ctx, part, change{rows[0], state},
			change{rows[1], keyed{start.Key, state.Last, state.Write}},
			change{Row{Name: launchRow(state.Last)}, made})
	})
	if err != nil {
		return launchlog.Launch{}, err
	}
	if there != 0 {
		return s.Launch(ctx, launchlog.Ref{Namespace: start.Namespace, Launch: there})
	}
	return made.launch(start.Namespace, progress{}), nil
}

// next returns the number of the launch that follows a state, and its first generator number. A
// launch that had the same digits before has then ended.
func (s *Store) next(
	ctx context.Context, start launchlog.Launch, state launches,
) (id, first int, err error) {
	if id, ok := state.digits().Next(state.Last); ok {
		return id, 0, nil
	}
	part := launchesPart(start.Namespace)
	above, to := launchRow(max(state.Last-launchlog.Lap, 0)), behind(launchRow(state.Last))
	for page, err := range pages[started](ctx, s, part, above, to, launchlog.Lap) {
		var all []progress
		if err == nil {
			all, err = s.progress(ctx, start.Namespace, page)
		}
		if err != nil {
			return 0, 0, err
		}
		for i, from := range page {
			if !from.passes(all[i]) || state.lost(from, all[i]) {
				continue
			}
			id := from.Launch + launchlog.Lap
			ref := launchlog.Ref{Namespace: start.Namespace, Launch: from.Launch}
			p, err := s.end(ctx, ref, from, detail.HandingOn(id, start.Initiator))
			if err != nil || from.passes(p) {
				return id, p.NextGenerator, err
			}
		}
	}
	return 0, 0, launchlog.ErrLaunchesExhausted
}

// passes is launchlog.Launch.Passes. An advance of an earlier release ended launches with a
// different outcome.
func (l started) passes(p progress) bool {
	return l.launch("", p).Passes() &&
		(p.Ended == nil || p.Ended.Reason != "launch numbers were advanced")
}

// lost reports whether an advance was supposed to end a launch that is still running, or that a
// start has ended which then did not create its launch.
func (l launches) lost(from started, p progress) bool {
	return from.Launch <= l.Advanced && (p.Ended == nil || p.Ended.Outcome == launchlog.HandedOn)
}

func (l launches) digits() launchlog.Digits {
	if l.Digits == nil {
		return launchlog.AllDigits
	}
	return *l.Digits
}

// Digits implements launchlog.Store.
func (s *Store) Digits(ctx context.Context, namespace string) (launchlog.Digits, error) {
	state, _, err := row[launches](ctx, s, launchesPart(namespace), stateRow)
	return state.digits(), err
}

// SetDigits implements launchlog.Store.
func (s *Store) SetDigits(
	ctx context.Context, namespace string, digits launchlog.Digits,
) (is launchlog.Digits, err error) {
	part := launchesPart(namespace)
	err = s.step(ctx, part, func(ctx context.Context) (bool, error) {
		state, r, err := row[launches](ctx, s, part, stateRow)
		is = state.digits()
		if err != nil || is == digits || !is.Allow(digits, state.Last) {
			return true, err
		}
		is = digits
		state.Digits, state.Write = &digits, word()
		return s.commit(ctx, part, change{r, state})
	})
	return is, err
}

// launch returns the launch with its progress.
func (l started) launch(namespace string, p progress) launchlog.Launch {
	launch := launchlog.Launch{
		Namespace: namespace, ID: l.Launch, Request: l.Request, RequestHash: l.RequestHash,
		Host: l.Host, StartedAt: l.StartedAt, FirstGenerator: l.FirstGenerator,
		NextGenerator: max(p.NextGenerator, l.FirstGenerator),
	}
	if p.Ended != nil {
		launch.EndedAt, launch.Outcome = p.Ended.At, p.Ended.Outcome
	}
	return launch
}

// launchStarted returns a launch as it was started, or launchlog.ErrNotFound. An existing launch is
// never removed.
func (s *Store) launchStarted(ctx context.Context, ref launchlog.Ref) (started, error) {
	if !possible(ref) {
		return started{}, launchlog.ErrNotFound
	}
	l, r, err := row[started](ctx, s, launchesPart(ref.Namespace), launchRow(ref.Launch))
	if err == nil && r.Version == 0 {
		err = launchlog.ErrNotFound
	}
	return l, err
}

// possible reports whether a launch with that number may exist. Others have no rows to ask for.
func possible(ref launchlog.Ref) bool {
	return ref.Launch >= 1 && ref.Launch <= launchlog.MaxLaunch
}

// both returns a launch as it was started and its progress, or launchlog.ErrNotFound.
func (s *Store) both(ctx context.Context, ref launchlog.Ref) (l started, p progress, err error) {
	if l, err = s.launchStarted(ctx, ref); err == nil {
		p, _, err = row[progress](ctx, s, launchPart(ref), stateRow)
	}
	return l, p, err
}

// Launch implements launchlog.Store.
func (s *Store) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	l, p, err := s.both(ctx, ref)
	if err != nil {
		return launchlog.Launch{}, err
	}
	return l.launch(ref.Namespace, p), nil
}

// EndLaunch implements launchlog.Store.
func (s *Store) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	l, err := s.launchStarted(ctx, ref)
	if err != nil {
		return launchlog.Launch{}, err
	}
	p, err := s.end(ctx, ref, l, ending)
	if err != nil {
		return launchlog.Launch{}, err
	}
	return l.launch(ref.Namespace, p), nil
}

// end ends a launch unless it has ended, and returns its progress. It creates the partition if it
// is missing, so that a claim which has read it before fails. It does not enter a queue, because a
// start that hands the launch on is already in one.
func (s *Store) end(
	ctx context.Context, ref launchlog.Ref, l started, ending launchlog.Ending,
) (p progress, err error) {
	part := launchPart(ref)
	err = s.unqueued(ctx, part, func(ctx context.Context) (bool, error) {
		state, r, err := row[progress](ctx, s, part, stateRow)
		p = state
		if err != nil || p.Ended != nil {
			return true, err
		}
		p.NextGenerator = max(p.NextGenerator, l.FirstGenerator)
		p.At = later(later(s.clock(), p.At), l.StartedAt)
		p.Ended = &ended{p.At, ending.Actor, ending.Outcome, ending.Reason}
		p.Write = word()
		return s.commit(ctx, part, change{r, p})
	})
	return p, err
}

// ClaimGenerator implements launchlog.Store. One commit raises the launch's next number, and
// inserts the claim and the token. It compares nothing outside the launch's partition: the launch
// was read before, and is never removed.
func (s *Store) ClaimGenerator(ctx context.Context, take launchlog.Claim) (launchlog.Claim, error) {
	ref := launchlog.Ref{Namespace: take.Namespace, Launch: take.Launch}
	if !possible(ref) {
		return launchlog.Claim{}, launchlog.ErrNotFound
	}
	part := launchPart(ref)
	var there, made *claimed
	err := s.step(ctx, part, func(ctx context.Context) (bool, error) {
		state, token, rows, err := two[progress, tokened](ctx, s, part, tokenRow(take.Token))
		if err != nil {
			return false, err
		}
		if rows[1].Version != 0 {
			there = &claimed{Generator: token.Generator}
			return true, nil
		}
		if rows[0].Version == 0 { // the launch's first claim
			l, err := s.launchStarted(ctx, ref)
			if err != nil {
				return false, err
			}
			state.At, state.NextGenerator = l.StartedAt, l.FirstGenerator
		}
		switch {
		case state.Ended != nil:
			return false, launchlog.ErrEnded
		case state.NextGenerator >= launchlog.MaxGenerators:
			return false, launchlog.ErrGeneratorsExhausted
		}
		state.At = later(s.clock(), state.At)
		state.Write = word()
		made = &claimed{
			state.NextGenerator, take.Token, take.Host, take.PID, state.At, state.Write,
		}
		state.NextGenerator++
		return s.commit(ctx, part, change{rows[0], state},
			change{rows[1], tokened{take.Token, made.Generator, state.Write}},
			change{Row{Name: claimRow(made.Generator)}, made})
	})
	if err != nil {
		return launchlog.Claim{}, err
	}
	if there != nil {
		c, r, err := row[claimed](ctx, s, part, claimRow(there.Generator))
		if err == nil && r.Version == 0 {
			err = errRaced // a trim removed it, and its token
		}
		return c.claim(ref), err
	}
	return made.claim(ref), nil
}

func (c claimed) claim(ref launchlog.Ref) launchlog.Claim {
	return launchlog.Claim{
		Namespace: ref.Namespace, Launch: ref.Launch, Generator: c.Generator, Token: c.Token,
		Host: c.Host, PID: c.PID, ClaimedAt: c.ClaimedAt,
	}
}

// Launches implements launchlog.Store. The result is not a snapshot.
func (s *Store) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) (found []launchlog.Launch, err error) {
	part := launchesPart(namespace)
	state, _, err := row[launches](ctx, s, part, stateRow)
	if err != nil {
		return nil, err
	}
	last := state.Last
	if f.Before > 0 {
		last = min(last, f.Before-1)
	}
	size := pageRows
	if f.Service == "" && f.Environment == "" && !f.Running {
		size = min(size, f.Limit)
	}
	// Pages go down, whereas the engine lists upwards. A page is therefore a range of numbers, some
	// of which may have no launch.
	digits := state.digits()
	for len(found) < f.Limit {
		// Go to the highest number that may have a launch, in this lap or the one before.
		if at := last % launchlog.Lap; at > digits.Last {
			last -= at - digits.Last
		} else if at < digits.First {
			last -= at + launchlog.Lap - digits.Last
		}
		if last <= 0 {
			break
		}
		first := max(last-size+1, last-last%launchlog.Lap+digits.First)
		rows, err := s.engine.List(ctx, part, launchRow(first-1), behind(launchRow(last)), size)
		if err != nil {
			return nil, err
		}
		page, err := decodeAll[started](rows, func(int) string { return part })
		if err != nil {
			return nil, err
		}
		page = slices.DeleteFunc(page, func(l started) bool {
			return f.Service != "" && f.Service != l.Service ||
				f.Environment != "" && f.Environment != l.Environment
		})
		slices.Reverse(page)
		if !f.Running {
			page = page[:min(len(page), f.Limit-len(found))]
		}
		states, err := s.progress(ctx, namespace, page)
		if err != nil {
			return nil, err
		}
		for i, l := range page {
			if (!f.Running || states[i].Ended == nil) && len(found) < f.Limit {
				found = append(found, l.launch(namespace, states[i]))
			}
		}
		last, size = first-1, min(4*size, mostRows)
	}
	return found, nil
}

// progress returns the progress of launches.
func (s *Store) progress(ctx context.Context, namespace string, of []started) ([]progress, error) {
	parts := make([]string, len(of))
	for i, l := range of {
		parts[i] = launchPart(launchlog.Ref{Namespace: namespace, Launch: l.Launch})
	}
	return states[progress](ctx, s, parts)
}

// Claims implements launchlog.Store.
func (s *Store) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) (found []launchlog.Claim, err error) {
	if !possible(ref) || from >= launchlog.MaxGenerators {
		return nil, nil
	}
	after := beforeClaims
	if from > 0 {
		after = claimRow(from - 1)
	}
	part := launchPart(ref)
	for page, err := range pages[claimed](ctx, s, part, after, afterClaims, limit) {
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			found = append(found, c.claim(ref))
		}
	}
	return found, nil
}

// TrimClaims implements launchlog.Store. Each commit removes claims together with their tokens.
func (s *Store) TrimClaims(ctx context.Context, ref launchlog.Ref, below int) error {
	part := launchPart(ref)
	for left := true; left; {
		err := s.step(ctx, part, func(ctx context.Context) (bool, error) {
			rows, err := s.engine.List(ctx, part, beforeClaims, claimRow(below), MostDeletes/2)
			if left = len(rows) > 0; err != nil || !left {
				return true, err
			}
			claims, err := decodeAll[claimed](rows, func(int) string { return part })
			if err != nil {
				return false, err
			}
			names := make([]string, len(claims))
			for i, c := range claims {
				names[i] = tokenRow(c.Token)
			}
			tokens, err := s.engine.Read(ctx, part, names...)
			if err != nil {
				return false, err
			}
			var changes []Change
			for _, r := range append(rows, tokens...) {
				if r.Version != 0 { // after a delete, nodes may differ for a while
					changes = append(changes, Change{Name: r.Name, Version: r.Version})
				}
			}
			return s.engine.Commit(ctx, part, changes...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
