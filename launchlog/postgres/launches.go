package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const rfc3339 = `to_char($ AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

var (
	launchColumns  = rows.Times(rows.Launch, rfc3339)
	claimColumns   = rows.Times(rows.Claim, rfc3339)
	eventColumns   = rows.Times(rows.Event, rfc3339)
	counterColumns = rows.Times(rows.Counter, rfc3339)
)

// Steps lock the rows that are there by FOR KEY SHARE, which is in no other step's way. That makes
// the commit wait for the disk and the standby. So what is returned of an earlier attempt is as
// safe as what this one makes.
const thisLaunch = ` WHERE namespace = $1 AND launch_id = $2::int`

var (
	selectLaunch = `SELECT ` + launchColumns + ` FROM idmint_launch`

	lastLaunch    = `SELECT last_launch_id FROM idmint_namespace WHERE namespace = $1`
	makeNamespace = `INSERT INTO idmint_namespace (namespace) VALUES ($1) ON CONFLICT DO NOTHING`

	launchByKey = selectLaunch + ` WHERE namespace = $1 AND idempotency_key = $2 FOR KEY SHARE`
	startLaunch = `WITH next AS (
			UPDATE idmint_namespace SET last_launch_id = last_launch_id + 1
			WHERE namespace = $1 AND last_launch_id >= $18::int AND last_launch_id < $19::int
				AND NOT EXISTS (SELECT FROM idmint_launch
					WHERE namespace = $1 AND idempotency_key = $2)
			RETURNING last_launch_id),
		started AS (
			INSERT INTO idmint_launch (launch_id, ` + rows.Started + `)
			SELECT last_launch_id, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
				$16::int, $17::text::json, $20 FROM next
			RETURNING namespace, launch_id, initiator)
		INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor)
		SELECT namespace, launch_id, 'started', initiator FROM started`

	lockLaunch = selectLaunch + thisLaunch + ` FOR NO KEY UPDATE`
	endLaunch  = `WITH ended AS (
			UPDATE idmint_launch
			SET ended_at = clock_timestamp(), outcome = $3` + thisLaunch + ` AND ended_at IS NULL
			RETURNING ` + rows.Launch + `),
		noted AS (
			INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail)
			SELECT namespace, launch_id, 'ended', $4, $5::text::json FROM ended)
		SELECT ` + launchColumns + ` FROM ended`

	claimByToken = `SELECT ` + claimColumns + ` FROM idmint_generator
		WHERE token = $1 FOR KEY SHARE`
	takeNumber = `WITH next AS (
			UPDATE idmint_launch SET next_generator_id = next_generator_id + 1` + thisLaunch + `
				AND ended_at IS NULL AND next_generator_id < $3::int
				AND NOT EXISTS (SELECT FROM idmint_generator WHERE token = $4)
			RETURNING next_generator_id - 1 AS number)
		INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid)
		SELECT $1, $2::int, number, $4, $5, $6::bigint FROM next`

	lockNamespace = `SELECT last_launch_id FROM idmint_namespace
		WHERE namespace = $1 FOR NO KEY UPDATE`
	endRunning = `WITH ended AS (
			UPDATE idmint_launch SET ended_at = clock_timestamp(), outcome = $3
			WHERE namespace = $1 AND ended_at IS NULL
				AND (SELECT last_launch_id FROM idmint_namespace WHERE namespace = $1) <= $2::int
			RETURNING launch_id)
		INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail)
		SELECT $1, launch_id, 'ended', $4, $5::text::json FROM ended ORDER BY launch_id`
	raiseLast = `WITH raised AS (
			UPDATE idmint_namespace n SET last_launch_id = $2::int FROM idmint_namespace old
			WHERE n.namespace = $1 AND old.namespace = $1 AND n.last_launch_id < $2::int
			RETURNING old.last_launch_id AS was)
		INSERT INTO idmint_launch_event (namespace, kind, actor, detail)
		SELECT $1, 'advanced', $3, ('{"from":' || was || ',"to":' || $2::int || '}')::json
		FROM raised`
)

// tries bounds how often a step is sent again at once where another process came in between.
const tries = 3

// StartLaunch implements launchlog.Store.
func (s *Store) StartLaunch(ctx context.Context, start launchlog.Start) (launchlog.Launch, error) {
	values := rows.StartValues(start)
	host := len(values) - 1
	values = append(values[:host:host], start.KnownLaunch, launchlog.MaxLaunch, values[host])
	made := false
	for range tries {
		var there *launchlog.Launch
		var last *int
		err := s.write(ctx, func(b *batch) {
			b.Queue(startLaunch, values...)
			one(b, &last, rows.ScanOne[int], lastLaunch, start.Namespace)
			one(b, &there, rows.ScanLaunch, launchByKey, start.Namespace, start.Key)
		})
		if err == nil && last != nil {
			err = rows.Behind(start, *last)
		}
		switch {
		case lostRace(err): // to find what the other one has made
			continue
		case err != nil:
			return launchlog.Launch{}, s.ahead(ctx, launchlog.Ref{Namespace: start.Namespace}, err)
		case there != nil:
			return *there, nil
		case last == nil && made:
			return launchlog.Launch{}, errHidden
		case last == nil:
			made = true
			err := s.write(ctx, func(b *batch) { b.Queue(makeNamespace, start.Namespace) })
			if err != nil {
				return launchlog.Launch{}, err
			}
		case *last >= launchlog.MaxLaunch:
			return launchlog.Launch{}, launchlog.ErrLaunchesExhausted
		}
	}
	return launchlog.Launch{}, rows.ErrRaced
}

// EndLaunch implements launchlog.Store.
func (s *Store) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	detail, err := rows.EndedDetail(ending)
	if err != nil {
		return launchlog.Launch{}, err
	}
	var there, ended *launchlog.Launch
	err = s.write(ctx, func(b *batch) {
		one(b, &there, rows.ScanLaunch, lockLaunch, ref.Namespace, ref.Launch)
		one(b, &ended, rows.ScanLaunch, endLaunch, ref.Namespace, ref.Launch,
			string(ending.Outcome), ending.Actor, rows.Text(detail))
	})
	switch {
	case err != nil:
		return launchlog.Launch{}, err
	case ended != nil:
		return *ended, nil
	case there != nil:
		return *there, nil
	}
	return launchlog.Launch{}, launchlog.ErrNotFound
}

// ClaimGenerator implements launchlog.Store.
func (s *Store) ClaimGenerator(ctx context.Context, take launchlog.Take) (launchlog.Claim, error) {
	for range tries {
		var there *launchlog.Claim
		err := s.write(ctx, func(b *batch) {
			b.Queue(takeNumber, take.Namespace, take.Launch, launchlog.MaxGenerators,
				take.Token, take.Host, take.PID)
			one(b, &there, rows.ScanClaim, claimByToken, take.Token)
		})
		err = s.ahead(ctx, take.Ref, err)
		switch {
		case lostRace(err): // to find what the other one has made
			continue
		case err != nil:
			return launchlog.Claim{}, err
		case there != nil:
			return *there, nil
		}
		launch, err := s.Launch(ctx, take.Ref) // why there was none to take
		if err != nil {
			return launchlog.Claim{}, err
		}
		if err := rows.NoNumber(launch); err != error(rows.ErrRaced) {
			return launchlog.Claim{}, err
		}
	}
	return launchlog.Claim{}, rows.ErrRaced
}

// ahead explains the error of a step whose row was there already, by rows that do not fit together.
func (s *Store) ahead(ctx context.Context, ref launchlog.Ref, err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.ConstraintName != "idmint_launch_pkey" &&
		server.ConstraintName != "idmint_generator_pkey" {
		return err
	}
	return rows.Ahead(ref, err, func(text string, args ...any) ([][2]int, error) {
		text = strings.Replace(strings.Replace(text, "?", "$1", 1), "?", "$2", 1)
		return list(ctx, s, rows.ScanPair, text, args...)
	})
}

// AdvanceLaunches implements launchlog.Store.
func (s *Store) AdvanceLaunches(
	ctx context.Context, namespace string, last int, ending launchlog.Ending,
) (launchlog.Advanced, error) {
	detail, err := rows.EndedDetail(ending)
	if err != nil {
		return launchlog.Advanced{}, err
	}
	var was *int
	err = s.write(ctx, func(b *batch) {
		b.Queue(makeNamespace, namespace)
		one(b, &was, rows.ScanOne[int], lockNamespace, namespace)
		b.Queue(endRunning, namespace, last,
			string(ending.Outcome), ending.Actor, rows.Text(detail))
		b.Queue(raiseLast, namespace, last, ending.Actor)
	})
	switch {
	case err != nil:
		return launchlog.Advanced{}, err
	case was == nil:
		return launchlog.Advanced{}, errHidden
	}
	return launchlog.Advanced{Last: max(*was, last)}, nil
}

// Launch implements launchlog.Store.
func (s *Store) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	found, err := list(ctx, s, rows.ScanLaunch, selectLaunch+thisLaunch, ref.Namespace, ref.Launch)
	if err != nil {
		return launchlog.Launch{}, err
	}
	if len(found) == 0 {
		return launchlog.Launch{}, launchlog.ErrNotFound
	}
	return found[0], nil
}

// Launches implements launchlog.Store.
func (s *Store) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	return list(ctx, s, rows.ScanLaunch, selectLaunch+` WHERE namespace = $1
		AND ($2 = '' OR service = $2) AND ($3 = '' OR environment = $3)
		AND (NOT $4::bool OR ended_at IS NULL) AND ($5::int <= 0 OR launch_id < $5::int)
		ORDER BY launch_id DESC LIMIT $6::bigint`,
		namespace, f.Service, f.Environment, f.Running, f.Before, f.Limit)
}

// Events implements launchlog.Store. PostgreSQL uses no index for IS NOT DISTINCT FROM.
func (s *Store) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return list(ctx, s, rows.ScanEvent, `SELECT `+eventColumns+` FROM idmint_launch_event
		WHERE namespace = $1 AND (launch_id = $2::int OR $2::int = 0 AND launch_id IS NULL)
		ORDER BY event_id`, ref.Namespace, ref.Launch)
}

// Claims implements launchlog.Store.
func (s *Store) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	return list(ctx, s, rows.ScanClaim, `SELECT `+claimColumns+` FROM idmint_generator`+thisLaunch+`
		AND generator_id >= $3::int ORDER BY generator_id LIMIT $4::bigint`,
		ref.Namespace, ref.Launch, from, limit)
}
