// Package migrations creates and upgrades the tables of the launch log.
//
// [Up] is safe when many processes run it at first boot. Each migration is one transaction that
// also records its version, and a process that finds a migration taken goes on after it. [Down] is
// one transaction as a whole. Other tools find the same SQL in [FS], as NNNN_name.up.sql and
// NNNN_name.down.sql. Each file records its version in the table idmint_schema itself, so tools may
// be mixed.
//
// MySQL commits at every statement that changes a schema. There each statement of a migration can
// be run again, the version is recorded last, and one migrator is at work at a time. What was cut
// off, the next Up completes.
//
// In PostgreSQL and SQLite triggers refuse that rows are deleted or renumbered, that counters are
// lowered, and, in PostgreSQL, that anything is truncated. Only claims that are older than a day,
// and not the newest of their launch, may be deleted: see launchlog.Log.Trim. None of this stops
// anybody who drops the tables or the triggers, or switches the triggers off (PostgreSQL's
// session_replication_role).
//
// In MySQL and MariaDB there are no triggers, because servers with a binary log let only SUPER
// create them. Keys and CHECK constraints refuse a number that is already a row. Against statements by
// hand, such as DELETE, grants guard the rows: docs/operate/mysql.md lists them. No grant keeps an app from
// lowering a counter that it may raise.
//
// A migration that was shipped is never edited.
package migrations

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/named"
)

//go:embed sqlite/*.sql postgres/*.sql mysql/*.sql
var files embed.FS

// ErrNotEmpty is returned by [Down] where it would drop launches or counters: their numbers would
// be given out again.
var ErrNotEmpty error = reason("the launch log is not empty, " +
	"and dropping it would let its numbers be used again")

// A reason is an error without details, behind the package's name.
type reason string

func (r reason) Error() string { return "migrations: " + string(r) }

// failed is where errors leave the package. Those of its own have its name already.
func failed(err error) error {
	switch err.(type) {
	case nil, reason, *NewerError:
		return err
	}
	return named.Failed("migrations", err)
}

// A NewerError is returned for a database whose schema is newer than this package.
type NewerError struct {
	Have, Latest int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("migrations: the schema has version %d, newer than %d: "+
		"a newer idmint made it", e.Have, e.Latest)
}

// FS holds the SQL files of a dialect. Of one that has none it is empty.
func FS(d Dialect) fs.FS {
	if _, ok := engines[dialect.Family(d)]; !ok {
		return embed.FS{}
	}
	sub, err := fs.Sub(files, string(dialect.Family(d)))
	if err != nil {
		panic(err) // the name is no path
	}
	return sub
}

// Latest is the version that [Up] leads to, 0 for a dialect that has no files.
func Latest(d Dialect) int {
	names, _ := fs.Glob(FS(d), "*.up.sql")
	return len(names)
}

// Version is the version that the database has, 0 where it has no tables. See [Postgres] for
// schema.
func Version(ctx context.Context, db *sql.DB, d Dialect, schema ...string) (int, error) {
	e, err := engineOf(d, schema)
	have := 0
	if err == nil {
		have, err = e.version(ctx, db)
	}
	return have, failed(err)
}

// Up brings the database to the latest version. It returns the versions before and after. A database
// that is beyond by one stays there: the stores of this release work on it. One that is further beyond
// is a [*NewerError]. Up with nothing to do changes nothing. It waits for
// other migrators for 30 s. The steps of that are as long as SQLite's own busy timeout, which obeys
// no context: a short one is best. Nothing is made in a file of SQLite in WAL mode. See [Postgres]
// for schema.
func Up(
	ctx context.Context, db *sql.DB, d Dialect, schema ...string,
) (from, to int, err error) {
	e, err := engineOf(d, schema)
	if err == nil {
		from, to, err = e.up(ctx, db)
	}
	return from, to, failed(err)
}

func (e engine) up(ctx context.Context, db *sql.DB) (from, to int, err error) {
	latest := Latest(e.dialect)
	read := func(ctx context.Context) error {
		have, err := e.version(ctx, db)
		if err == nil {
			to = have
		}
		return err
	}
	if err := retry(ctx, read); err != nil {
		return 0, 0, err
	}
	from = to
	switch {
	case from > latest+1:
		return from, from, &NewerError{from, latest}
	case from > latest:
		return from, from, nil
	}
	err = retry(ctx, func(ctx context.Context) error {
		for {
			if err := read(ctx); err != nil || to >= latest {
				return err
			}
			before := to
			err := e.next(ctx, db, before+1)
			if err != nil && read(ctx) == nil && to > before {
				err = fmt.Errorf("%w: %w", errOvertaken, err)
			}
			if err != nil {
				return err
			}
		}
	})
	return from, to, err
}

