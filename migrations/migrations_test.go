package migrations_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

func TestUpAndDown(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	latest := migrations.Latest(migrations.SQLite)
	for _, wantFrom := range []int{0, latest} { // the second time nothing is to be done
		from, to, err := migrations.Up(ctx, db, migrations.SQLite)
		if err != nil || from != wantFrom || to != latest {
			t.Fatalf("up: from %d to %d, %v", from, to, err)
		}
	}
	full := objects(t, db)
	if err := migrations.Down(ctx, db, migrations.SQLite, 0); err != nil {
		t.Fatal(err)
	}
	if left := objects(t, db); left != "" {
		t.Errorf("down left\n%s", left)
	}
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	if again := objects(t, db); again != full {
		t.Errorf("up after down gives another schema")
	}
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

// Whoever applies the files by hand gets the same, and Up knows that it was done.
func TestByHand(t *testing.T) {
	byHand := openDB(t, filepath.Join(t.TempDir(), "hand.db"))
	ups, err := fs.Glob(migrations.FS(migrations.SQLite), "*.up.sql")
	if err != nil || len(ups) == 0 {
		t.Fatalf("%v, %v", ups, err)
	}
	for _, up := range ups {
		text, err := fs.ReadFile(migrations.FS(migrations.SQLite), up)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := byHand.Exec(string(text)); err != nil {
			t.Fatal(err)
		}
		down := strings.Replace(up, ".up.", ".down.", 1)
		if _, err := fs.Stat(migrations.FS(migrations.SQLite), down); err != nil {
			t.Error(err)
		}
	}
	byUp := openDB(t, filepath.Join(t.TempDir(), "up.db"))
	if _, _, err := migrations.Up(ctx, byUp, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	if objects(t, byHand) != objects(t, byUp) {
		t.Error("the schemas differ")
	}
	from, to, err := migrations.Up(ctx, byHand, migrations.SQLite)
	if err != nil || from != to {
		t.Errorf("up after the files were applied by hand: from %d to %d, %v", from, to, err)
	}
}

// Down takes back all versions or none: here the older one cannot be.
func TestDownAtOnce(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("ALTER TABLE idmint_generator RENAME TO hidden"); err != nil {
		t.Fatal(err)
	}
	before := objects(t, db)
	err := migrations.Down(ctx, db, migrations.SQLite, 0)
	if err == nil || !strings.Contains(err.Error(), "idmint_generator") {
		t.Errorf("got %v", err)
	}
	version, err := migrations.Version(ctx, db, migrations.SQLite)
	if err != nil || version != migrations.Latest(migrations.SQLite) || objects(t, db) != before {
		t.Errorf("at version %d, %v", version, err)
	}
}

// What was used stays, and so does all else: a log that Down refuses to drop can be used as before.
func TestDownKeepsWhatWasUsed(t *testing.T) {
	const counter = "INSERT INTO idmint_counter (namespace, name, value) "
	for _, test := range []struct {
		used string
		to   int
		want error
	}{
		{"UPDATE idmint_namespace SET last_launch_id = 1", 0, migrations.ErrNotEmpty},
		// Version 1 has launches, and no counters.
		{"UPDATE idmint_namespace SET last_launch_id = 1", 1, nil},
		{counter + "VALUES ('default', 'a', 1)", 0, migrations.ErrNotEmpty},
		{counter + "VALUES ('default', 'a', 1)", 1, migrations.ErrNotEmpty},
		{counter + "VALUES ('default', 'a', 0)", 0, nil},
	} {
		db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
		if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
			t.Fatal(err)
		}
		_, err := db.Exec("INSERT INTO idmint_namespace VALUES ('default', 0); " + test.used)
		if err != nil {
			t.Fatal(err)
		}
		before := objects(t, db)
		if test.want != nil {
			file := "sqlite/0001_launch_log.down.sql"
			if strings.Contains(test.used, "counter") {
				file = "sqlite/0002_counter.down.sql"
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(string(text))
			if err == nil || !strings.Contains(err.Error(), "only rise") {
				t.Errorf("%s, by the file: %v", test.used, err)
			}
		}
		if err := migrations.Down(ctx, db, migrations.SQLite, test.to); !errors.Is(err, test.want) {
			t.Errorf("%s, down to %d: got %v, want %v", test.used, test.to, err, test.want)
		}
		version, err := migrations.Version(ctx, db, migrations.SQLite)
		switch {
		case test.want == nil && (err != nil || version != test.to):
			t.Errorf("%s, down to %d: at version %d, %v", test.used, test.to, version, err)
		case test.want != nil && (err != nil ||
			version != migrations.Latest(migrations.SQLite) || objects(t, db) != before):
			t.Errorf("%s, down to %d was refused, and is at version %d, %v",
				test.used, test.to, version, err)
		}
	}
}

// Each version can be taken back to, and leads to the same schema again.
func TestEachVersion(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	latest := migrations.Latest(migrations.SQLite)
	schemas := map[int]string{}
	for version := range latest { // by the files, without what Up does
		schemas[version] = objects(t, db)
		pattern := fmt.Sprintf("%04d_*.up.sql", version+1)
		ups, err := fs.Glob(migrations.FS(migrations.SQLite), pattern)
		if err != nil || len(ups) != 1 {
			t.Fatalf("%v, %v", ups, err)
		}
		text, err := fs.ReadFile(migrations.FS(migrations.SQLite), ups[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	full := objects(t, db)
	for version := latest - 1; version >= 0; version-- {
		if err := migrations.Down(ctx, db, migrations.SQLite, version); err != nil {
			t.Fatal(err)
		}
		if got := objects(t, db); got != schemas[version] {
			t.Errorf("down to %d gives another schema:\n%s", version, got)
		}
		from, to, err := migrations.Up(ctx, db, migrations.SQLite)
		if from != version || to != latest || err != nil || objects(t, db) != full {
			t.Errorf("up from %d: from %d to %d, %v", version, from, to, err)
		}
	}
}

func TestNewerSchema(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO idmint_schema (version) VALUES (1000)"); err != nil {
		t.Fatal(err)
	}
	_, _, err := migrations.Up(ctx, db, migrations.SQLite)
	var newer *migrations.NewerError
	if !errors.As(err, &newer) || newer.Have != 1000 {
		t.Errorf("got %v", err)
	}
	if err := migrations.Down(ctx, db, migrations.SQLite, 0); !errors.As(err, &newer) {
		t.Errorf("down: got %v", err)
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

// A table of the same name is in the way: nothing of the migration stays.
func TestNothingHalfDone(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := db.Exec("CREATE TABLE idmint_launch_event (x)"); err != nil {
		t.Fatal(err)
	}
	before := objects(t, db)
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err == nil {
		t.Fatal("no error")
	}
	if after := objects(t, db); after != before {
		t.Errorf("left behind:\n%s", after)
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

// Several migrators find no tables at the same time. SQLite does not wait for its locks here, so
// they do.
func TestManyMigrators(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	latest := migrations.Latest(migrations.SQLite)
	var group sync.WaitGroup
	for range 8 {
		db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create)+"&_busy_timeout=0")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		group.Go(func() {
			if _, to, err := migrations.Up(ctx, db, migrations.SQLite); err != nil || to != latest {
				t.Errorf("to version %d, %v", to, err)
			}
		})
	}
	group.Wait()
	var rows int
	err := openDB(t, path).QueryRow("SELECT count(*) FROM idmint_schema").Scan(&rows)
	if err != nil || rows != latest {
		t.Errorf("%d versions recorded, %v", rows, err)
	}
}
