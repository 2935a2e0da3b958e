// Package mysql is a launchlog.Store in MySQL 8.0.29 or later, or MariaDB 10.6 or later, by
// github.com/go-sql-driver/mysql.
//
// Every step is one READ COMMITTED transaction on one connection, whatever the server's default is.
// The server applies nothing before the commit is sent. So a step is in doubt only where the answer
// to its commit was lost. Names differ where a byte differs: the tables compare by utf8mb4_bin.
// Times are UTC, by the server's clock, to the microsecond. The time zones of the server and of the
// connection do not matter.
//
// Primary keys make each number unique: a number that was handed out is a row, and a second row
// with the same key is refused. A counter has no such rows: there the value in its one row is all.
// The tables have no triggers. Grants guard them against statements by hand: docs/operate/mysql.md lists
// what a pipeline, an app and a reader need.
//
// # What the server must be set to
//
// Set innodb_flush_log_at_trx_commit to 1 and, with a binary log, sync_binlog to 1. Then what was
// acknowledged survives a crash of the server and its machine. These are the defaults of MySQL.
// MariaDB's default of sync_binlog is 0. What was acknowledged survives a failover only where the
// replica has everything. A replica that lacks the newest transactions gives out their numbers
// again. See package launchlog for what to do then.
//
// A call may find the row of an earlier call with the same key, whose commit is under way: InnoDB
// shows rows before they are on disk or on a semi-synchronous replica. Such a call writes as well,
// and answers when both commits are done. Calls that only read, such as Launch, do not wait: a
// crash within that one flush can take back what they returned.
//
// On a Galera cluster all processes must write to the same one node. Even then it is not certified:
// a node that takes over may lack transactions that were acknowledged.
package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const (
	// rollbackWait bounds a ROLLBACK. Without it the connection is dropped, which rolls back as
	// well.
	rollbackWait = time.Second
	// connections of a pool of the store's own.
	connections = 2
)

// Store keeps launch logs in a MySQL or MariaDB database. Make it with [Open] or [New].
type Store struct {
	steps
	db  *sql.DB
	own bool // db is closed with the store
	// idle closes connections that nothing uses; nil where db is the app's
	idle *time.Timer
	// tables goes before the names of tables: their database, which was found when the store was
	// opened.
	tables string
}

type steps = rows.Steps

var _ launchlog.Store = (*Store)(nil)

// errURL does not repeat the URL, which may hold a password.
var errURL = errors.New(`the DSN is a URL, as the command line's --db takes it: ` +
	`want go-sql-driver's form, "` + wantDSN + `"`)

const wantDSN = "user:password@tcp(host:3306)/database"

// Open opens the launch log in the database that dsn names, in the form of go-sql-driver/mysql:
// "user:password@tcp(host:3306)/database". The command line's mysql://… is refused. It has up to 2
// connections of its own, which are closed after 1.5 s without use. They set what steps rely on,
// strict SQL mode among it, whatever the server's defaults are. Every statement names the database
// of the DSN. Its tables are made before, by migrations.Up. Open waits up to a minute for a server that
// does not answer, or has no connection left. Errors wrap a [*launchlog.SchemaError], the context's, or the driver's. A server
// that only reads can be read: the first write fails.
func Open(ctx context.Context, dsn string) (*Store, error) {
	s, err := connect(ctx, dsn)
	return s, failed(err)
}

