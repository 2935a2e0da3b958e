package stores_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	"github.com/idmint/idmint/migrations"
)

// What another client of a pooler has SET leads no migration elsewhere: tables are found and made
// by the default search_path.
func leakLeadsNoMigration(t *testing.T, pooler dsn.DSN) {
	s := postgresServer
	direct, d := s.empty(t, "")
	dbtest.Exec(t, direct, "CREATE SCHEMA empty; CREATE SCHEMA other")
	through := pooler.WithDatabase(d.Database())
	db := dbtest.Open(t, through)
	latest := migrations.Latest(s.dialect)
	version := func(want int, wantErr *migrations.SearchPathError) {
		t.Helper()
		got, err := migrations.Version(ctx, db, s.dialect)
		var path *migrations.SearchPathError
		if wantErr != nil && errors.As(err, &path) && *path == *wantErr {
			return
		}
		if wantErr != nil || err != nil || got != want {
			t.Errorf("version %d, %v; want %d, %v", got, err, want, wantErr)
		}
	}
	pgbouncer.Leak(t, through, "SET search_path = empty")
	version(0, nil)
	s.up(t, db, 0)
	if err := migrations.Down(ctx, db, s.dialect, 1); err != nil {
		t.Fatal(err)
	}
	version(1, nil)
	s.up(t, db, 1)
	s.up(t, db, latest)
	whole, _ := s.empty(t, "")
	s.up(t, whole, 0)
	dbtest.Exec(t, whole, "CREATE SCHEMA empty")
	if got, want := s.list(t, direct), s.list(t, whole); got != want { // in the schema public
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	other, err := sql.Open(d.Driver(), d.Source()+"&search_path=other")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s.up(t, other, 0)
	pgbouncer.Leak(t, through, "SET search_path = other, public")
	want := &migrations.SearchPathError{Default: "public", Current: "other"}
	version(0, want)
	for call, err := range map[string]error{
		"Up":   func() error { _, _, err := migrations.Up(ctx, db, s.dialect); return err }(),
		"Down": migrations.Down(ctx, db, s.dialect, 0),
	} {
		if !errors.As(err, new(*migrations.SearchPathError)) {
			t.Errorf("%s: %v", call, err)
		}
	}
	pgbouncer.Leak(t, through, "SET search_path = public, other")
	version(latest, nil)
	pgbouncer.Leak(t, through, "SET search_path = other")
	if err := migrations.Down(ctx, direct, s.dialect, 0); err != nil {
		t.Fatal(err)
	}
	want.Default = ""
	version(0, want)
}

// The log that is found is upgraded where it is, though another schema comes before it in the
// search_path, and a temporary table before all.
func TestUpgradeInPlace(t *testing.T) {
	t.Parallel()
	s := postgresServer
	db, d := s.empty(t, "")
	s.up(t, db, 0)
	if err := migrations.Down(ctx, db, s.dialect, 1); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "CREATE SCHEMA first")
	before, err := sql.Open(d.Driver(), d.Source()+"&search_path=first,public")
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	before.SetMaxOpenConns(1)
	dbtest.Exec(t, before, "CREATE TEMP TABLE idmint_schema (version int)",
		"CREATE TEMP TABLE idmint_counter (x int)")
	s.up(t, before, 1)
	s.up(t, db, migrations.Latest(s.dialect))
	if err := migrations.Down(ctx, before, s.dialect, 0); err != nil {
		t.Fatal(err)
	}
	var left int
	err = before.QueryRow(`SELECT count(*) FROM pg_class
		WHERE relname LIKE 'idmint%' AND relpersistence <> 't'`).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}
