package postgres

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// ReserveNumbers implements launchlog.Store.
func (s *Store) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	if max(0, floor-1) > math.MaxInt64-n { // even for a new counter, which is not created then
		return 0, launchlog.ErrCounterExhausted
	}
	var first *int64
	err := s.write(ctx, func(b *pgx.Batch) {
		b.Queue(s.makeNamespace, ref.Namespace)
		one(b, &first, rows.ScanOne[int64], s.takeNumbers, ref.Namespace, ref.Name, floor, n)
	})
	switch {
	case err != nil:
		return 0, err
	case first == nil:
		return 0, launchlog.ErrCounterExhausted
	}
	return *first, nil
}

// AdvanceCounter implements launchlog.Store.
func (s *Store) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	var now *int64
	err := s.write(ctx, func(b *pgx.Batch) {
		b.Queue(s.makeNamespace, ref.Namespace)
		b.Queue(s.makeCounter, ref.Namespace, ref.Name)
		b.Queue(s.lockValue, ref.Namespace, ref.Name)
		b.Queue(s.advanceCounter, ref.Namespace, ref.Name, target, actor)
		one(b, &now, rows.ScanOne[int64], s.value, ref.Namespace, ref.Name)
	})
	switch {
	case err != nil:
		return 0, err
	case now == nil:
		return 0, errHidden
	}
	return *now, nil
}

// RaiseCounter implements launchlog.Store. If an earlier attempt has made the row, the row is
// written again, so that this commit waits for the disk and the standby after the earlier one.
func (s *Store) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	var row *launchlog.CounterState
	raised := false
	err := s.write(ctx, func(b *pgx.Batch) {
		if raise.From == 0 {
			b.Queue(s.makeNamespace, ref.Namespace)
			b.Queue(s.makeCounter, ref.Namespace, ref.Name)
		}
		b.Queue(s.raiseCounter, ref.Namespace, ref.Name, raise.To, raise.Note, raise.Holder,
			raise.From).Exec(func(tag pgconn.CommandTag) error {
			raised = tag.RowsAffected() == 1
			return nil
		})
		one(b, &row, rows.ScanCounter, s.oneCounter, ref.Namespace, ref.Name)
	})
	switch {
	case err == nil && row == nil && raise.From == 0:
		return launchlog.CounterState{}, errHidden
	case err != nil || row == nil:
		return launchlog.CounterState{}, err
	case !raised && row.Value == raise.From: // it changed between the two statements
		return launchlog.CounterState{}, rows.ErrRaced
	}
	return *row, nil
}

// Order implements launchlog.Store.
func (s *Store) Order(
	ctx context.Context, look launchlog.Look,
) (value, looks int64, err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Release()
	var token string
	var next int
	err = conn.QueryRow(ctx, s.order, look.Namespace, look.Service, look.Reached, s.opened,
		look.Launch, look.Generator).Scan(&value, &looks, &token, &next, nil, nil)
	if err != nil {
		return 0, 0, classify(err, true, conn.Conn().IsClosed())
	}
	return value, looks, look.Kept(token, next)
}

// Now implements launchlog.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	found, err := list(ctx, s, rows.ScanTime, s.now)
	if err != nil {
		return time.Time{}, err
	}
	return found[0], nil
}

// LastNumber implements launchlog.Store.
func (s *Store) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	found, err := list(ctx, s, rows.ScanOne[int64], s.value, ref.Namespace, ref.Name)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Counters implements launchlog.Store.
func (s *Store) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	return list(ctx, s, rows.ScanCounter, s.counters, namespace, after, limit)
}
