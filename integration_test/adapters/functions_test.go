package adapters_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid/functions"
)

var functionServers = map[functions.Dialect]databases.Kind{
	functions.Postgres: databases.Postgres, functions.MariaDB: databases.MariaDB,
	functions.ClickHouse: databases.ClickHouse,
}

var registerFunctions = sync.OnceFunc(func() {
	sql.Register("sqlite3_idmint", &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error { return functions.Register(c) },
	})
})

// newFunctions opens a database of the test's own that has the functions.
func newFunctions(t *testing.T, d functions.Dialect) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, dbtest.New(t, functionServers[d]))
	try(t, functions.Install(t.Context(), db, d))
	return db
}

func TestFunctionsValues(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		registerFunctions()
		testFunctions(t, dbtest.OpenSource(t, "sqlite3_idmint", ":memory:"), functionDialects["sqlite"])
	})
	for d := range functionServers {
		t.Run(string(d), func(t *testing.T) { testFunctions(t, newFunctions(t, d), functionDialects[d]) })
	}
}

// PostgreSQL prefers an operator of the very types of its operands, in whatever schema of the
// caller's search_path. Functions never run one that somebody else has made.
func TestFunctionsOfStrangers(t *testing.T) {
	t.Parallel()
	db := newFunctions(t, functions.Postgres)
	dbtest.Exec(t, db, `CREATE FUNCTION caught(bigint, integer) RETURNS bigint LANGUAGE plpgsql
		AS $$ BEGIN RAISE 'a function runs the operator of a stranger'; END $$`)
	for _, operator := range []string{"&", "|", "%", "/", "-", "*", "<<", ">>"} {
		dbtest.Exec(t, db, "CREATE OPERATOR "+operator+
			" (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = caught)")
	}
	testFunctions(t, db, functionDialects[functions.Postgres])
}

// All databases have the same functions, and TestFunctionsValues asks for each.
func TestFunctionsNames(t *testing.T) {
	asked := askedFunctions(questions(t))
	if len(asked) != 43 {
		t.Errorf("%d functions are asked for", len(asked))
	}
	for _, d := range []functions.Dialect{
		functions.Postgres, functions.MySQL, functions.MariaDB, functions.ClickHouse,
	} {
		statements, err := functions.Statements(d)
		try(t, err)
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

// To install again changes nothing, and many may do so at once.
func TestFunctionsInstallAgain(t *testing.T) {
	t.Parallel()
	for d := range functionServers {
		t.Run(string(d), func(t *testing.T) {
			db := newFunctions(t, d)
			const many = 4
			errs := make(chan error, many)
			for range many {
				go func() { errs <- functions.Install(t.Context(), db, d) }()
			}
			for range many {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
			if n := countRows(t, db, "SELECT idmint_decimal_launch(14150009200065)"); n != 65 {
				t.Errorf("launch %d", n)
			}
		})
	}
}

// MySQL's statements, which drop each function first, are those of MariaDB in all else.
func TestFunctionsMySQLStatements(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.New(t, databases.MariaDB))
	statements, err := functions.Statements(functions.MySQL)
	try(t, err)
	for range 2 {
		dbtest.Exec(t, db, statements...)
	}
	again, err := functions.Statements(functions.MariaDB)
	try(t, err)
	for i, s := range again {
		drop, create := statements[2*i], statements[2*i+1]
		if create != strings.Replace(s, "CREATE OR REPLACE", "CREATE", 1) ||
			!strings.HasPrefix(drop, "DROP FUNCTION IF EXISTS idmint_") {
			t.Errorf("%s; %s; in MariaDB %s", drop, create, s)
		}
	}
}

// What a database refuses is an error that names the statement, and PostgreSQL keeps none of the
// others.
func TestFunctionsInstallRefused(t *testing.T) {
	t.Parallel()
	for _, d := range []functions.Dialect{functions.Postgres, functions.MariaDB} {
		t.Run(string(d), func(t *testing.T) {
			db := dbtest.Open(t, dbtest.New(t, functionServers[d]))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			var e *functions.InstallError
			if err := functions.Install(ctx, db, d); !errors.As(err, &e) ||
				!errors.Is(err, context.Canceled) {
				t.Errorf("a context that has ended: %v", err)
			}
		})
	}
	db := dbtest.Open(t, dbtest.New(t, databases.Postgres))
	// Its result is another, which PostgreSQL does not replace.
	dbtest.Exec(t, db, "CREATE FUNCTION idmint_sno_uuid(id bytea) RETURNS text LANGUAGE sql"+
		" AS $$ SELECT 'mine' $$")
	err := functions.Install(t.Context(), db, functions.Postgres)
	var e *functions.InstallError
	if !errors.As(err, &e) || !strings.Contains(e.Statement, "idmint_sno_uuid") ||
		!strings.HasPrefix(err.Error(), "functions: CREATE OR REPLACE FUNCTION idmint_sno_uuid: ") {
		t.Errorf("a function of that name: %v", err)
	}
	if n := countRows(t, db, "SELECT count(*) FROM pg_proc WHERE proname LIKE 'idmint%'"); n != 1 {
		t.Errorf("%d functions", n)
	}
}

// In ClickHouse a FixedString of a row is compared as one that is constant is, also by an expression
// that has become machine code, which it does after three uses.
func TestFunctionsClickHouseRows(t *testing.T) {
	t.Parallel()
	db := newFunctions(t, functions.ClickHouse)
	dbtest.Exec(t, db, "CREATE TABLE t (b FixedString(10), c FixedString(16), u UUID,"+
		" e FixedString(8), n Int64) ENGINE = Memory")
	dbtest.Exec(t, db, "INSERT INTO t SELECT unhex('335f48168d9e8808dc82'), '8fhmi7mfls62jp64',"+
		" '3866686d-6937-6d66-6c73-36326a703634', unhex('5b9bda2989e1989b'), 6601109550783371419"+
		" FROM numbers(100)")
	for _, condition := range []string{
		"c = idmint_sno_text(b)", "b = idmint_sno_from_text(c)", "u = idmint_sno_uuid(b)",
		"b = idmint_sno_from_uuid(u)", "n = idmint_eightbyte_number(e)",
		"e = idmint_eightbyte_from_number(n)",
		"e = idmint_eightbyte_from_text(idmint_eightbyte_text(e))",
		"c BETWEEN idmint_sno_text(b) AND idmint_sno_text(b)",
		"idmint_sno_time(b) IS NOT NULL", "idmint_sno_tick_tock(b) IS NOT NULL",
		"idmint_sno_meta(b) IS NOT NULL", "idmint_sno_partition(b) IS NOT NULL",
		"idmint_sno_sequence(b) IS NOT NULL", "idmint_eightbyte_time(e) IS NOT NULL",
		"idmint_decimal_launch(n) IS NOT NULL", "idmint_trace_node(n) IS NOT NULL",
		"idmint_sno_time(toString(b)) IS NOT NULL", "idmint_sno_text(substring(b, 1, 9)) IS NULL",
		"idmint_sno_text(toFixedString('', 10)) IS NULL AND n != 0",
	} {
		for use := range 5 {
			if n := countRows(t, db, "SELECT count() FROM t WHERE "+condition); n != 100 {
				t.Errorf("%s, for the %d. time: %d rows", condition, use+1, n)
			}
		}
	}
}
