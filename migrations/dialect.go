package migrations

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/idmint/idmint/internal/dialect"
)

// Dialect is a kind of database. Package sqlid has the same type for its dialects. MariaDB's is
// treated as MySQL's here.
type Dialect = dialect.Dialect

// The dialects.
const (
	// SQLite is version 3.37 or later, because the tables are STRICT.
	SQLite Dialect = dialect.SQLite
	// Postgres is PostgreSQL 12 or later. The tables are in the schema public or in the given
	// schema, regardless of the search_path.
	Postgres Dialect = dialect.Postgres
	// MySQL is MySQL 8.0.29 or later, or MariaDB 10.6 or later. The tables need no triggers, and
	// therefore no rights that managed servers withhold.
	MySQL Dialect = dialect.MySQL
)

// engine is what differs between dialects, apart from the SQL files.
type engine struct {
	// tables is a query that counts the tables named idmint_schema. It returns NULL if the
	// connection has no database in which to look.
	tables string
	// enter, which may be nil, prepares a transaction for its statements: where tables are found
	// and created, and how SQL is parsed.
	enter func(ctx context.Context, tx *sql.Tx, schema string) error
	// unfit, which may be empty, is a query that returns why a log cannot be created in the
	// database.
	unfit string
	// lock is a query that tries to take the lock for migrations and returns whether it succeeded.
	// The lock is released when the transaction or the connection ends. It is empty if the
	// transaction itself is a sufficient lock.
	lock string
	// commits reports that each statement of a file is sent separately, because DDL commits. Locks
	// and settings stay until the connection ends, so the connection is not used again.
	commits bool
	// retired, which may be empty, selects the triggers of earlier releases, which the migration to
	// version 5 drops.
	retired string

	dialect Dialect
	schema  string
}

// engineOf returns the engine of a dialect, for the given schema if there is one.
func engineOf(d Dialect, schema []string) (engine, error) {
	e, ok := engines[dialect.Family(d)]
	e.dialect, e.schema = dialect.Family(d), cmp.Or(cmp.Or(schema...), "public")
	switch {
	case !ok:
		return e, reason(fmt.Sprintf("unknown dialect %q: want %q, %q or %q (also for "+
			"MariaDB)", d, SQLite, Postgres, MySQL))
	case e.dialect != Postgres && cmp.Or(schema...) != "":
		return e, reason(fmt.Sprintf("%s has no schema %q: only PostgreSQL has schemas", d,
			e.schema))
	}
	return e, nil
}

var engines = map[Dialect]engine{
	SQLite: {
		tables: `SELECT count(*) FROM sqlite_schema
			WHERE type = 'table' AND name = 'idmint_schema'`,
		unfit: `SELECT 'the file is in WAL mode, which a launch log cannot use: keep the log in ' ||
			'a separate file, such as launches.db, or set PRAGMA journal_mode = DELETE in this one'
			FROM pragma_journal_mode WHERE journal_mode = 'wal'`,
	},
	Postgres: {
		tables: `SELECT count(*) FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = pg_catalog.current_schema() AND c.relname = 'idmint_schema'`,
		enter: func(ctx context.Context, tx *sql.Tx, schema string) error {
			var path string
			var there bool
			err := tx.QueryRowContext(ctx, `SELECT pg_catalog.set_config('search_path',
					pg_catalog.quote_ident($1::text) || ', pg_temp', true),
				EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1::text)`,
				schema).Scan(&path, &there)
			if err == nil && !there {
				err = reason(fmt.Sprintf("the database has no schema %q: create it", schema))
			}
			return err
		},
		// The letters of idmint.
		lock: "SELECT CASE WHEN pg_try_advisory_xact_lock(115880053272180) THEN 1 ELSE 0 END",
	},
	MySQL: {
		enter: func(ctx context.Context, tx *sql.Tx, _ string) error {
			_, err := tx.ExecContext(ctx, enterSession)
			return err
		},
		tables: `SELECT CASE WHEN database() IS NULL THEN NULL ELSE count(*) END
			FROM information_schema.tables
			WHERE table_schema = database() AND table_name = 'idmint_schema'`,
		// A lock applies to the whole server.
		lock: `SELECT coalesce(
			get_lock(concat('idmint ', left(sha2(database(), 256), 40)), 0), 0)`,
		commits: true,
		// A file would have to use DROP TRIGGER IF EXISTS. With a binary log, MariaDB does not let
		// a user without SUPER run that, even if there is no trigger.
		retired: `SELECT trigger_name FROM information_schema.triggers
			WHERE trigger_schema = database() AND event_object_schema = database()
				AND trigger_name IN ('idmint_namespace_delete', 'idmint_namespace_update',
					'idmint_launch_delete', 'idmint_launch_update', 'idmint_launch_end',
					'idmint_launch_generator', 'idmint_generator_delete',
					'idmint_generator_update', 'idmint_launch_event_delete',
					'idmint_launch_event_update', 'idmint_counter_delete',
					'idmint_counter_update')`,
	},
}

