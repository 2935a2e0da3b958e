package dialect_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/internal/dialect"
)

var all = []dialect.Dialect{
	dialect.SQLite, dialect.Postgres, dialect.MySQL, dialect.MariaDB, dialect.ClickHouse,
}

func TestNames(t *testing.T) {
	drivers := map[dialect.Dialect]string{
		dialect.SQLite: "sqlite3", dialect.Postgres: "pgx",
		dialect.MySQL: "mysql", dialect.MariaDB: "mysql", dialect.ClickHouse: "clickhouse",
	}
	for _, d := range all {
		family := d
		if d == dialect.MariaDB {
			family = dialect.MySQL
		}
		if dialect.Family(d) != family || dialect.Driver(d) != drivers[d] {
			t.Errorf("%s: family %s, driver %s", d, dialect.Family(d), dialect.Driver(d))
		}
	}
	other := dialect.Dialect("oracle")
	if dialect.Family(other) != "" || dialect.Driver(other) != "" ||
		dialect.Column(other, "bigint", 8) != "" ||
		dialect.CauseOfCode(other, "40001") != dialect.Other {
		t.Error("a dialect that is not known has knowledge")
	}
}

// Packages sqlid and migrations show the type to their users, with all its methods.
func TestMethods(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[dialect.Dialect](), reflect.TypeFor[*dialect.Dialect](),
	} {
		for i := range typ.NumMethod() {
			if name := typ.Method(i).Name; name != "Quote" {
				t.Errorf("%v has a method %s: make it a function of package dialect", typ, name)
			}
		}
	}
}

func TestQuote(t *testing.T) {
	const name = "a\"b`c\\d"
	for d, want := range map[dialect.Dialect]string{
		dialect.SQLite: "\"a\"\"b`c\\d\"", dialect.Postgres: "\"a\"\"b`c\\d\"",
		"oracle":      "\"a\"\"b`c\\d\"",
		dialect.MySQL: "`a\"b``c\\d`", dialect.MariaDB: "`a\"b``c\\d`",
		dialect.ClickHouse: "`a\"b\\`c\\\\d`",
	} {
		if got := d.Quote(name); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestColumn(t *testing.T) {
	const ascii = "CHAR(10) CHARACTER SET ascii COLLATE ascii_bin"
	for d, want := range map[dialect.Dialect][4]string{
		dialect.SQLite:     {"INTEGER", "BLOB", "TEXT", "TEXT"},
		dialect.Postgres:   {"BIGINT", "BYTEA", `TEXT COLLATE "C"`, "UUID"},
		dialect.MySQL:      {"BIGINT", "BINARY(10)", ascii, ""},
		dialect.MariaDB:    {"BIGINT", "BINARY(10)", ascii, "UUID"},
		dialect.ClickHouse: {"Int64", "FixedString(10)", "FixedString(10)", "UUID"},
	} {
		for i, form := range []string{"bigint", "bytes", "text", "uuid"} {
			if got := dialect.Column(d, form, 10); got != want[i] {
				t.Errorf("%s %s: %q, want %q", d, form, got, want[i])
			}
		}
	}
}

func TestPasses(t *testing.T) {
	for cause, want := range map[dialect.Cause]bool{
		dialect.Other: false, dialect.Contended: true, dialect.Crowded: true,
		dialect.CutOff: false, dialect.Away: true, dialect.ReadOnly: false,
		dialect.Absent: false, dialect.Guarded: false,
	} {
		if cause.Passes() != want {
			t.Errorf("%v passes: %v", cause, !want)
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
			t.Errorf("of %d pauses %d are below half the longest, and the longest is %v",
				want, short, most)
		}
		for range dialect.Attempts(ctx, longest) {
			t.Error("an attempt after the context's end")
		}
	})
}

// A process may stand still until its patience is over. What it did not try has not succeeded.
func TestAwaitTooLate(t *testing.T) {
	err := dialect.Await(t.Context(), 0, func(error) bool { return true },
		func(context.Context) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline's error", err)
	}
}
