package importer

import (
	"cmp"
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
	key: "INTEGER", foldTable: " COLLATE NOCASE", ignore: `ON CONFLICT DO NOTHING`,
	quote: sqlid.Quote, mostColumns: 2000, text: "TEXT",
	tail: " WITHOUT ROWID",
	columns: `SELECT name, type, pk = 1, ` +
		`(SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) FROM pragma_table_info(?1)`,
	noted: "?", foldNames: true,
	// SQLite's rule for integer columns
	isInteger: func(typ string) bool { return strings.Contains(strings.ToUpper(typ), "INT") },
	integer:   "INTEGER",
	insert:    insertFused,
}

// rowsFused is the number of rows of a statement in SQLite, if the limit on parameters allows that.
// More rows do not make it faster.
const rowsFused = 100

// insertFused stores rows by INSERT … VALUES, many in each statement. If a row is rejected, the
// batch starts again with one statement per row, which shows the row. The context does not
// interrupt it: see dialect.whole.
func insertFused(_ context.Context, s *session, r rows) error {
	per := max(1, min(rowsFused, 32_766/(len(r.columns)+1)))
	return s.Raw(func(conn any) error {
		c := conn.(*sqlite3.SQLiteConn)
		err := fuse(c, s, r, per)
		var answer sqlite3.Error
		if !errors.As(err, &answer) ||
			answer.Code != sqlite3.ErrConstraint && answer.Code != sqlite3.ErrMismatch {
			return err
		}
		if !c.AutoCommit() { // ON CONFLICT ROLLBACK has ended the transaction
			if _, failed := c.Exec("ROLLBACK", nil); failed != nil {
				return err
			}
		}
		if _, failed := c.Exec(s.begin[0], nil); failed != nil {
			return err
		}
		return cmp.Or(fuse(c, s, r, 1), err)
	})
}

// fuse stores rows, per of them in each statement. It runs the statement as a query, because the
// driver then passes all parameters to SQLite in one call. As a command, each text was a separate
// call and a copy.
func fuse(c *sqlite3.SQLiteConn, s *session, r rows, per int) (err error) {
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
	for i, prepared := 0, 0; i < len(r.ids); i += per {
		n := min(per, len(r.ids)-i)
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
		r.bind(i, n, func(at int, value any) { args[at].Value = value })
		// There are no rows, but a driver may run the INSERT only when it is asked for one.
		if err := ask(stmt, args[:n*width], nil); err != nil && err != io.EOF {
			if per == 1 {
				err = r.at(i, "", err)
			}
			return err
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
