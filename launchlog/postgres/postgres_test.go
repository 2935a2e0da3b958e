package postgres_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/idmint/idmint/internal/databases"
	"github.com/idmint/idmint/internal/databases/dbtest"
	"github.com/idmint/idmint/internal/dsn"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) launchlog.Store { return open(t, newDatabase(t)) })
}

// newDatabase makes a database with an empty launch log.
func newDatabase(t testing.TB) dsn.DSN {
	t.Helper()
	d := dbtest.New(t, databases.Postgres)
	if _, _, err := migrations.Up(ctx, openDB(t, d), migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	return d
}

func openDB(t testing.TB, d dsn.DSN) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(t testing.TB, d dsn.DSN) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
