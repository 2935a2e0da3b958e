package migrations_test

import (
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
	"github.com/idmint/idmint/sqlid"
)

var ctx = context.Background()

func openDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// objects lists what a database holds, so that two ways to the same schema can be compared.
func objects(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query(`SELECT type || ' ' || name || ' ' || coalesce(sql, '')
		FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return strings.Join(all, "\n")
}

// In a file in WAL mode no log is made, nor is one that is there upgraded.
func TestWAL(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := db.Exec("PRAGMA journal_mode = WAL"); err != nil {
		t.Fatal(err)
	}
	_, to, err := migrations.Up(ctx, db, migrations.SQLite)
	if err == nil || !strings.Contains(err.Error(), "WAL mode") || to != 0 || objects(t, db) != "" {
		t.Errorf("%d, %v, and made %q", to, err, objects(t, db))
	}
}

// A dialect of package sqlid is one of this package, and MariaDB has MySQL's tables.
func TestMariaDB(t *testing.T) {
	got, want := migrations.Latest(sqlid.MariaDB), migrations.Latest(migrations.MySQL)
	if got != want || got == 0 {
		t.Errorf("latest %d, want %d", got, want)
	}
}

func TestUnknownDialect(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	_, _, up := migrations.Up(ctx, db, "clickhouse")
	const want = `dialect "clickhouse": want "sqlite", "postgres" or "mysql"`
	for _, err := range []error{up, migrations.Down(ctx, db, "clickhouse", 0)} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
}

// All dialects have the same versions, so that a store needs to know of one.
func TestSameVersions(t *testing.T) {
	list := func(d migrations.Dialect) []string {
		names, err := fs.Glob(migrations.FS(d), "*.sql")
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for _, d := range []migrations.Dialect{migrations.Postgres, migrations.MySQL} {
		got, want := list(d), list(migrations.SQLite)
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: %v, SQLite has %v", d, got, want)
		}
	}
}
