package importer

import (
	"context"
	"database/sql/driver"
	"errors"
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
	// ANY keeps a text in a STRICT table alone: elsewhere it makes numbers of some.
	columns: `SELECT name, type || CASE WHEN type LIKE 'any' AND NOT (SELECT max(strict) FROM ` +
		`pragma_table_list(?1)) THEN ' of a table that is not STRICT' ELSE '' END, ` +
		`pk = 1, (SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) ` +
		`FROM pragma_table_info(?1)`,
	tableName: func(name string) string { return name }, foldNames: true,
	// SQLite's rule for integer columns
	isInteger: func(typ string) bool { return strings.Contains(strings.ToUpper(typ), "INT") },
	integer:   "INTEGER",
	insert:    insertFused,
	reads:     readBySQLite,
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
	return s.Raw(func(c any) error {
		var stmt driver.Stmt
		defer func() {
			if stmt != nil {
				_ = stmt.Close()
			}
		}()
		args := make([]driver.NamedValue, per*width)
		for i := range args {
			args[i].Ordinal = i + 1
		}
		for i := 0; i < len(r.ids); i += per {
			n := min(per, len(r.ids)-i)
			if i == 0 || n < per {
				if stmt != nil {
					if err := stmt.Close(); err != nil {
						return err
					}
				}
				var err error
				if stmt, err = c.(driver.Conn).Prepare(r.values(s.quote, n)); err != nil {
					return err
				}
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
			answer, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(),
				args[:n*width])
			if err == nil {
				// There are no rows. A driver may wait with the INSERT until it is asked.
				if err = answer.Next(nil); err == io.EOF {
					err = nil
				}
				err = errors.Join(err, answer.Close())
			}
			if err != nil {
				return err
			}
			s.progress()
		}
		return nil
	})
}
