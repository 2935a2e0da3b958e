package importer

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/sqlid"
)

var sqliteDialect = &dialect{
	kind: dsn.SQLite, title: "SQLite", begin: []string{"BEGIN IMMEDIATE"}, whole: true,
	refused: func(err error) bool {
		var answer sqlite3.Error
		// then it may be written, and the sync of it have failed
		return !errors.As(err, &answer) || answer.Code != sqlite3.ErrIoErr
	},
	create: []string{
		`CREATE TABLE IF NOT EXISTS idmint_import (
    import_id   INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    import_key  TEXT    NOT NULL UNIQUE,
    holder      TEXT    NOT NULL, -- the run that stores batches; another run that resumes the import replaces it
    source      TEXT    NOT NULL,
    table_name  TEXT    NOT NULL COLLATE NOCASE, -- as SQLite compares names of tables
    launch_id   INTEGER,
    own_launch  INTEGER NOT NULL,
    id_ranges   TEXT    NOT NULL, -- the first and the last ID of each range
    in_doubt    TEXT    NOT NULL, -- what was begun in a database without transactions
    stored_rows INTEGER NOT NULL DEFAULT 0,
    file_bytes  INTEGER NOT NULL DEFAULT 0,
    file_sha256 TEXT    NOT NULL, -- of these bytes
    state       TEXT    NOT NULL DEFAULT 'unfinished' CHECK (state IN ('unfinished', 'finished', 'restarted')),
    started_at  TEXT    NOT NULL,
    changed_at  TEXT    NOT NULL
) STRICT`,
		`CREATE UNIQUE INDEX IF NOT EXISTS idmint_import_unfinished ON idmint_import (source, ` +
			`table_name) WHERE state = 'unfinished'`,
	},
	now: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`, asText: `%s`, ignore: `ON CONFLICT DO NOTHING`,
	quote: sqlid.Quote, taken: []string{"sqlite_"}, mostColumns: 2000, text: "TEXT",
	tail: " WITHOUT ROWID",
	columns: `SELECT name, type, pk = 1, ` +
		`(SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) FROM pragma_table_info(?1)`,
	tableName: func(name string) string { return name }, noted: "?", foldNames: true,
	// SQLite's rule for integer columns
	isInteger: func(typ string) bool { return strings.Contains(strings.ToUpper(typ), "INT") },
	integer:   "INTEGER",
	insert:    insertFused,
}

// rowsFused is how many rows a statement of SQLite has, where its parameters allow so many. More
// make it no faster.
const rowsFused = 100

// insertFused stores rows by INSERT … VALUES. It runs the statement as a query: the driver then
// takes all its parameters into SQLite by one call. As a command each text was a call of its own,
// and a copy. The context does not interrupt it: see dialect.whole.
func insertFused(_ context.Context, s *session, r rows) error {
	width := len(r.columns) + 1
	per := max(1, min(rowsFused, 32_766/width))
	return s.Raw(func(c any) error { return fuse(c.(*sqlite3.SQLiteConn), s, r, 0, len(r.ids), per) })
}

// fuse stores the rows from one index up to another, some of them in a statement. A statement that
// is refused goes again row by row, to name the row.
func fuse(c *sqlite3.SQLiteConn, s *session, r rows, first, last, per int) (err error) {
	width := len(r.columns) + 1
	var stmt driver.Stmt
	changes, err := c.Prepare("SELECT changes()")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, changes.Close())
		if stmt != nil {
			err = errors.Join(err, stmt.Close())
		}
	}()
	args := make([]driver.NamedValue, per*width)
	for i := range args {
		args[i].Ordinal = i + 1
	}
	for i, prepared := first, 0; i < last; i += per {
		n := min(per, last-i)
		if n != prepared {
			if stmt != nil {
				if err := stmt.Close(); err != nil {
					return err
				}
			}
			if stmt, err = c.Prepare(r.values(s.quote, n)); err != nil {
				return err
			}
			prepared = n
		}
		text := r.fields.texts(i*len(r.columns), n*len(r.columns))
		for j := range n {
			row := args[j*width : (j+1)*width]
			row[0].Value = r.ids[i+j]
			for k := range r.columns {
				if v, ok := text(j*len(r.columns) + k); ok {
					row[k+1].Value = v
				} else {
					row[k+1].Value = nil
				}
			}
		}
		// There are no rows. A driver may wait with the INSERT until it is asked.
		if err := ask(stmt, args[:n*width], nil); err != nil && err != io.EOF {
			return refusedRow(c, s, r, i, n, err)
		}
		stored := []driver.Value{nil}
		if err := ask(changes, nil, stored); err != nil {
			return err
		}
		count, _ := stored[0].(int64)
		if err := r.allStored(i, n, count); err != nil {
			return err
		}
		s.progress()
	}
	return nil
}

// ask runs a statement as a query, and reads the first row.
func ask(stmt driver.Stmt, args []driver.NamedValue, row []driver.Value) error {
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), args)
	if err != nil {
		return err
	}
	if err := rows.Next(row); err != nil {
		return cmp.Or(rows.Close(), err)
	}
	return rows.Close()
}

// refusedRow adds to an error which of n rows from index first on it is about.
func refusedRow(c *sqlite3.SQLiteConn, s *session, r rows, first, n int, err error) error {
	var answer sqlite3.Error
	refused := errors.As(err, &answer) &&
		(answer.Code == sqlite3.ErrConstraint || answer.Code == sqlite3.ErrMismatch)
	switch {
	case !refused || c.AutoCommit(): // as ON CONFLICT ROLLBACK leaves it
		return err
	case n == 1:
		return r.at(first, "", err)
	}
	// ON CONFLICT FAIL leaves the rows before it. They cannot go again.
	before, failed := c.Prepare(fmt.Sprintf("SELECT count(*) FROM %s WHERE %s BETWEEN %d AND %d",
		s.quote(r.Table), s.quote(r.IDColumn), r.ids[first], r.ids[first+n-1]))
	if failed != nil {
		return err
	}
	defer before.Close()
	stored := []driver.Value{int64(0)}
	if failed := ask(before, nil, stored); failed != nil {
		return err
	}
	if count, _ := stored[0].(int64); count > 0 && count < int64(n) {
		return r.at(first+int(count), "", err)
	}
	return cmp.Or(fuse(c, s, r, first, first+n, 1), err)
}
