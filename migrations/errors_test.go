package migrations_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/idmint/idmint/migrations"
)

// What the driver says leaves the package with its name in front, once. So do errors of its own.
func TestErrorsBeginWithThePackage(t *testing.T) {
	used := openDB(t, filepath.Join(t.TempDir(), "used.db"))
	if _, _, err := migrations.Up(ctx, used, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	const counter = "INSERT INTO idmint_counter (namespace, name, value) VALUES ('n', 'c', 1)"
	for _, text := range []string{
		"INSERT INTO idmint_namespace (namespace) VALUES ('n')", counter,
	} {
		if _, err := used.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	closed := openDB(t, filepath.Join(t.TempDir(), "closed.db"))
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	_, version := migrations.Version(ctx, closed, migrations.SQLite)
	_, _, up := migrations.Up(ctx, closed, migrations.SQLite)
	_, unknown := migrations.Version(ctx, used, "oracle")
	for name, err := range map[string]error{
		"Version": version, "Up": up, "an unknown dialect": unknown,
		"Down":      migrations.Down(ctx, closed, migrations.SQLite, 0),
		"not empty": migrations.Down(ctx, used, migrations.SQLite, 0),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "migrations: ") ||
			strings.Count(err.Error(), "migrations: ") != 1 {
			t.Errorf("%s: %v, want migrations: in front, once", name, err)
		}
	}
}
