package importer

import (
	"context"
	"database/sql"
	"errors"
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
	columns: `SELECT name, type, pk = 1, (SELECT count(*) FROM pragma_table_info(?1) WHERE pk > ` +
		`0) FROM pragma_table_info(?1)`,
	tableName: func(name string) string { return name }, foldNames: true,
	// SQLite's rule for integer columns
	isInteger: func(typ string) bool { return strings.Contains(strings.ToUpper(typ), "INT") },
	integer:   "INTEGER",
	insert: func(ctx context.Context, s *session, r rows) error {
		// As many rows in a statement as its parameters allow, up to a number beyond which it gets
		// no faster.
		return insertValues(ctx, s, r, min(100, 32_766/(len(r.columns)+1)), nil)
	},
}

// insertValues stores rows by INSERT … VALUES of up to per rows. Explain adds to an error what it
// tells about the row, by the index of the statement's first one.
func insertValues(
	ctx context.Context, s *session, r rows, per int, explain func(first int, err error) error,
) error {
	per = max(1, per)
	row := "(?" + strings.Repeat(", ?", len(r.columns)) + ")"
	var stmt *sql.Stmt
	args := make([]any, 0, per*(len(r.columns)+1))
	for i := 0; i < len(r.ids); i += per {
		n := min(per, len(r.ids)-i)
		if i == 0 || n < per {
			var err error
			text := r.into("INSERT INTO", s.dialect.quote) + " VALUES " + row +
				strings.Repeat(", "+row, n-1)
			if stmt, err = s.PrepareContext(ctx, text); err != nil {
				return err
			}
			defer stmt.Close()
		}
		args = args[:0]
		for j := i; j < i+n; j++ {
			args = append(append(args, r.ids[j]), r.values[j]...)
		}
		if _, err := stmt.ExecContext(ctx, args...); err != nil {
			if explain != nil {
				err = explain(i, err)
			}
			return err
		}
		s.progress()
	}
	return nil
}
