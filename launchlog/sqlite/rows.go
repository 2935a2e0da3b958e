package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// How rows become values, and back.

const (
	launchColumns = `namespace, launch_id, idempotency_key, request_hash, service, environment, initiator, initiator_kind, version,
		commit_id, ref, artifact_digest, ticket, reason, approver, pipeline_url, rolls_back, data, host, started_at, ended_at, outcome,
		next_generator_id`
	selectLaunch = `SELECT ` + launchColumns + ` FROM idmint_launch`
	claimColumns = `namespace, launch_id, generator_id, token, host, pid, claimed_at`
)

type row interface{ Scan(...any) error }

func scanLaunch(r row) (l launchlog.Launch, err error) {
	var rollsBack sql.NullInt64
	var data, outcome sql.NullString
	var started, ended timestamp
	err = r.Scan(&l.Namespace, &l.ID, &l.Key, &l.RequestHash, &l.Service, &l.Environment, &l.Initiator, &l.InitiatorKind, &l.Version,
		&l.Commit, &l.Ref, &l.ArtifactDigest, &l.Ticket, &l.Reason, &l.Approver, &l.PipelineURL, &rollsBack, &data, &l.Host, &started,
		&ended, &outcome, &l.NextGenerator)
	if err != nil {
		return launchlog.Launch{}, err
	}
	l.RollsBack = int(rollsBack.Int64)
	l.Data = raw(data)
	l.Outcome = launchlog.Outcome(outcome.String)
	l.StartedAt, l.EndedAt = time.Time(started), time.Time(ended)
	return l, nil
}

func scanClaim(r row) (c launchlog.Claim, err error) {
	err = r.Scan(&c.Namespace, &c.Launch, &c.Generator, &c.Token, &c.Host, &c.PID, (*timestamp)(&c.ClaimedAt))
	return c, err
}

func scanEvent(r row) (e launchlog.Event, err error) {
	var detail sql.NullString
	err = r.Scan(&e.Namespace, &e.Launch, &e.Kind, &e.Actor, (*timestamp)(&e.At), &detail)
	e.Detail = raw(detail)
	return e, err
}

type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func oneLaunch(ctx context.Context, q querier, ref launchlog.Ref) (launchlog.Launch, error) {
	l, err := scanLaunch(q.QueryRowContext(ctx, selectLaunch+` WHERE namespace = ? AND launch_id = ?`, ref.Namespace, ref.Launch))
	if errors.Is(err, sql.ErrNoRows) {
		err = launchlog.ErrNotFound
	}
	return l, err
}

func addEvent(ctx context.Context, tx *sql.Tx, e launchlog.Event) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail) VALUES (?, ?, ?, ?, ?)`,
		e.Namespace, orNull(e.Launch, e.Launch == 0), e.Kind, e.Actor, orNull(string(e.Detail), e.Detail == nil))
	return err
}

func collect[T any](rows *sql.Rows, err error, scan func(row) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// timestamp is a time as the tables hold it: text of RFC 3339 in UTC, with milliseconds.
type timestamp time.Time

func (t *timestamp) Scan(src any) error {
	if src == nil {
		*t = timestamp{}
		return nil
	}
	text, ok := src.(string)
	if !ok {
		return errors.New("a time is not text")
	}
	parsed, err := time.Parse(time.RFC3339, text)
	*t = timestamp(parsed)
	return err
}

func raw(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

func orNull(v any, null bool) any {
	if null {
		return nil
	}
	return v
}
