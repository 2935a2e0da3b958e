package postgres

import (
	"context"
	"math"

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
		SET value = greatest(value, $3::bigint - 1) + $4::bigint, updated_at = clock_timestamp()
		WHERE namespace = $1 AND name = $2
			AND greatest(value, $3::bigint - 1) <= 9223372036854775807 - $4::bigint
		RETURNING value - $4::bigint + 1`
	advanceCounter = `WITH raised AS (
			UPDATE idmint_counter c SET value = $3::bigint, updated_at = clock_timestamp()
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
		if max(*value, floor-1) > math.MaxInt64-n {
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
	if err != nil {
		return 0, err
	}
	return *now, nil
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
