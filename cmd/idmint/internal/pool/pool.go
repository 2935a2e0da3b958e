// Package pool opens the databases that package dsn names, by their drivers for database/sql.
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

// Mode says what [Open] does about a file of SQLite that is not there.
type Mode string

const (
	Existing Mode = "rw"  // an error
	Create   Mode = "rwc" // make it
)

// Open opens a database of SQLite, PostgreSQL, MySQL or MariaDB. It connects when it is used. Mode
// is for SQLite alone, which itself waits for a lock only shortly, because its waiting obeys no
// context: whoever uses the database tries again.
//
// What does not fit into a column is refused, never cut off. An UPDATE counts the rows that it
// finds, whether or not it changes them. PostgreSQL's statements are not prepared, so that
// PgBouncer may stand in between, unless the DSN says otherwise.
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
		config.ParseTime = false           // a time is the text that is stored
		config.MaxAllowedPacket = 0        // the server's
		config.Logger = &mysql.NopLogger{} // what it would say is in the errors
		if config.Params == nil {
			config.Params = map[string]string{}
		}
		for _, setting := range dialect.MySQLSession() {
			config.Params[setting.Name] = setting.Value
		}
		// The app's tables may rely on the server's mode. An empty text is not NULL in any.
		config.Params["sql_mode"] = "" +
			"CONCAT(REPLACE(@@sql_mode, 'EMPTY_STRING_IS_NULL', ''), ',STRICT_ALL_TABLES')"
		connector, err := mysql.NewConnector(config)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(connector), nil
	}
	return nil, fmt.Errorf("%s is no database with transactions", d.Kind)
}

// ErrSilent is for whoever ends a call that was left without an answer for too long.
var ErrSilent = errors.New("the server did not answer")

// Passes reports whether an error may pass. The database, which may be ClickHouse, was busy or
// away, or the error says so by a method of this name. The work that failed may have been done.
func Passes(err error) bool {
	var own interface{ Passes() bool }
	if errors.As(err, &own) {
		return own.Passes()
	}
	kind, cause := dialect.CauseOf(err)
	return cause.Passes() || kind == "" && isAway(err)
}

// isAway says of an error whether the database could not be reached, or went away. Of a name that
// nobody knows it does not.
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

// Retry runs f, and again while its error passes: up to wait, with pauses of up to a second. Where
// ctx ends between two runs the error is ctx's cause, unless that is ErrSilent.
func Retry(ctx context.Context, wait time.Duration, f func() error) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var err error
	for range dialect.Attempts(waiting, time.Second) {
		now := f()
		if now == nil || !Passes(now) {
			return now
		}
		if err == nil || !errors.Is(now, ErrSilent) { // what was in the way says more
			err = now
		}
	}
	if end := context.Cause(ctx); end != nil && (err == nil || !errors.Is(end, ErrSilent)) {
		err = end
	}
	if err == nil { // there was no time for a single run
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
			return attempt // says what was in the way
		}
		return cause
	})
}
