package mysql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const rfc3339 = `date_format($, '%Y-%m-%dT%H:%i:%s.%fZ')`

var (
	selectLaunch  = `SELECT ` + rows.Times(rows.Launch, rfc3339) + ` FROM idmint_launch`
	selectClaim   = `SELECT ` + rows.Times(rows.Claim, rfc3339) + ` FROM idmint_generator`
	selectEvent   = `SELECT ` + rows.Times(rows.Event, rfc3339) + ` FROM idmint_launch_event`
	selectCounter = `SELECT ` + rows.Times(rows.Counter, rfc3339) + ` FROM idmint_counter`
)

const thisLaunch = ` WHERE namespace = ? AND launch_id = ?`

// tries bounds how often a step is run again at once where another process came in between.
const tries = 3

// raced runs a step again where another process made its row first, to find that.
func (s *Store) raced(ctx context.Context, f func(context.Context, database) error) (err error) {
	for range tries {
		if err = s.write(ctx, f); !lostRace(err) {
			return err
		}
	}
	return &launchlog.AttemptError{Err: err}
}

// update runs an UPDATE and reports whether it found its row. What the row holds then is read from it, which is locked: MariaDB does not
// hand back last_insert_id(…) of an UPDATE that fires triggers, and keeps an older one where no row was updated.
func update(ctx context.Context, tx database, text string, args ...any) (found bool, err error) {
	result, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// change runs a statement that is to change one row. MariaDB changes none, without an error, where KILL QUERY interrupts it as it fires
// triggers: then the step is to be run again.
func change(ctx context.Context, tx database, text string, args ...any) error {
	found, err := update(ctx, tx, text, args...)
	if err == nil && !found {
		err = rows.ErrRaced
	}
	return err
}

// StartLaunch implements launchlog.Store.
func (s *Store) StartLaunch(ctx context.Context, start launchlog.Start) (launch launchlog.Launch, err error) {
	err = s.raced(ctx, func(ctx context.Context, tx database) error {
		last, there, err := lastLaunch(ctx, tx, start.Namespace)
		if err != nil {
			return err
		}
		if err := rows.Behind(start, last); err != nil {
			return err
		}
		if !there {
			if err := makeNamespace(ctx, tx, start.Namespace); err != nil {
				return err
			}
		}
		if launch, err = launchByKey(ctx, tx, start); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		ok, err := update(ctx, tx, `UPDATE idmint_namespace SET last_launch_id = last_launch_id + 1 WHERE namespace = ? AND last_launch_id < ?`,
			start.Namespace, launchlog.MaxLaunch)
		if err == nil && !ok {
			if last, _, err = lastLaunch(ctx, tx, start.Namespace); err == nil && last >= launchlog.MaxLaunch {
				err = launchlog.ErrLaunchesExhausted
			} else if err == nil {
				err = rows.ErrRaced // see change
			}
		}
		if err != nil {
			return err
		}
		err = change(ctx, tx, `INSERT INTO idmint_launch (`+rows.Started+`, launch_id)
			SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, last_launch_id FROM idmint_namespace WHERE namespace = ?`,
			append(rows.StartValues(start), start.Namespace)...)
		if err != nil {
			return err
		}
		if launch, err = launchByKey(ctx, tx, start); err != nil {
			return err
		}
		return addEvent(ctx, tx, launchlog.Event{Namespace: start.Namespace, Launch: launch.ID, Kind: "started", Actor: start.Initiator})
	})
	return launch, err
}

func launchByKey(ctx context.Context, tx database, start launchlog.Start) (launchlog.Launch, error) {
	return rows.ScanLaunch(tx.QueryRowContext(ctx, selectLaunch+` WHERE namespace = ? AND idempotency_key = ?`, start.Namespace, start.Key))
}

func lastLaunch(ctx context.Context, tx database, namespace string) (last int, there bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT last_launch_id FROM idmint_namespace WHERE namespace = ?`, namespace).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return last, err == nil, err
}

func makeNamespace(ctx context.Context, tx database, namespace string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO idmint_namespace (namespace) VALUES (?) ON DUPLICATE KEY UPDATE namespace = namespace`, namespace)
	return err
}

func oneLaunch(ctx context.Context, q database, ref launchlog.Ref, lock string) (launchlog.Launch, error) {
	l, err := rows.ScanLaunch(q.QueryRowContext(ctx, selectLaunch+thisLaunch+lock, ref.Namespace, ref.Launch))
	return l, rows.NotFound(err, sql.ErrNoRows)
}

func addEvent(ctx context.Context, tx database, e launchlog.Event) error {
	return change(ctx, tx, `INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail) VALUES (?, ?, ?, ?, ?)`,
		e.Namespace, rows.OrNull(e.Launch, e.Launch == 0), e.Kind, e.Actor, rows.Text(e.Detail))
}

// EndLaunch implements launchlog.Store.
func (s *Store) EndLaunch(ctx context.Context, ref launchlog.Ref, ending launchlog.Ending) (launch launchlog.Launch, err error) {
	err = s.write(ctx, func(ctx context.Context, tx database) error {
		if launch, err = oneLaunch(ctx, tx, ref, ` FOR UPDATE`); err != nil || !launch.Running() {
			return err
		}
		if err := end(ctx, tx, ref, ending); err != nil {
			return err
		}
		launch, err = oneLaunch(ctx, tx, ref, "")
		return err
	})
	return launch, err
}

