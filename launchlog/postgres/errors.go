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
		"the standby may lack it")
	errReadOnly = errors.New("the server only reads: it is a standby, " +
		"or its default_transaction_read_only is on")
	// errHidden is final. What a policy hides the log would take for lost, and give out again.
	errHidden = errors.New("row-level security may hide rows of the launch log from this role: " +
		"disable it on the log's tables, or give the role BYPASSRLS")
)

// failed is what leaves the package. The errors of steps get launchlog's name instead.
func failed(err error) error { return named.Failed("launchlog/postgres", err) }

// classify puts those errors into an AttemptError after which a launchlog.Log may try again. Sent
// says that a transaction and its commit were sent. Broken says that the connection is of no more
// use.
func classify(err error, sent, broken bool) error {
	var server *pgconn.PgError
	var connecting *pgconn.ConnectError
	var attempt *launchlog.AttemptError
	switch {
	case err == nil || errors.As(err, &attempt):
		return err
	case errors.As(err, &connecting):
		if errors.As(err, &server) && !lost(server) && !passes(server) {
			return err // as with a wrong password, or no such database
		}
		return &launchlog.AttemptError{Err: err}
	case errors.As(err, &server):
		switch {
		case causeOf(server) == dialect.Absent, server.Code == divisionByZero:
			return fmt.Errorf("%w: %w", launchlog.ErrOtherLog, err)
		case server.ConstraintName == "idmint_launch_event_pkey":
			return eventsAhead(server.SchemaName)
		case causeOf(server) == dialect.ReadOnly: // in a failover it may be another server soon
			return &launchlog.AttemptError{Err: fmt.Errorf("%w: %w", errReadOnly, err)}
		// FATAL may come after the commit.
		case lost(server) || sent && server.SeverityUnlocalized == "FATAL":
			return &launchlog.AttemptError{Ambiguous: sent, Err: err}
		case passes(server):
			return &launchlog.AttemptError{Err: err}
		}
		return err
	// Of what was sent, pgx says so as well: a batch whose answer is lost ends with "conn closed".
	case !sent && pgconn.SafeToRetry(err):
		return &launchlog.AttemptError{Err: err}
	case broken:
		return &launchlog.AttemptError{Ambiguous: sent, Err: err}
	}
	return err
}

// eventsAhead is of a logical replica that took over: it has the rows, and not their sequence.
func eventsAhead(schema string) error {
	events := dialect.Postgres.Quote(schema) + ".idmint_launch_event"
	return fmt.Errorf("rows do not fit together: an event is there, and the sequence gives out its "+
		"number again, as after a logical replica took over. Run: SELECT "+
		"setval(pg_get_serial_sequence('%s', 'event_id'), max(event_id)) FROM %[1]s", events)
}

func causeOf(e *pgconn.PgError) dialect.Cause {
	return dialect.CauseOfCode(dialect.Postgres, e.Code)
}

// lost reports whether the server went away, or says that it does not know. A commit that was sent
// may then have been made.
func lost(e *pgconn.PgError) bool {
	return causeOf(e) == dialect.Away || e.SeverityUnlocalized == "PANIC"
}

// passes reports whether the server rolled the transaction back, or did not begin it, for a reason
// that passes.
func passes(e *pgconn.PgError) bool {
	switch causeOf(e) {
	case dialect.Contended, dialect.Crowded, dialect.CutOff:
		return true
	}
	return isTaken(e)
}

// isTaken reports whether another process was faster. The next attempt finds what that one made.
func isTaken(e *pgconn.PgError) bool {
	return e.Code == "23505" &&
		(e.ConstraintName == "idmint_launch_key" || e.ConstraintName == "idmint_generator_token")
}

// lostRace reports whether another process made the row first. The whole transaction is rolled
// back, and the number with it.
func lostRace(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && isTaken(e)
}
