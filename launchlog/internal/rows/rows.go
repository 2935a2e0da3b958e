// Package rows contains what launch logs in SQL databases have in common: the columns of their
// tables, and the conversion between rows and values.
package rows

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// SchemaVersion is the version of the tables, in package migrations, for which the stores are
// written. They also work on the next version. Migrations only add to the tables, so that processes
// of the previous release can continue.
const SchemaVersion = 7

// Fits reports whether the stores work with a version of the tables.
func Fits(version int) bool { return version == SchemaVersion || version == SchemaVersion+1 }

const (
	// Version selects the version of the existing tables.
	Version = `SELECT coalesce(max(version), 0) FROM idmint_schema`
	// Word selects the random word that the migrations gave the log.
	Word = `SELECT word FROM idmint_schema WHERE version = 4`
)

// Columns, in the order in which the functions below scan them.
const (
	Launch = `namespace, launch_id, ` + request + `, host,
		started_at, ended_at, outcome, first_generator_id, next_generator_id`
	Claim = `namespace, launch_id, generator_id, token, host, pid, claimed_at`
	// Event leaves it to the store to return 0 for an event of the namespace.
	Event   = `namespace, coalesce(launch_id, 0), kind, actor, at, detail`
	Counter = `namespace, name, value, updated_at, note, holder`

	request = `idempotency_key, request_hash, service, environment, initiator, initiator_kind,
		version, commit_id, ref, artifact_digest, ticket, reason, approver, pipeline_url,
		rolls_back, data`
)

// Times replaces each time column with the database's expression for its text, in which $ is the
// column. The text is RFC 3339 in UTC, so it does not depend on the connection's settings.
func Times(columns, expression string) string {
	return timeColumn.ReplaceAllStringFunc(columns, func(column string) string {
		return strings.ReplaceAll(expression, "$", column)
	})
}

var timeColumn = regexp.MustCompile(`\b(started_at|ended_at|claimed_at|updated_at|at)\b`)

// Started lists the columns of a new launch, except its number. See [StartValues].
const Started = `namespace, ` + request + `, host`

// StartValues returns the values of [Started].
func StartValues(s launchlog.Launch) []any {
	return []any{
		s.Namespace, s.Key, s.RequestHash, s.Service, s.Environment, s.Initiator, s.InitiatorKind,
		s.Version, s.Commit, s.Ref, s.ArtifactDigest, s.Ticket, s.Reason, s.Approver, s.PipelineURL,
		OrNull(s.RollsBack, s.RollsBack == 0), Text(s.Data), s.Host,
	}
}

// Row is a row of any driver.
type Row interface{ Scan(...any) error }

// ScanLaunch scans a row of [Launch].
func ScanLaunch(r Row) (l launchlog.Launch, err error) {
	var rollsBack sql.NullInt64
	var data, outcome sql.NullString
	err = r.Scan(&l.Namespace, &l.ID, &l.Key, &l.RequestHash, &l.Service, &l.Environment,
		&l.Initiator, &l.InitiatorKind, &l.Version, &l.Commit, &l.Ref, &l.ArtifactDigest, &l.Ticket,
		&l.Reason, &l.Approver, &l.PipelineURL, &rollsBack, &data, &l.Host,
		(*timestamp)(&l.StartedAt), (*timestamp)(&l.EndedAt), &outcome, &l.FirstGenerator,
		&l.NextGenerator)
	if err != nil {
		return launchlog.Launch{}, err
	}
	l.RollsBack = int(rollsBack.Int64)
	l.Data = raw(data)
	l.Outcome = launchlog.Outcome(outcome.String)
	return l, nil
}

// ScanClaim scans a row of [Claim].
func ScanClaim(r Row) (c launchlog.Claim, err error) {
	err = r.Scan(&c.Namespace, &c.Launch, &c.Generator, &c.Token, &c.Host, &c.PID,
		(*timestamp)(&c.ClaimedAt))
	return c, err
}

// ScanEvent scans a row of [Event].
func ScanEvent(r Row) (e launchlog.Event, err error) {
	var detail sql.NullString
	err = r.Scan(&e.Namespace, &e.Launch, &e.Kind, &e.Actor, (*timestamp)(&e.At), &detail)
	e.Detail = raw(detail)
	return e, err
}

// ScanCounter scans a row of [Counter].
func ScanCounter(r Row) (c launchlog.CounterState, err error) {
	err = r.Scan(&c.Namespace, &c.Name, &c.Value, (*timestamp)(&c.UpdatedAt), &c.Note, &c.Holder)
	return c, err
}

// ScanTime scans a row of one time.
func ScanTime(r Row) (t time.Time, err error) {
	err = r.Scan((*timestamp)(&t))
	return t, err
}

// ScanOne scans a row of one column.
func ScanOne[T any](r Row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// Collect scans all rows of a database/sql query. Err is the query's error: if there is one,
// Collect returns it.
func Collect[T any](rows *sql.Rows, err error, scan func(Row) (T, error)) ([]T, error) {
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

// timestamp is a time as drivers return it: RFC 3339 text in UTC. See [Times].
type timestamp time.Time

func (t *timestamp) Scan(src any) (err error) {
	var parsed time.Time
	switch v := src.(type) {
	case nil:
	case string:
		parsed, err = time.Parse(time.RFC3339, v)
	case []byte:
		parsed, err = time.Parse(time.RFC3339, string(v))
	default:
		err = fmt.Errorf("a time has type %T", src)
	}
	if err == nil {
		*t = timestamp(parsed)
	}
	return err
}

func raw(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// OrNull returns v, or NULL if null is true.
func OrNull(v any, null bool) any {
	if null {
		return nil
	}
	return v
}

// Text returns JSON as a parameter that every driver accepts.
func Text(data json.RawMessage) any { return OrNull(string(data), len(data) == 0) }

// Behind returns launchlog.ErrBehind if the namespace's last launch is below the launch that the
// caller knows.
func Behind(start launchlog.Launch, last int) error {
	if last < start.KnownLaunch {
		return fmt.Errorf("%w: launch %d is known, the last one is %d",
			launchlog.ErrBehind, start.KnownLaunch, last)
	}
	return nil
}

// NoNumber returns why a launch has no number to hand out.
func NoNumber(l launchlog.Launch) error {
	switch {
	case !l.Running():
		return launchlog.ErrEnded
	case l.NextGenerator >= launchlog.MaxGenerators:
		return launchlog.ErrGeneratorsExhausted
	default:
		return ErrRaced
	}
}

// ErrRaced is returned by a step that found the rows changed by another process, and changed
// nothing.
var ErrRaced = &launchlog.AttemptError{Err: errors.New("another process was faster")}