func end(ctx context.Context, tx database, ref launchlog.Ref, ending launchlog.Ending) error {
	err := change(ctx, tx, `UPDATE idmint_launch SET ended_at = utc_timestamp(6), outcome = ?`+thisLaunch,
		string(ending.Outcome), ref.Namespace, ref.Launch)
	if err != nil {
		return err
	}
	detail, err := rows.EndedDetail(ending)
	if err != nil {
		return err
	}
	return addEvent(ctx, tx, launchlog.Event{Namespace: ref.Namespace, Launch: ref.Launch, Kind: "ended", Actor: ending.Actor, Detail: detail})
}

// ClaimGenerator implements launchlog.Store.
func (s *Store) ClaimGenerator(ctx context.Context, take launchlog.Take) (claim launchlog.Claim, err error) {
	err = s.raced(ctx, func(ctx context.Context, tx database) error {
		if claim, err = claimByToken(ctx, tx, take.Token); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		ok, err := update(ctx, tx, `UPDATE idmint_launch SET next_generator_id = next_generator_id + 1`+thisLaunch+`
			AND ended_at IS NULL AND next_generator_id < ?`, take.Namespace, take.Launch, launchlog.MaxGenerators)
		if err != nil {
			return err
		}
		if !ok {
			launch, err := oneLaunch(ctx, tx, take.Ref, "")
			if err != nil {
				return err
			}
			return rows.NoNumber(launch)
		}
		err = change(ctx, tx, `INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid)
			SELECT namespace, launch_id, next_generator_id - 1, ?, ?, ? FROM idmint_launch`+thisLaunch,
			take.Token, take.Host, take.PID, take.Namespace, take.Launch)
		if err != nil {
			return err
		}
		claim, err = claimByToken(ctx, tx, take.Token)
		return err
	})
	return claim, err
}

func claimByToken(ctx context.Context, tx database, token string) (launchlog.Claim, error) {
	return rows.ScanClaim(tx.QueryRowContext(ctx, selectClaim+` WHERE token = ?`, token))
}

// AdvanceLaunches implements launchlog.Store.
func (s *Store) AdvanceLaunches(ctx context.Context, namespace string, last int, ending launchlog.Ending) (now int, err error) {
	err = s.write(ctx, func(ctx context.Context, tx database) error {
		if err := makeNamespace(ctx, tx, namespace); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, `SELECT last_launch_id FROM idmint_namespace WHERE namespace = ? FOR UPDATE`, namespace).Scan(&now)
		if err != nil || now > last {
			return err
		}
		found, err := tx.QueryContext(ctx, `SELECT launch_id FROM idmint_launch WHERE namespace = ? AND ended_at IS NULL ORDER BY launch_id FOR UPDATE`, namespace)
		running, err := rows.Collect(found, err, rows.ScanOne[int])
		if err != nil {
			return err
		}
		for _, id := range running {
			if err := end(ctx, tx, launchlog.Ref{Namespace: namespace, Launch: id}, ending); err != nil {
				return err
			}
		}
		if now == last {
			return nil
		}
		if err := change(ctx, tx, `UPDATE idmint_namespace SET last_launch_id = ? WHERE namespace = ?`, last, namespace); err != nil {
			return err
		}
		detail, err := rows.AdvancedDetail(now, last)
		if err != nil {
			return err
		}
		now = last
		return addEvent(ctx, tx, launchlog.Event{Namespace: namespace, Kind: "advanced", Actor: ending.Actor, Detail: detail})
	})
	return now, err
}

// Launch implements launchlog.Store.
func (s *Store) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	return read(ctx, s, func(ctx context.Context, conn database) (launchlog.Launch, error) {
		return oneLaunch(ctx, conn, ref, "")
	})
}

// list runs a query that only reads.
func list[T any](ctx context.Context, s *Store, scan func(rows.Row) (T, error), text string, args ...any) ([]T, error) {
	return read(ctx, s, func(ctx context.Context, conn database) ([]T, error) {
		found, err := conn.QueryContext(ctx, text, args...)
		return rows.Collect(found, err, scan)
	})
}

// Launches implements launchlog.Store.
func (s *Store) Launches(ctx context.Context, namespace string, f launchlog.Filter) ([]launchlog.Launch, error) {
	return list(ctx, s, rows.ScanLaunch, selectLaunch+` WHERE namespace = ? AND (? = '' OR service = ?) AND (? = '' OR environment = ?)
		AND (? = 0 OR ended_at IS NULL) AND (? <= 0 OR launch_id < ?) ORDER BY launch_id DESC LIMIT ?`,
		namespace, f.Service, f.Service, f.Environment, f.Environment, f.Running, f.Before, f.Before, f.Limit)
}

// Events implements launchlog.Store.
func (s *Store) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return list(ctx, s, rows.ScanEvent, selectEvent+`
		WHERE namespace = ? AND launch_id <=> nullif(?, 0) ORDER BY event_id`, ref.Namespace, ref.Launch)
}

// Claims implements launchlog.Store.
func (s *Store) Claims(ctx context.Context, ref launchlog.Ref, from, limit int) ([]launchlog.Claim, error) {
	return list(ctx, s, rows.ScanClaim, selectClaim+thisLaunch+` AND generator_id >= ? ORDER BY generator_id LIMIT ?`,
		ref.Namespace, ref.Launch, from, limit)
}
