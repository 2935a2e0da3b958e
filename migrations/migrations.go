// Package migrations creates and upgrades the tables of the launch log.
//
// [Up] is safe when many processes run it at first boot: each migration is one transaction that also records its version,
// and a process that finds a migration taken goes on after it. [Down] is one transaction as a whole. Who applies migrations with
// another tool finds the same SQL in [FS], as NNNN_name.up.sql and NNNN_name.down.sql; each file records its version in the
// table idmint_schema itself, so tools may be mixed.
//
// A migration that was shipped is never edited.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

//go:embed sqlite/*.sql
var files embed.FS

// Dialect is a kind of database.
type Dialect string

// SQLite is version 3.37 or later, for its STRICT tables.
const SQLite Dialect = "sqlite"

var (
	// ErrNotEmpty is returned by [Down] where it would drop launches or counters: their numbers would be given out again.
	ErrNotEmpty = errors.New("migrations: the launch log is not empty, and dropping it would let its numbers be used again")

	errDialect = errors.New("migrations: unknown dialect")
)

// A NewerError is returned for a database whose schema is newer than this package.
type NewerError struct {
	Have, Latest int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("migrations: the schema has version %d, newer than %d: a newer idmint made it", e.Have, e.Latest)
}

// FS holds the SQL files of a dialect, which it must know.
func FS(d Dialect) fs.FS {
	sub, err := fs.Sub(files, string(d))
	if err != nil {
		panic(err) // the name is no path
	}
	return sub
}

// Latest is the version that [Up] leads to.
func Latest(d Dialect) int {
	names, _ := fs.Glob(FS(d), "*.up.sql")
	return len(names)
}

// Version is the version that the database has, 0 where it has no tables.
func Version(ctx context.Context, db *sql.DB, d Dialect) (int, error) {
	if Latest(d) == 0 {
		return 0, fmt.Errorf("%w %q", errDialect, d)
	}
	version, err := versions{}.GetLatestVersion(ctx, db)
	return int(version), err
}

// Up brings the database to the latest version. It returns the versions before and after, and a [*NewerError] for a database
// that is beyond. Up with nothing to do changes nothing. It waits for other migrators for 30 s, in steps as long as the database's
// own busy timeout, which obeys no context: a short one is best.
func Up(ctx context.Context, db *sql.DB, d Dialect) (from, to int, err error) {
	from, err = retry(ctx, func() (int, error) { return Version(ctx, db, d) })
	if err != nil {
		return 0, 0, err
	}
	if from > Latest(d) {
		return from, from, &NewerError{from, Latest(d)}
	}
	to, err = retry(ctx, func() (int, error) {
		before, err := Version(ctx, db, d)
		if err != nil || before >= Latest(d) {
			return before, err
		}
		p, err := provider(db, d)
		if err != nil {
			return before, err
		}
		_, err = p.Up(ctx)
		after, versionErr := Version(ctx, db, d)
		if err != nil && after > before {
			err = errOvertaken // another process took a migration that this one was about to
		}
		return after, errors.Join(err, versionErr)
	})
	return from, to, err
}

// Down takes migrations back until the database has version to, all of them or, with an error, none. It returns [ErrNotEmpty]
// where that would drop launches or counters that were used, and a [*NewerError] for a database that is beyond [Latest].
func Down(ctx context.Context, db *sql.DB, d Dialect, to int) error {
	if Latest(d) == 0 {
		return fmt.Errorf("%w %q", errDialect, d)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	version, err := versions{}.GetLatestVersion(ctx, tx)
	if err == nil && version > int64(Latest(d)) {
		err = &NewerError{int(version), Latest(d)}
	}
	for ; err == nil && version > int64(to); version-- {
		err = down(ctx, tx, d, version)
	}
	switch {
	case err == nil:
		return tx.Commit()
	case strings.Contains(err.Error(), "only rise"): // as the files' own triggers say
		return ErrNotEmpty
	default:
		return err
	}
}

func down(ctx context.Context, tx *sql.Tx, d Dialect, version int64) error {
	names, err := fs.Glob(FS(d), fmt.Sprintf("%04d_*.down.sql", version))
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("migrations: version %d has %d files to take it back", version, len(names))
	}
	if err != nil {
		return err
	}
	return execute(ctx, tx, d, names[0])
}

// budget bounds Up where its context does not.
const budget = 30 * time.Second

var errOvertaken = errors.New("overtaken by another migrator")

// retry runs f again where another process was in the way. SQLite's driver is told by its words, so that this package
// needs no driver.
func retry(ctx context.Context, f func() (int, error)) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("gave up after %v", budget))
	defer cancel()
	for {
		v, err := f()
		if err == nil || !errors.Is(err, errOvertaken) && !strings.Contains(err.Error(), "database is locked") {
			return v, err
		}
		select {
		case <-time.After(rand.N(100 * time.Millisecond)):
		case <-ctx.Done():
			return v, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// provider runs the plain SQL files as goose's migrations, each in a transaction of its own.
func provider(db *sql.DB, d Dialect) (*goose.Provider, error) {
	var all []*goose.Migration
	ups, err := fs.Glob(FS(d), "*.up.sql")
	if err != nil {
		return nil, err
	}
	for _, up := range ups {
		number, _, _ := strings.Cut(up, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migrations: %s: %w", up, err)
		}
		run := func(ctx context.Context, tx *sql.Tx) error { return execute(ctx, tx, d, up) }
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: run}, nil))
	}
	return goose.NewProvider(goose.DialectCustom, db, nil,
		goose.WithStore(versions{}), goose.WithGoMigrations(all...), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

func execute(ctx context.Context, tx *sql.Tx, d Dialect, name string) error {
	text, err := fs.ReadFile(FS(d), name)
	if err == nil {
		_, err = tx.ExecContext(ctx, string(text))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// versions lets goose read the table idmint_schema. The SQL files write it themselves.
type versions struct{}

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

func (versions) GetLatestVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	var tables int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'idmint_schema'").Scan(&tables)
	if err != nil || tables == 0 {
		return 0, err
	}
	var version sql.NullInt64
	err = db.QueryRowContext(ctx, "SELECT max(version) FROM idmint_schema").Scan(&version)
	return version.Int64, err
}

func (v versions) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	latest, err := v.GetLatestVersion(ctx, db)
	var list []*database.ListMigrationsResult
	for ; latest >= 0; latest-- {
		list = append(list, &database.ListMigrationsResult{Version: latest, IsApplied: true})
	}
	return list, err
}
