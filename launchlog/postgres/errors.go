package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/named"
	"github.com/idmint/idmint/launchlog"
)

var (
	errStandby = errors.New("the commit's wait for the synchronous standby was cut off: " +
		"the standby may lack the commit")
	errReadOnly = errors.New("the server is read-only: it is a standby, " +
		"or its default_transaction_read_only is on")
	// errHidden is final: to the log, rows that a policy hides would seem lost, so it would hand
	// out their numbers again.
	errHidden = errors.New("row-level security may hide rows of the launch log from this role: " +
		"disable it on the log's tables, or give the role BYPASSRLS")
)

// failed adds the package's name to errors that leave the package. Errors of steps begin with
// launchlog's name instead.
func failed(err error) error { return named.Failed("launchlog/postgres", err) }

// classify wraps an error in an AttemptError if a launchlog.Log may try again after it. Sent
// reports that a transaction with its commit was sent, broken that the connection is unusable.
func classify(err error, sent, broken bool) error {
	var server *pgconn.PgError
	var connecting *pgconn.ConnectError
	var attempt *launchlog.AttemptError
	switch {
	case err == nil || errors.As(err, &attempt):
		return err
	case errors.As(err, &connecting):
		if errors.As(err, &server) && !lost(server) && !passes(server) {
			return err // such as a wrong password or a missing database
		}
		return &launchlog.AttemptError{Err: err}
	case errors.As(err, &server):
		switch {
		case causeOf(server) == dialect.Absent, server.Code == divisionByZero:
			return fmt.Errorf("%w: %w", launchlog.ErrOtherLog, err)
		case server.ConstraintName == "idmint_launch_event_pkey":
			return eventsAhead(server.SchemaName)
		case causeOf(server) == dialect.ReadOnly: // after a failover, another server may answer
			return &launchlog.AttemptError{Err: fmt.Errorf("%w: %w", errReadOnly, err)}
		// A FATAL error may follow the commit.
		case lost(server) || sent && server.SeverityUnlocalized == "FATAL":
			return &launchlog.AttemptError{Ambiguous: sent, Err: err}
		case passes(server):
			return &launchlog.AttemptError{Err: err}
		}
		return err
	// For a batch that was sent, SafeToRetry may be true as well: one whose answer is lost ends
	// with "conn closed".
	case !sent && pgconn.SafeToRetry(err):
		return &launchlog.AttemptError{Err: err}
	case broken:
		return &launchlog.AttemptError{Ambiguous: sent, Err: err}
	}
	return err
}

// eventsAhead explains that a logical replica took over, which has the rows but not their sequence.
func eventsAhead(schema string) error {
	events := dialect.Postgres.Quote(schema) + ".idmint_launch_event"
	return fmt.Errorf("rows contradict each other: an event exists, but the sequence hands out "+
		"its number again, for example because a logical replica took over. Run: SELECT "+
		"setval(pg_get_serial_sequence('%s', 'event_id'), max(event_id)) FROM %[1]s", events)
}

func causeOf(e *pgconn.PgError) dialect.Cause {
	return dialect.CauseOfCode(dialect.Postgres, e.Code)
}

// lost reports whether the server went away, or does not know the outcome. A commit that was sent
// may then have been carried out.
func lost(e *pgconn.PgError) bool {
	return causeOf(e) == dialect.Away || e.SeverityUnlocalized == "PANIC"
}

// passes reports whether the server rolled the transaction back, or did not begin it, for a
// temporary reason.
func passes(e *pgconn.PgError) bool {
	switch causeOf(e) {
	case dialect.Contended, dialect.Crowded, dialect.CutOff:
		return true
	}
	return isTaken(e)
}

// isTaken reports whether another process made the row first. The next attempt finds that row.
func isTaken(e *pgconn.PgError) bool {
	return e.Code == "23505" &&
		(e.ConstraintName == "idmint_launch_key" || e.ConstraintName == "idmint_generator_token")
}

// lostRace reports whether another process made the row first. The whole transaction is then rolled
// back, including the number that it took.
func lostRace(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && isTaken(e)
}
