// Package mysql is a launchlog.Store in MySQL 8.0.29 or later, or MariaDB 10.6 or later, by github.com/go-sql-driver/mysql.
//
// Every step is one READ COMMITTED transaction on one connection, whatever the server's default is. Nothing is applied before its
// commit is sent, so only an answer to that can leave a step in doubt. Names differ where a byte differs: the tables compare by
// utf8mb4_bin. Times are UTC, by the server's clock, to the microsecond, whatever time zone the server and the connection have.
//
// # What the server must be set to
//
// What was acknowledged survives a crash of the server and its machine where innodb_flush_log_at_trx_commit is 1 and, with a binary
// log, sync_binlog is 1: the defaults of MySQL; MariaDB's sync_binlog is 0. It survives a failover only where the replica has
// everything: one that lacks the newest transactions gives out their numbers again. See package launchlog for what to do then.
//
// A call that finds the row of an earlier one with the same key, whose commit is under way, may answer before that commit is on disk
// or on the replica: InnoDB shows rows so early. A crash within that one flush can lose what was answered.
//
// On a Galera cluster all processes must write to the same one node. Even then it is not certified: a node that takes over may lack
// transactions that were acknowledged.
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

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const (
	// rollbackWait bounds a ROLLBACK. Without it the connection is dropped, which rolls back as well.
	rollbackWait = time.Second
	// connections of a pool of the store's own.
	connections = 4
)

// Store keeps launch logs in a MySQL or MariaDB database. Make it with [Open] or [New].
type Store struct {
	db  *sql.DB
	own bool // db is closed with the store
}

var _ launchlog.Store = (*Store)(nil)

// errURL does not repeat the URL, which may hold a password.
var errURL = errors.New(`launchlog/mysql: the DSN is a URL, as the command line's --db takes it: ` +
	`want go-sql-driver's form, "user:password@tcp(host:3306)/database"`)

// Open opens the launch log in the database that dsn names, in the form of go-sql-driver/mysql: "user:password@tcp(host:3306)/database".
// The command line's mysql://… is refused. It has up to 4 connections of its own, in strict SQL mode. Its tables are made before, by
// migrations.Up. It waits up to 10 s for a server that does not answer. Errors: a [*launchlog.SchemaError], the context's, or the
// driver's. A server that only reads can be read: the first write fails.
func Open(ctx context.Context, dsn string) (*Store, error) {
	if strings.HasPrefix(dsn, "mysql://") || strings.HasPrefix(dsn, "mariadb://") {
		return nil, errURL
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	config.InterpolateParams = true // one round trip for a statement, and nothing prepared that a proxy would have to know of
	config.ClientFoundRows = false
	config.Logger = &mysql.NopLogger{} // what it would say is in the errors
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	config.Params["wait_timeout"] = "90" // in seconds: a client that stops amid a transaction keeps its locks no longer
	config.Params["sql_mode"] = "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(time.Minute) // below what servers and balancers cut off
	s, err := New(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.own = true
	return s, nil
}

// New opens the launch log by an app's own pool, which Close leaves open. Its wait_timeout is how long a process that stops amid a step
// is in the way of all others: 90 s with Open, 8 hours by the server's default. Its SQL mode must be strict; the driver's other settings
// (parseTime, loc, clientFoundRows, interpolateParams, …) may be any. See [Open] for the rest.
func New(ctx context.Context, db *sql.DB) (*Store, error) {
	s := &Store{db: db}
	if err := rows.Await(ctx, s.version); err != nil {
		return nil, err
	}
	return s, nil
}

var errDatabase = errors.New("the connection has no database: name one in the DSN")

var errSession = errors.New("connections are not fit for a launch log: in the DSN, set a strict sql_mode, so that values are refused rather " +
	"than changed, and leave charset at utf8mb4 and autocommit on")

func (s *Store) version(ctx context.Context) (int, error) {
	return read(ctx, s, func(ctx context.Context) (version int, err error) {
		var named, fit bool
		var tables int
		err = s.db.QueryRowContext(ctx, `SELECT database() IS NOT NULL,
			(@@sql_mode LIKE '%STRICT_ALL_TABLES%' OR @@sql_mode LIKE '%STRICT_TRANS_TABLES%')
				AND @@character_set_connection = 'utf8mb4' AND @@autocommit,
			(SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = 'idmint_schema')`).Scan(&named, &fit, &tables)
		switch {
		case err != nil:
		case !named:
			err = errDatabase
		case !fit:
			err = errSession
		}
		if err == nil && tables == 1 {
			err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM idmint_schema`).Scan(&version)
		}
		return version, err
	})
}

// Close closes the connections that Open made.
func (s *Store) Close() error {
	if s.own {
		return s.db.Close()
	}
	return nil
}

// read runs f, which changes nothing: whatever was in the way, it may be run again.
func read[T any](ctx context.Context, s *Store, f func(context.Context) (T, error)) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	v, err = f(ctx)
	return v, classify(err)
}

// write runs f in one transaction. It does without sql.Tx, whose Commit obeys no context.
func (s *Store) write(ctx context.Context, f func(ctx context.Context, tx *sql.Conn) error) error {
	tx, err := s.db.Conn(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // nothing was sent
		}
		return classify(err)
	}
	defer tx.Close()
	for n := range avoidances {
		if err = transact(ctx, tx, f); !isBrokenTrigger(err) {
			break
		}
		if n == 0 { // afterwards the connection is closed, and MariaDB has its copies back
			defer func() { _ = tx.Raw(func(any) error { return driver.ErrBadConn }) }()
		}
		if avoid(ctx, tx, n) != nil { // nothing was changed: the next attempt finds it again
			break
		}
	}
	return classify(err)
}

// avoidances are how many copies of each table, as MariaDB keeps them in its cache, a step avoids.
const avoidances = 20

// avoid keeps the newest copies of the tables from being used by this connection's next statements. KILL QUERY can spoil the triggers of
// one, for good: MariaDB takes it out of its cache for each statement that comes, until FLUSH TABLES. So whoever meets it, and may
// not flush, occupies it, and gets another one.
func avoid(ctx context.Context, conn *sql.Conn, n int) error {
	for _, table := range []string{"idmint_namespace", "idmint_launch", "idmint_launch_event", "idmint_generator", "idmint_counter"} {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("HANDLER %s OPEN AS %[1]s_%d", table, n)); err != nil {
			return err
		}
	}
	return nil
}

// transact runs f in one transaction, which is rolled back if it fails.
func transact(ctx context.Context, tx *sql.Conn, f func(ctx context.Context, tx *sql.Conn) error) error {
	_, err := tx.ExecContext(ctx, `SET TRANSACTION ISOLATION LEVEL READ COMMITTED`)
	if err == nil {
		_, err = tx.ExecContext(ctx, `START TRANSACTION`)
	}
	if err == nil {
		err = f(ctx, tx)
	}
	if err == nil {
		if _, err = tx.ExecContext(ctx, `COMMIT`); err == nil {
			return nil
		}
		err = classifyCommit(err)
	}
	// A lock that is not had in time (1205) takes back its statement alone, and the connection may live on: so it is said always.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWait)
	defer cancel()
	if _, rollback := tx.ExecContext(ending, `ROLLBACK`); rollback != nil {
		_ = tx.Raw(func(any) error { return driver.ErrBadConn }) // its transaction may be open: it is not used again
	}
	return err
}
