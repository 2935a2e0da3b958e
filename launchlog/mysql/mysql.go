// Package mysql is a launchlog.Store in MySQL 8.0.29 or later, or MariaDB 10.6 or later. It uses
// github.com/go-sql-driver/mysql.
//
// Every operation is one READ COMMITTED transaction on one connection, regardless of the server's
// default. The server applies nothing before the commit is sent, so an operation is in doubt only
// if the answer to its commit was lost. Names are different if any byte differs, because the tables
// compare by utf8mb4_bin. Times are UTC, from the server's clock, with a precision of a
// microsecond. The time zones of the server and the connection do not matter.
//
// Primary keys make each number unique: a number that was handed out is a row, and a second row
// with the same key is rejected. A log counter does not have such rows, only the value in its one
// row. The tables have no triggers. Only grants protect them against manual statements:
// docs/operate/mysql.md lists the rights that a pipeline, an app and a reader need.
//
// # Required server settings
//
// Set innodb_flush_log_at_trx_commit to 1 and, if there is a binary log, sync_binlog to 1.
// Acknowledged numbers then survive a crash of the server and its machine. These are the defaults
// of MySQL, whereas MariaDB's default of sync_binlog is 0. Acknowledged numbers survive a failover
// only if the replica has all transactions. A replica that lacks the newest ones hands out their
// numbers again. Package launchlog describes what to do then.
//
// A call may find the row of an earlier call with the same key whose commit is not finished,
// because InnoDB shows rows before they are on disk or on a semi-synchronous replica. Such a call
// writes as well, and returns when both commits are done. Calls that only read, such as Launch, do
// not wait: a crash before that flush is finished can undo what they returned.
//
// On a Galera cluster, all processes must write to the same node. Even then Galera is not
// certified, because a node that takes over may lack acknowledged transactions.
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
	// rollbackWait is the time limit of a ROLLBACK. If it fails, the connection is closed, which
	// also rolls back.
	rollbackWait = time.Second
	// connections is the size of a pool that belongs to the store.
	connections = 2
)

// Store keeps launch logs in a MySQL or MariaDB database. Create it with [Open] or [New].
type Store struct {
	steps
	db  *sql.DB
	own bool // Close closes db
	// idle closes connections that are not in use; it is nil if db belongs to the app
	idle *time.Timer
	// tables is the prefix of table names: the database that was found when the store was opened.
	tables string
}

type steps = rows.Steps

var _ launchlog.Store = (*Store)(nil)

// errURL does not repeat the URL, which may contain a password.
var errURL = errors.New(`the DSN is a URL, as in the command line's --db: ` +
	`want go-sql-driver's form, "` + wantDSN + `"`)

const wantDSN = "user:password@tcp(host:3306)/database"

// Open opens the launch log in the database that dsn names, in the form of go-sql-driver/mysql:
// "user:password@tcp(host:3306)/database". URLs such as the command line's mysql://… are rejected.
// The store has up to 2 connections, which are closed after 1.5 s without use. They set what
// operations rely on, including strict SQL mode, regardless of the server's defaults. Every
// statement names the database of the DSN, in which migrations.Up must have created the tables.
// Open waits up to a minute for a server that does not answer, or that has no connection left.
// Errors wrap a [*launchlog.SchemaError], the context's, or the driver's. On a read-only server,
// reads succeed and the first write fails.
func Open(ctx context.Context, dsn string) (*Store, error) {
	s, err := connect(ctx, dsn)
	return s, failed(err)
}

// connect opens the log with a pool that belongs to the store.
func connect(ctx context.Context, dsn string) (*Store, error) {
	if strings.HasPrefix(dsn, "mysql://") || strings.HasPrefix(dsn, "mariadb://") {
		return nil, errURL
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: want %q", err, wantDSN)
	}
	// Use one round trip per statement, without prepared statements, which a proxy would have to
	// support.
	config.InterpolateParams = true
	config.ClientFoundRows = false
	config.Logger = &mysql.NopLogger{} // the errors contain what it would log
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	// In seconds: a client that stops during a transaction keeps its locks no longer than this.
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
	// database/sql itself keeps idle connections for at least a second.
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

// New opens the launch log through an app's own pool, which Close leaves open. A process that hangs
// during an operation blocks all others until the pool's wait_timeout, which is 90 s with Open, and
// 8 hours by the server's default. The tables are in the database that the pool's DSN names. Every
// statement names this database, so a USE by the app does not lead to another log. The SQL mode
// must be strict, and some other settings must have their default values; the error lists those
// that do not. The driver's own settings (parseTime, loc, clientFoundRows, interpolateParams, …) do
// not matter.
//
// Transactions of the app that wait for a number hold connections that the log may need. Call the
// generator's Ready before them to take the first number; the generator asks for later numbers
// ahead of time. An operation waits for a connection until its context or the log's budget ends. If
// all connections of a pool with a limit were in use at that time, the error says what to do. See
// [Open] for the rest.
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

// unfit is an expression for the settings that do not fit, as New's error lists them.
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
			return 0, fmt.Errorf("connections do not suit a launch log: in the DSN, set %s",
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
			ON DUPLICATE KEY UPDATE looks = looks + 1`, // no namespace or service is named ""
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

// read runs a step that changes nothing and may therefore be run again after any error.
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
	_ = conn.Close() // returns it to the pool
	if s.idle != nil {
		s.idle.Reset(rows.IdleTime)
	}
}

// write runs a step in one transaction. It does not use sql.Tx, whose Commit ignores the context.
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

// transact runs f in one transaction, which is rolled back if f fails.
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
	// Always roll back: a wait for a lock that timed out (1205) undoes only its own statement, and
	// the connection may stay usable.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWait)
	defer cancel()
	if _, rollback := tx.ExecContext(ending, `ROLLBACK`); rollback != nil {
		// Its transaction may still be open, so it is not used again.
		_ = tx.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}