// connect opens the log by a pool of the store's own.
func connect(ctx context.Context, dsn string) (*Store, error) {
	if strings.HasPrefix(dsn, "mysql://") || strings.HasPrefix(dsn, "mariadb://") {
		return nil, errURL
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: want %q", err, wantDSN)
	}
	// One round trip for a statement, and nothing prepared that a proxy would have to know of.
	config.InterpolateParams = true
	config.ClientFoundRows = false
	config.Logger = &mysql.NopLogger{} // what it would say is in the errors
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	// In seconds: a client that stops amid a transaction keeps its locks no longer.
	config.Params["wait_timeout"] = "90"
	for _, setting := range dialect.MySQLSession() {
		config.Params[setting.Name] = setting.Value
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	// database/sql itself keeps what is idle for a second at least.
	idle := time.AfterFunc(rows.IdleTime, func() {
		db.SetMaxIdleConns(0)
		db.SetMaxIdleConns(connections)
	})
	s, err := open(ctx, &Store{db: db, own: true, idle: idle})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// New opens the launch log by an app's own pool, which Close leaves open. A process that stops amid
// a step is in the way of all others until the pool's wait_timeout. That is 90 s with Open, and 8
// hours by the server's default. The tables are in the database that the pool's DSN names. Every
// statement names it, so a USE by the app leads to no other log. The SQL mode must be strict, and
// some other settings be as servers have them by default: the error names those that are not. The
// driver's own settings (parseTime, loc, clientFoundRows, interpolateParams, …) may be any.
//
// Transactions of the app that wait for a number hold connections that the log may need. Take the
// first number before them, with the generator's Ready: it asks for later ones ahead of time. A
// step waits for a connection until its context or the log's budget ends. If all connections of a
// pool with a limit were in use then, the error says what to do. See [Open] for the rest.
func New(ctx context.Context, db *sql.DB) (*Store, error) {
	if db == nil {
		return nil, failed(errors.New("the pool is nil"))
	}
	s, err := open(ctx, &Store{db: db})
	return s, failed(err)
}

func open(ctx context.Context, s *Store) (*Store, error) {
	if err := rows.Await(ctx, rows.ServerTime, s.find); err != nil {
		return nil, err
	}
	return s, nil
}

var errDatabase = errors.New("the connection has no database: name one in the DSN")

// unfit selects the settings that are not fit, as New's error names them.
var unfit = func() string {
	var cases []string
	for _, setting := range dialect.MySQLSession() {
		if setting.Fit != "" {
			cases = append(cases, fmt.Sprintf(`CASE WHEN %s THEN NULL ELSE '%s = %s' END`,
				setting.Fit, setting.Name, strings.ReplaceAll(setting.Value, "'", "''")))
		}
	}
	return `concat_ws(', ', ` + strings.Join(cases, ", ") + `)`
}()

// find finds the tables, and returns their version.
func (s *Store) find(ctx context.Context) (int, error) {
	v, err := s.read(ctx, func(ctx context.Context, conn rows.Tx) (any, error) {
		var version, tables int
		var name sql.NullString
		var wanted, word string
		err := conn.QueryRowContext(ctx, `SELECT database(), `+unfit+`,
			(SELECT count(*) FROM information_schema.tables
				WHERE table_schema = database() AND table_name = 'idmint_schema')`,
		).Scan(&name, &wanted, &tables)
		switch {
		case err != nil:
			return 0, err
		case !name.Valid:
			return 0, errDatabase
		case wanted != "":
			return 0, fmt.Errorf("connections are not fit for a launch log: in the DSN, set %s",
				wanted)
		case tables == 0:
			return 0, nil
		}
		s.tables = dialect.MySQL.Quote(name.String) + "."
		err = conn.QueryRowContext(ctx, rows.Named(rows.Version, s.tables)).Scan(&version)
		if err == nil && rows.Fits(version) {
			err = conn.QueryRowContext(ctx, rows.Named(rows.Word, s.tables)).Scan(&word)
			s.steps = newSteps(s, word)
		}
		return version, err
	})
	version, _ := v.(int)
	return version, err
}

func newSteps(s *Store, word string) steps {
	return rows.NewSteps(rows.Words{
		Tables: s.tables, Time: `date_format($, '%Y-%m-%dT%H:%i:%s.%fZ')`,
		Now: `utc_timestamp(6)`, Lock: ` FOR UPDATE`, Is: `<=>`, Greatest: `greatest`,
		Look: `INSERT INTO idmint_order (namespace, service, value, looks) VALUES (?, ?, ?, 1)
			ON DUPLICATE KEY UPDATE value = greatest(value, VALUES(value)), looks = looks + 1,
				updated_at = utc_timestamp(6)`,
		Follow: `INSERT INTO idmint_order (namespace, service, value, looks) VALUES ('', '', 0, 1)
			ON DUPLICATE KEY UPDATE looks = looks + 1`, // no namespace's and no service's name is ""
	}, word, s.write, s.read, s.read)
}

// Close closes the connections that Open made.
func (s *Store) Close() error {
	if !s.own {
		return nil
	}
	s.idle.Stop()
	return failed(s.db.Close())
}

// read runs a step that changes nothing: whatever was in the way, it may be run again.
func (s *Store) read(ctx context.Context, step rows.Step) (any, error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(conn)
	v, err := step(ctx, conn)
	return v, classify(err)
}

func (s *Store) acquire(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err == nil || ctx.Err() == nil {
		return conn, classify(err)
	}
	now := s.db.Stats()
	if !s.own && now.MaxOpenConnections > 0 && now.InUse >= now.MaxOpenConnections {
		return nil, rows.NoConnection(ctx.Err())
	}
	return nil, ctx.Err() // nothing was sent
}

func (s *Store) release(conn *sql.Conn) {
	_ = conn.Close() // it goes back to the pool
	if s.idle != nil {
		s.idle.Reset(rows.IdleTime)
	}
}

// write runs a step in one transaction. It does without sql.Tx, whose Commit obeys no context.
func (s *Store) write(ctx context.Context, step rows.Step) (v any, err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(conn)
	err = transact(ctx, conn, func(ctx context.Context) error {
		v, err = step(ctx, conn)
		return err
	})
	return v, classify(err)
}

// transact runs f in one transaction, which is rolled back if it fails.
func transact(ctx context.Context, tx *sql.Conn, f func(context.Context) error) error {
	_, err := tx.ExecContext(ctx, `SET TRANSACTION ISOLATION LEVEL READ COMMITTED`)
	if err == nil {
		_, err = tx.ExecContext(ctx, `START TRANSACTION`)
	}
	if err == nil {
		err = f(ctx)
	}
	if err == nil {
		if _, err = tx.ExecContext(ctx, `COMMIT`); err == nil {
			return nil
		}
		err = classifyCommit(err)
	}
	// Always roll back: a wait for a lock that ran out (1205) takes back its statement alone, and
	// the connection may live on.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWait)
	defer cancel()
	if _, rollback := tx.ExecContext(ending, `ROLLBACK`); rollback != nil {
		// Its transaction may be open: it is not used again.
		_ = tx.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}
