// Package memory is a launchlog.Store in the memory of one process. It is for tests, and is the
// reference for the behavior of other stores. Its launch logs do not survive the process.
package memory

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// Store keeps launch logs in memory. Create it with [New].
type Store struct {
	now func() time.Time

	mu         sync.Mutex // guards the fields below
	namespaces map[string]*namespace
	tokens     map[string]launchlog.Claim
}

type namespace struct {
	last     int // the last launch number
	digits   launchlog.Digits
	launches map[int]*launch
	keys     map[string]int
	counters map[string]launchlog.CounterState
	orders   map[string]order // of services
	events   []launchlog.Event
}

type order struct{ value, looks int64 }

type launch struct {
	row    launchlog.Launch
	claims []launchlog.Claim // in order without gaps, up to the newest
}

// from returns the claims beginning at a generator number.
func (l *launch) from(generator int) []launchlog.Claim {
	if l == nil {
		return nil
	}
	skip := generator - (l.row.NextGenerator - len(l.claims))
	return l.claims[min(max(skip, 0), len(l.claims)):]
}

var _ launchlog.Store = (*Store)(nil)

// New returns an empty store whose clock is now, or time.Now if now is nil.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{
		now: now, namespaces: map[string]*namespace{}, tokens: map[string]launchlog.Claim{},
	}
}

// step runs an operation in a namespace, which is created if it is missing, unless the context has
// ended.
func step[T any](
	ctx context.Context, s *Store, name string, run func(n *namespace) (T, error),
) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.namespaces[name]
	if n == nil {
		n = &namespace{
			digits:   launchlog.AllDigits,
			launches: map[int]*launch{}, keys: map[string]int{},
			counters: map[string]launchlog.CounterState{}, orders: map[string]order{},
		}
		s.namespaces[name] = n
	}
	return run(n)
}

// StartLaunch implements launchlog.Store.
func (s *Store) StartLaunch(ctx context.Context, start launchlog.Launch) (launchlog.Launch, error) {
	return step(ctx, s, start.Namespace, func(n *namespace) (launchlog.Launch, error) {
		if n.last < start.KnownLaunch {
			return launchlog.Launch{}, fmt.Errorf("%w: launch %d is known, the last one is %d",
				launchlog.ErrBehind, start.KnownLaunch, n.last)
		}
		if id, ok := n.keys[start.Key]; ok {
			return n.launches[id].row, nil
		}
		id, first, err := n.next(start.Initiator, s.now())
		if err != nil {
			return launchlog.Launch{}, err
		}
		n.last = id
		start.ID, start.StartedAt, start.KnownLaunch = n.last, s.now(), 0
		start.FirstGenerator, start.NextGenerator = first, first
		l := &launch{row: start}
		n.launches[n.last] = l
		n.keys[start.Key] = n.last
		n.add(launchlog.Event{
			Namespace: start.Namespace, Launch: n.last, Kind: "started", Actor: start.Initiator,
			At: l.row.StartedAt,
		})
		return l.row, nil
	})
}

// next returns the number of the next launch and its first generator number. A launch that had the
// same digits before ends.
func (n *namespace) next(actor string, now time.Time) (id, first int, err error) {
	id, ok := n.digits.Next(n.last)
	if ok {
		return id, 0, nil
	}
	for from := max(n.last-launchlog.Lap, 0) + 1; from <= n.last; from++ {
		l := n.launches[from]
		if l != nil && l.row.Passes() {
			id = from + launchlog.Lap
			n.end(l, detail.HandingOn(id, actor), now)
			return id, l.row.NextGenerator, nil
		}
	}
	return 0, 0, launchlog.ErrLaunchesExhausted
}

// Digits implements launchlog.Store.
func (s *Store) Digits(ctx context.Context, name string) (launchlog.Digits, error) {
	return step(ctx, s, name, func(n *namespace) (launchlog.Digits, error) { return n.digits, nil })
}

// SetDigits implements launchlog.Store.
func (s *Store) SetDigits(
	ctx context.Context, name string, digits launchlog.Digits,
) (launchlog.Digits, error) {
	return step(ctx, s, name, func(n *namespace) (launchlog.Digits, error) {
		if n.digits.Allow(digits, n.last) {
			n.digits = digits
		}
		return n.digits, nil
	})
}

