package mysql

import (
	"context"
	"math"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const (
	// reserveNumbers finds no row where there is no counter yet, and where it has too few numbers left.
	reserveNumbers = `UPDATE idmint_counter SET value = greatest(value, ? - 1) + ?, updated_at = utc_timestamp(6)
		WHERE namespace = ? AND name = ? AND greatest(value, ? - 1) <= 9223372036854775807 - ?`
	selectValue = `SELECT coalesce(max(value), 0) FROM idmint_counter WHERE namespace = ? AND name = ?`
)

// ReserveNumbers implements launchlog.Store.
func (s *Store) ReserveNumbers(ctx context.Context, ref launchlog.CounterRef, floor, n int64) (first int64, err error) {
	err = s.write(ctx, func(ctx context.Context, tx database) error {
		for range tries {
			ok, err := update(ctx, tx, reserveNumbers, floor, n, ref.Namespace, ref.Name, floor, n)
			if err != nil {
				return err
			}
			var value int64
			if err := tx.QueryRowContext(ctx, selectValue, ref.Namespace, ref.Name).Scan(&value); err != nil {
				return err
			}
			if ok {
				first = value - n + 1
				return nil
			}
			if max(value, floor-1) > math.MaxInt64-n {
				return launchlog.ErrCounterExhausted
			}
			if err := makeCounter(ctx, tx, ref); err != nil {
				return err
			}
		}
		return rows.ErrRaced
	})
	return first, err
}

func makeCounter(ctx context.Context, tx database, ref launchlog.CounterRef) error {
	if err := makeNamespace(ctx, tx, ref.Namespace); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO idmint_counter (namespace, name, value) VALUES (?, ?, 0) ON DUPLICATE KEY UPDATE name = name`,
		ref.Namespace, ref.Name)
	return err
}

// AdvanceCounter implements launchlog.Store.
func (s *Store) AdvanceCounter(ctx context.Context, ref launchlog.CounterRef, to int64, actor string) (now int64, err error) {
	err = s.write(ctx, func(ctx context.Context, tx database) error {
		if err := makeCounter(ctx, tx, ref); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, selectValue+` FOR UPDATE`, ref.Namespace, ref.Name).Scan(&now); err != nil || now >= to {
			return err
		}
		err = change(ctx, tx, `UPDATE idmint_counter SET value = ?, updated_at = utc_timestamp(6) WHERE namespace = ? AND name = ?`,
			to, ref.Namespace, ref.Name)
		if err != nil {
			return err
		}
		detail, err := rows.CounterDetail(ref.Name, now, to)
		if err != nil {
			return err
		}
		now = to
		return addEvent(ctx, tx, launchlog.Event{Namespace: ref.Namespace, Kind: "counter-advanced", Actor: actor, Detail: detail})
	})
	return now, err
}

// LastNumber implements launchlog.Store.
func (s *Store) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return read(ctx, s, func(ctx context.Context, conn database) (last int64, err error) {
		err = conn.QueryRowContext(ctx, selectValue, ref.Namespace, ref.Name).Scan(&last)
		return last, err
	})
}

// Counters implements launchlog.Store.
func (s *Store) Counters(ctx context.Context, namespace, after string, limit int) ([]launchlog.CounterState, error) {
	return list(ctx, s, rows.ScanCounter, selectCounter+`
		WHERE namespace = ? AND name > ? ORDER BY name LIMIT ?`, namespace, after, limit)
}
