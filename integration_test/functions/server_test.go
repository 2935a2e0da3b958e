package functions_test

import (
	"database/sql"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/functionsuite"
	"github.com/idmint/idmint/sqlid/functions"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var servers = map[functions.Dialect]databases.Kind{
	functions.Postgres: databases.Postgres, functions.MariaDB: databases.MariaDB,
	functions.ClickHouse: databases.ClickHouse,
}

// open opens a database of the test's own that has the functions.
func open(t *testing.T, d functions.Dialect) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, dbtest.New(t, servers[d]))
	if err := functions.Install(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestValues(t *testing.T) {
	for d := range servers {
		t.Run(string(d), func(t *testing.T) {
			functionsuite.Values(t, functionsuite.Database{Dialect: d, DB: open(t, d)})
		})
	}
}