// EndLaunch implements launchlog.Store.
func (s *Store) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	return step(ctx, s, ref.Namespace, func(n *namespace) (launchlog.Launch, error) {
		l := n.launches[ref.Launch]
		if l == nil {
			return launchlog.Launch{}, launchlog.ErrNotFound
		}
		n.end(l, ending, s.now())
		return l.row, nil
	})
}

// end ends a launch if it is running.
func (n *namespace) end(l *launch, ending launchlog.Ending, now time.Time) {
	if !l.row.Running() {
		return
	}
	l.row.EndedAt, l.row.Outcome = now, ending.Outcome
	n.add(launchlog.Event{
		Namespace: l.row.Namespace, Launch: l.row.ID, Kind: "ended", Actor: ending.Actor, At: now,
		Detail: detail.Ended(ending),
	})
}

// ClaimGenerator implements launchlog.Store.
func (s *Store) ClaimGenerator(ctx context.Context, take launchlog.Claim) (launchlog.Claim, error) {
	return step(ctx, s, take.Namespace, func(n *namespace) (launchlog.Claim, error) {
		if claim, ok := s.tokens[take.Token]; ok {
			return claim, nil
		}
		l := n.launches[take.Launch]
		switch {
		case l == nil:
			return launchlog.Claim{}, launchlog.ErrNotFound
		case !l.row.Running():
			return launchlog.Claim{}, launchlog.ErrEnded
		case l.row.NextGenerator >= launchlog.MaxGenerators:
			return launchlog.Claim{}, launchlog.ErrGeneratorsExhausted
		}
		take.Generator, take.ClaimedAt = l.row.NextGenerator, s.now()
		l.row.NextGenerator++
		l.claims = append(l.claims, take)
		s.tokens[take.Token] = take
		return take, nil
	})
}

// AdvanceLaunches implements launchlog.Store.
func (s *Store) AdvanceLaunches(
	ctx context.Context, name string, last int, ending launchlog.Ending,
) (now, finished int, err error) {
	now, err = step(ctx, s, name, func(n *namespace) (int, error) {
		if n.last > last {
			return n.last, nil
		}
		for id := 1; id <= n.last; id++ {
			if l := n.launches[id]; l != nil { // nil for numbers that an advance has skipped
				n.end(l, ending, s.now())
			}
		}
		if last > n.last {
			n.add(launchlog.Event{
				Namespace: name, Kind: "advanced", Actor: ending.Actor, At: s.now(),
				Detail: detail.Advanced(n.last, last),
			})
			n.last = last
		}
		return n.last, nil
	})
	return now, 0, err
}

// Launch implements launchlog.Store.
func (s *Store) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	return step(ctx, s, ref.Namespace, func(n *namespace) (launchlog.Launch, error) {
		l := n.launches[ref.Launch]
		if l == nil {
			return launchlog.Launch{}, launchlog.ErrNotFound
		}
		return l.row, nil
	})
}

// Launches implements launchlog.Store.
func (s *Store) Launches(
	ctx context.Context, name string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	return step(ctx, s, name, func(n *namespace) ([]launchlog.Launch, error) {
		var found []launchlog.Launch
		id := n.last
		if f.Before > 0 {
			id = min(id, f.Before-1)
		}
		for ; id > 0 && len(found) < f.Limit; id-- {
			l := n.launches[id] // nil for numbers that an advance has skipped
			if l == nil || f.Service != "" && l.row.Service != f.Service ||
				f.Environment != "" && l.row.Environment != f.Environment ||
				f.Running && !l.row.Running() {
				continue
			}
			found = append(found, l.row)
		}
		return found, nil
	})
}

// Events implements launchlog.Store.
func (s *Store) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return step(ctx, s, ref.Namespace, func(n *namespace) ([]launchlog.Event, error) {
		var found []launchlog.Event
		for _, e := range n.events {
			if e.Launch == ref.Launch {
				found = append(found, e)
			}
		}
		return found, nil
	})
}

