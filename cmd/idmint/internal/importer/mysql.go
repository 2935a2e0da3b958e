package importer

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/sqlid"
)

// utf8mb4 ends a CREATE TABLE, and makes the server compare texts by their bytes.
const utf8mb4 = " ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

var mysqlDialect = &dialect{
	kind:  dsn.MySQL,
	title: "MySQL and MariaDB",
	begin: []string{
		"SET SESSION sql_notes = 1, max_error_count = 65535", // for unchanged
		"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION",
	},
	key: "BIGINT NOT NULL AUTO_INCREMENT", end: utf8mb4,
	ignore:      `ON DUPLICATE KEY UPDATE import_key = idmint_import.import_key`,
	mostColumns: 1017,
	quote:       sqlid.MySQL.Quote, text: "LONGTEXT",
	tail: utf8mb4,
	columns: `SELECT column_name, column_type, column_key = 'PRI', sum(column_key = 'PRI') OVER ()
		FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?`,
	foldNames: true,
	// The server's setting says whether t and T are the same table.
	noted: `(SELECT IF(@@lower_case_table_names = 0, name, LOWER(name)) FROM (SELECT ? AS name) ` +
		`AS given)`,
	isInteger: func(typ string) bool { return len(typ) >= 6 && typ[:6] == "bigint" },
	integer:   "bigint",
	changing: func(typ string) bool { // reads the bytes of a text as bits: 5 becomes 53
		return strings.HasPrefix(typ, "bit")
	},
	engine: `SELECT coalesce(engine, '') FROM information_schema.tables WHERE table_schema = ` +
		`DATABASE() AND table_name = ?`,
	wantEngine: "InnoDB",
	insert: func(ctx context.Context, s *session, r rows) error {
		columns, err := mysqlColumns(ctx, s, r)
		if err != nil {
			return err
		}
		loaded := false
		if !s.inserts && !replaces(columns, r) {
			if loaded, err = load(ctx, s, r); err != nil {
				return err
			}
		}
		if !loaded {
			s.inserts = true
			if err := insertValues(ctx, s, r); err != nil {
				return err
			}
		}
		return verify(ctx, s, r, columns)
	},
}

// load stores rows by LOAD DATA LOCAL, if the server stores them unchanged. With LOCAL the server
// cannot reject a row: it gives a warning, and changes the row or leaves it out. Therefore load
// rolls back after any warning, and also if the server rejects the statement, as MySQL does by
// default. [insertValues] then stores the rows, or reports what is wrong.
func load(ctx context.Context, s *session, r rows) (loaded bool, err error) {
	if unsafe, err := splits(ctx, s); unsafe || err != nil {
		return false, err
	}
	if _, err := s.exec(ctx, "SAVEPOINT idmint_load"); err != nil {
		return false, err
	}
	source := "idmint-" + rand.Text()
	mysql.RegisterReaderHandler(source, func() io.Reader { return newTextReader(r, s.progress) })
	defer mysql.DeregisterReaderHandler(source)
	// Separators are numbers, because in some SQL modes a backslash is a plain character.
	stored, err := s.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+source+"' "+
		"INTO TABLE "+s.quote(r.Table)+" CHARACTER SET utf8mb4 FIELDS TERMINATED BY 0x09 "+
		"ESCAPED BY 0x5C LINES TERMINATED BY 0x0A "+r.names(s.quote))
	var answer *mysql.MySQLError
	switch {
	case err == nil:
		var n, warnings int64
		if n, err = stored.RowsAffected(); err == nil {
			err = s.queryRow(ctx, "SELECT @@warning_count").Scan(&warnings)
		}
		if err != nil {
			return false, err
		}
		loaded = n == int64(len(r.ids)) && warnings == 0
	case !errors.As(err, &answer) || pool.Passes(err):
		return false, err
	}
	if !loaded {
		_, err = s.exec(ctx, "ROLLBACK TO SAVEPOINT idmint_load")
		return false, err
	}
	return true, nil
}

