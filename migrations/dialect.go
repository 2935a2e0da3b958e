package migrations

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/pressly/goose/v3/database"

	"github.com/idmint/idmint/internal/searchpath"
)

// Dialect is a kind of database.
type Dialect string

// The dialects.
const (
	// SQLite is version 3.37 or later, for its STRICT tables.
	SQLite Dialect = "sqlite"
	// Postgres is PostgreSQL 12 or later. The tables go into the schema that the session's default
	// search_path leads to: that of the connection string, else of the role, the database or the
	// server. What a connection has SET is of no account, because behind a pooler another client
	// may have done so. Where that leads to another launch log the error is a [*SearchPathError].
	Postgres Dialect = "postgres"
	// MySQL is MySQL 8.0.29 or later, or MariaDB 10.6 or later. Where the server writes a binary log, its setting
	// log_bin_trust_function_creators must be on, or the user have the right SUPER, for there are triggers.
	MySQL Dialect = "mysql"
)

// dialect is what differs beside the SQL files.
type dialect struct {
	tables string // a query that counts the tables named idmint_schema, NULL where the connection has no database to look in
	// enter, which may be nil, prepares a transaction for what its statements rely on: where tables
	// are found and made, and how SQL is read. Leave undoes what does not end with the transaction.
	enter func(ctx context.Context, tx database.DBTxConn) error
	leave []string
	// lock is a query that takes the lock of migrators and says whether it has it; the end of the transaction frees it, or unlock
	// does. Empty, the transaction is lock enough.
	lock   string
	unlock []string
	// commits: each statement of a file is sent by itself, and DDL commits.
	commits bool
	// busy reports whether err says that another process was in the way. It goes by SQLSTATE, or by the driver's words where that
	// has no method to tell, so that this package needs no driver.
	busy func(err error) bool
}

var dialects = map[Dialect]dialect{
	SQLite: {
		tables: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'idmint_schema'",
		busy:   says("database is locked"),
	},
	Postgres: {
		tables: `SELECT count(*) FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = pg_catalog.current_schema() AND c.relname = 'idmint_schema'`,
		enter: func(ctx context.Context, tx database.DBTxConn) error {
			query := func(text string, args []any, columns ...any) error {
				return tx.QueryRowContext(ctx, text, args...).Scan(columns...)
			}
			found, err := searchpath.Find(query, "", false)
			if err == nil {
				err = searchpath.Enter(query, found.Schema)
			}
			return err
		},
		lock: "SELECT CASE WHEN pg_try_advisory_xact_lock(115880053272180) THEN 1 ELSE 0 END", // the letters of idmint
		busy: func(err error) bool {
			var e interface{ SQLState() string }
			if !errors.As(err, &e) {
				return false
			}
			// In other languages the name stands between other quotes.
			dropped := e.SQLState() == "42P01" && strings.Contains(err.Error(), "idmint_schema") // by a Down
			return dropped || slices.Contains([]string{"40001", "40P01", "55P03", "57P03"}, e.SQLState())
		},
	},
	MySQL: {
		enter: func(ctx context.Context, tx database.DBTxConn) error {
			_, err := tx.ExecContext(ctx, `SET
				@idmint_sql_mode = coalesce(@idmint_sql_mode, @@sql_mode),
				@idmint_safe_updates = coalesce(@idmint_safe_updates, @@sql_safe_updates),
				@idmint_big_selects = coalesce(@idmint_big_selects, @@sql_big_selects),
				sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
				sql_safe_updates = 0, sql_big_selects = 1,
				completion_type = 'NO_CHAIN'`) // which stays: the transaction's end must begin no other
			return err
		},
		leave: []string{`SET sql_mode = coalesce(@idmint_sql_mode, @@sql_mode),
			sql_safe_updates = coalesce(@idmint_safe_updates, @@sql_safe_updates),
			sql_big_selects = coalesce(@idmint_big_selects, @@sql_big_selects),
			@idmint_sql_mode = NULL, @idmint_safe_updates = NULL, @idmint_big_selects = NULL`},
		tables:  "SELECT CASE WHEN database() IS NULL THEN NULL ELSE count(*) END FROM information_schema.tables WHERE table_schema = database() AND table_name = 'idmint_schema'",
		lock:    "SELECT coalesce(get_lock(concat('idmint ', left(sha2(database(), 256), 40)), 0), 0)", // names are the whole server's
		unlock:  []string{"UNLOCK TABLES", "DO release_lock(concat('idmint ', left(sha2(database(), 256), 40)))"},
		commits: true,
		busy:    says("Error 1213", "Error 1205", "Error 1020", "idmint_schema' doesn't exist"), // the last by a Down
	},
}

