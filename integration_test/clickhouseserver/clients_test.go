package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
)

var compressions = map[string]*clickhouse.Compression{
	"none": nil,
	"LZ4":  {Method: clickhouse.CompressionLZ4},
	"ZSTD": {Method: clickhouse.CompressionZSTD},
}

// A pinned connection is one of the server's sessions. A pool of clickhouse-go may open a second
// even where one is the most.
type pinned struct{ *sql.Conn }

func pin(t testing.TB, o *clickhouse.Options) pinned {
	t.Helper()
	db := clickhouse.OpenDB(o)
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(c.Close(), db.Close()) })
	return pinned{c}
}

func (c pinned) Exec(ctx context.Context, query string, args ...any) error {
	_, err := c.ExecContext(ctx, query, args...)
	return err
}

func (c pinned) one(t testing.TB, ctx context.Context, query string) string {
	t.Helper()
	var v string
	if err := c.QueryRowContext(ctx, query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func do(t testing.TB, c interface {
	Exec(ctx context.Context, query string, args ...any) error
}, statements ...string,
) {
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

func ptr[T any](v T) *T { return &v }

// TestTypes sends values of every kind of column there and back, by all ways of compression.
func TestTypes(t *testing.T) {
	p := start(t)
	id := uuid.MustParse("0190a0b0-c0d0-7000-8000-0102030405ff")
	cases := []struct {
		typ    string
		values []any
	}{
		{"Int8", []any{int8(math.MinInt8), int8(0), int8(math.MaxInt8)}},
		{"Int64", []any{int64(math.MinInt64), int64(0), int64(math.MaxInt64)}},
		{"UInt64", []any{uint64(0), uint64(math.MaxUint64), uint64(1)}},
		{"Float64", []any{0.5, -1e300, math.Inf(1)}},
		{"Bool", []any{true, false, true}},
		{"String", []any{"", "a'b\x00\\", strings.Repeat("long ", 1000)}},
		{
			"FixedString(10)",
			[]any{"0123456789", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\xff", "abcdefghij"},
		},
		{"UUID", []any{id, uuid.UUID{}, uuid.Max}},
		{
			"Date",
			[]any{
				time.Unix(0, 0).UTC(), time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
				time.Unix(86400, 0).UTC(),
			},
		},
		{
			"DateTime64(3, 'UTC')",
			[]any{
				time.UnixMilli(1).UTC(), time.UnixMilli(1795000000123).UTC(),
				time.UnixMilli(0).UTC(),
			},
		},
		{"Enum8('a' = 1, 'b,)' = 2)", []any{"a", "b,)", "a"}},
		{"Nullable(Int64)", []any{ptr(int64(1)), (*int64)(nil), ptr(int64(-1))}},
		{"Nullable(String)", []any{(*string)(nil), ptr(""), ptr("x")}},
		{"LowCardinality(String)", []any{"a", "b", "a"}},
		{"LowCardinality(Nullable(String))", []any{ptr("a"), (*string)(nil), ptr("a")}},
		{"Array(Int64)", []any{[]int64{}, []int64{1}, []int64{2, 3}}},
		{
			"Array(Array(String))",
			[]any{[][]string{}, [][]string{{}, {"a"}}, [][]string{{"b", "c"}}},
		},
		{"Array(Nullable(Int64))", []any{[]*int64{nil}, []*int64{}, []*int64{ptr(int64(5)), nil}}},
		{"Array(LowCardinality(String))", []any{[]string{}, []string{}, []string{"a", "a", "b"}}},
		{
			"Map(String, UInt64)",
			[]any{map[string]uint64{}, map[string]uint64{"a": 1}, map[string]uint64{"b": 2}},
		},
		{"Map(LowCardinality(String), Array(Int64))", []any{
			map[string][]int64{}, map[string][]int64{"a": {1}}, map[string][]int64{"b": {}},
		}},
		{"Tuple(a Int64, b String)", []any{
			map[string]any{"a": int64(1), "b": "x"},
			map[string]any{"a": int64(2), "b": ""},
			map[string]any{"a": int64(0), "b": "y"},
		}},
	}
	for name, compression := range compressions {
		o := p.options()
		o.Compression = compression
		c := open(t, o)
		t.Log(c.ServerVersion())
		for _, tt := range cases {
			t.Run(name+"/"+tt.typ, func(t *testing.T) {
				do(t, c, "CREATE OR REPLACE TABLE types (n UInt8, v "+tt.typ+
					") ENGINE = MergeTree ORDER BY n")
				b, err := c.PrepareBatch(t.Context(), "INSERT INTO types")
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range tt.values {
					if err := b.Append(uint8(i), v); err != nil {
						t.Fatal(err)
					}
				}
				if err := b.Send(); err != nil {
					t.Fatal(err)
				}
				rows, err := c.Query(t.Context(), "SELECT v FROM types ORDER BY n")
				if err != nil {
					t.Fatal(err)
				}
				var got []any
				for rows.Next() {
					v := reflect.New(reflect.TypeOf(tt.values[0]))
					if err := rows.Scan(v.Interface()); err != nil {
						t.Fatal(err)
					}
					if at, ok := v.Interface().(*time.Time); ok {
						*at = at.UTC()
					}
					got = append(got, v.Elem().Interface())
				}
				if err := rows.Err(); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, tt.values) {
					t.Errorf("got %v, want %v", got, tt.values)
				}
				if typ := rows.ColumnTypes()[0].DatabaseTypeName(); typ != tt.typ {
					t.Errorf("type %q, want %q", typ, tt.typ)
				}
			})
		}
	}
}

// TestLarge inserts many rows in several blocks and reads them, by all ways of compression.
func TestLarge(t *testing.T) {
	p := start(t)
	for name, compression := range compressions {
		t.Run(name, func(t *testing.T) {
			const rows, blocks = 100_000, 4
			ids, texts := make([]int64, rows/blocks), make([]string, rows/blocks)
			o := p.options()
			o.Compression = compression
			c := open(t, o)
			do(t, c,
				"CREATE OR REPLACE TABLE large (id Int64, s String) ENGINE = MergeTree ORDER BY id")
			b, err := c.PrepareBatch(t.Context(), "INSERT INTO large (id, s) VALUES")
			if err != nil {
				t.Fatal(err)
			}
			for block := range blocks {
				for i := range ids {
					ids[i] = int64(block*len(ids) + i)
					texts[i] = strconv.FormatInt(ids[i], 10)
				}
				err := errors.Join(b.Column(0).Append(ids), b.Column(1).Append(texts), b.Flush())
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Send(); err != nil {
				t.Fatal(err)
			}
			found, err := c.Query(t.Context(), "SELECT id, s FROM large ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for ; found.Next(); n++ {
				var id int64
				var s string
				if err := found.Scan(&id, &s); err != nil {
					t.Fatal(err)
				}
				if id != n || s != strconv.FormatInt(n, 10) {
					t.Fatalf("row %d is %d, %q", n, id, s)
				}
			}
			if err := found.Err(); err != nil || n != rows {
				t.Fatalf("%d rows, %v", n, err)
			}
		})
	}
}

// TestStatementsOfAllKinds executes what is neither a plain SELECT nor an INSERT of blocks.
func TestStatementsOfAllKinds(t *testing.T) {
	p := start(t)
	c := pin(t, p.options()) // which has the temporary table
	for _, tt := range []struct{ before, query, want string }{
		{"", "SELECT 1 + 1", "2"},
		{"", "SELECT currentDatabase();", testDatabase},
		{"", "SELECT 7 FORMAT JSON", "7"},
		{"", "/* why */ SELECT 8 -- so", "8"},
		{"", "WITH 3 AS x SELECT x", "3"},
		{"", "SELECT id FROM t WHERE id > 100", ""},
		{"INSERT INTO t VALUES (1, 'a'), (2, 'b')", "SELECT count() FROM t", "2"},
		{"INSERT INTO t (id) VALUES (3)", "SELECT s FROM t WHERE id = 3", "none"},
		{"INSERT INTO t FORMAT Values (4, 'd')", "SELECT s FROM t WHERE id = 4", "d"},
		{
			`INSERT INTO t FORMAT JSONEachRow {"id": 5, "s": "e"}`, "SELECT s FROM t WHERE id = 5",
			"e",
		},
		{
			"INSERT INTO t SELECT id + 100, s FROM t WHERE id = 4",
			"SELECT s FROM t WHERE id = 104",
			"d",
		},
		{
			"INSERT INTO t (id, s) SETTINGS max_threads = 1 SELECT 6, 'f'",
			"SELECT s FROM t WHERE id = 6", "f",
		},
		{
			"ALTER TABLE t DELETE WHERE id = 6 SETTINGS mutations_sync = 1",
			"SELECT count() FROM t WHERE id = 6", "0",
		},
		{"RENAME TABLE t TO u", "SHOW TABLES", "u"},
		{"RENAME TABLE u TO t", "EXISTS TABLE t", "1"},
		{"CREATE TEMPORARY TABLE temp AS SELECT 9 AS x", "SELECT x FROM temp", "9"},
		{
			"OPTIMIZE TABLE t FINAL", "SELECT count() FROM system.parts WHERE table = 't' " +
				"AND active",
			"1",
		},
		{"", "SHOW TABLES LIKE 'nothing'", ""},
		{"TRUNCATE TABLE t", "SELECT count() FROM t", "0"},
		{"DROP TABLE t SYNC", "SHOW TABLES", ""},
	} {
		if tt.query == "SELECT 1 + 1" {
			do(t, c,
				"CREATE TABLE t (id Int64, s String DEFAULT 'none') ENGINE = MergeTree ORDER BY id")
		}
		if tt.before != "" {
			do(t, c, tt.before)
		}
		rows, err := c.QueryContext(t.Context(), tt.query)
		if err != nil {
			t.Errorf("%s: %v", tt.query, err)
			continue
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for rows.Next() {
			var v any
			if err := rows.Scan(&v); err != nil {
				t.Error(err)
			}
			got = append(got, fmt.Sprint(v))
		}
		if all := strings.Join(got, ","); rows.Err() != nil || all != tt.want || len(columns) != 1 {
			t.Errorf("%s, then %s: %q in columns %q, %v; want %q", tt.before, tt.query, all,
				columns, rows.Err(), tt.want)
		}
	}
}

// TestExceptions wants the codes and messages of the real server, and a connection that goes on.
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
	read := func(query string) error {
		rows, err := c.Query(t.Context(), query)
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		return rows.Err()
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
		{run, "max_threads", 62, "Syntax error"},
		{run, "SELECT 1; SELECT 2", 62, "Syntax error (Multi-statements are not allowed)"},
		{
			read, "SELECT * FROM nope", 60,
			"Unknown table expression identifier 'nope' in scope SELECT * FROM nope",
		},
		{
			read, "SELECT nope FROM t", 47,
			"Unknown expression identifier `nope` in scope SELECT nope FROM t",
		},
		{read, "SELECT throwIf(number = 500000, 'no more') FROM numbers(1000000)", 395, "no more"},
		{read, "SELECT {x:Int64}", 456, "Substitution `x` is not set"},
		{run, "DROP TABLE nope", 60, "does not exist"},
		{run, "CREATE TABLE t (id Int64) ENGINE = MergeTree ORDER BY id", 57, "already exists"},
		{run, "USE nope", 81, "Database nope does not exist"},
		{run, "INSERT INTO t VALUES ('x')", 6, "Cannot parse string 'x' as Int64"},
		{run, "SET no_such = 1", 115, "Unknown setting 'no_such'"},
		{unknown, "", 115, "Unknown setting 'no_such'"},
		{prepare, "INSERT INTO nope", 60, "Table `the db`.nope does not exist"},
		{prepare, "INSERT INTO t (nope)", 16, "No such column nope in table `the db`.t"},
	} {
		err := tt.do(tt.query)
		var x *clickhouse.Exception
		if !errors.As(err, &x) || x.Code != tt.code || !strings.Contains(x.Message, tt.message) ||
			x.Name != "DB::Exception" || strings.Contains(x.Message, "(version") {
			t.Errorf("%s: %v; want code %d: %s", tt.query, err, tt.code, tt.message)
		} else {
			t.Logf("%s: %v", tt.query, x)
		}
		if n := one[uint8](t, c, "SELECT 1"); n != 1 {
			t.Fatalf("after %s the connection gives %d for 1", tt.query, n)
		}
	}
}

func TestParameters(t *testing.T) {
	p := start(t)
	c := open(t, p.options())
	at := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	for _, tt := range []struct {
		typ   string
		value any
		want  string
	}{
		{"Int64", int64(math.MinInt64), "-9223372036854775808"},
		{"UInt64", uint64(math.MaxUint64), "18446744073709551615"},
		{"String", `it's a\b` + "\ttab\n", `it's a\b` + "\ttab\n"},
		{"Array(Int64)", "[1, 2]", "[1,2]"},
		{"DateTime('UTC')", at, "2026-11-21 01:02:03"},
		{"UUID", uuid.Max.String(), uuid.Max.String()},
	} {
		got := one[string](t, c, "SELECT toString({v:"+tt.typ+"})", clickhouse.Named("v", tt.value))
		if got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.typ, tt.value, got, tt.want)
		}
	}
	do(t, c, "CREATE TABLE t (id Int64) ENGINE = MergeTree ORDER BY id")
	ctx := clickhouse.Context(t.Context(),
		clickhouse.WithParameters(clickhouse.Parameters{"table": "t", "id": "42"}))
	if err := c.Exec(ctx, "INSERT INTO {table:Identifier} SELECT {id:Int64}"); err != nil {
		t.Fatal(err)
	}
	if id := one[int64](t, c, "SELECT id FROM t"); id != 42 {
		t.Errorf("inserted %d", id)
	}
	n := one[uint64](t, c, "SELECT count() FROM t WHERE id = ? AND id IN (?)", 42, []int64{42, 43})
	if n != 1 {
		t.Errorf("%d rows by parameters of the client", n)
	}
}

// TestSettings: those of a query end with it, those of SET stay, those of the connection are always
// there.
func TestSettings(t *testing.T) {
	p := start(t)
	o := p.options()
	o.Settings = clickhouse.Settings{"max_block_size": 4321}
	c := pin(t, o)
	with := func(s clickhouse.Settings) context.Context {
		return clickhouse.Context(t.Context(), clickhouse.WithSettings(s))
	}
	get := func(ctx context.Context) string {
		return c.one(t, ctx, "SELECT concat(getSetting('max_block_size')::String, ' ', "+
			"getSetting('max_threads')::String)")
	}
	usual := get(t.Context()) // of threads as many as the machine has
	_, threads, _ := strings.Cut(usual, " ")
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("of the connection", usual, "4321 "+threads)
	check("of a query", get(with(clickhouse.Settings{"max_threads": 7})), "4321 7")
	check("after it", get(t.Context()), usual)
	check("over the connection's", get(with(clickhouse.Settings{"max_block_size": 99})), "99 "+
		threads)
	do(t, c, "SET max_threads = 5")
	check("by SET", get(t.Context()), "4321 5")
	check("of a query over SET", get(with(clickhouse.Settings{"max_threads": 6})), "4321 6")
	check("after a query over SET", get(t.Context()), "4321 5")
	err := c.Exec(with(clickhouse.Settings{"readonly": 1, "max_threads": 3}),
		"CREATE TABLE t (id Int64) ENGINE = Memory")
	if err == nil {
		t.Error("a table made under readonly")
	}
	do(t, c, "CREATE TABLE t (id Int64) ENGINE = Memory")
	check("after readonly", get(t.Context()), "4321 5")
}

// TestSessions: each connection has a database of its own.
func TestSessions(t *testing.T) {
	p := start(t)
	a := pin(t, p.options())
	without := p.options()
	without.Auth.Database = ""
	b := pin(t, without)
	do(t, a, "CREATE DATABASE other", "USE other", "CREATE TABLE t (id Int64) ENGINE = Memory",
		"INSERT INTO t VALUES (1)")
	for _, tt := range []struct {
		c    pinned
		want string
	}{{a, "other"}, {b, "default"}, {pin(t, p.options()), testDatabase}} {
		if got := tt.c.one(t, t.Context(), "SELECT currentDatabase()"); got != tt.want {
			t.Errorf("database %q, want %q", got, tt.want)
		}
	}
	if err := b.Exec(t.Context(), "SELECT * FROM t"); err == nil {
		t.Error("a table of another connection's database")
	}
	for _, tt := range []struct {
		user, password, database string
		code                     int32
	}{
		{testUser, "wrong", testDatabase, 516},
		{"nobody", testPassword, testDatabase, 516},
		{"", "", testDatabase, 516},
		{testUser, testPassword, "nope", 81},
	} {
		o := p.options()
		o.Auth = clickhouse.Auth{Username: tt.user, Password: tt.password, Database: tt.database}
		err := open(t, o).Ping(t.Context())
		var x *clickhouse.Exception
		if !errors.As(err, &x) || x.Code != tt.code {
			t.Errorf("%+v: %v", tt, err)
		} else {
			t.Log(x)
		}
	}
}
