package functions_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/internal/functionsuite"
	"github.com/idmint/idmint/sqlid/functions"
)

var dialects = []functions.Dialect{
	functions.Postgres, functions.MySQL, functions.MariaDB, functions.ClickHouse,
}

func open(t *testing.T) *sql.DB {
	t.Helper()
	if !slices.Contains(sql.Drivers(), "sqlite3_idmint") {
		sql.Register("sqlite3_idmint", &sqlite3.SQLiteDriver{
			ConnectHook: func(c *sqlite3.SQLiteConn) error { return functions.Register(c) },
		})
	}
	db, err := sql.Open("sqlite3_idmint", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestValues(t *testing.T) {
	functionsuite.Values(t, functionsuite.Database{Dialect: "sqlite", DB: open(t)})
}

// All databases have the same functions, and the suite asks for each.
func TestSameNames(t *testing.T) {
	asked := functionsuite.Names()
	if len(asked) != 38 {
		t.Errorf("%d functions are asked for", len(asked))
	}
	for _, d := range dialects {
		statements, err := functions.Statements(d)
		if err != nil {
			t.Fatal(err)
		}
		created := map[string]bool{}
		for _, s := range statements {
			rest, ok := strings.CutPrefix(s, "CREATE FUNCTION ")
			if !ok {
				rest, ok = strings.CutPrefix(s, "CREATE OR REPLACE FUNCTION ")
			}
			name := rest[:strings.IndexAny(rest, " (")]
			if ok && !asked[name] {
				t.Errorf("%s: nothing asks for %s", d, name)
			}
			if ok && strings.ContainsAny(s, "{}") && strings.Contains(s, "{"+name) {
				t.Errorf("%s: a fragment is left in %s", d, s)
			}
			created[name] = created[name] || ok
		}
		for name := range asked {
			if !created[name] {
				t.Errorf("%s lacks %s", d, name)
			}
		}
	}
}

func TestUnknownDialect(t *testing.T) {
	db := open(t)
	for _, d := range []functions.Dialect{"sqlite", "oracle"} {
		_, err := functions.Statements(d)
		for _, err := range []error{err, functions.Install(t.Context(), db, d)} {
			var e *functions.DialectError
			if !errors.As(err, &e) || e.Dialect != d || !strings.Contains(err.Error(), string(d)) {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
}
