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

func TestNoColumn(t *testing.T) {
	_, err := sqlid.Column[idtype.Sno[idtype.AsUUID[User]]]{Name: "id"}.PrimaryKey(sqlid.MySQL)
	var e *sqlid.StorageError
	if !errors.As(err, &e) || e.Storage != idtype.StorageUUID ||
		!strings.Contains(err.Error(), "mysql") || !strings.Contains(err.Error(), "uuid") {
		t.Errorf("got %v", err)
	}
	// In all else MySQL has MariaDB's columns, which are tested there.
	for name, columns := range map[string]func(sqlid.Dialect) (string, error){
		"decimal":   sqlid.Column[UserID]{Name: "id"}.PrimaryKey,
		"eightbyte": sqlid.Column[idtype.EightByteID]{Name: "id"}.NotNull,
		"text":      sqlid.Column[idtype.Sno[idtype.AsText[User]]]{Name: "id"}.Nullable,
	} {
		mysql, err := columns(sqlid.MySQL)
		mariadb, errMariaDB := columns(sqlid.MariaDB)
		if mysql != mariadb || err != nil || errMariaDB != nil || mysql == "" {
			t.Errorf("%s: %s, %v; in MariaDB %s, %v", name, mysql, err, mariadb, errMariaDB)
		}
	}
}

// Tiny is a scheme that this package was not told of: as an integer, and in bytes.
type (
	tinyNumber struct{ idtype.SequenceID }
	tinyBytes  struct{ idtype.SnoID }
)

func (tinyNumber) Scheme() idtype.Scheme { return "tiny" }
func (tinyBytes) Scheme() idtype.Scheme  { return "tiny" }