// A SearchPathError is returned for a connection to PostgreSQL whose search_path leads to another
// launch log than the session's default does, or the default to none.
type SearchPathError = searchpath.Error

func says(texts ...string) func(error) bool {
	return func(err error) bool {
		for _, text := range texts {
			if strings.Contains(err.Error(), text) {
				return true
			}
		}
		return false
	}
}

var (
	errNoDatabase = errors.New("migrations: the connection has no database: name one in the DSN")
	// errBusy: another migrator has the lock.
	errBusy = errors.New("another migrator is at work")
)

// lasting is the context of a transaction whose statements obey ctx. Where a transaction's own context ends, database/sql rolls it back
// and hands its connection on, which in MySQL keeps its locks: there it lives on until they are let go.
func (d dialect) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	if !d.commits {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), 2*budget)
}

// hold runs f under the lock of migrators, in a transaction of the context lasting.
func (d dialect) hold(ctx, lasting context.Context, tx *sql.Tx, f func() error) error {
	if d.lock != "" {
		var got int
		err := tx.QueryRowContext(ctx, d.lock).Scan(&got)
		if err == nil && got == 0 {
			err = errBusy
		}
		if err != nil {
			return err
		}
	}
	err := f()
	for _, text := range slices.Concat(d.unlock, d.leave) { // even where ctx has ended
		_, unlock := tx.ExecContext(lasting, text)
		err = errors.Join(err, unlock)
	}
	return err
}

var comment = regexp.MustCompile(`^(--.*\n?)*$`)

// statements are the parts of a file that are sent by themselves.
func (d dialect) statements(file string) []string {
	if !d.commits {
		return []string{file}
	}
	list := strings.Split(strings.TrimSpace(file), "\n\n")
	return slices.DeleteFunc(list, func(part string) bool { return comment.MatchString(part) })
}

// versions lets goose read the table idmint_schema. The SQL files write it themselves.
type versions struct{ dialect }

var _ database.Store = versions{}

func (versions) Tablename() string { return "idmint_schema" }

func (versions) TableExists(context.Context, database.DBTxConn) (bool, error) { return true, nil }

func (versions) CreateVersionTable(context.Context, database.DBTxConn) error { return nil }

func (versions) Insert(context.Context, database.DBTxConn, database.InsertRequest) error { return nil }

func (versions) Delete(context.Context, database.DBTxConn, int64) error { return nil }

func (v versions) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	latest, err := v.GetLatestVersion(ctx, db)
	if err != nil {
		return nil, err
	}
	if version > latest {
		return nil, database.ErrVersionNotFound
	}
	return &database.GetMigrationResult{IsApplied: true}, nil
}

func (v versions) GetLatestVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	outside, ok := db.(beginner)
	if !ok || v.enter == nil {
		return v.latest(ctx, db)
	}
	lasting, cancel := v.lasting(ctx)
	defer cancel()
	tx, err := outside.BeginTx(lasting, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	version, err := v.latest(ctx, tx)
	for _, text := range v.leave {
		_, left := tx.ExecContext(lasting, text)
		err = errors.Join(err, left)
	}
	return version, err
}

// latest is the version, by a transaction if the dialect has something to prepare.
func (v versions) latest(ctx context.Context, db database.DBTxConn) (int64, error) {
	if v.enter != nil {
		if err := v.enter(ctx, db); err != nil {
			return 0, err
		}
	}
	var tables sql.NullInt64
	err := db.QueryRowContext(ctx, v.tables).Scan(&tables)
	if err == nil && !tables.Valid {
		err = errNoDatabase
	}
	if err != nil || tables.Int64 == 0 {
		return 0, err
	}
	var version sql.NullInt64
	err = db.QueryRowContext(ctx, "SELECT max(version) FROM idmint_schema").Scan(&version)
	return version.Int64, err
}

// beginner is what is no transaction yet: a pool, or a connection.
type beginner interface {
	BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
}

func (v versions) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	latest, err := v.GetLatestVersion(ctx, db)
	var list []*database.ListMigrationsResult
	for ; latest >= 0; latest-- {
		list = append(list, &database.ListMigrationsResult{Version: latest, IsApplied: true})
	}
	return list, err
}
