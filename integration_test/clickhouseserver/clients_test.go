package main

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func do(t testing.TB, c driver.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := c.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// one returns the only value of a query.
func one[T any](t testing.TB, c driver.Conn, query string, args ...any) (v T) {
	t.Helper()
	if err := c.QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// TestStatementsOfAllKinds executes what is neither a plain SELECT nor an INSERT of blocks.
func TestStatementsOfAllKinds(t *testing.T) {
	p := start(t)
	c := open(t, p.options())
	do(t, c, "CREATE TABLE t (id Int64, s String DEFAULT 'none') ENGINE = MergeTree ORDER BY id")
	for _, tt := range []struct{ before, query, want string }{
		{"", "SELECT currentDatabase();", testDatabase},
		{"", "SELECT '7' FORMAT JSON", "7"},
		{"", "/* why */ SELECT '8' -- so", "8"},
		{"", "WITH '3' AS x SELECT x", "3"},
		{"INSERT INTO t VALUES (1, 'a'), (2, 'b')", "SELECT count()::String FROM t", "2"},
		{"INSERT INTO t (id) VALUES (3)", "SELECT s FROM t WHERE id = 3", "none"},
		{"INSERT INTO t FORMAT Values (4, 'd')", "SELECT s FROM t WHERE id = 4", "d"},
		{"INSERT INTO t SELECT id + 100, s FROM t WHERE id = 4", "SELECT s FROM t WHERE id = 104", "d"},
		{
			"INSERT INTO t (id, s) SETTINGS max_threads = 1 SELECT 6, 'f'",
			"SELECT s FROM t WHERE id = 6", "f",
		},
		{"RENAME TABLE t TO u", "SHOW TABLES", "u"},
		{"OPTIMIZE TABLE u FINAL", "SELECT count()::String FROM u", "6"},
	} {
		if tt.before != "" {
			do(t, c, tt.before)
		}
		if got := one[string](t, c, tt.query); got != tt.want {
			t.Errorf("%s, then %s: %q, want %q", tt.before, tt.query, got, tt.want)
		}
	}
	// A result without rows has its columns.
	rows, err := c.Query(t.Context(), "SELECT id FROM u WHERE id > 1000")
	if err != nil || rows.Next() || len(rows.Columns()) != 1 || rows.Close() != nil {
		t.Errorf("no rows: %v", err)
	}
	// NULL by itself has no type.
	for range 2 {
		if got := one[*string](t, c, "SELECT NULL"); got != nil {
			t.Errorf("NULL is %s", *got)
		}
	}
	// Parameters, of the protocol and of the client.
	at := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	for typ, v := range map[string][2]any{
		"Int64":           {int64(math.MinInt64), "-9223372036854775808"},
		"String":          {`it's a\b` + "\ttab\n", `it's a\b` + "\ttab\n"},
		"Array(Int64)":    {"[1, 2]", "[1,2]"},
		"DateTime('UTC')": {at, "2026-11-21 01:02:03"},
	} {
		got := one[string](t, c, "SELECT toString({v:"+typ+"})", clickhouse.Named("v", v[0]))
		if got != v[1] {
			t.Errorf("%s %v: %q, want %q", typ, v[0], got, v[1])
		}
	}
	n := one[uint64](t, c, "SELECT count() FROM u WHERE id = ? AND id IN (?)", 4, []int64{4, 5})
	if n != 1 {
		t.Errorf("%d rows by parameters of the client", n)
	}
}

// TestExceptions wants the codes and messages of the engine, and a connection that goes on.
func TestExceptions(t *testing.T) {
	p := start(t)
	o := p.options()
	o.MaxOpenConns = 1
	c := open(t, o)
	do(t, c, "CREATE TABLE t (id Int64) ENGINE = MergeTree ORDER BY id")
	run := func(query string) error { return c.Exec(t.Context(), query) }
	prepare := func(query string) error {
		_, err := c.PrepareBatch(t.Context(), query)
		return err
	}
	unknown := func(string) error {
		setting := clickhouse.WithSettings(clickhouse.Settings{"no_such": 1})
		return c.Exec(clickhouse.Context(t.Context(), setting), "SELECT 1")
	}
	for _, tt := range []struct {
		do      func(string) error
		query   string
		code    int32
		message string
	}{
		{run, "SELEC 1", 62, "Syntax error: failed at position 1 (SELEC)"},
		{run, "SELECT 1; SELECT 2", 62, "Syntax error (Multi-statements are not allowed)"},
		{
			run, "SELECT * FROM nope", 60,
			"Unknown table expression identifier 'nope' in scope SELECT * FROM nope",
		},
		{run, "SELECT throwIf(number = 500000, 'no more') FROM numbers(1000000)", 395, "no more"},
		{run, "SELECT {x:Int64}", 456, "Substitution `x` is not set"},
		{run, "CREATE TABLE t (id Int64) ENGINE = MergeTree ORDER BY id", 57, "already exists"},
		{run, "INSERT INTO t VALUES ('x')", 6, "Cannot parse string 'x' as Int64"},
		{run, "SELECT sumState(1)", codeNotImplemented, "AggregateFunction(sum, UInt8)"},
		{unknown, "", 115, "Unknown setting 'no_such'"},
		{prepare, "INSERT INTO nope", 60, "Unknown table expression identifier 'nope'"},
		{prepare, "INSERT INTO t (nope)", 47, "Unknown expression identifier `nope`"},
	} {
		err := tt.do(tt.query)
		var x *clickhouse.Exception
		if !errors.As(err, &x) || x.Code != tt.code || !strings.Contains(x.Message, tt.message) ||
			x.Name != "DB::Exception" || strings.Contains(x.Message, "(version") {
			t.Errorf("%s: %v; want code %d: %s", tt.query, err, tt.code, tt.message)
		}
		if n := one[uint8](t, c, "SELECT 1"); n != 1 {
			t.Fatalf("after %s the connection gives %d for 1", tt.query, n)
		}
	}
}

// TestSessions: the settings of a query end with it, each connection has a database of its own, and
// nobody else comes in.
func TestSessions(t *testing.T) {
	p := start(t)
	o := p.options()
	o.MaxOpenConns = 1
	c := open(t, o)
	const query = "SELECT toInt64(getSetting('max_block_size'))"
	usual := one[int64](t, c, query)
	for _, s := range []clickhouse.Settings{{"max_block_size": 7, "readonly": 1}, {"max_block_size": 9}} {
		var got int64
		ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(s))
		if err := c.QueryRow(ctx, query).Scan(&got); err != nil || got != int64(s["max_block_size"].(int)) {
			t.Errorf("%v: %d, %v", s, got, err)
		}
	}
	if got := one[int64](t, c, query); got != usual {
		t.Errorf("after a query with settings: %d, want %d", got, usual)
	}
	for _, tt := range []struct {
		user, password, database string
		code                     int32
	}{
		{testUser, testPassword, "", 0},
		{testUser, "wrong", testDatabase, 516},
		{"nobody", testPassword, testDatabase, 516},
		{"", "", testDatabase, 516},
		{testUser, testPassword, "nope", 81},
	} {
		o := p.options()
		o.Auth = clickhouse.Auth{Username: tt.user, Password: tt.password, Database: tt.database}
		err := open(t, o).Ping(t.Context())
		x := &clickhouse.Exception{}
		if err != nil && !errors.As(err, &x) || x.Code != tt.code {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
