package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) launchlog.Store { return open(t, newFile(t)) })
}

// newFile makes a file with an empty launch log.
func newFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log ü?#.db") // a name that a careless DSN trips over
	db := openDB(t, path)
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	return path
}

func openDB(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
