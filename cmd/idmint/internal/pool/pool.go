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

	"github.com/cenkalti/backoff/v5"
	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3" // driver

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/launchlog/sqlite"
)

// Open opens a database of SQLite, PostgreSQL, MySQL or MariaDB. It connects when it is used. Mode is for SQLite alone, which itself
// waits for a lock only shortly, because its waiting obeys no context: whoever uses the database tries again.
//
// What does not fit into a column is refused, never cut off. An UPDATE counts the rows that it finds, whether or not it changes
// them. PostgreSQL's statements are not prepared, so that PgBouncer may stand in between, unless the DSN says otherwise.
func Open(d dsn.DSN, mode sqlite.Mode) (*sql.DB, error) {
	switch d.Kind {
	case dsn.SQLite:
		return sql.Open("sqlite3", sqlite.DSN(d.Path, mode)+"&_busy_timeout=250")
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
		config.MaxAllowedPacket = 0        // the server's
		config.Logger = &mysql.NopLogger{} // what it would say is in the errors
		if config.Params == nil {
			config.Params = map[string]string{}
		}
		for name, value := range map[string]string{
			// An empty text is not NULL, whatever the server's defaults are.
			"sql_mode":   "CONCAT(REPLACE(@@sql_mode, 'EMPTY_STRING_IS_NULL', ''), ',STRICT_ALL_TABLES')",
			"autocommit": "1", "completion_type": "'NO_CHAIN'", "unique_checks": "1",
			"sql_select_limit": "18446744073709551615", "sql_safe_updates": "0", "sql_big_selects": "1",
			"character_set_client": "utf8mb4", "character_set_connection": "utf8mb4",
			"character_set_results": "utf8mb4",
		} {
			config.Params[name] = value
		}
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

// Passes reports whether an error may pass: the database, which may be ClickHouse, was busy or away, or the error says so by a method
// of this name. What was to be done may have been done.
func Passes(err error) bool {
	var postgres *pgconn.PgError
	var other *mysql.MySQLError
	var own interface{ Passes() bool }
	switch {
	case errors.As(err, &own):
		return own.Passes()
	case errors.As(err, &postgres):
		switch postgres.Code {
		case "40001", "40P01", "55P03", // a serialization failure, a deadlock, a lock that is not available
			"53300", "57P01", "57P02", "57P03", "57P05": // too many connections, shutting down, starting
			return true
		}
		return strings.HasPrefix(postgres.Code, "08") // of the connection
	case errors.As(err, &other):
		switch other.Number {
		case 1213, 1205, 1020, // a deadlock, a lock that is not available, a row that has changed since
			1040, 1053, 1927: // too many connections, shutting down, killed
			return true
		}
		return false
	}
	return sqlite.IsBusy(err) || isAway(err)
}

// isAway says of an error whether the database could not be reached, or went away. Of a name that nobody knows it does not.
func isAway(err error) bool {
	var network net.Error
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		return false
	}
	return errors.As(err, &network) || errors.Is(err, ErrSilent) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// Retry runs f, and again while its error passes: up to wait, in intervals of 10 ms to 1 s with full jitter.
func Retry(ctx context.Context, wait time.Duration, f func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := f()
		if err != nil && !Passes(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 5 * time.Millisecond, MaxInterval: 500 * time.Millisecond, Multiplier: 2, RandomizationFactor: 1,
	}), backoff.WithMaxElapsedTime(wait))
	switch {
	case err == nil || !Passes(err):
		return err
	case errors.Is(err, ErrSilent):
		return fmt.Errorf("%w within %v", err, wait)
	case sqlite.IsBusy(err):
		return fmt.Errorf("%w: another process held the lock for %v", err, wait)
	}
	return fmt.Errorf("%w: it was busy or away for %v", err, wait)
}

// Await waits until a database answers, up to wait.
func Await(ctx context.Context, db *sql.DB, wait time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, ErrSilent)
	defer cancel()
	return Retry(ctx, wait, func() error {
		err := db.PingContext(ctx)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	})
}