func TestUnknownScheme(t *testing.T) {
	for name, definition := range map[string]func(sqlid.Dialect) (string, error){
		"number":           sqlid.Column[tinyNumber]{Name: "id"}.PrimaryKey,
		"positive number":  sqlid.Column[tinyNumber]{Name: "id", Domain: sqlid.Positive}.Check,
		"bytes, the check": sqlid.Column[tinyBytes]{Name: "id"}.Check,
		"bytes, the type":  sqlid.Column[tinyBytes]{Name: "id"}.Type,
	} {
		got, err := definition(sqlid.MySQL)
		var e *sqlid.SchemeError
		if got != "" || !errors.As(err, &e) || e.Scheme != "tiny" ||
			!strings.Contains(err.Error(), `"tiny"`) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	got, err := sqlid.Column[tinyNumber]{Name: "id"}.Type(sqlid.MySQL)
	if got != "BIGINT" || err != nil { // whatever the scheme, 63 bits fit
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnknownDialect(t *testing.T) {
	_, err := sqlid.Column[UserID]{Name: "id"}.PrimaryKey("oracle")
	var e *sqlid.DialectError
	if !errors.As(err, &e) || e.Dialect != "oracle" || !strings.Contains(err.Error(), `"oracle"`) {
		t.Errorf("got %v", err)
	}
}

// A form in which IDs of a scheme are not stored has no column.
func TestAnyColumn(t *testing.T) {
	for _, c := range []sqlid.AnyColumn{
		{Scheme: idtype.SchemeSno, Storage: idtype.StorageBigint},
		{Scheme: idtype.SchemeEightByte, Storage: idtype.StorageText},
		{Scheme: idtype.SchemeEightByte, Storage: idtype.StorageUUID},
		{Scheme: idtype.SchemeDecimal, Storage: idtype.StorageBytes},
		{Scheme: idtype.SchemeDecimal, Storage: idtype.StorageText},
		{Scheme: idtype.SchemeShort, Storage: "words"},
	} {
		c.Name = "id"
		got, err := c.NotNull(sqlid.Postgres)
		var e *sqlid.StorageError
		if got != "" || !errors.As(err, &e) || e.Storage != c.Storage {
			t.Errorf("%v: %q, %v", c, got, err)
		}
	}
	got, err := sqlid.AnyColumn{
		Scheme: idtype.SchemeSno, Storage: idtype.StorageText, Name: "id",
	}.Nullable(sqlid.MariaDB)
	want := sqlid.Must(sqlid.Column[idtype.Sno[idtype.AsText[User]]]{Name: "id"}.Nullable(sqlid.MariaDB))
	if err != nil || got != want || !strings.Contains(got, "'2222222222222222'") {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestMust(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.As(err, new(*sqlid.DialectError)) {
			t.Errorf("panic: %v", err)
		}
	}()
	sqlid.Must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey("oracle"))
}

// Definitions that a program has in its text need no error.
var userKey = sqlid.Must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.Postgres))

func ExampleMust() {
	fmt.Println("CREATE TABLE users (" + userKey + ")")
	// Output: CREATE TABLE users ("id" BIGINT NOT NULL PRIMARY KEY CHECK ("id" BETWEEN 10000000000 AND 9223372029999999999 AND "id" % 100000 <> 0))
}

// SQLite must not invent a key: its row number after the largest is an ID of the next launch.
func TestForgottenKey(t *testing.T) {
	for _, end := range []string{"", " WITHOUT ROWID", " STRICT"} {
		db := openDB(t)
		key, err := sqlid.Column[UserID]{Name: "an INTEGER id"}.PrimaryKey(sqlid.SQLite)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("CREATE TABLE t (" + key + ", name TEXT)" + end +
			"; INSERT INTO t VALUES (10000000001, 'Ann')")
		if err != nil {
			t.Fatal(err)
		}
		for _, insert := range []string{
			"INSERT INTO t (name) VALUES ('Bob')", "INSERT INTO t VALUES (NULL, 'Bob')",
		} {
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
	_, err = db.Exec("CREATE TABLE orders (" + id + ", " + buyer +
		" REFERENCES users (id)) WITHOUT ROWID")
	fmt.Println(err)
	// Output: <nil>
}

func TestUnknownDomain(t *testing.T) {
	check, err := sqlid.Column[UserID]{Name: "id", Domain: 99}.PrimaryKey(sqlid.SQLite)
	const want = `sqlid: column "id": unknown domain 99: want Production, Layout, Positive or Number`
	if err == nil || err.Error() != want || check != "" {
		t.Errorf("got %q, %v\nwant %s", check, err, want)
	}
	check, err = sqlid.Column[idtype.SnoID]{Name: "id", Domain: sqlid.Number}.Check(sqlid.SQLite)
	if err == nil || !strings.Contains(err.Error(), "sno IDs are bytes") || check != "" {
		t.Errorf("Number of bytes: %q, %v", check, err)
	}
}

func TestNoName(t *testing.T) {
	for _, d := range []sqlid.Dialect{sqlid.SQLite, sqlid.Postgres, sqlid.MySQL, sqlid.MariaDB} {
		for _, define := range []func(sqlid.Dialect) (string, error){
			sqlid.Column[UserID]{}.PrimaryKey, sqlid.Column[UserID]{}.NotNull,
			sqlid.Column[UserID]{}.Nullable, sqlid.Column[UserID]{}.Check,
		} {
			text, err := define(d)
			const want = "sqlid: the column has no name: set the field Name"
			if err == nil || err.Error() != want || text != "" {
				t.Errorf("%s: %q, %v", d, text, err)
			}
		}
	}
}

func TestIn(t *testing.T) {
	db := openDB(t)
	_, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY); " +
		"INSERT INTO t VALUES (10000000001), (20000000001), (30000000001)")
	if err != nil {
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
		err := db.QueryRow("SELECT count(*) FROM t WHERE id IN "+list, args...).Scan(&n)
		if err != nil || n != test.want {
			t.Errorf("%v: %d rows, %v; want %d", test.ids, n, err, test.want)
		}
	}
	list, args := sqlid.In([]UserID{0})
	err = db.QueryRow("SELECT 1 FROM t WHERE id IN "+list, args...).Err()
	if !errors.Is(err, idtype.ErrZero) {
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
		err := json.Unmarshal([]byte(bad), &kept)
		if err == nil || kept.V != 14150009200065 || !kept.Valid {
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

// The same key in the databases that sqlid knows.
func ExampleDialect() {
	type Event struct{}
	for _, d := range []sqlid.Dialect{sqlid.SQLite, sqlid.Postgres, sqlid.MySQL, sqlid.MariaDB} {
		key, err := sqlid.Column[idtype.Sno[Event]]{Name: "id"}.PrimaryKey(d)
		fmt.Println(key, err)
	}
	_, err := sqlid.Column[idtype.Sno[idtype.AsUUID[Event]]]{Name: "id"}.PrimaryKey(sqlid.MySQL)
	fmt.Println(err)
	// Output:
	// "id" BLOB NOT NULL PRIMARY KEY CHECK (typeof("id") IN ('blob', 'null') AND length("id") = 10 AND "id" <> zeroblob(10)) <nil>
	// "id" BYTEA NOT NULL PRIMARY KEY CHECK (octet_length("id") = 10 AND "id" <> '\x00000000000000000000') <nil>
	// `id` BINARY(10) NOT NULL PRIMARY KEY CHECK (`id` <> X'00000000000000000000') <nil>
	// `id` BINARY(10) NOT NULL PRIMARY KEY CHECK (`id` <> X'00000000000000000000') <nil>
	// sqlid: mysql has no column type for IDs as uuid: declare the key with another form
}

func ExampleInNumbered() {
	list, args := sqlid.InNumbered(2, []UserID{10000000001, 20000000001})
	fmt.Println("SELECT name FROM users WHERE team = $1 AND id IN "+list, args)
	// Output: SELECT name FROM users WHERE team = $1 AND id IN ($2, $3) [10000000001 20000000001]
}

func ExampleIn() {
	list, args := sqlid.In([]UserID{10000000001, 20000000001})
	fmt.Println("SELECT name FROM users WHERE id IN "+list, args)
	// Output: SELECT name FROM users WHERE id IN (?, ?) [10000000001 20000000001]
}
