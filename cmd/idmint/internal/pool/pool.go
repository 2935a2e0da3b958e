// Package pool opens the databases that package dsn names, by database/sql, and retries while they
// are busy or away.
package pool

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// Mode says what [Open] does if a SQLite file does not exist.
type Mode string

const (
	Existing Mode = "rw"  // return an error
	Create   Mode = "rwc" // create it
)

// Open opens a database of SQLite, PostgreSQL, MySQL or MariaDB, which connects when it is first
// used. Mode is only for SQLite. SQLite waits for a lock only briefly, because its wait ignores
// contexts, so the caller must retry.
//
// A value that does not fit into a column is rejected, and never truncated. An UPDATE counts the
// rows that it matches, whether or not it changes them. Statements in PostgreSQL are not prepared
// unless the DSN says otherwise, so that PgBouncer can be in between.
func Open(d dsn.DSN, mode Mode) (*sql.DB, error) {
	switch d.Kind {
	case dsn.SQLite:
		return sql.Open(d.Driver(), dialect.SQLiteDSN(d.Path, string(mode), 250*time.Millisecond))
	case dsn.Postgres:
		config, err := pgx.ParseConfig(d.Source())
		if err != nil {
			return nil, err
		}
		config.RuntimeParams["client_encoding"] = "UTF8"
		if !strings.Contains(d.Source(), "default_query_exec_mode") {
			config.DefaultQueryExecMode = pgx.QueryExecModeExec
		}
		return stdlib.OpenDB(*config), nil
	case dsn.MySQL:
		config, err := mysql.ParseDSN(d.Source())
		if err != nil {
			return nil, err
		}
		config.ClientFoundRows = true
		config.ParseTime = false           // a time is returned as the stored text
		config.MaxAllowedPacket = 0        // the server's
		config.Logger = &mysql.NopLogger{} // it would only repeat errors
		if config.Params == nil {
			config.Params = map[string]string{}
		}
		for _, setting := range dialect.MySQLSession() {
			config.Params[setting.Name] = setting.Value
		}
		// The app's tables may rely on the server's mode, but an empty text must not become NULL.
		config.Params["sql_mode"] = "" +
			"CONCAT(REPLACE(@@sql_mode, 'EMPTY_STRING_IS_NULL', ''), ',STRICT_ALL_TABLES')"
		connector, err := mysql.NewConnector(config)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(connector), nil
	}
	return nil, fmt.Errorf("%s is not a database with transactions", d.Kind)
}

// ErrSilent is the cause with which to cancel a call that got no answer for too long.
var ErrSilent = errors.New("the server did not answer")

// Passes reports whether an error may be temporary: the database, which may be ClickHouse, was busy
// or away, or the error has a method Passes that returns true. The failed work may nevertheless
// have been done.
func Passes(err error) bool {
	var own interface{ Passes() bool }
	if errors.As(err, &own) {
		return own.Passes()
	}
	kind, cause := dialect.CauseOf(err)
	return cause.Passes() || kind == "" && isAway(err)
}

// isAway reports whether an error means that the database could not be reached, or went away. It
// returns false for a host name that does not exist.
func isAway(err error) bool {
	var network net.Error
	if dialect.UnknownHost(err) {
		return false
	}
	return errors.As(err, &network) || errors.Is(err, ErrSilent) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// Retry runs f, and repeats it for up to wait while its error is temporary, with pauses of up to a
// second. If ctx ends between two runs, Retry returns ctx's cause, unless that is ErrSilent.
func Retry(ctx context.Context, wait time.Duration, f func() error) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var err error
	for range dialect.Attempts(waiting, time.Second) {
		now := f()
		if now == nil || !Passes(now) {
			return now
		}
		if err == nil || !errors.Is(now, ErrSilent) { // the earlier error says more
			err = now
		}
	}
	if end := context.Cause(ctx); end != nil && (err == nil || !errors.Is(end, ErrSilent)) {
		err = end
	}
	if err == nil { // there was no time for even one run
		err = context.Cause(waiting)
	}
	kind, cause := dialect.CauseOf(err)
	switch {
	case !Passes(err):
		return err
	case errors.Is(err, ErrSilent):
		return fmt.Errorf("%w within %v", err, wait)
	case kind == dialect.SQLite && cause == dialect.Contended:
		return fmt.Errorf("%w: another process held the lock for %v", err, wait)
	}
	return fmt.Errorf("%w: it was busy or away for %v", err, wait)
}

// Await runs f until the database answers, up to wait.
func Await(ctx context.Context, wait time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, ErrSilent)
	defer cancel()
	return Retry(ctx, wait, func() error {
		err := f(ctx)
		if end, _ := ctx.Deadline(); !time.Now().Before(end) {
			<-ctx.Done() // a connection may see the end a moment before ctx does
		}
		if err == nil || ctx.Err() == nil {
			return err
		}
		cause := context.Cause(ctx)
		var attempt *launchlog.AttemptError
		if errors.Is(cause, ErrSilent) && errors.As(err, &attempt) {
			return attempt // says what went wrong
		}
		return cause
	})
}
