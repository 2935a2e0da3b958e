package sqlid_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

type User struct{}

type UserID = idtype.Decimal[User]

func openDB(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // another connection would be another database
	t.Cleanup(func() { db.Close() })
	return db
}

// What each domain takes, as SQLite enforces it.
func TestDomains(t *testing.T) {
	all := []struct {
		name  string
		value any
		takes sqlid.Domain // the narrowest domain that takes it; beyond Positive none does
	}{
		{"production", int64(14150009200065), sqlid.Production},
		{"the smallest", int64(10000000001), sqlid.Production},
		{"the largest", int64(9223372029999999999), sqlid.Production},
		{"a test launch", int64(14150009200000), sqlid.Layout},
		{"the smallest of a test", int64(10000000000), sqlid.Layout},
		{"counter 0", int64(9999999999), sqlid.Positive},
		{"counter beyond", int64(9223372030000000000), sqlid.Positive},
		{"auto-incremented", int64(57), sqlid.Positive},
		{"2^63-1", int64(9223372036854775807), sqlid.Positive},
		{"zero", int64(0), sqlid.Positive + 1},
		{"text", "abc", sqlid.Positive + 1},
		{"bytes", []byte("14150009200065"), sqlid.Positive + 1},
		{"a fraction", 14150009200065.5, sqlid.Positive + 1},
		{"negative", int64(-14150009200065), sqlid.Positive + 1},
	}
	for domain, name := range map[sqlid.Domain]string{sqlid.Production: "Production", sqlid.Layout: "Layout", sqlid.Positive: "Positive"} {
		t.Run(name, func(t *testing.T) {
			db := openDB(t)
			key, err := sqlid.Column[UserID]{Name: `the INTEGER "id"`, Domain: domain}.PrimaryKey(sqlid.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			ref, err := sqlid.Column[UserID]{Name: "ref", Domain: domain}.NotNull(sqlid.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			opt, err := sqlid.Column[UserID]{Name: "opt", Domain: domain}.Nullable(sqlid.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("CREATE TABLE t (" + key + ", " + ref + ", " + opt + ") WITHOUT ROWID"); err != nil {
				t.Fatal(err)
			}
			var indexes int
			if err := db.QueryRow("SELECT count(*) FROM pragma_index_list('t') WHERE origin <> 'pk'").Scan(&indexes); err != nil || indexes != 0 {
				t.Errorf("the table has %d indexes beside its key, %v", indexes, err)
			}
			const good = int64(20000000001)
			for _, v := range all {
				for i, args := range [][]any{{v.value, good, nil}, {good + int64(1), v.value, nil}, {good + int64(2), good, v.value}} {
					_, err := db.Exec("INSERT INTO t VALUES (?, ?, ?)", args...)
					if took := err == nil; took != (v.takes <= domain) {
						t.Errorf("%s in column %d: %v", v.name, i, err)
					}
					if _, err := db.Exec("DELETE FROM t"); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := db.Exec("INSERT INTO t VALUES (?, NULL, NULL)", good); err == nil {
				t.Error("NULL was taken by a NOT NULL column")
			}
		})
	}
}

func TestUnknownDialect(t *testing.T) {
	_, err := sqlid.Column[UserID]{Name: "id"}.PrimaryKey("oracle")
	var e *sqlid.DialectError
	if !errors.As(err, &e) || e.Dialect != "oracle" || !strings.Contains(err.Error(), `"oracle"`) {
		t.Errorf("got %v", err)
	}
}

// SQLite must not invent a key: its row number after the largest is an ID of the next launch.
func TestForgottenKey(t *testing.T) {
	for _, end := range []string{"", " WITHOUT ROWID", " STRICT"} {
		db := openDB(t)
		key, err := sqlid.Column[UserID]{Name: "an INTEGER id"}.PrimaryKey(sqlid.SQLite)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE t (" + key + ", name TEXT)" + end + "; INSERT INTO t VALUES (10000000001, 'Ann')"); err != nil {
			t.Fatal(err)
		}
		for _, insert := range []string{"INSERT INTO t (name) VALUES ('Bob')", "INSERT INTO t VALUES (NULL, 'Bob')"} {
			if _, err := db.Exec(insert); err == nil {
				t.Errorf("table%s: SQLite invented a key for %s", end, insert)
			}
		}
	}
}

func ExampleColumn_PrimaryKey() {
	type Order struct{}
	id, err := sqlid.Column[idtype.Decimal[Order]]{Name: "id"}.PrimaryKey(sqlid.SQLite)
	if err != nil {
		panic(err)
	}
	buyer, err := sqlid.Column[UserID]{Name: "buyer"}.Nullable(sqlid.SQLite)
	if err != nil {
		panic(err)
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	_, err = db.Exec("CREATE TABLE orders (" + id + ", " + buyer + " REFERENCES users (id)) WITHOUT ROWID")
	fmt.Println(err)
	// Output: <nil>
}

func TestUnknownDomain(t *testing.T) {
	if check, err := (sqlid.Column[UserID]{Name: "id", Domain: 99}).PrimaryKey(sqlid.SQLite); err == nil || check != "" {
		t.Errorf("got %q, %v", check, err)
	}
}

func TestIn(t *testing.T) {
	db := openDB(t)
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (10000000001), (20000000001), (30000000001)"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		ids  []UserID
		want int
	}{
		{nil, 0},
		{[]UserID{10000000001}, 1},
		{[]UserID{10000000001, 30000000001, 40000000001}, 2},
	} {
		list, args := sqlid.In(test.ids)
		var n int
		if err := db.QueryRow("SELECT count(*) FROM t WHERE id IN "+list, args...).Scan(&n); err != nil || n != test.want {
			t.Errorf("%v: %d rows, %v; want %d", test.ids, n, err, test.want)
		}
	}
	list, args := sqlid.In([]UserID{0})
	if err := db.QueryRow("SELECT 1 FROM t WHERE id IN "+list, args...).Err(); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("a zero among the IDs: %v", err)
	}
}

func TestNull(t *testing.T) {
	db := openDB(t)
	type row struct {
		ID sqlid.Null[UserID] `json:"id"`
	}
	for _, id := range []UserID{0, 14150009200065} {
		in := row{sqlid.NullOf(id)}
		if in.ID.IsZero() != id.IsZero() {
			t.Errorf("%v: IsZero %v", id, in.ID.IsZero())
		}
		var out row
		if err := db.QueryRow("SELECT ?", in.ID).Scan(&out.ID); err != nil || out != in {
			t.Errorf("database: %v, %v; want %v", out, err, in)
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"id":null}`
		if id != 0 {
			want = fmt.Sprintf(`{"id":"%d"}`, int64(id))
		}
		if string(text) != want {
			t.Errorf("JSON %s, want %s", text, want)
		}
		out = row{sqlid.NullOf(UserID(99999999999))} // a stale value must not stay
		if err := json.Unmarshal(text, &out); err != nil || out != in {
			t.Errorf("from JSON: %v, %v; want %v", out, err, in)
		}
	}
	kept := sqlid.NullOf(UserID(14150009200065))
	for _, bad := range []any{int64(0), "x", 1.5, int64(-1)} {
		if err := kept.Scan(bad); err == nil || kept.V != 14150009200065 || !kept.Valid {
			t.Errorf("Scan(%v): %v, and the receiver is %v", bad, err, kept)
		}
	}
	for _, bad := range []string{`"0"`, `1.0`, `true`, `"x"`} {
		if err := json.Unmarshal([]byte(bad), &kept); err == nil || kept.V != 14150009200065 || !kept.Valid {
			t.Errorf("JSON %s: %v, and the receiver is %v", bad, err, kept)
		}
	}
}

func ExampleColumn() {
	type Order struct{}
	key, err := sqlid.Column[idtype.Decimal[Order]]{Name: "id"}.PrimaryKey(sqlid.SQLite)
	fmt.Println(key, err)
	user, err := sqlid.Column[UserID]{Name: "user_id", Domain: sqlid.Positive}.NotNull(sqlid.SQLite)
	fmt.Println(user, err)
	// Output:
	// "id" INT NOT NULL PRIMARY KEY CHECK (typeof("id") IN ('integer', 'null') AND "id" BETWEEN 10000000000 AND 9223372029999999999 AND "id" % 100000 <> 0) <nil>
	// "user_id" INTEGER NOT NULL CHECK (typeof("user_id") IN ('integer', 'null') AND "user_id" > 0) <nil>
}

func ExampleIn() {
	list, args := sqlid.In([]UserID{10000000001, 20000000001})
	fmt.Println("SELECT name FROM users WHERE id IN "+list, args)
	// Output: SELECT name FROM users WHERE id IN (?, ?) [10000000001 20000000001]
}