// next runs one migration, unless another process took it, or took the one before it back, while this
// one waited for the lock.
func (e engine) next(ctx context.Context, db *sql.DB, version int) error {
	return e.hold(ctx, db, func(tx *sql.Tx, have int) error {
		if have != version-1 {
			return nil
		}
		if e.unfit != "" {
			var why reason
			err := tx.QueryRowContext(ctx, e.unfit).Scan(&why)
			if !errors.Is(err, sql.ErrNoRows) {
				return cmp.Or(err, error(why))
			}
		}
		if e.retired != "" && version == 5 {
			if err := e.retire(ctx, tx); err != nil {
				return err
			}
		}
		return e.execute(ctx, tx, version, "up")
	})
}

// retire drops the triggers of earlier releases.
func (e engine) retire(ctx context.Context, tx *sql.Tx) error {
	found, err := tx.QueryContext(ctx, e.retired)
	if err != nil {
		return err
	}
	defer found.Close()
	var drop []string
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			return err
		}
		drop = append(drop, "DROP TRIGGER "+name)
	}
	if err := found.Err(); err != nil {
		return err
	}
	for _, text := range drop {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s, which version 5 does without: %w", text, err)
		}
	}
	return nil
}

// Down takes migrations back until the database has version to, all of them or, with an error,
// none. It returns [ErrNotEmpty] where that would drop launches or counters that were used, and a
// [*NewerError] for a database that is beyond [Latest]. In MySQL each version is a step of its own.
// A Down that is cut off there, or comes upon a launch that was started since it began, leaves the
// versions that it took back: Up brings them again. See [Postgres] for schema.
func Down(ctx context.Context, db *sql.DB, d Dialect, to int, schema ...string) error {
	e, err := engineOf(d, schema)
	if err != nil {
		return err
	}
	return failed(retry(ctx, func(ctx context.Context) error {
		if _, err := e.version(ctx, db); err != nil {
			return err
		}
		err := e.down(ctx, db, to)
		_, cause := dialect.CauseOf(err)
		if cause == dialect.Guarded || dialect.MySQLNumber(err) == duplicate {
			err = ErrNotEmpty
		}
		return err
	}))
}

// duplicate is the number of the error by which MySQL's files refuse to drop what was used.
const duplicate = "1062"

func (e engine) down(ctx context.Context, db *sql.DB, to int) error {
	return e.hold(ctx, db, func(tx *sql.Tx, version int) error {
		if latest := Latest(e.dialect); version > latest {
			return &NewerError{version, latest}
		}
		err := checkEmpty(ctx, tx, version, to)
		for ; err == nil && version > to; version-- {
			err = e.execute(ctx, tx, version, "down")
		}
		return err
	})
}

// checkEmpty looks at all the versions before anything is dropped. The files look again, under
// their locks.
func checkEmpty(ctx context.Context, tx *sql.Tx, from, to int) error {
	for version, query := range map[int]string{
		1: "SELECT count(*) FROM idmint_namespace WHERE last_launch_id > 0",
		2: "SELECT count(*) FROM idmint_counter WHERE value > 0",
		6: "SELECT count(*) FROM idmint_namespace WHERE last_launch_id > 99999",
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

const (
	// budget bounds Up and Down where their context does not.
	budget = 30 * time.Second
	// longestPause is short: a migration takes some ten milliseconds.
	longestPause = 100 * time.Millisecond
)

// retry runs f again where another process was in the way.
func retry(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("gave up after %v", budget))
	defer cancel()
	var err error
	for range dialect.Attempts(ctx, longestPause) {
		if err = f(ctx); err == nil || !passes(err) {
			return err
		}
	}
	if err == nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}

// execute runs a version's file, to bring it "up" or to take it back "down". The file records that.
func (e engine) execute(ctx context.Context, tx *sql.Tx, version int, way string) error {
	files := FS(e.dialect)
	names, err := fs.Glob(files, fmt.Sprintf("%04d_*.%s.sql", version, way))
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return reason(fmt.Sprintf("version %d has %d files %s", version, len(names), way))
	}
	text, err := fs.ReadFile(files, names[0])
	if err != nil {
		return err
	}
	for _, statement := range e.statements(string(text)) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", names[0], err)
		}
	}
	return nil
}
