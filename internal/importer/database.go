package importer

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/sqlid"
)

// Database is the SQLite database that rows are stored in. It keeps a record of each import there, in the table idmint_import.
type Database struct {
	db     *sql.DB
	budget time.Duration
}

// NewDatabase takes a database that was opened with sqlite.DSN. Each step waits up to budget for a lock, with attempts as long
// as SQLite's busy timeout.
func NewDatabase(db *sql.DB, budget time.Duration) *Database {
	return &Database{db: db, budget: budget}
}

// An idRange holds the first and the last of the IDs that rows got from one generator without a gap. Nobody else mints with its
// generator number, and only what is within it was stored: an older row, whose key follows another scheme, may end in the same
// digits.
type idRange [2]int64

// state is an import's row.
type state struct {
	id        int64
	key       string // names the import; the idempotency key of its launch
	holder    string // the run that may add to it
	launch    int    // 0 before it has one
	ownLaunch bool   // it was started for this import
	ranges    []idRange
	finished  bool
	startedAt string
	position
}

const createImports = `
CREATE TABLE IF NOT EXISTS idmint_import (
    import_id   INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    import_key  TEXT    NOT NULL UNIQUE,
    holder      TEXT    NOT NULL, -- the run that stores batches; another run that resumes the import replaces it
    source      TEXT    NOT NULL,
    table_name  TEXT    NOT NULL COLLATE NOCASE, -- as SQLite compares names of tables
    launch_id   INTEGER,
    own_launch  INTEGER NOT NULL,
    id_ranges   TEXT    NOT NULL DEFAULT '[]', -- the first and the last ID of each range
    stored_rows INTEGER NOT NULL DEFAULT 0,
    file_bytes  INTEGER NOT NULL DEFAULT 0,
    file_sha256 TEXT    NOT NULL DEFAULT '', -- of these bytes
    state       TEXT    NOT NULL DEFAULT 'unfinished' CHECK (state IN ('unfinished', 'finished', 'restarted')),
    started_at  TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    changed_at  TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS idmint_import_unfinished ON idmint_import (source, table_name) WHERE state = 'unfinished'`

var errTakenOver = errors.New("another run goes on with this import")

// transact runs f in a transaction, again and again while another process holds SQLite's lock, up to the budget.
func (d *Database) transact(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	once := func() (struct{}, error) {
		err := d.once(ctx, f)
		if err != nil && !sqlite.IsBusy(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}
	_, err := backoff.Retry(ctx, once, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 5 * time.Millisecond, MaxInterval: 500 * time.Millisecond, Multiplier: 2, RandomizationFactor: 1,
	}), backoff.WithMaxElapsedTime(d.budget))
	if sqlite.IsBusy(err) {
		err = fmt.Errorf("%w: another process held the lock for %v", err, d.budget)
	}
	return err
}

func (d *Database) once(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // a transaction that was begun is ended one way or the other
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// prepareTable makes the tables that are absent, and checks those that are there.
func (d *Database) prepareTable(ctx context.Context, im Import, columns []string) error {
	for _, prefix := range []string{"sqlite_", "idmint_"} {
		if strings.HasPrefix(strings.ToLower(im.Table), prefix) {
			return fmt.Errorf("table %q: names that begin with %s are taken", im.Table, prefix)
		}
	}
	for kind, name := range map[string]string{"table": im.Table, "column": im.IDColumn} {
		if name == "" || badText(name) != "" {
			return fmt.Errorf("%q is no name for a %s", name, kind)
		}
	}
	for _, c := range columns {
		if strings.EqualFold(c, im.IDColumn) {
			return fmt.Errorf("the file has a column %q, which is to hold the new IDs: name another with --id-column", c)
		}
	}
	key, err := sqlid.Column[idtype.DecimalID]{Name: im.IDColumn}.PrimaryKey(sqlid.SQLite)
	if err != nil {
		return err
	}
	create := "CREATE TABLE IF NOT EXISTS " + sqlid.Quote(im.Table) + " (\n    " + key
	for _, c := range columns {
		create += ",\n    " + sqlid.Quote(c) + " TEXT"
	}
	return d.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, text := range []string{createImports, create + "\n) WITHOUT ROWID"} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return checkTable(ctx, tx, im, columns)
	})
}

