package rows

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// ReserveNumbers implements launchlog.Store.
func (s *Steps) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return result[int64](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		for range tries {
			taken, err := Update(ctx, tx, s.takeNumbers,
				floor, n, ref.Namespace, ref.Name, floor, n)
			if err != nil {
				return nil, err
			}
			value, err := s.valueOf(ctx, tx, s.value, ref)
			if err != nil || taken {
				return value - n + 1, err
			}
			if max(value, floor-1) > math.MaxInt64-n {
				return nil, launchlog.ErrCounterExhausted
			}
			if err := s.makeSure(ctx, tx, ref); err != nil {
				return nil, err
			}
		}
		return nil, ErrRaced
	}))
}

// makeSure creates a log counter unless it exists.
func (s *Steps) makeSure(ctx context.Context, tx Tx, ref launchlog.CounterRef) error {
	err := ensure(ctx, tx, s.lastLaunch, s.makeNamespace, ref.Namespace)
	if err == nil {
		err = ensure(ctx, tx, s.oneCounter, s.makeCounter, ref.Namespace, ref.Name)
	}
	return err
}

// valueOf returns the value of a log counter, or 0 if it does not exist. The query text is s.value or
// s.lockValue.
func (s *Steps) valueOf(
	ctx context.Context, tx Tx, text string, ref launchlog.CounterRef,
) (int64, error) {
	return ScanOne[int64](tx.QueryRowContext(ctx, text, ref.Namespace, ref.Name))
}

// AdvanceCounter implements launchlog.Store.
func (s *Steps) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	return result[int64](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		if err := s.makeSure(ctx, tx, ref); err != nil {
			return nil, err
		}
		now, err := s.valueOf(ctx, tx, s.lockValue, ref)
		if err != nil || now >= target {
			return now, err
		}
		if err := run(ctx, tx, s.advanceCounter, target, ref.Namespace, ref.Name); err != nil {
			return nil, err
		}
		return target, s.addEvent(ctx, tx, launchlog.Event{
			Namespace: ref.Namespace, Kind: "counter-advanced", Actor: actor,
			Detail: detail.Counter(ref.Name, now, target),
		})
	}))
}

// RaiseCounter implements launchlog.Store. It rewrites a row that an earlier attempt has written, so that
// this commit waits for the disk after that one.
func (s *Steps) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		if raise.From == 0 {
			if err := s.makeSure(ctx, tx, ref); err != nil {
				return nil, err
			}
		}
		raised, err := Update(ctx, tx, s.raiseCounter, raise.To, raise.Note, raise.Holder,
			ref.Namespace, ref.Name, raise.From, raise.To, raise.Note)
		if err != nil {
			return nil, err
		}
		row, err := ScanCounter(tx.QueryRowContext(ctx, s.oneCounter, ref.Namespace, ref.Name))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return launchlog.CounterState{}, nil
		case err == nil && !raised && row.Value == raise.From:
			err = ErrRaced // it was raised to this value in between
		}
		return row, err
	}
	return result[launchlog.CounterState](s.write(ctx, step))
}

// Order implements launchlog.Store.
func (s *Steps) Order(
	ctx context.Context, look launchlog.Look,
) (value, looks int64, err error) {
	if s.looking == nil {
		return 0, 0, errNotOpened
	}
	step := func(ctx context.Context, tx Tx) (any, error) {
		_, err := tx.ExecContext(ctx, s.look, look.Namespace, look.Service, look.Reached)
		if err != nil {
			return nil, err
		}
		var found [2]int64
		var word, token string
		var next int
		err = tx.QueryRowContext(ctx, s.order, look.Namespace, look.Launch, look.Generator,
			look.Namespace, look.Launch, look.Namespace, look.Service,
		).Scan(&found[0], &found[1], &word, &token, &next)
		switch {
		case err != nil:
			return nil, err
		case word != s.opened:
			return nil, launchlog.ErrOtherLog
		}
		return found, look.Kept(token, next)
	}
	found, err := result[[2]int64](s.looking(ctx, step))
	if errors.Is(err, launchlog.ErrBehind) {
		// A proxy may have asked a replica that lags. It sends transactions to the primary.
		found, err = result[[2]int64](s.write(ctx, step))
	}
	return found[0], found[1], err
}

// LastNumber implements launchlog.Store.
func (s *Steps) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return result[int64](s.read(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return s.valueOf(ctx, tx, s.value, ref)
	}))
}

// Counters implements launchlog.Store.
func (s *Steps) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	return list(ctx, s, ScanCounter, s.counters, namespace, after, limit)
}