// Claims implements launchlog.Store.
func (s *Store) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	return step(ctx, s, ref.Namespace, func(n *namespace) ([]launchlog.Claim, error) {
		found := n.launches[ref.Launch].from(from)
		return append([]launchlog.Claim(nil), found[:min(limit, len(found))]...), nil
	})
}

// TrimClaims implements launchlog.Store.
func (s *Store) TrimClaims(ctx context.Context, ref launchlog.Ref, below int) error {
	_, err := step(ctx, s, ref.Namespace, func(n *namespace) (any, error) {
		l := n.launches[ref.Launch]
		kept := l.from(below)
		if l == nil || len(kept) == 0 {
			return nil, nil
		}
		for _, claim := range l.claims[:len(l.claims)-len(kept)] {
			delete(s.tokens, claim.Token)
		}
		l.claims = slices.Clone(kept)
		return nil, nil
	})
	return err
}

// ReserveNumbers implements launchlog.Store.
func (s *Store) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return step(ctx, s, ref.Namespace, func(space *namespace) (int64, error) {
		before := max(space.counters[ref.Name].Value, floor-1)
		if before > math.MaxInt64-n {
			return 0, launchlog.ErrCounterExhausted
		}
		space.set(ref, launchlog.Raise{To: before + n}, s.now())
		return before + 1, nil
	})
}

// AdvanceCounter implements launchlog.Store.
func (s *Store) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	return step(ctx, s, ref.Namespace, func(n *namespace) (int64, error) {
		before := n.counters[ref.Name].Value
		if before >= target {
			return before, nil
		}
		n.set(ref, launchlog.Raise{To: target}, s.now())
		n.add(launchlog.Event{
			Namespace: ref.Namespace, Kind: "counter-advanced", Actor: actor, At: s.now(),
			Detail: detail.Counter(ref.Name, before, target),
		})
		return target, nil
	})
}

func (n *namespace) set(ref launchlog.CounterRef, r launchlog.Raise, now time.Time) {
	n.counters[ref.Name] = launchlog.CounterState{
		Namespace: ref.Namespace, Name: ref.Name, Value: r.To, UpdatedAt: now,
		Note: r.Note, Holder: r.Holder,
	}
}

// RaiseCounter implements launchlog.Store.
func (s *Store) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	return step(ctx, s, ref.Namespace, func(n *namespace) (launchlog.CounterState, error) {
		if n.counters[ref.Name].Value == raise.From {
			n.set(ref, raise, s.now())
		}
		return n.counters[ref.Name], nil
	})
}

// Order implements launchlog.Store.
func (s *Store) Order(
	ctx context.Context, look launchlog.Look,
) (value, looks int64, err error) {
	o, err := step(ctx, s, look.Namespace, func(n *namespace) (order, error) {
		token, next := "", 0
		if l := n.launches[look.Launch]; l != nil {
			next = l.row.NextGenerator
			found := l.from(look.Generator)
			if len(found) > 0 && found[0].Generator == look.Generator {
				token = found[0].Token
			}
		}
		o := n.orders[look.Service]
		if err := look.Kept(token, next); err != nil {
			return o, err
		}
		o = order{max(o.value, look.Reached), o.looks + 1}
		n.orders[look.Service] = o
		return o, nil
	})
	return o.value, o.looks, err
}

// Now implements launchlog.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	return s.now(), nil
}

// LastNumber implements launchlog.Store.
func (s *Store) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return step(ctx, s, ref.Namespace, func(n *namespace) (int64, error) {
		return n.counters[ref.Name].Value, nil
	})
}

// Counters implements launchlog.Store.
func (s *Store) Counters(
	ctx context.Context, name, after string, limit int,
) ([]launchlog.CounterState, error) {
	return step(ctx, s, name, func(n *namespace) ([]launchlog.CounterState, error) {
		var found []launchlog.CounterState
		for _, counter := range slices.Sorted(maps.Keys(n.counters)) {
			if counter > after && len(found) < limit {
				found = append(found, n.counters[counter])
			}
		}
		return found, nil
	})
}

func (n *namespace) add(e launchlog.Event) { n.events = append(n.events, e) }