func checkTable(ctx context.Context, tx *sql.Tx, im Import, columns []string) error {
	rows, err := tx.QueryContext(ctx, "SELECT name, type, pk, (SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) FROM pragma_table_info(?1)", im.Table)
	if err != nil {
		return err
	}
	defer rows.Close()
	there := map[string]bool{}
	isKey := false
	for rows.Next() {
		var name, kind string
		var pk, keys int
		if err := rows.Scan(&name, &kind, &pk, &keys); err != nil {
			return err
		}
		there[strings.ToLower(name)] = true
		if !strings.EqualFold(name, im.IDColumn) || pk != 1 || keys != 1 {
			continue
		}
		isKey = true
		if !strings.Contains(strings.ToUpper(kind), "INT") { // SQLite's rule for integer columns; others change the IDs or their order
			return fmt.Errorf("table %q is there, and its key %q is %s: want INTEGER", im.Table, name, cmp.Or(kind, "of no type"))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !isKey {
		return fmt.Errorf("table %q is there, and %q is not its primary key", im.Table, im.IDColumn)
	}
	for _, c := range columns {
		if !there[strings.ToLower(c)] {
			return fmt.Errorf("table %q is there, and has no column %q", im.Table, c)
		}
	}
	return nil
}

// last finds the last import of this file into this table, or nil if there is none whose rows stay.
func (d *Database) last(ctx context.Context, im Import) (*state, error) {
	var s state
	var launch sql.NullInt64
	var ranges, progress string
	err := d.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT import_id, import_key, holder, launch_id, own_launch, id_ranges, stored_rows, file_bytes, file_sha256, state, started_at
			FROM idmint_import WHERE source = ? AND table_name = ? ORDER BY import_id DESC LIMIT 1`, im.Source, im.Table).
			Scan(&s.id, &s.key, &s.holder, &launch, &s.ownLaunch, &ranges, &s.rows, &s.bytes, &s.sha256, &progress, &s.startedAt)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && progress == "restarted" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.launch, s.finished = int(launch.Int64), progress == "finished"
	return &s, json.Unmarshal([]byte(ranges), &s.ranges)
}

// record begins a new import, unless another run has just begun the same.
func (d *Database) record(ctx context.Context, im Import) (*state, error) {
	s := &state{key: "import-" + rand.Text(), holder: rand.Text(), launch: im.Launch, ownLaunch: im.Launch == 0}
	return s, d.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO idmint_import (import_key, holder, source, table_name, launch_id, own_launch)
			VALUES (?, ?, ?, ?, nullif(?, 0), ?) ON CONFLICT (source, table_name) WHERE state = 'unfinished' DO NOTHING
			RETURNING import_id, started_at`,
			s.key, s.holder, im.Source, im.Table, s.launch, s.ownLaunch).Scan(&s.id, &s.startedAt)
		if errors.Is(err, sql.ErrNoRows) {
			err = errTakenOver
		}
		return err
	})
}

// takeOver makes this run the one that goes on with s, with another launch if one is given. A run that may still be alive
// finds out at its next batch, which it does not store.
func (d *Database) takeOver(ctx context.Context, s *state, launch int) (*state, error) {
	next := *s
	next.holder = rand.Text()
	if launch != 0 && launch != s.launch {
		next.launch, next.ownLaunch = launch, false
	}
	return &next, d.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return one(tx.ExecContext(ctx, `UPDATE idmint_import SET holder = ?, launch_id = nullif(?, 0), own_launch = ?
			WHERE import_id = ? AND state = 'unfinished' AND holder = ? AND stored_rows = ?`,
			next.holder, next.launch, next.ownLaunch, s.id, s.holder, s.rows))
	})
}

