package postgres

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const (
	selectValue = `SELECT value FROM idmint_counter WHERE namespace = $1 AND name = $2`
	makeCounter = `INSERT INTO idmint_counter (namespace, name, value) VALUES ($1, $2, 0)
		ON CONFLICT DO NOTHING`
	// reserveNumbers finds no row where there is no counter yet, and where it has too few numbers
	// left.
	reserveNumbers = `UPDATE idmint_counter
		SET value = greatest(value, $3::bigint - 1) + $4::bigint, updated_at = clock_timestamp(),
			note = '', holder = ''
		WHERE namespace = $1 AND name = $2
			AND greatest(value, $3::bigint - 1) <= 9223372036854775807 - $4::bigint
		RETURNING value - $4::bigint + 1`
	advanceCounter = `WITH raised AS (
			UPDATE idmint_counter c
			SET value = $3::bigint, updated_at = clock_timestamp(), note = '', holder = ''
			FROM idmint_counter old
			WHERE c.namespace = $1 AND c.name = $2 AND c.value < $3::bigint
				AND old.namespace = $1 AND old.name = $2
			RETURNING old.value AS was)
		INSERT INTO idmint_launch_event (namespace, kind, actor, detail)
		SELECT $1, 'counter-advanced', $4, ('{"counter":' || to_json($2::text)
			|| ',"from":"' || was || '","to":"' || $3::bigint || '"}')::json FROM raised`
)

// ReserveNumbers implements launchlog.Store.
func (s *Store) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	for range tries {
		var first, value *int64
		err := s.write(ctx, func(b *batch) {
			one(b, &first, rows.ScanOne[int64], reserveNumbers, ref.Namespace, ref.Name, floor, n)
		})
		if err != nil {
			return 0, err
		}
		if first != nil {
			return *first, nil
		}
		if max(0, floor-1) > math.MaxInt64-n { // even of a new counter, which is not made for that
			return 0, launchlog.ErrCounterExhausted
		}
		err = s.write(ctx, func(b *batch) {
			b.Queue(makeNamespace, ref.Namespace)
			b.Queue(makeCounter, ref.Namespace, ref.Name)
			one(b, &value, rows.ScanOne[int64], selectValue, ref.Namespace, ref.Name)
		})
		if err != nil {
			return 0, err
		}
		switch {
		case value == nil:
			return 0, errHidden
		case max(*value, floor-1) > math.MaxInt64-n:
			return 0, launchlog.ErrCounterExhausted
		}
	}
	return 0, rows.ErrRaced
}

// AdvanceCounter implements launchlog.Store.
func (s *Store) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	var now *int64
	err := s.write(ctx, func(b *batch) {
		b.Queue(makeNamespace, ref.Namespace)
		b.Queue(makeCounter, ref.Namespace, ref.Name)
		b.Queue(selectValue+` FOR NO KEY UPDATE`, ref.Namespace, ref.Name)
		b.Queue(advanceCounter, ref.Namespace, ref.Name, target, actor)
		one(b, &now, rows.ScanOne[int64], selectValue, ref.Namespace, ref.Name)
	})
	switch {
	case err != nil:
		return 0, err
	case now == nil:
		return 0, errHidden
	}
	return *now, nil
}

const raiseCounter = `UPDATE idmint_counter
	SET value = $3::bigint, note = $4, holder = $5, updated_at = clock_timestamp()
	WHERE namespace = $1 AND name = $2
		AND (value = $6::bigint OR value = $3::bigint AND note = $4)`

// RaiseCounter implements launchlog.Store. A row that an earlier attempt has made is written again:
// so this commit waits for the disk and the standby, behind that one's.
func (s *Store) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	var row *launchlog.CounterState
	raised := false
	err := s.write(ctx, func(b *batch) {
		if raise.From == 0 {
			b.Queue(makeNamespace, ref.Namespace)
			b.Queue(makeCounter, ref.Namespace, ref.Name)
		}
		b.Queue(raiseCounter, ref.Namespace, ref.Name, raise.To, raise.Note, raise.Holder,
			raise.From).Exec(func(tag pgconn.CommandTag) error {
			raised = tag.RowsAffected() == 1
			return nil
		})
		one(b, &row, rows.ScanCounter, `SELECT `+counterColumns+` FROM idmint_counter
			WHERE namespace = $1 AND name = $2`, ref.Namespace, ref.Name)
	})
	switch {
	case err == nil && row == nil && raise.From == 0:
		return launchlog.CounterState{}, errHidden
	case err != nil || row == nil:
		return launchlog.CounterState{}, err
	case !raised && row.Value == raise.From: // it got there between the two statements
		return launchlog.CounterState{}, rows.ErrRaced
	}
	return *row, nil
}

// Now implements launchlog.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	found, err := list(ctx, s, rows.ScanTime,
		`SELECT `+strings.ReplaceAll(rfc3339, "$", "clock_timestamp()"))
	if err != nil {
		return time.Time{}, err
	}
	return found[0], nil
}

// LastNumber implements launchlog.Store.
func (s *Store) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	found, err := list(ctx, s, rows.ScanOne[int64], selectValue, ref.Namespace, ref.Name)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Counters implements launchlog.Store.
func (s *Store) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	return list(ctx, s, rows.ScanCounter, `SELECT `+counterColumns+` FROM idmint_counter
		WHERE namespace = $1 AND name > $2 ORDER BY name LIMIT $3::bigint`, namespace, after, limit)
}
