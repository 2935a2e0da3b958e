package orms

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/sqlid"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// everywhere runs a test on a database of its own of both kinds.
func everywhere(t *testing.T, test func(t *testing.T, d sqlid.Dialect, db *sql.DB)) {
	t.Run("SQLite", func(t *testing.T) {
		db := dbtest.OpenSource(t, "sqlite3", filepath.Join(t.TempDir(), "shop.db")+"?_fk=1")
		test(t, sqlid.SQLite, db)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		test(t, sqlid.Postgres, dbtest.Open(t, dbtest.New(t, databases.Postgres)))
	})
}

// newDecimal is a generator of launch 1.
func newDecimal(t *testing.T) *generator.Decimal {
	t.Helper()
	launches, err := launchlog.New(memory.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := launches.Start(t.Context(), launchlog.Request{
		Key: "deploy-1", Service: "shop", Environment: "test", Initiator: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := generator.NewDecimal(launches.Generators(launch.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := ids.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ids
}