// enterSession sets how MySQL parses the files.
var enterSession = func() string {
	var set []string
	for _, s := range dialect.MySQLSession() {
		switch s.Name {
		case "completion_type", "sql_mode", "sql_safe_updates", "sql_big_selects":
			set = append(set, s.Name+" = "+s.Value)
		}
	}
	return "SET " + strings.Join(set, ", ")
}()

var (
	errNoDatabase = reason("the connection has no database: name one in the DSN")
	// errBusy means that another process has the lock.
	errBusy = errors.New("another process is migrating the database")
	// errOvertaken means that another process did or undid what this one was about to do.
	errOvertaken = errors.New("overtaken by another process that migrates the database")
)

// passes reports whether another process was in the way.
func passes(err error) bool {
	_, cause := dialect.CauseOf(err)
	return errors.Is(err, errOvertaken) || errors.Is(err, errBusy) ||
		cause == dialect.Contended || cause == dialect.Crowded
}

// transact runs f in a transaction.
func (e engine) transact(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if e.commits {
		defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }()
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// hold runs f in a transaction under the lock for migrations, with the version found there.
func (e engine) hold(ctx context.Context, db *sql.DB, f func(tx *sql.Tx, version int) error) error {
	return e.transact(ctx, db, func(tx *sql.Tx) error {
		if e.lock != "" {
			var got int
			err := tx.QueryRowContext(ctx, e.lock).Scan(&got)
			if err == nil && got == 0 {
				err = errBusy
			}
			if err != nil {
				return err
			}
		}
		version, err := e.latest(ctx, tx)
		if err != nil {
			return err
		}
		return f(tx, version)
	})
}

// version returns the version of the database, without a lock.
func (e engine) version(ctx context.Context, db *sql.DB) (version int, err error) {
	if e.enter == nil {
		return e.read(ctx, db)
	}
	err = e.transact(ctx, db, func(tx *sql.Tx) error {
		version, err = e.latest(ctx, tx)
		return err
	})
	return version, err
}

// latest prepares the transaction, and returns the version.
func (e engine) latest(ctx context.Context, tx *sql.Tx) (int, error) {
	if e.enter != nil {
		if err := e.enter(ctx, tx, e.schema); err != nil {
			return 0, err
		}
	}
	return e.read(ctx, tx)
}

// read returns the version, from a pool or in a transaction.
func (e engine) read(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
},
) (int, error) {
	var tables, version sql.NullInt64
	err := db.QueryRowContext(ctx, e.tables).Scan(&tables)
	if err == nil && !tables.Valid {
		err = errNoDatabase
	}
	if err != nil || tables.Int64 == 0 {
		return 0, err
	}
	err = db.QueryRowContext(ctx, "SELECT max(version) FROM idmint_schema").Scan(&version)
	_, cause := dialect.CauseOf(err)
	// The table was dropped by a Down in the meantime. SQLite has no code for this.
	if cause == dialect.Absent || err != nil && strings.Contains(err.Error(), "no such table") {
		err = fmt.Errorf("%w: %w", errOvertaken, err)
	}
	return int(version.Int64), err
}

var comment = regexp.MustCompile(`^(--.*\n?)*$`)

// statements returns the parts of a file that are sent separately.
func (e engine) statements(file string) []string {
	if !e.commits {
		return []string{file}
	}
	list := strings.Split(strings.TrimSpace(file), "\n\n")
	return slices.DeleteFunc(list, func(part string) bool { return comment.MatchString(part) })
}
