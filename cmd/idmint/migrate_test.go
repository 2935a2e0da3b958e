package main

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/migrations"
)

// Migrate says whether a log was there. A command without its log does not ask for a new one, since
// that would give out again what the old one did.
func TestMigrateTells(t *testing.T) {
	s := inside(t)
	got := s.run("launch", "list", "--db", "sqlite:app.db")
	for _, want := range []string{
		"there is no launch log", "if there was one, do not migrate", "docs/restore.md",
		"create it with `idmint migrate`",
	} {
		if got.status != 1 || !strings.Contains(got.stderr, want) {
			t.Errorf("%v, want %q", got, want)
		}
	}
	migrate := func(want string) {
		t.Helper()
		if got := s.must("migrate", "--db", "sqlite:app.db"); got != want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
	migrate("created a new launch log in sqlite:app.db, at schema version 4")
	db := s.open("app.db")
	if err := migrations.Down(t.Context(), db, migrations.SQLite, 2); err != nil {
		t.Fatal(err)
	}
	migrate("upgraded the launch log in sqlite:app.db from schema version 2 to 4")
	migrate("the launch log in sqlite:app.db is at schema version 4 already")
	if got := s.must("migrate", "--db", "sqlite:b.db", "--json"); got !=
		`{"created":true,"from":0,"to":4}`+"\n" {
		t.Errorf("--json: %q", got)
	}
}

// An import that makes a log says so.
func TestImportTellsNewLog(t *testing.T) {
	s := inside(t)
	s.write("f.csv", "a\n1\n")
	for _, want := range []string{
		"idmint: created a new launch log in sqlite:app.db, at schema version 4\n", "",
	} {
		got := s.run("import", "f.csv", "--db", "sqlite:app.db", "--table", "t")
		if got.status != 0 || got.stderr != want {
			t.Errorf("%v, want %q", got, want)
		}
	}
}
