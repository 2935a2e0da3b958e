package postgres_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	subprocess.Work(storesuite.Workers(func(source string) (launchlog.Store, error) {
		return postgres.Open(ctx, source)
	}))
	dbtest.Main(m)
}

func TestManyProcesses(t *testing.T) {
	storesuite.ManyProcesses(t, func(t *testing.T) (string, launchlog.Store) {
		d := newDatabase(t)
		return d.Source(), open(t, d)
	}, 6, 50)
}

// The store is written for the tables that the migrations make, also where they upgrade a log that
// is in use.
func TestUpgrade(t *testing.T) {
	d := newDatabase(t)
	db := openDB(t, d)
	storesuite.Upgrade(t, func() launchlog.Store { return open(t, d) },
		func() error { return migrations.Down(ctx, db, migrations.Postgres, 1) },
		func() error { _, _, err := migrations.Up(ctx, db, migrations.Postgres); return err })
}

func TestStore(t *testing.T) {
	databases := map[launchlog.Store]*sql.DB{}
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		d := newDatabase(t)
		s := open(t, d)
		databases[s] = openDB(t, d)
		return s
	}, func(store launchlog.Store, ref launchlog.Ref, next int) error {
		_, err := databases[store].Exec(
			`UPDATE idmint_launch SET next_generator_id = $1 WHERE namespace = $2 AND launch_id = $3`,
			next, ref.Namespace, ref.Launch)
		return err
	})
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
