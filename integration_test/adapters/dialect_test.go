package adapters_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/internal/dialect"
)

// coded is an error of a driver that has the method Code.
type coded int

func (c coded) Error() string { return fmt.Sprint(int(c)) }

func (c coded) Code() int { return int(c) }

// extended is an error of a driver that has the method ExtendedCode, of an integer type of its own.
type extended uint16

func (e extended) Error() string { return fmt.Sprint(uint16(e)) }

func (e extended) ExtendedCode() extended { return e }

// hollow has the field Number of a struct that is not there, and pointed a method that needs one.
type (
	hollow  struct{ *mysql.MySQLError }
	pointed struct{ code int }
)

func (hollow) Error() string { return "hollow" }

func (*pointed) Error() string { return "pointed" }

func (p *pointed) ExtendedCode() int { return p.code }

// What drivers say is read without importing them, however it is wrapped.
func TestDialectCauseOf(t *testing.T) {
	t.Parallel()
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
		{state("57P03"), dialect.Postgres, dialect.Away},  // behind a pooler the commit may be made
		{state("57P04"), dialect.Postgres, dialect.Other}, // the database was dropped
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
		{number(1062), dialect.MySQL, dialect.Other},
		{sqlite3.Error{Code: sqlite3.ErrBusy}, dialect.SQLite, dialect.Contended},
		{
			sqlite3.Error{Code: sqlite3.ErrBusy, ExtendedCode: sqlite3.ErrBusySnapshot},
			dialect.SQLite, dialect.Contended,
		},
		{
			sqlite3.Error{Code: sqlite3.ErrConstraint, ExtendedCode: sqlite3.ErrConstraintTrigger},
			dialect.SQLite, dialect.Guarded,
		},
		{
			sqlite3.Error{Code: sqlite3.ErrConstraint, ExtendedCode: sqlite3.ErrConstraintUnique},
			dialect.SQLite, dialect.Other,
		},
		{sqlite3.Error{Code: sqlite3.ErrReadonly}, dialect.SQLite, dialect.ReadOnly},
		{coded(5), dialect.SQLite, dialect.Contended},
		{coded(517), dialect.SQLite, dialect.Contended},
		{extended(517), dialect.SQLite, dialect.Contended},
		{hollow{}, "", dialect.Other},
		{(*pointed)(nil), "", dialect.Other},
		{io.EOF, "", dialect.Other},
		{nil, "", dialect.Other},
	} {
		errs := []error{test.err}
		if test.err != nil {
			errs = append(errs, fmt.Errorf("a step: %w", test.err),
				errors.Join(io.EOF, fmt.Errorf("one: %w", test.err)))
		}
		for _, err := range errs {
			if of, cause := dialect.CauseOf(err); of != test.of || cause != test.want {
				t.Errorf("%#v is %v of %q, want %v of %q", err, cause, of, test.want, test.of)
			}
		}
	}
}

// The settings reach SQLite, whatever characters the path has.
func TestDialectSQLiteDSN(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a ?#%26.db")
	if db, err := sql.Open("sqlite3", dialect.SQLiteDSN(path, "rw", 0)); err != nil ||
		db.Ping() == nil {
		t.Errorf("a file that is not there was opened: %v", err)
	}
	db, err := sql.Open("sqlite3", dialect.SQLiteDSN(path, "rwc", 25*time.Millisecond))
	try(t, err)
	defer db.Close()
	for pragma, want := range map[string]string{
		"journal_mode": "delete", "synchronous": "3",
		"foreign_keys": "1", "busy_timeout": "25",
	} {
		var got string
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
}
