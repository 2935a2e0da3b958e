// Package rows is what the launch logs in SQL databases have in common: the columns of their
// tables, and how rows become values and back.
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

// SchemaVersion is the version of the tables, by package migrations, that the stores are written
// for. They work on the one after it as well: a migration only adds, so that processes of the release
// before go on.
const SchemaVersion = 7

// Fits reports whether the stores work on tables of a version.
func Fits(version int) bool { return version == SchemaVersion || version == SchemaVersion+1 }

const (
	// Version selects the version of tables that are there.
	Version = `SELECT coalesce(max(version), 0) FROM idmint_schema`
	// Word selects the random word that the migrations gave the log.
	Word = `SELECT word FROM idmint_schema WHERE version = 4`
)

// Columns, in the order in which the functions below scan them.
const (
	Launch = `namespace, launch_id, ` + request + `, host,
		started_at, ended_at, outcome, first_generator_id, next_generator_id`
	Claim = `namespace, launch_id, generator_id, token, host, pid, claimed_at`
	// Event leaves it to the store to give 0 for an event of the namespace.
	Event   = `namespace, coalesce(launch_id, 0), kind, actor, at, detail`
	Counter = `namespace, name, value, updated_at, note, holder`

	request = `idempotency_key, request_hash, service, environment, initiator, initiator_kind,
		version, commit_id, ref, artifact_digest, ticket, reason, approver, pipeline_url,
		rolls_back, data`
)

// Times replaces each column of times by the database's expression for its text, where $ is the
// column. The text is RFC 3339 in UTC, so it means the same whatever the connection's settings are.
func Times(columns, expression string) string {
	return timeColumn.ReplaceAllStringFunc(columns, func(column string) string {
		return strings.ReplaceAll(expression, "$", column)
	})
}

var timeColumn = regexp.MustCompile(`\b(started_at|ended_at|claimed_at|updated_at|at)\b`)

// Started lists the columns that a new launch is given, beside its number. See [StartValues].
const Started = `namespace, ` + request + `, host`

// StartValues returns the values of [Started].
func StartValues(s launchlog.Launch) []any {
	return []any{
		s.Namespace, s.Key, s.RequestHash, s.Service, s.Environment, s.Initiator, s.InitiatorKind,
		s.Version, s.Commit, s.Ref, s.ArtifactDigest, s.Ticket, s.Reason, s.Approver, s.PipelineURL,
		OrNull(s.RollsBack, s.RollsBack == 0), Text(s.Data), s.Host,
	}
}

// Row is a row of whatever driver.
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

// Collect scans all rows of a query of database/sql. Err is the query's error: Collect returns it
// if there is one.
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

// timestamp is a time as drivers hand it over: text of RFC 3339 in UTC. See [Times].
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
		err = fmt.Errorf("a time is a %T", src)
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

// OrNull returns v, or NULL where null is true.
func OrNull(v any, null bool) any {
	if null {
		return nil
	}
	return v
}

// Text returns JSON as a parameter that every driver takes.
func Text(data json.RawMessage) any { return OrNull(string(data), len(data) == 0) }

// Behind returns launchlog.ErrBehind if the namespace's last launch is below the one that the
// caller knows.
func Behind(start launchlog.Launch, last int) error {
	if last < start.KnownLaunch {
		return fmt.Errorf("%w: launch %d is known, the last one is %d",
			launchlog.ErrBehind, start.KnownLaunch, last)
	}
	return nil
}

// NoNumber says why a launch gives out no number.
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

// A step returns ErrRaced where it found the rows changed in between, and changed nothing.
var ErrRaced = &launchlog.AttemptError{Err: errors.New("another process was faster")}
