// Package migrations creates and upgrades the tables of the launch log.
//
// Many processes may run [Up] at once when they first start. Each migration is one transaction that
// also records its version, and a process that finds a migration done continues with the next.
// [Down] is a single transaction. Other tools find the same SQL in [FS], as NNNN_name.up.sql and
// NNNN_name.down.sql. Each file records its version in the table idmint_schema, so different tools
// may be combined.
//
// MySQL commits after every statement that changes a schema. There each statement of a migration
// can be run again, the version is recorded last, and only one process migrates at a time. If a
// migration was cut off, the next Up completes it.
//
// In PostgreSQL and SQLite, triggers prevent rows from being deleted or renumbered, log counters
// from being lowered, and, in PostgreSQL, tables from being truncated. Only claims that are older
// than a day, and that are not the newest of their launch, may be deleted: see launchlog.Log.Trim.
// The triggers do not stop anyone who drops the tables or the triggers, or who disables the
// triggers (PostgreSQL's session_replication_role).
//
// In MySQL and MariaDB there are no triggers, because servers with a binary log let only SUPER
// create them. Keys and CHECK constraints reject a number that is already in a row. Against manual
// statements such as DELETE, only grants protect the rows: docs/operate/mysql.md lists them. No
// grant can keep an app from lowering a log counter that it may raise.
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

// ErrNotEmpty is returned by [Down] if it would drop launches or log counters, whose numbers would
// then be handed out again.
var ErrNotEmpty error = reason("the launch log is not empty, " +
	"and dropping it would let its numbers be used again")

// A reason is an error without details. Its text begins with the package's name.
type reason string

func (r reason) Error() string { return "migrations: " + string(r) }

// failed adds the package's name to errors that leave the package, unless they have it already.
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

// FS returns the SQL files of a dialect. For an unknown dialect it is empty.
func FS(d Dialect) fs.FS {
	if _, ok := engines[dialect.Family(d)]; !ok {
		return embed.FS{}
	}
	sub, err := fs.Sub(files, string(dialect.Family(d)))
	if err != nil {
		panic(err) // the name is not a valid path
	}
	return sub
}

// Latest returns the version to which [Up] upgrades, or 0 for an unknown dialect.
func Latest(d Dialect) int {
	names, _ := fs.Glob(FS(d), "*.up.sql")
	return len(names)
}

// Version returns the version of the database's tables, or 0 if it has none. See [Postgres] for
// schema.
func Version(ctx context.Context, db *sql.DB, d Dialect, schema ...string) (int, error) {
	e, err := engineOf(d, schema)
	have := 0
	if err == nil {
		have, err = e.version(ctx, db)
	}
	return have, failed(err)
}

// Up upgrades the database to the latest version. It returns the versions before and after. If
// there is nothing to do, Up changes nothing. A database that is newer by one version stays as it
// is, because the stores of this release work with it. If the database is newer than that, the
// error is a [*NewerError]. Up waits for other migrating processes for 30 s. It notices the end of
// the context only between waits of SQLite's own busy timeout, which should therefore be short. Up
// does not create tables in a SQLite file in WAL mode. See [Postgres] for schema.
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

// next runs one migration, unless another process has done so, or has undone the previous
// migration, while this one waited for the lock.
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
			return fmt.Errorf("%s, which version 5 no longer uses: %w", text, err)
		}
	}
	return nil
}

// Down undoes migrations until the database has version to. It undoes all of them or, if there is
// an error, none. It returns [ErrNotEmpty] if that would drop launches or log counters that were
// used, and a [*NewerError] for a database that is newer than [Latest]. In MySQL, each version is
// undone separately. If Down is cut off there, or meets a launch that was started after it began,
// the versions undone by then stay undone, and Up applies them again. See [Postgres] for schema.
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

// duplicate is the number of the error with which MySQL's files refuse to drop what was used.
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

// checkEmpty checks all versions before anything is dropped. The files check again, under their
// locks.
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
	// budget limits the duration of Up and Down if their context does not.
	budget = 30 * time.Second
	// longestPause is short, because a migration takes only tens of milliseconds.
	longestPause = 100 * time.Millisecond
)

// retry runs f again if another process was in the way.
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

// execute runs a version's file, to apply it ("up") or undo it ("down"). The file records the
// version.
func (e engine) execute(ctx context.Context, tx *sql.Tx, version int, way string) error {
	files := FS(e.dialect)
	names, err := fs.Glob(files, fmt.Sprintf("%04d_*.%s.sql", version, way))
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return reason(fmt.Sprintf("version %d has %d files for %q", version, len(names), way))
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
