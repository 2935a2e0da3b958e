package kv

import (
	"context"
	"math"
	"slices"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// Events implements launchlog.Store. The events of a launch are derived from its rows. Those of the
// namespace are in the partitions of what was advanced.
func (s *Store) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	if ref.Launch == 0 {
		return s.advances(ctx, ref.Namespace)
	}
	l, p, err := s.both(ctx, ref)
	if err == launchlog.ErrNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := []launchlog.Event{{
		Namespace: ref.Namespace, Launch: ref.Launch, Kind: "started", Actor: l.Initiator,
		At: l.StartedAt,
	}}
	if e := p.Ended; e != nil {
		found = append(found, launchlog.Event{
			Namespace: ref.Namespace, Launch: ref.Launch, Kind: "ended", Actor: e.Actor, At: e.At,
			Detail: detail.Ended(launchlog.Ending{Outcome: e.Outcome, Reason: e.Reason}),
		})
	}
	return found, nil
}

// advances returns the events of a namespace.
func (s *Store) advances(ctx context.Context, namespace string) ([]launchlog.Event, error) {
	found, err := s.eventsOf(ctx, launchesPart(namespace))
	if err != nil {
		return nil, err
	}
	for c, err := range s.counters(ctx, namespace, "") {
		if err != nil {
			return nil, err
		}
		if c.Events != 0 {
			more, err := s.eventsOf(ctx, counterPart(c.ref))
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	slices.SortStableFunc(found, func(a, b launchlog.Event) int { return a.At.Compare(b.At) })
	return found, nil
}

func (s *Store) eventsOf(ctx context.Context, part string) (found []launchlog.Event, err error) {
	for page, err := range pages[happened](ctx, s, part, beforeEvents, afterEvents, math.MaxInt) {
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			found = append(found, e.Event)
		}
	}
	return found, nil
}
