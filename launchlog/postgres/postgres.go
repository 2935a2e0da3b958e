// Package postgres is a launchlog.Store in PostgreSQL 12 or later. It uses github.com/jackc/pgx/v5.
//
// Every operation is one transaction, which is sent in a single batch, so that it never holds a
// lock while it waits for the client or the network. Its isolation level is READ COMMITTED,
// regardless of the database's default. Its commit waits for the disk and for a synchronous
// standby, if there is one, regardless of synchronous_commit. Numbers come from rows rather than
// sequences, and no lock outlives its transaction. All starts of launches lock one row, in which
// they are counted, and so do all claims of one launch, so that they follow each other as fast as
// commits reach the disk.
//
// The role that uses the log needs SELECT, INSERT and UPDATE on its tables, and nothing else. A
// role that trims the log also needs DELETE on idmint_generator.
//
// # Connection poolers
//
// [Open] does not use named prepared statements, so its connections may go through PgBouncer in
// transaction mode. For a direct connection, or a pooler that supports prepared statements, the
// setting default_query_exec_mode=cache_statement in the DSN is faster. [New] uses the mode of the
// given pool.
//
// Such a pooler may pass on connections with settings that another client has SET. Because every
// statement names the schema in which the log was opened, another client's search_path or role
// cannot lead to a different log. A role that lacks rights gets an error.
//
// # Standbys and failover
//
// Acknowledged numbers survive a crash of the server and its machine, as long as fsync is on. They
// survive a failover only if the standby is synchronous: a standby that lacks the newest
// transactions hands out their numbers again. Package launchlog describes what to do then. A commit
// whose wait for the standby was cut off counts as uncertain, and is run again: see [Watch]. On a
// read-only server, such as a standby, the log can be read.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// Store keeps launch logs in a PostgreSQL database. Create it with [Open] or [New].
type Store struct {
	statements
	pool   *pgxpool.Pool
	own    bool // Close closes the pool
	schema string
	opened string // the word of the log that was opened; immutable
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log in the database that dsn names, as a URL or as key=value pairs. The
// settings of pgxpool apply. Two have different defaults, because a process rarely asks the log,
// and many processes share the server's max_connections: pool_max_conns is 2, and
// pool_max_conn_idle_time, after which an unused connection is closed, is 1.5 s. The log's tables
// must have been created by migrations.Up. They are in the schema public or in the given schema,
// regardless of the search_path. Open waits up to a minute for a server that does not answer, or
// that has no connection left. Errors wrap a [*launchlog.SchemaError], the context's, or pgx's. On
// a standby, reads succeed and the first write fails.
func Open(ctx context.Context, dsn string, schema ...string) (*Store, error) {
	s, err := connect(ctx, dsn, schema)
	return s, failed(err)
}

// connect opens the log with a pool that belongs to the store.
func connect(ctx context.Context, dsn string, schema []string) (*Store, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = 2
	}
	if !strings.Contains(dsn, "pool_max_conn_idle_time") {
		config.MaxConnIdleTime, config.HealthCheckPeriod = rows.IdleTime, rows.IdleTime
	}
	if !strings.Contains(dsn, "default_query_exec_mode") {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8" // regardless of the role's default
	Watch(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, &Store{pool: pool, own: true}, schema)
	if err != nil {
		pool.Close()
	}
	return s, err
}

// New opens the launch log through an app's own pool, which Close leaves open. If [Watch] did not
// prepare the pool, the log does not notice commits that a synchronous standby may lack.
//
// Transactions of the app that wait for a number hold connections that the log may need. Call the
// generator's Ready before them to take the first number; the generator asks for later numbers
// ahead of time. An operation waits for a connection until its context or the log's budget ends. If
// all connections of the pool were in use at that time, the error says what to do. See [Open] for
// the rest.
func New(ctx context.Context, pool *pgxpool.Pool, schema ...string) (*Store, error) {
	if pool == nil {
		return nil, failed(errors.New("the pool is nil"))
	}
	s, err := open(ctx, &Store{pool: pool}, schema)
	return s, failed(err)
}

func open(ctx context.Context, s *Store, schema []string) (*Store, error) {
	s.schema = cmp.Or(cmp.Or(schema...), "public")
	s.statements = newStatements(s.schema)
	if err := rows.Await(ctx, rows.ServerTime, s.find); err != nil {
		return nil, err
	}
	return s, nil
}

// find finds the tables, and returns their version.
func (s *Store) find(ctx context.Context) (int, error) {
	return read(ctx, s, func(ctx context.Context, conn *pgxpool.Conn) (version int, err error) {
		encoding := conn.Conn().PgConn().ParameterStatus("client_encoding")
		if encoding != "UTF8" && encoding != "SQL_ASCII" { // SQL_ASCII does not convert text
			return 0, fmt.Errorf("client_encoding is %s: set it to UTF8 in the connection string",
				encoding)
		}
		var secured string
		err = conn.QueryRow(ctx, s.version, s.schema).Scan(&version, &s.opened, &secured)
		if absent := (*pgconn.PgError)(nil); errors.As(err, &absent) && absent.Code == "42P01" {
			return 0, nil
		}
		if secured != "" {
			err = fmt.Errorf("%w: it applies to %s", errHidden, secured)
		}
		return version, err
	})
}

// Close closes the connections that Open made. It waits for calls in progress.
func (s *Store) Close() error {
	if s.own {
		s.pool.Close()
	}
	return nil
}

// read runs f, which changes nothing and may therefore be run again after any error.
func read[T any](
	ctx context.Context, s *Store, f func(context.Context, *pgxpool.Conn) (T, error),
) (v T, err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return v, err
	}
	defer conn.Release()
	v, err = f(ctx, conn)
	return v, classify(err, false, conn.Conn().IsClosed())
}