// splits reports whether the server commits in the middle of LOAD DATA, as a Galera cluster may.
func splits(ctx context.Context, s *session) (bool, error) {
	var name, value string
	err := s.queryRow(ctx, "SHOW VARIABLES LIKE 'wsrep_load_data_splitting'").Scan(&name, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return value == "ON", err
}

// replaces reports whether LOAD DATA may store another value without a warning. It does so for a
// generated column, and may do so for a NULL in a column that is NOT NULL.
func replaces(columns []mysqlColumn, r rows) bool {
	null := r.fields.hasNull()
	return slices.ContainsFunc(columns, func(c mysqlColumn) bool {
		return c.generated || c.required && null
	})
}

// rowsInserted is the number of rows of an INSERT. More rows do not make it faster. The driver
// sends long values separately if they do not fit into one packet.
const rowsInserted = 1000

// insertValues stores rows by INSERT … VALUES.
func insertValues(ctx context.Context, s *session, r rows) error {
	per := max(1, min(rowsInserted, 65_535/(len(r.columns)+1)))
	return insertRange(ctx, s, r, 0, len(r.ids), per)
}

// insertRange stores the rows from first up to last, per of them in each statement. If the server
// rejects a statement without naming the row, it is repeated row by row.
func insertRange(ctx context.Context, s *session, r rows, first, last, per int) error {
	var stmt *sql.Stmt
	width := len(r.columns) + 1
	args := make([]any, per*width)
	for i, prepared := first, 0; i < last; i += per {
		n := min(per, last-i)
		if n != prepared {
			var err error
			if stmt, err = s.PrepareContext(ctx, r.values(s.quote, n)); err != nil {
				return err
			}
			defer stmt.Close()
			prepared = n
		}
		r.bind(i, n, func(at int, value any) { args[at] = value })
		stored, err := stmt.ExecContext(ctx, args[:n*width]...)
		if err == nil {
			err = unchanged(ctx, s, r, i, n, stored)
		}
		err = rowOf(err, r, i, n)
		var answer *mysql.MySQLError
		if n > 1 && errors.As(err, &answer) && !errors.As(err, new(*RowError)) &&
			!pool.Passes(err) {
			err = insertRange(ctx, s, r, i, i+n, 1)
		}
		if err != nil {
			return err
		}
		s.progress()
	}
	return nil
}

// unchanged returns an error if an INSERT has stored a changed value. The server gives a note for a
// value that does not quite fit: it rounds a decimal, and truncates spaces and times.
func unchanged(
	ctx context.Context, s *session, r rows, first, n int, stored sql.Result,
) error {
	count, err := stored.RowsAffected()
	if err == nil {
		err = r.allStored(first, n, count)
	}
	var warnings int
	if err == nil {
		err = s.queryRow(ctx, "SELECT @@warning_count").Scan(&warnings)
	}
	if err != nil || warnings == 0 {
		return err
	}
	list, err := s.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return err
	}
	defer list.Close()
	for list.Next() {
		var level string
		var warning mysql.MySQLError
		if err := list.Scan(&level, &warning.Number, &warning.Message); err != nil {
			return err
		}
		if rowPlace.MatchString(warning.Message) { // others are not about values
			return &warning
		}
	}
	return list.Err()
}

// rowOf adds to an error which row it is about, if the server names the row or there is only one.
// First is the index of the first of the statement's n rows.
func rowOf(err error, r rows, first, n int) error {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) || pool.Passes(err) {
		return err
	}
	row, column := 0, ""
	if place := rowPlace.FindStringSubmatch(answer.Message); place != nil {
		column = place[1]
		row, _ = strconv.Atoi(place[2])
	}
	if n == 1 {
		row = 1
	}
	if row < 1 || row > n {
		return err
	}
	return r.at(first+row-1, column, err)
}

var rowPlace = regexp.MustCompile("(?:[`']([^`']*)[`'] )?at row ([0-9]+)$")
