package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	chproto "github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

var idAndText = []column{{"id", "Int64"}, {"s", "LowCardinality(Nullable(String))"}}

// rowsOf answers with rows in the format that is asked for.
func rowsOf(
	t testing.TB, columns []column, rows ...[]any,
) func([]string, string, []parameter) ([]byte, error) {
	return func(_ []string, format string, _ []parameter) ([]byte, error) {
		if format == "TabSeparatedWithNamesAndTypes" {
			var names, types []string
			for _, c := range columns {
				names, types = append(names, c.name), append(types, c.typ)
			}
			return []byte(strings.Join(names, "\t") + "\n" + strings.Join(types, "\t") + "\n"), nil
		}
		if len(rows) == 0 {
			return nil, nil
		}
		return native(t, columns, rows...), nil
	}
}

func fails(code int, message string) func([]string, string, []parameter) ([]byte, error) {
	return func([]string, string, []parameter) ([]byte, error) {
		return nil, &exception{code, message}
	}
}

func TestHello(t *testing.T) {
	_, s, o := serveFake(t, answer{"USE `nope`", fails(81, "Database nope does not exist")})
	for _, tt := range []struct {
		user, password, database string
		code                     int32
	}{
		{testUser, testPassword, testDatabase, 0},
		{testUser, testPassword, "", 0},
		{testUser, testPassword, "nope", 81},
		{testUser, "", testDatabase, 516},
		{"x", testPassword, testDatabase, 516},
	} {
		o := *o
		o.Auth = clickhouse.Auth{Username: tt.user, Password: tt.password, Database: tt.database}
		c := open(t, &o)
		v, err := c.ServerVersion()
		var x *clickhouse.Exception
		if errors.As(err, &x) && x.Code != tt.code || (err == nil) != (tt.code == 0) {
			t.Errorf("%+v: %v", tt, err)
		}
		if err == nil && (v.Name != serverName ||
			v.Version != (chproto.Version{Major: 26, Minor: 5, Patch: 1}) ||
			v.Timezone != time.UTC) {
			t.Errorf("the server is %v", v)
		}
	}
	old := proto.ClientHello{
		Name: "old", ProtocolVersion: revision - 1, User: testUser,
		Password: testPassword,
	}
	var b proto.Buffer
	old.Encode(&b)
	conn, err := net.Dial("tcp", o.Addr[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(b.Buf); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil ||
		!bytes.Contains(answer, []byte("from revision 54460 on")) {
		t.Errorf("to an old client: %q, %v", answer, err)
	}
	if s.version != (version{26, 5, 1, "UTC"}) {
		t.Errorf("version %+v", s.version)
	}
}

// TestQueries: results, exceptions and pings over the wire, by all ways of compression.
func TestQueries(t *testing.T) {
	var text any = "a"
	_, _, o := serveFake(t,
		answer{"SELECT rows", rowsOf(t, idAndText, []any{int64(1), text}, []any{int64(2), nil})},
		answer{"SELECT nothing", rowsOf(t, idAndText)},
		answer{"SELECT blocks", func([]string, string, []parameter) ([]byte, error) {
			b := native(t, idAndText, []any{int64(1), text})
			return append(b, bytes.Repeat(
				native(t, idAndText, []any{int64(2), text}, []any{int64(3), nil}), 1000,
			)...), nil
		}},
		answer{"SELECT .x:String.", func(_ []string, _ string, p []parameter) ([]byte, error) {
			return native(t, []column{{"x", "String"}}, []any{p[0].name + "=" + p[0].value}), nil
		}},
		answer{"SELECT broken", func([]string, string, []parameter) ([]byte, error) {
			return native(t, idAndText, []any{int64(1), text})[:20], nil
		}},
		answer{"SELECT odd", func([]string, string, []parameter) ([]byte, error) {
			return append([]byte{1, 1, 1, 'v', 13}, "Variant(Int8)what it may be"...), nil
		}},
		answer{"FAIL", fails(395, "it's wrong")},
	)
	for name, compression := range compressions {
		o := *o
		o.Compression = compression
		c := open(t, &o)
		for _, tt := range []struct {
			query string
			rows  int
			args  []any
			code  int32
			err   string
		}{
			{query: "SELECT rows", rows: 2},
			{query: "SELECT nothing"},
			{query: "SELECT blocks FORMAT JSON;", rows: 2001},
			{query: "SELECT {x:String}", args: []any{clickhouse.Named("x", "it's\n")}, rows: 1},
			{query: "FAIL", code: 395, err: "it's wrong"},
			{query: "SELECT 1; SELECT 2", code: 62, err: "Multi-statements are not allowed"},
			{query: "SELECT odd", code: 48, err: "is not one that the stand-in carries"},
			{query: "SELECT broken", err: "unexpected EOF"},
		} {
			var read uint64
			ctx := clickhouse.Context(t.Context(),
				clickhouse.WithProgress(func(p *clickhouse.Progress) {
					read += p.Rows
				}))
			rows, err := c.Query(ctx, tt.query, tt.args...)
			n := 0
			if err == nil {
				for rows.Next() {
					n++
				}
				err = rows.Err()
			}
			if tt.err != "" {
				var x *clickhouse.Exception
				if !errors.As(err, &x) || tt.code != 0 && x.Code != tt.code ||
					!strings.Contains(x.Message, tt.err) {
					t.Errorf("%s, %s: %v, want %d %s", name, tt.query, err, tt.code, tt.err)
				}
			} else if err != nil || n != tt.rows || read != 7 || len(rows.Columns()) == 0 {
				t.Errorf("%s, %s: %d rows, %d read, %v", name, tt.query, n, read, err)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("%s, after %s: %v", name, tt.query, err)
			}
		}
		got := one[string](t, c, "SELECT {x:String}", clickhouse.Named("x", `it's\`+"\n"))
		if got != `x=it's\\\n` {
			t.Errorf("the engine gets the parameter %q", got)
		}
	}
}

// TestInserts: what the engine finds in the file is what the client sent.
func TestInserts(t *testing.T) {
	var got [][]any
	insert := func(m []string, _ string, _ []parameter) ([]byte, error) {
		data, err := os.ReadFile(m[1])
		if err != nil {
			return nil, err
		}
		for r := bytes.NewReader(data); r.Len() > 0; {
			b := chproto.NewBlock()
			if err := b.Decode(proto.NewReader(oneBlock{r}), 0); err != nil {
				return nil, err
			}
			for i := range b.Rows() {
				got = append(got, []any{b.Columns[0].Row(i, false), b.Columns[1].Row(i, true)})
			}
		}
		return nil, nil
	}
	e, s, o := serveFake(t,
		answer{"SELECT id, s FROM t LIMIT 0", rowsOf(t, idAndText)},
		answer{"SELECT . FROM unknown LIMIT 0", fails(60, "Unknown table expression")},
		answer{"INSERT INTO unknown .*null.*", fails(60, "Table unknown does not exist")},
		answer{"SELECT . FROM full LIMIT 0", rowsOf(t, idAndText)},
		answer{"INSERT INTO full *SELECT .*", fails(243, "Cannot reserve")},
		answer{`INSERT INTO t \(id, s\)\s+SELECT \* FROM file\('(.*)', 'Native'\)`, insert},
	)
	for name, compression := range compressions {
		o := *o
		o.Compression = compression
		c := open(t, &o)
		for _, blocks := range [][]int{{}, {1}, {3, 1, 20000}} {
			got = nil
			e.statements()
			b, err := c.PrepareBatch(t.Context(), "INSERT INTO t (id, s) VALUES")
			if err != nil {
				t.Fatal(err)
			}
			var want [][]any
			for _, rows := range blocks {
				for range rows {
					row := []any{int64(len(want)), new(fmt.Sprint(len(want)))}
					if err := b.Append(row...); err != nil {
						t.Fatal(err)
					}
					want = append(want, row)
				}
				if err := b.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Send(); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) || !slices.EqualFunc(got, want, func(a, b []any) bool {
				return a[0] == b[0] && *a[1].(*string) == *b[1].(*string)
			}) {
				t.Errorf("%s: %d rows reach the engine of %d in blocks of %v", name, len(got),
					len(want), blocks)
			}
			t.Logf("%s: blocks of %v, statements %q", name, blocks, e.statements())
		}
		for table, want := range map[string]string{
			"unknown": "Table unknown does not exist",
			"full":    "Cannot reserve",
		} {
			b, err := c.PrepareBatch(t.Context(), "INSERT INTO "+table)
			if err == nil {
				err = errors.Join(b.Append(int64(1), "x"), b.Send())
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", table, err)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("after %s: %v", table, err)
			}
		}
		if left, err := filepath.Glob(filepath.Join(s.insertDir, "*")); err != nil ||
			len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// oneBlock keeps the decoder's buffer from taking more than a byte that it needs.
type oneBlock struct{ *bytes.Reader }

func (r oneBlock) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

func TestSettingsOfQueries(t *testing.T) {
	e, _, o := serveFake(t,
		answer{"SELECT 1", rowsOf(t, []column{{"1", "UInt8"}}, []any{uint8(1)})},
		answer{
			"SELECT name, value, changed FROM system.settings .*",
			func(m []string, _ string, _ []parameter) ([]byte, error) {
				var known []byte
				for name, line := range map[string]string{
					"'a'": "a\tit\\'s\t1\n",
					"'b'": "b\t2\t0\n",
				} {
					if strings.Contains(m[0], name) {
						known = append(known, line...)
					}
				}
				return known, nil
			},
		},
		answer{"SET `bad` = 'x'", fails(115, "Unknown setting")},
	)
	c := open(t, o)
	const ask = "SELECT name, value, changed FROM system.settings WHERE name IN "
	for _, tt := range []struct {
		settings clickhouse.Settings
		query    string
		want     []string
	}{
		{nil, "SELECT 1", []string{"SELECT 1"}},
		{
			clickhouse.Settings{"a": "b'c"},
			"SELECT 1",
			[]string{ask + "('a')", `SET ` + "`a`" + ` = 'b\'c'`, "SELECT 1"},
		},
		{clickhouse.Settings{"a": "b'c"}, "SELECT 1", []string{"SELECT 1"}},
		{
			clickhouse.Settings{"b": 3},
			"SELECT 1",
			[]string{"SET `a` = 'it\\'s'", ask + "('b')", "SET `b` = '3'", "SELECT 1"},
		},
		{clickhouse.Settings{"b": 3}, "SET b = 4", []string{"SET `b` = DEFAULT", "SET b = 4"}},
		{clickhouse.Settings{"bad": "x"}, "SELECT 1", []string{ask + "('bad')", "SET `bad` = 'x'"}},
		{nil, "SELECT 1", []string{"SELECT 1"}},
		{
			clickhouse.Settings{"a": clickhouse.CustomSetting{Value: "new"}},
			"SELECT 1",
			[]string{ask + "('a')", "SET `a` = 'new'", "SELECT 1"},
		},
	} {
		e.statements()
		err := c.Exec(clickhouse.Context(t.Context(), clickhouse.WithSettings(tt.settings)),
			tt.query)
		got := slices.DeleteFunc(e.statements(), func(s string) bool {
			return s == "USE `the db`" || strings.Contains(s, "implicit_select")
		})
		bad := len(tt.settings) > 0 && tt.settings["bad"] != nil
		if (err != nil) != bad || !slices.Equal(got, tt.want) {
			t.Errorf("%v, %s: %q, %v; want %q", tt.settings, tt.query, got, err, tt.want)
		}
	}
}