func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := s.pool.Acquire(ctx)
	if err == nil || ctx.Err() == nil {
		return conn, classify(err, false, false)
	}
	if now := s.pool.Stat(); !s.own && now.AcquiredConns() == now.MaxConns() {
		return nil, rows.NoConnection(ctx.Err())
	}
	return nil, ctx.Err() // nothing was sent
}

const (
	begin = `BEGIN ISOLATION LEVEL READ COMMITTED`
	// durable keeps remote_apply, which waits for more, and makes sure that the server sends the
	// warning that [Watch] needs. It has no FROM, so the server plans it at once.
	durable = `SELECT
		CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
			THEN set_config('synchronous_commit', 'on', true) END,
		CASE WHEN current_setting('client_min_messages') = 'error'
			THEN set_config('client_min_messages', 'warning', true) END`
	commit         = `COMMIT`
	divisionByZero = "22012"
)

// write sends one transaction, whose statements queue adds to a batch, in one round trip. Because
// all of it is sent before the first answer arrives, a lost answer leaves the commit in doubt.
func (s *Store) write(ctx context.Context, queue func(*pgx.Batch)) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	doubt := watched(conn)
	doubt.clear()
	b := &pgx.Batch{}
	committed := false
	b.Queue(begin)
	b.Queue(durable)
	b.Queue(s.word, s.opened)
	queue(b)
	b.Queue(commit).Exec(func(tag pgconn.CommandTag) error {
		committed = tag.String() == commit
		return nil
	})
	err = conn.SendBatch(ctx, b).Close()
	switch {
	case err != nil:
		if conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			// If this fails, the pool closes the connection, which ends the transaction.
			_, _ = conn.Exec(ending, "ROLLBACK")
			cancel()
		}
		return classify(err, true, conn.Conn().IsClosed())
	case doubt.is():
		return &launchlog.AttemptError{Ambiguous: true, Err: errStandby}
	case !committed:
		return &launchlog.AttemptError{Err: errors.New("the transaction was rolled back")}
	}
	return nil
}

// one queues a query that returns at most one row, and passes that row to scan.
func one[T any](b *pgx.Batch, to **T, scan func(rows.Row) (T, error), text string, args ...any) {
	b.Queue(text, args...).QueryRow(func(row pgx.Row) error {
		v, err := scan(row)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		*to = &v
		return err
	})
}

// list runs a read-only query.
func list[T any](
	ctx context.Context, s *Store, scan func(rows.Row) (T, error), text string, args ...any,
) ([]T, error) {
	return read(ctx, s, func(ctx context.Context, conn *pgxpool.Conn) ([]T, error) {
		found, err := conn.Query(ctx, text, args...)
		if err != nil {
			return nil, err
		}
		return pgx.AppendRows([]T(nil), found, func(row pgx.CollectableRow) (T, error) {
			return scan(row)
		})
	})
}
