// Package postgres is a launchlog.Store in PostgreSQL 12 or later, by github.com/jackc/pgx/v5.
//
// Every step is one transaction, which is sent as a whole, in one flight: while it holds a lock it
// waits for no client and no network. It is READ COMMITTED whatever the database's default is. Its
// commit waits for the disk, and for a synchronous standby where there is one, whatever
// synchronous_commit is. Numbers come from rows, not from sequences, and no lock outlives its
// transaction. All starts of launches want one row, in which they are counted, and so do all claims
// of a launch. They follow each other as fast as commits reach the disk.
//
// The role that uses the log needs SELECT, INSERT and UPDATE on its tables, and no more.
//
// # Connection poolers
//
// [Open] uses no prepared statement with a name, so its connections may go through PgBouncer in
// transaction mode. The setting default_query_exec_mode=cache_statement in the DSN makes it faster,
// for a direct connection or a pooler that knows of prepared statements. [New] uses the mode of the
// pool that it is given.
//
// Such a pooler hands on connections with what a client has SET. The search_path of another client
// does not lead this one to another log. The store finds the tables' schema once, by the session's
// default search_path, and every statement names it. The default is what the connection string
// says, and else the role's, the database's or the server's setting.
//
// A SET ROLE of another client matters where the search_path has "$user" in it. With [Open] it does
// not lead elsewhere either: the store finds the schema by the session's own role. A step that runs
// with the other role later can only be refused for its rights. With [New] and package migrations
// the role that is SET counts, because the app may have done so on purpose.
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
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/searchpath"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// Store keeps launch logs in a PostgreSQL database. Make it with [Open] or [New].
type Store struct {
	pool *pgxpool.Pool
	own  bool // the pool is closed with the store
	// tables puts the schema, which was found when the store was opened, before the names of
	// tables.
	tables *strings.Replacer
	word   string // of the log that was opened; immutable, too
}

var _ launchlog.Store = (*Store)(nil)

// A SearchPathError is returned by [New] where the connection's search_path and the session's
// default lead to different launch logs, or the default to none. One of them is not meant.
type SearchPathError = searchpath.Error

// Open opens the launch log in the database that dsn names, as a URL or as key=value pairs. The
// settings of pgxpool count. Two have defaults of their own, because a process asks the log now and
// then, and many processes share the server's max_connections: pool_max_conns is 2, and a connection
// that nothing has used for a minute, pool_max_conn_idle_time, is closed. The log's tables are made
// before, by migrations.Up. It finds their schema once, by the session's default search_path, which
// dsn may set, and names it in every statement. It waits up to 10 s for a server that does not
// answer. Errors wrap a [*launchlog.SchemaError], the context's, or pgx's. A standby can be read: its
// first write fails.
func Open(ctx context.Context, dsn string) (*Store, error) { return opened(connect(ctx, dsn)) }

// connect opens the log by a pool of the store's own.
func connect(ctx context.Context, dsn string) (*Store, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = 2
	}
	if !strings.Contains(dsn, "pool_max_conn_idle_time") {
		config.MaxConnIdleTime = time.Minute // as for MySQL, below what servers and balancers cut off
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
	s, err := open(ctx, &Store{pool: pool, own: true})
	if err != nil {
		pool.Close()
	}
	return s, err
}

// New opens the launch log by an app's own pool, which Close leaves open. A pool that [Watch] did
// not prepare hears nothing of commits that a synchronous standby may lack. A search_path of its
// own belongs into the pool's connection string, or its RuntimeParams. Where the pool SETs one that
// leads to another launch log, the error wraps a [*SearchPathError].
//
// Transactions of the app that wait for a number hold connections that the log may need. Take the
// first number before them, with the generator's Ready: it asks for later ones ahead of time. A
// step waits for a connection until its context or the log's budget ends. If all connections of the
// pool were in use then, the error says what to do. See [Open] for the rest.
func New(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	if pool == nil {
		return opened(nil, errors.New("the pool is nil"))
	}
	return opened(open(ctx, &Store{pool: pool}))
}

func open(ctx context.Context, s *Store) (*Store, error) {
	if err := rows.Await(ctx, s.find); err != nil {
		return nil, err
	}
	return s, nil
}

