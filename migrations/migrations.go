// Package migrations creates and upgrades the tables of the launch log.
//
// [Up] is safe when many processes run it at first boot: each migration is one transaction that also records its version,
// and a process that finds a migration taken goes on after it. [Down] is one transaction as a whole. Who applies migrations with
// another tool finds the same SQL in [FS], as NNNN_name.up.sql and NNNN_name.down.sql; each file records its version in the
// table idmint_schema itself, so tools may be mixed.
//
// MySQL commits at every statement that changes a schema. There each statement of a migration can be run again, the version is
// recorded last, and one migrator is at work at a time: what was cut off, the next Up completes.
//
// The tables refuse, by triggers, that rows are deleted or renumbered, that counters are lowered, and that anything is truncated: in
// MySQL by foreign keys, since no trigger hears of TRUNCATE there. None of this stops who drops the tables or the triggers, or
// switches off the checks of foreign keys (MySQL) or the triggers (PostgreSQL's session_replication_role): keep the rights to do so
// from the apps.
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
)

//go:embed sqlite/*.sql postgres/*.sql mysql/*.sql
var files embed.FS

// ErrNotEmpty is returned by [Down] where it would drop launches or counters: their numbers would be given out again.
var ErrNotEmpty = errors.New("migrations: the launch log is not empty, and dropping it would let its numbers be used again")

// A NewerError is returned for a database whose schema is newer than this package.
type NewerError struct {
	Have, Latest int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("migrations: the schema has version %d, newer than %d: a newer idmint made it", e.Have, e.Latest)
}

func unknown(d Dialect) error {
	return fmt.Errorf("migrations: unknown dialect %q: want %q, %q or %q, which is MariaDB's as well", d, SQLite, Postgres, MySQL)
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
		return 0, unknown(d)
	}
	version, err := versions{dialects[d]}.GetLatestVersion(ctx, db)
	return int(version), err
}

// Up brings the database to the latest version. It returns the versions before and after, and a [*NewerError] for a database
// that is beyond. Up with nothing to do changes nothing. It waits for other migrators for 30 s, in steps as long as SQLite's own
// busy timeout, which obeys no context: a short one is best.
func Up(ctx context.Context, db *sql.DB, d Dialect) (from, to int, err error) {
	from, err = retry(ctx, d, func(ctx context.Context) (int, error) { return Version(ctx, db, d) })
	if err != nil {
		return 0, 0, err
	}
	if from > Latest(d) {
		return from, from, &NewerError{from, Latest(d)}
	}
	to, err = retry(ctx, d, func(ctx context.Context) (int, error) {
		before, err := Version(ctx, db, d)
		if err != nil || before >= Latest(d) {
			return before, err
		}
		p, err := provider(ctx, db, d)
		if err != nil {
			return before, err
		}
		lasting, cancel := dialects[d].lasting(ctx)
		defer cancel()
		_, err = p.Up(lasting)
		var partial *goose.PartialError
		if errors.As(err, &partial) { // its own error names the file
			err = partial.Err
		}
		after, versionErr := Version(ctx, db, d)
		if err != nil && after > before {
			err = errOvertaken // another process took a migration that this one was about to
		}
		return after, errors.Join(err, versionErr)
	})
	return from, to, err
}

// Down takes migrations back until the database has version to, all of them or, with an error, none. It returns [ErrNotEmpty]
// where that would drop launches or counters that were used, and a [*NewerError] for a database that is beyond [Latest]. In MySQL,
// where each version is a step of its own, one that is cut off, or comes upon a launch that was started since it began, leaves the
// versions that it took back: Up brings them again.
func Down(ctx context.Context, db *sql.DB, d Dialect, to int) error {
	_, err := retry(ctx, d, func(ctx context.Context) (int, error) {
		if before, err := Version(ctx, db, d); err != nil {
			return before, err
		}
		return to, down(ctx, db, d, int64(to))
	})
	if err != nil && strings.Contains(err.Error(), "only rise") { // as the files' own triggers say
		return ErrNotEmpty
	}
	return err
}

func down(ctx context.Context, db *sql.DB, d Dialect, to int64) error {
	lasting, cancel := dialects[d].lasting(ctx)
	defer cancel()
	tx, err := db.BeginTx(lasting, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = dialects[d].hold(ctx, lasting, tx, func() error {
		version, err := versions{dialects[d]}.GetLatestVersion(ctx, tx)
		if err == nil && version > int64(Latest(d)) {
			err = &NewerError{int(version), Latest(d)}
		}
		if err == nil {
			err = checkEmpty(ctx, tx, version, to)
		}
		for ; err == nil && version > to; version-- {
			err = takeBack(ctx, tx, d, version)
		}
		return err
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// checkEmpty looks at all the versions before anything is dropped. The files look again, under their locks.
func checkEmpty(ctx context.Context, tx *sql.Tx, from, to int64) error {
	for version, query := range map[int64]string{
		1: "SELECT count(*) FROM idmint_namespace WHERE last_launch_id > 0",
		2: "SELECT count(*) FROM idmint_counter WHERE value > 0",
	} {
		if version > from || version <= to {
			continue
		}
		var used int
		if err := tx.QueryRowContext(ctx, query).Scan(&used); err != nil {
			return err
		}
		if used > 0 {
			return ErrNotEmpty
		}
	}
	return nil
}

func takeBack(ctx context.Context, tx *sql.Tx, d Dialect, version int64) error {
	names, err := fs.Glob(FS(d), fmt.Sprintf("%04d_*.down.sql", version))
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("migrations: version %d has %d files to take it back", version, len(names))
	}
	if err != nil {
		return err
	}
	return execute(ctx, tx, d, names[0])
}

// budget bounds Up and Down where their context does not.
const budget = 30 * time.Second

var errOvertaken = errors.New("overtaken by another migrator")

// retry runs f again where another process was in the way.
func retry(ctx context.Context, d Dialect, f func(context.Context) (int, error)) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("gave up after %v", budget))
	defer cancel()
	for {
		v, err := f(ctx)
		if err == nil || !errors.Is(err, errOvertaken) && !errors.Is(err, errBusy) && (dialects[d].busy == nil || !dialects[d].busy(err)) {
			return v, err
		}
		select {
		case <-time.After(rand.N(100 * time.Millisecond)):
		case <-ctx.Done():
			return v, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// provider runs the plain SQL files as goose's migrations, each in a transaction of its own, whose statements obey ctx.
func provider(ctx context.Context, db *sql.DB, d Dialect) (*goose.Provider, error) {
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
		run := func(lasting context.Context, tx *sql.Tx) error {
			return dialects[d].hold(ctx, lasting, tx, func() error {
				have, err := versions{dialects[d]}.GetLatestVersion(ctx, tx)
				if err != nil || have >= version {
					return err // another process took it while this one waited for the lock
				}
				return execute(ctx, tx, d, up)
			})
		}
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: run}, nil))
	}
	return goose.NewProvider(goose.DialectCustom, db, nil,
		goose.WithStore(versions{dialects[d]}), goose.WithGoMigrations(all...), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

func execute(ctx context.Context, tx *sql.Tx, d Dialect, name string) error {
	text, err := fs.ReadFile(FS(d), name)
	if err == nil {
		for _, statement := range dialects[d].statements(string(text)) {
			if _, err = tx.ExecContext(ctx, statement); err != nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
