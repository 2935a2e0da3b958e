package sqlid_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// A server is a database of each kind by its driver of database/sql.
type server struct {
	dialect sqlid.Dialect
	db      *sql.DB
	end     string // of CREATE TABLE
}

// eachServer runs a test in every kind of database.
func eachServer(t *testing.T, test func(t *testing.T, s server)) {
	t.Run("SQLite", func(t *testing.T) { test(t, server{sqlid.SQLite, openDB(t), " WITHOUT ROWID"}) })
	for dialect, kind := range map[sqlid.Dialect]databases.Kind{sqlid.Postgres: databases.Postgres, sqlid.MariaDB: databases.MariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			d := dbtest.New(t, kind)
			db, err := sql.Open(d.Driver(), d.Source())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			test(t, server{dialect, db, ""})
		})
	}
}

// parameter is the i-th parameter of a statement, from 1 on.
func (s server) parameter(i int) string {
	if s.dialect == sqlid.Postgres {
		return fmt.Sprintf("$%d", i)
	}
	return "?"
}

func (s server) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// tableOf is a table's name for a subtest of one type of IDs. Drivers keep the statements that they prepared, with the types that a
// table of the same name had.
func tableOf(t *testing.T) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, t.Name()[strings.LastIndex(t.Name(), "/")+1:])
}
