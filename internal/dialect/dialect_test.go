package dialect_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/internal/dialect"
)

var all = []dialect.Dialect{dialect.SQLite, dialect.Postgres, dialect.MySQL, dialect.MariaDB, dialect.ClickHouse}

func TestNames(t *testing.T) {
	drivers := map[dialect.Dialect]string{
		dialect.SQLite: "sqlite3", dialect.Postgres: "pgx", dialect.MySQL: "mysql", dialect.MariaDB: "mysql", dialect.ClickHouse: "clickhouse",
	}
	for _, d := range all {
		family := d
		if d == dialect.MariaDB {
			family = dialect.MySQL
		}
		if !d.Known() || d.Title() == "" || d.Family() != family || d.Driver() != drivers[d] {
			t.Errorf("%s: known %v, %q, family %s, driver %s", d, d.Known(), d.Title(), d.Family(), d.Driver())
		}
	}
	if other := dialect.Dialect("oracle"); other.Known() || other.Family() != "" || other.Column("bigint", 8) != "" || other.Cause("40001") != dialect.Other {
		t.Error("a dialect that is not known has knowledge")
	}
}

func TestQuote(t *testing.T) {
	const name = "a\"b`c\\d"
	for d, want := range map[dialect.Dialect]string{
		dialect.SQLite: "\"a\"\"b`c\\d\"", dialect.Postgres: "\"a\"\"b`c\\d\"", "oracle": "\"a\"\"b`c\\d\"",
		dialect.MySQL: "`a\"b``c\\d`", dialect.MariaDB: "`a\"b``c\\d`", dialect.ClickHouse: "`a\"b\\`c\\\\d`",
	} {
		if got := d.Quote(name); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestColumn(t *testing.T) {
	for d, want := range map[dialect.Dialect][4]string{
		dialect.SQLite:     {"INTEGER", "BLOB", "TEXT", "TEXT"},
		dialect.Postgres:   {"BIGINT", "BYTEA", `TEXT COLLATE "C"`, "UUID"},
		dialect.MySQL:      {"BIGINT", "BINARY(10)", "CHAR(10) CHARACTER SET ascii COLLATE ascii_bin", ""},
		dialect.MariaDB:    {"BIGINT", "BINARY(10)", "CHAR(10) CHARACTER SET ascii COLLATE ascii_bin", "UUID"},
		dialect.ClickHouse: {"Int64", "FixedString(10)", "FixedString(10)", "UUID"},
	} {
		for i, form := range []string{"bigint", "bytes", "text", "uuid"} {
			if got := d.Column(form, 10); got != want[i] {
				t.Errorf("%s %s: %q, want %q", d, form, got, want[i])
			}
		}
	}
}

// coded is an error of a driver that has the method Code.
type coded int

func (c coded) Error() string { return fmt.Sprint(int(c)) }

func (c coded) Code() int { return int(c) }

// What drivers say is read without importing them, however it is wrapped.
func TestCauseOf(t *testing.T) {
	state := func(code string) error { return &pgconn.PgError{Code: code} }
	number := func(n uint16) error { return &mysql.MySQLError{Number: n} }
	for _, test := range []struct {
		err  error
		of   dialect.Dialect
		want dialect.Cause
	}{
		{state("40001"), dialect.Postgres, dialect.Contended},
		{state("40P01"), dialect.Postgres, dialect.Contended},
		{state("55P03"), dialect.Postgres, dialect.Contended},
		{state("53300"), dialect.Postgres, dialect.Crowded},
		{state("57P03"), dialect.Postgres, dialect.Crowded},
		{state("57014"), dialect.Postgres, dialect.CutOff},
		{state("57P01"), dialect.Postgres, dialect.Away},
		{state("08006"), dialect.Postgres, dialect.Away},
		{state("40003"), dialect.Postgres, dialect.Away},
		{state("25006"), dialect.Postgres, dialect.ReadOnly},
		{state("42P01"), dialect.Postgres, dialect.Absent},
		{state("23000"), dialect.Postgres, dialect.Guarded},
		{state("23505"), dialect.Postgres, dialect.Other},
		{number(1213), dialect.MySQL, dialect.Contended},
		{number(1205), dialect.MySQL, dialect.Contended},
		{number(1020), dialect.MySQL, dialect.Contended},
		{number(1040), dialect.MySQL, dialect.Crowded},
		{number(1317), dialect.MySQL, dialect.CutOff},
		{number(1927), dialect.MySQL, dialect.Away},
		{number(1836), dialect.MySQL, dialect.ReadOnly},
		{number(1146), dialect.MySQL, dialect.Absent},
		{number(1644), dialect.MySQL, dialect.Guarded},
		{number(1062), dialect.MySQL, dialect.Other},
		{sqlite3.Error{Code: sqlite3.ErrBusy}, dialect.SQLite, dialect.Contended},
		{sqlite3.Error{Code: sqlite3.ErrBusy, ExtendedCode: sqlite3.ErrBusySnapshot}, dialect.SQLite, dialect.Contended},
		{sqlite3.Error{Code: sqlite3.ErrConstraint, ExtendedCode: sqlite3.ErrConstraintTrigger}, dialect.SQLite, dialect.Guarded},
		{sqlite3.Error{Code: sqlite3.ErrConstraint, ExtendedCode: sqlite3.ErrConstraintUnique}, dialect.SQLite, dialect.Other},
		{sqlite3.Error{Code: sqlite3.ErrReadonly}, dialect.SQLite, dialect.ReadOnly},
		{coded(5), dialect.SQLite, dialect.Contended},
		{coded(517), dialect.SQLite, dialect.Contended},
		{io.EOF, "", dialect.Other},
		{nil, "", dialect.Other},
	} {
		errs := []error{test.err}
		if test.err != nil {
			errs = append(errs, fmt.Errorf("a step: %w", test.err), errors.Join(io.EOF, fmt.Errorf("one: %w", test.err)))
		}
		for _, err := range errs {
			if of, cause := dialect.CauseOf(err); of != test.of || cause != test.want {
				t.Errorf("%#v is %v of %q, want %v of %q", err, cause, of, test.want, test.of)
			}
		}
	}
}

func TestPasses(t *testing.T) {
	for cause, want := range map[dialect.Cause]bool{
		dialect.Other: false, dialect.Contended: true, dialect.Crowded: true, dialect.CutOff: false, dialect.Away: true,
		dialect.ReadOnly: false, dialect.Absent: false, dialect.Guarded: false,
	} {
		if cause.Passes() != want {
			t.Errorf("%v passes: %v", cause, !want)
		}
	}
}

// The settings reach SQLite, whatever characters the path has.
func TestSQLiteDSN(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a ?#%26.db")
	if db, err := sql.Open("sqlite3", dialect.SQLiteDSN(path, "rw", 0)); err != nil || db.Ping() == nil {
		t.Errorf("a file that is not there was opened: %v", err)
	}
	db, err := sql.Open("sqlite3", dialect.SQLiteDSN(path, "rwc", 25*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "25"} {
		var got string
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
}

// Pauses are random, grow up to the longest, and end with the context.
func TestAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		const longest = 80 * time.Millisecond
		last, most := time.Now(), time.Duration(0)
		short := 0
		want := 0
		for n := range dialect.Attempts(ctx, longest) {
			if want++; n != want {
				t.Fatalf("attempt %d, want %d", n, want)
			}
			pause := time.Since(last)
			last = time.Now()
			limit := longest
			if n < 6 {
				limit = 10 * time.Millisecond << max(n-2, 0)
			}
			if n == 1 && pause != 0 || pause >= limit {
				t.Fatalf("a pause of %v before attempt %d", pause, n)
			}
			if most = max(most, pause); n > 6 && pause < longest/2 {
				short++
			}
		}
		if took := time.Since(last); ctx.Err() == nil || took >= longest {
			t.Errorf("it ended %v after the last attempt, %v", took, ctx.Err())
		}
		if most < longest*9/10 || short < want/3 || short > want*2/3 {
			t.Errorf("of %d pauses %d are below half the longest, and the longest is %v", want, short, most)
		}
		for range dialect.Attempts(ctx, longest) {
			t.Error("an attempt after the context's end")
		}
	})
}
