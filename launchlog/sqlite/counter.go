package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const (
	// reserveNumbers finds no row where there is no counter yet, and where it has too few numbers left: SQLite's sums do not wrap,
	// but turn into floating point.
	reserveNumbers = `UPDATE idmint_counter SET value = max(value, ?3 - 1) + ?4, updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
		WHERE namespace = ?1 AND name = ?2 AND max(value, ?3 - 1) <= 9223372036854775807 - ?4 RETURNING value - ?4 + 1`
	selectValue = `SELECT coalesce(max(value), 0) FROM idmint_counter WHERE namespace = ? AND name = ?`
)

// ReserveNumbers implements launchlog.Store.
func (s *Store) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return write(ctx, s, func(ctx context.Context, tx *sql.Tx) (first int64, err error) {
		reserve := tx.StmtContext(ctx, s.nextNumbers)
		for {
			err := reserve.QueryRowContext(ctx, ref.Namespace, ref.Name, floor, n).Scan(&first)
			if !errors.Is(err, sql.ErrNoRows) {
				return first, err
			}
			if made, err := makeCounter(ctx, tx, ref); err != nil {
				return first, err
			} else if !made {
				return first, launchlog.ErrCounterExhausted
			}
		}
	})
}

// makeCounter makes a counter where there is none, and reports whether it did. It is no upsert, as the triggers that keep REPLACE
// off do not tell one from the other.
func makeCounter(ctx context.Context, tx *sql.Tx, ref launchlog.CounterRef) (made bool, err error) {
	if _, err := lastLaunch(ctx, tx, ref.Namespace); err != nil { // which makes the namespace
		return false, err
	}
	result, err := tx.ExecContext(ctx, `INSERT INTO idmint_counter (namespace, name, value) SELECT ?1, ?2, 0
		WHERE NOT EXISTS (SELECT 1 FROM idmint_counter WHERE namespace = ?1 AND name = ?2)`, ref.Namespace, ref.Name)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// AdvanceCounter implements launchlog.Store.
func (s *Store) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, to int64, actor string,
) (int64, error) {
	return write(ctx, s, func(ctx context.Context, tx *sql.Tx) (now int64, err error) {
		if err := tx.QueryRowContext(ctx, selectValue, ref.Namespace, ref.Name).Scan(&now); err != nil || now >= to {
			return now, err
		}
		detail, err := rows.CounterDetail(ref.Name, now, to)
		if err != nil {
			return now, err
		}
		if _, err := makeCounter(ctx, tx, ref); err != nil {
			return now, err
		}
		_, err = tx.ExecContext(ctx, `UPDATE idmint_counter SET value = ?, updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
			WHERE namespace = ? AND name = ?`, to, ref.Namespace, ref.Name)
		if err != nil {
			return now, err
		}
		now = to
		return now, addEvent(ctx, tx, launchlog.Event{
			Namespace: ref.Namespace, Kind: "counter-advanced", Actor: actor, Detail: detail,
		})
	})
}

// LastNumber implements launchlog.Store.
func (s *Store) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return read(ctx, s, func(ctx context.Context) (last int64, err error) {
		err = s.reader.QueryRowContext(ctx, selectValue, ref.Namespace, ref.Name).Scan(&last)
		return last, err
	})
}

// Counters implements launchlog.Store.
func (s *Store) Counters(ctx context.Context, namespace, after string, limit int) ([]launchlog.CounterState, error) {
	return read(ctx, s, func(ctx context.Context) ([]launchlog.CounterState, error) {
		found, err := s.reader.QueryContext(ctx, `SELECT `+rows.Counter+` FROM idmint_counter
			WHERE namespace = ? AND name > ? ORDER BY name LIMIT ?`, namespace, after, limit)
		return rows.Collect(found, err, rows.ScanCounter)
	})
}