// find finds the tables, and returns their version. It asks in one flight, and in one transaction,
// which a pooler leaves on one connection. Nothing of it is prepared, whatever the pool's mode is.
func (s *Store) find(ctx context.Context) (version int, err error) {
	return read(ctx, s, func(ctx context.Context, conn *pgxpool.Conn) (version int, err error) {
		server := conn.Conn().PgConn()
		encoding := server.ParameterStatus("client_encoding")
		if encoding != "UTF8" && encoding != "SQL_ASCII" { // the latter changes nothing
			return 0, fmt.Errorf("client_encoding is %s: set it to UTF8 in the connection string",
				encoding)
		}
		steps := searchpath.Steps(conn.Conn().Config().RuntimeParams["search_path"], s.own)
		found := len(steps) - 1
		flight := new(pgconn.Batch)
		for _, step := range append(steps, searchpath.Inside, searchpath.Step{
			Text: `SELECT coalesce(max(version), 0)::text, (SELECT string_agg(t.relname, ', ')
					FROM pg_class t, pg_class log WHERE log.oid = 'idmint_schema'::regclass
						AND t.relnamespace = log.relnamespace AND t.relkind = 'r'
						AND t.relname LIKE 'idmint\_%' AND row_security_active(t.oid)),
					max(to_jsonb(s)->>'word') FILTER (WHERE version = 4) -- which older ones lack
				FROM idmint_schema s`,
		}) {
			var args [][]byte
			for _, arg := range step.Args {
				args = append(args, []byte(arg))
			}
			flight.ExecParams(step.Text, args, nil, nil, nil)
		}
		answers, failed := server.ExecBatch(ctx, flight).ReadAll()
		if len(answers) <= found || answers[found].Err != nil {
			return 0, failed
		}
		path := answers[found].Rows[0]
		place, err := searchpath.Found(string(path[0]), string(path[1]), string(path[2]), s.own)
		switch {
		case err != nil || !place.Log: // then the last step has found no table
			return 0, err
		case failed != nil:
			return 0, failed
		}
		s.tables = strings.NewReplacer("idmint_", dialect.Postgres.Quote(place.Schema)+".idmint_")
		last := answers[len(answers)-1].Rows[0]
		if secured := string(last[1]); secured != "" {
			return 0, fmt.Errorf("%w: it applies to %s", errHidden, secured)
		}
		s.word = string(last[2])
		return strconv.Atoi(string(last[0]))
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
	commit = `COMMIT`
	// home divides by zero in another log than the one that was opened, which ends the transaction
	// before its other statements, all of which are sent already.
	home           = `SELECT 1 / count(*) FROM idmint_schema WHERE version = 4 AND word = $1`
	divisionByZero = "22012"
)

// write sends one transaction, whose statements are those that queue adds to the batch, in one
// flight. All of it is sent before the first answer is known, so an answer that is lost leaves the
// commit in doubt.
func (s *Store) write(ctx context.Context, queue func(*batch)) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	doubt := watched(conn)
	doubt.clear()
	b := &batch{tables: s.tables}
	committed := false
	b.Queue(begin)
	b.Queue(durable)
	b.Queue(home, s.word)
	queue(b)
	b.Queue(commit).Exec(func(tag pgconn.CommandTag) error {
		committed = tag.String() == commit
		return nil
	})
	err = conn.SendBatch(ctx, &b.Batch).Close()
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

// A batch puts the schema before the names of tables in its statements. So they find the same
// tables whatever another client of a pooler has SET the search_path to.
type batch struct {
	pgx.Batch
	tables *strings.Replacer
}

// Queue queues a statement, whose names that begin with idmint_ are those of tables.
func (b *batch) Queue(text string, args ...any) *pgx.QueuedQuery {
	return b.Batch.Queue(b.tables.Replace(text), args...)
}

// one queues a query of no more than one row, and hands that to scan.
func one[T any](b *batch, to **T, scan func(rows.Row) (T, error), text string, args ...any) {
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
		found, err := conn.Query(ctx, s.tables.Replace(text), args...)
		if err != nil {
			return nil, err
		}
		return pgx.AppendRows([]T(nil), found, func(row pgx.CollectableRow) (T, error) {
			return scan(row)
		})
	})
}