func (d *Database) setLaunch(ctx context.Context, s *state, launch int) error {
	s.launch = launch
	return d.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return one(tx.ExecContext(ctx, "UPDATE idmint_import SET launch_id = ? WHERE import_id = ? AND holder = ?", launch, s.id, s.holder))
	})
}

// abandon removes the rows of an unfinished import, which its IDs tell.
func (d *Database) abandon(ctx context.Context, im Import, s *state) (removed int64, err error) {
	err = d.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := one(tx.ExecContext(ctx, "UPDATE idmint_import SET state = 'restarted' WHERE import_id = ? AND state = 'unfinished' AND stored_rows = ?", s.id, s.rows))
		if err != nil {
			return err
		}
		removed = 0
		for _, r := range s.ranges {
			deleted, err := tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s BETWEEN ?1 AND ?2 AND %[2]s %% %[3]d = ?1 %% %[3]d",
				sqlid.Quote(im.Table), sqlid.Quote(im.IDColumn), idtype.DecimalStep), r[0], r[1])
			if err != nil {
				return err
			}
			n, err := deleted.RowsAffected()
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

// storeBatch stores the rows and how far the file has come, and at the end of the file that it is finished.
func (d *Database) storeBatch(ctx context.Context, im Import, columns []string, s *state, ids []idtype.DecimalID, b batch) error {
	ranges := slices.Clone(s.ranges)
	for _, id := range ids {
		if n := len(ranges); n > 0 && ranges[n-1][1]+idtype.DecimalStep == int64(id) {
			ranges[n-1][1] = int64(id)
		} else {
			ranges = append(ranges, idRange{int64(id), int64(id)})
		}
	}
	list, err := json.Marshal(ranges)
	if err != nil {
		return err
	}
	next := "unfinished"
	if b.err != nil {
		next = "finished"
	}
	err = d.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := insert(ctx, tx, im, columns, ids, b.values); err != nil {
			return err
		}
		return one(tx.ExecContext(ctx, `UPDATE idmint_import SET id_ranges = ?, stored_rows = ?, file_bytes = ?, file_sha256 = ?, state = ?,
			changed_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE import_id = ? AND holder = ? AND state = 'unfinished' AND stored_rows = ?`,
			string(list), b.end.rows, b.end.bytes, b.end.sha256, next, s.id, s.holder, s.rows))
	})
	if err == nil {
		s.ranges, s.position = ranges, b.end
	}
	return err
}

// insert stores rows with as many in a statement as its parameters allow, up to a number beyond which it gets no faster.
func insert(ctx context.Context, tx *sql.Tx, im Import, columns []string, ids []idtype.DecimalID, values [][]any) error {
	const maxParameters, maxRows = 32_766, 100
	width := len(columns) + 1
	per := max(1, min(maxRows, maxParameters/width))
	head := "INSERT INTO " + sqlid.Quote(im.Table) + " (" + sqlid.Quote(im.IDColumn)
	for _, c := range columns {
		head += ", " + sqlid.Quote(c)
	}
	row := "(?" + strings.Repeat(", ?", width-1) + ")"
	var stmt *sql.Stmt
	args := make([]any, 0, per*width)
	for i := 0; i < len(values); i += per {
		n := min(per, len(values)-i)
		if i == 0 || n < per {
			var err error
			if stmt, err = tx.PrepareContext(ctx, head+") VALUES "+row+strings.Repeat(", "+row, n-1)); err != nil {
				return err
			}
			defer stmt.Close()
		}
		args = args[:0]
		for j := i; j < i+n; j++ {
			args = append(append(args, int64(ids[j])), values[j]...)
		}
		if _, err := stmt.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// one checks that a statement changed the one row that it names.
func one(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errTakenOver, err)
	}
	return nil
}
