// Package sqlsuite has the tests of package sqlid for any database. They ask what its columns take,
// refuse and sort, and how IDs travel by a driver of database/sql. Package sqlid runs them in
// SQLite, and integration_test/adapters on servers.
package sqlsuite

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

type User struct{}

type UserID = idtype.Decimal[User]

// A Database is an empty database of one dialect, by its driver of database/sql.
type Database struct {
	Dialect sqlid.Dialect
	DB      *sql.DB
	End     string // of CREATE TABLE
}

// Columns holds that a column takes the values of its domain and no others.
func Columns(t *testing.T, s Database) {
	for name, test := range map[string]func(*testing.T, Database){
		"Definitions":      testDefinitions,
		"Schemes":          testSchemes,
		"UUIDOrder":        testUUIDOrder,
		"TextsWithoutCase": testTextsWithoutCase,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// parameter is the i-th parameter of a statement, from 1 on.
func (s Database) parameter(i int) string {
	if s.Dialect == sqlid.Postgres {
		return fmt.Sprintf("$%d", i)
	}
	return "?"
}

func (s Database) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.DB.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// tableOf is a table's name for a subtest of one type of IDs. Drivers keep the statements that they
// prepared, with the types that a table of the same name had.
func tableOf(t *testing.T) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, t.Name()[strings.LastIndex(t.Name(), "/")+1:])
}

// A column holds its domain as a key, as a foreign key and as an optional one; SQLite makes no
// index of the check.
func testDefinitions(t *testing.T, s Database) {
	const id, good, test = "the INTEGER `\"id\"`", int64(20000000001), int64(20000000000)
	key, err := sqlid.Column[UserID]{Name: id}.PrimaryKey(s.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := sqlid.Column[UserID]{Name: "ref", Domain: sqlid.Layout}.NotNull(s.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	opt, err := sqlid.Column[UserID]{Name: "opt"}.Nullable(s.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, "CREATE TABLE t ("+key+", "+ref+", "+opt+")"+s.End)
	for _, row := range []struct {
		args []any
		took bool
	}{
		{[]any{good, good, good}, true},
		{[]any{good + 1, test, nil}, true},
		{[]any{good, good, nil}, false}, // a second time
		{[]any{test, good, nil}, false},
		{[]any{good + 2, 0, nil}, false},
		{[]any{good + 2, good, test}, false},
		{[]any{good + 2, nil, nil}, false},
		{[]any{nil, good, nil}, false},
	} {
		list, args := "("+s.parameter(1)+", "+s.parameter(2)+", "+s.parameter(3)+")", row.args
		if _, err := s.DB.Exec("INSERT INTO t VALUES "+list, args...); (err == nil) != row.took {
			t.Errorf("%v: %v", row.args, err)
		}
	}
	if _, err := s.DB.Exec("INSERT INTO t (ref) VALUES ("+s.parameter(1)+")", good); err == nil {
		t.Error("a row without a key was taken")
	}
	var got UserID
	if err := s.DB.QueryRow("SELECT min(" + s.Dialect.Quote(id) +
		") FROM t").Scan(&got); err != nil || got != UserID(good) {
		t.Errorf("the first key is %v, %v", got, err)
	}
	if s.Dialect == sqlid.SQLite {
		var indexes int
		err := s.DB.QueryRow("SELECT count(*) FROM pragma_index_list('t') WHERE origin <> 'pk'").
			Scan(&indexes)
		if err != nil || indexes != 0 {
			t.Errorf("the table has %d indexes beside its key, %v", indexes, err)
		}
	}
}
