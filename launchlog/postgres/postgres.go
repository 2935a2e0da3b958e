// Package postgres is a launchlog.Store in PostgreSQL 12 or later, by github.com/jackc/pgx/v5.
//
// Every step is one transaction, which is sent as a whole, in one flight: while it holds a lock it
// waits for no client and no network. It is READ COMMITTED whatever the database's default is. Its
// commit waits for the disk, and for a synchronous standby where there is one, whatever
// synchronous_commit is. Numbers come from rows, not from sequences, and no lock outlives its
// transaction. All starts of launches want one row, in which they are counted, and so do all claims
// of a launch. They follow each other as fast as commits reach the disk.
//
// The role that uses the log needs SELECT, INSERT and UPDATE on its tables, and no more. The one that
// trims it also needs DELETE on idmint_generator.
//
// # Connection poolers
//
// [Open] uses no prepared statement with a name, so its connections may go through PgBouncer in
// transaction mode. The setting default_query_exec_mode=cache_statement in the DSN makes it faster,
// for a direct connection or a pooler that knows of prepared statements. [New] uses the mode of the
// pool that it is given.
//
// Such a pooler hands on connections with what a client has SET. Every statement names the schema
// that the log was opened in. So another client's search_path or role leads to no other log: a role
// that lacks rights is refused.
//
// # Standbys and failover
//
// What was acknowledged survives a crash of the server and its machine, as long as fsync is on. It
// survives a failover only where the standby is synchronous: one that lacks the newest transactions
// gives out their numbers again. See package launchlog for what to do then. A commit whose wait for
// the standby was cut off counts as uncertain, and is run again: see [Watch]. On a server that only
// reads, as a standby does, the log can be read.
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

// Store keeps launch logs in a PostgreSQL database. Make it with [Open] or [New].
type Store struct {
	statements
	pool   *pgxpool.Pool
	own    bool // the pool is closed with the store
	schema string
	opened string // the word of the log that was opened; immutable, too
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log in the database that dsn names, as a URL or as key=value pairs. The
// settings of pgxpool count. Two have defaults of their own, because a process asks the log now and
// then, and many processes share the server's max_connections: pool_max_conns is 2, and a connection
// that nothing has used for 1.5 s, pool_max_conn_idle_time, is closed. The log's tables are made
// before, by migrations.Up. They are in the schema public, or in the one that is named; the
// search_path does not matter. Open waits up to a minute for a server that does not answer, or has no
// connection left. Errors wrap a
// [*launchlog.SchemaError], the context's, or pgx's. A standby can be read: its first write fails.
func Open(ctx context.Context, dsn string, schema ...string) (*Store, error) {
	s, err := connect(ctx, dsn, schema)
	return s, failed(err)
}

// connect opens the log by a pool of the store's own.
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
	config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8" // whatever the role's default is
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

// New opens the launch log by an app's own pool, which Close leaves open. A pool that [Watch] did
// not prepare hears nothing of commits that a synchronous standby may lack.
//
// Transactions of the app that wait for a number hold connections that the log may need. Take the
// first number before them, with the generator's Ready: it asks for later ones ahead of time. A
// step waits for a connection until its context or the log's budget ends. If all connections of the
// pool were in use then, the error says what to do. See [Open] for the rest.
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
		if encoding != "UTF8" && encoding != "SQL_ASCII" { // the latter changes nothing
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

// Close closes the connections that Open made. It waits for calls that are under way.
func (s *Store) Close() error {
	if s.own {
		s.pool.Close()
	}
	return nil
}

// read runs f, which changes nothing: whatever was in the way, it may be run again.
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
	// durable leaves remote_apply as it is, which waits for more, and sees that the server says
	// what [Watch] listens for. It has no FROM, so the server plans it at once.
	durable = `SELECT
		CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
			THEN set_config('synchronous_commit', 'on', true) END,
		CASE WHEN current_setting('client_min_messages') = 'error'
			THEN set_config('client_min_messages', 'warning', true) END`
	commit         = `COMMIT`
	divisionByZero = "22012"
)

// write sends one transaction, whose statements are those that queue adds to the batch, in one
// flight. All of it is sent before the first answer is known, so an answer that is lost leaves the
// commit in doubt.
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
			// Where it fails, the pool drops the connection, and with it the transaction.
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

// one queues a query of no more than one row, and hands that to scan.
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

// list runs a query that only reads.
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
