package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/internal/doctorsuite"
	"github.com/idmint/idmint/internal/smalldisk"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestStore(t *testing.T) {
	var files sync.Map // of stores
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		t.Parallel()
		file := newFile(t)
		s := open(t, file)
		files.Store(s, file)
		return s
	}, func(store launchlog.Store, ref launchlog.Ref, next int) error {
		file, _ := files.Load(store)
		_, err := openDB(t, file.(string)).Exec(`UPDATE idmint_launch SET next_generator_id = ?
			WHERE namespace = ? AND launch_id = ?`,
			next, ref.Namespace, ref.Launch)
		return err
	})
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

// What was acknowledged is not deleted or changed, even by somebody with the SQL shell.
func TestRowsStay(t *testing.T) {
	path := newFile(t)
	l, err := launchlog.New(open(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	storesuite.Fill(t, l)
	db := openDB(t, path)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA foreign_keys = off"); err != nil { // as in the shell
		t.Fatal(err)
	}
	const replaceLaunch = "REPLACE INTO idmint_launch (namespace, launch_id, idempotency_key, " +
		"request_hash, service, environment, initiator, host)"
	const replaceGenerator = "REPLACE INTO idmint_generator " +
		"(namespace, launch_id, generator_id, token, host, pid)"
	for _, text := range append(storesuite.Refused(),
		"UPDATE OR REPLACE idmint_launch SET next_generator_id = NULL", // 0 by its default
		"UPDATE OR REPLACE idmint_namespace SET last_launch_id = NULL",
		"REPLACE INTO idmint_namespace VALUES ('default', 0)",
		replaceLaunch+" VALUES ('default', 1, 'new', '', '', '', '', '')",
		replaceLaunch+" VALUES ('default', 3, 'a', '', '', '', '', '')",
		replaceGenerator+" VALUES ('default', 1, 0, 'x', 'h', 1)",
		replaceGenerator+" SELECT 'default', 1, 7, token, 'h', 1 FROM idmint_generator",
		"REPLACE INTO idmint_launch_event (event_id, namespace, kind, actor) "+
			"VALUES (1, 'default', 'x', 'y')",
		"UPDATE OR REPLACE idmint_counter SET value = NULL",
		"UPDATE OR IGNORE idmint_counter SET value = 9",
		"REPLACE INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0) "+
			"ON CONFLICT DO UPDATE SET value = 0",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'd', 1.5)",
	) {
		_, err := db.Exec(text)
		var refused sqlite3.Error
		if !errors.As(err, &refused) || refused.Code != sqlite3.ErrConstraint {
			t.Errorf("%s: got %v, want it refused", text, err)
		}
	}
}

// A step that fails after its first write changes nothing: the number is not burnt, the event is
// not there.
func TestNothingHalfDone(t *testing.T) {
	path := newFile(t)
	l, err := launchlog.New(open(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := l.Counter("c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(ctx, storetest.Request("good")); err != nil {
		t.Fatal(err)
	}
	db := openDB(t, path)
	start := func() error { _, err := l.Start(ctx, storetest.Request("bad")); return err }
	advance := func() error { _, err := counter.Advance(ctx, 9, "operator"); return err }
	for _, test := range []struct {
		table string
		run   func() error
	}{
		{"idmint_launch", start},
		{"idmint_launch_event", start},
		{"idmint_generator", func() error { _, err := l.Claim(ctx, 1); return err }},
		{"idmint_counter", func() error { _, err := counter.Reserve(ctx, 0, 1); return err }},
		{"idmint_counter", advance},
		{"idmint_launch_event", advance},
	} {
		before := dump(t, db)
		_, err := db.Exec("CREATE TRIGGER trip BEFORE INSERT ON " + test.table +
			" BEGIN SELECT RAISE(ABORT, 'tripped'); END")
		if err != nil {
			t.Fatal(err)
		}
		if err := test.run(); err == nil || !strings.Contains(err.Error(), "tripped") {
			t.Errorf("%s: got %v", test.table, err)
		}
		if after := dump(t, db); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", test.table, before, after)
		}
		if _, err := db.Exec("DROP TRIGGER trip"); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := l.Claim(ctx, 1); err != nil || c.Generator != 0 {
		t.Errorf("after a claim that failed: %+v, %v", c, err)
	}
}

// dump is what the log's counters and tables hold.
func dump(t *testing.T, db *sql.DB) (s string) {
	t.Helper()
	err := db.QueryRow(`SELECT (SELECT json_group_array(last_launch_id) FROM idmint_namespace) ||
		(SELECT json_group_array(launch_id) FROM idmint_launch) ||
		(SELECT json_group_array(next_generator_id) FROM idmint_launch) ||
		(SELECT json_group_array(kind) FROM idmint_launch_event) ||
		(SELECT count(*) FROM idmint_generator) ||
		(SELECT json_group_array(value) FROM idmint_counter)`).Scan(&s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newer := newFile(t)
	_, err := openDB(t, newer).Exec("INSERT INTO idmint_schema (version) VALUES (1000)")
	if err != nil {
		t.Fatal(err)
	}
	older := newFile(t)
	if err := migrations.Down(ctx, openDB(t, older), migrations.SQLite, 1); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, path, message string }{
		{"not there", filepath.Join(dir, "no.db"), "idmint migrate"},
		{"a folder", dir, "unable to open"},
		{"no database", write("text.db", strings.Repeat("hello, world\n", 100)), "not a database"},
		{"empty", write("empty.db", ""), "idmint migrate"},
		{"newer", newer, "newer"},
		{"older", older, "upgrade it with `idmint migrate`"},
		{"memory", ":memory:", "in memory"},
		{"no name", "", "no file"},
		{"as for --db", "sqlite:" + newer, `leave out "sqlite:"`},
		{"a URI", "file:" + newer, `leave out "file:"`},
		{"NUL byte", "a\x00b", "NUL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := sqlite.Open(ctx, test.path)
			quoted := strings.Trim(strconv.Quote(test.path), `"`)
			if err == nil || !strings.Contains(err.Error(), test.message) ||
				!strings.Contains(err.Error(), quoted) {
				t.Errorf("got %v, want a message with %q and the path", err, test.message)
			}
			storesuite.BeginsWith(t, err, "launchlog/sqlite: ")
		})
	}
	var schema *launchlog.SchemaError
	if _, err := sqlite.Open(ctx, newer); !errors.As(err, &schema) || schema.Have != 1000 {
		t.Errorf("newer: got %v, want a SchemaError", err)
	}
	_, err = sqlite.Open(ctx, older)
	if !errors.As(err, &schema) || schema.Have != 1 || schema.Want != 4 {
		t.Errorf("older: got %v, want a SchemaError", err)
	}
}

// The store is written for the tables that the migrations make, also where they upgrade a log that
// is in use.
// TestOtherLog: somebody drops the tables, and makes them again, in the file that a store has open.
func TestOtherLog(t *testing.T) {
	path := newFile(t)
	db := openDB(t, path)
	storesuite.OtherLog(t, func() launchlog.Store { return open(t, path) }, func() {
		for _, text := range storesuite.Drop() {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(text, err)
			}
		}
	}, func() error { _, _, err := migrations.Up(ctx, db, migrations.SQLite); return err })
}

func TestAhead(t *testing.T) {
	path := newFile(t)
	db := openDB(t, path)
	storesuite.Ahead(t, open(t, path), func(text string) {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(text, err)
		}
	}, func() (found []string) {
		results, err := doctor.SQL(ctx, db, doctor.SQLite)
		if err != nil {
			t.Fatal(err)
		}
		return doctorsuite.Findings(results, "rows")
	})
}

func TestUpgrade(t *testing.T) {
	path := newFile(t)
	db := openDB(t, path)
	storesuite.Upgrade(t, func() launchlog.Store { return open(t, path) },
		func() error { return migrations.Down(ctx, db, migrations.SQLite, 1) },
		func() error { _, _, err := migrations.Up(ctx, db, migrations.SQLite); return err })
}

// A full disk is an error of that call, and what was acknowledged before stays.
func TestDiskFull(t *testing.T) {
	dir := smalldisk.Mount(t, 512<<10)
	path := filepath.Join(dir, "log.db")
	if _, _, err := migrations.Up(ctx, openDB(t, path), migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	l, err := launchlog.New(open(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; n < 100_000; n++ {
		r := storetest.Request(fmt.Sprint(n))
		r.Reason = strings.Repeat("x", 4096)
		if _, err = l.Start(ctx, r); err != nil {
			break
		}
	}
	var full sqlite3.Error
	if !errors.As(err, &full) || full.Code != sqlite3.ErrFull {
		t.Fatalf("after %d launches: got %v, want SQLite's error for a full disk", n, err)
	}
	found, err := l.List(ctx, launchlog.Filter{Limit: launchlog.MaxLaunch})
	if err != nil || len(found) != n {
		t.Errorf("%d launches were acknowledged, %d are there: %v", n, len(found), err)
	}
	if err := os.Remove(smalldisk.Ballast(dir)); err != nil {
		t.Fatal(err)
	}
	launch, err := l.Start(ctx, storetest.Request("room again"))
	if err != nil || launch.ID != n+1 {
		t.Errorf("with room again: %d, %v", launch.ID, err)
	}
}

// The zero Store has no file. It says so, and does not end the process.
func TestZeroStore(t *testing.T) {
	l, err := launchlog.New(&sqlite.Store{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(ctx, storetest.Request("a")); err == nil {
		t.Error("it has started a launch")
	}
	if _, err := l.List(ctx, launchlog.Filter{}); err == nil {
		t.Error("it has listed launches")
	}
}

// A reader sees the log, also in WAL mode. SQLite refuses its writes, as certainly not carried out,
// and the file stays as it is.
func TestOpenReader(t *testing.T) {
	path := newFile(t)
	writer := must(t, open(t, path))
	launch, err := writer.Start(ctx, storetest.Request("a"))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := sqlite.OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	log := must(t, reader)
	if found, err := log.Show(ctx, launch.ID); err != nil || found.Key != launch.Key {
		t.Errorf("%+v, %v", found, err)
	}
	for what, write := range map[string]func() error{
		"Start": func() error { _, err := log.Start(ctx, storetest.Request("b")); return err },
		"Claim": func() error { _, err := log.Claim(ctx, launch.ID); return err },
		"End": func() error {
			_, err := log.End(ctx, launch.ID, launchlog.Ending{Outcome: "succeeded", Actor: "a"})
			return err
		},
		"Reserve": func() error {
			counter, err := log.Counter("c")
			if err == nil {
				_, err = counter.Reserve(ctx, 1, 9)
			}
			return err
		},
	} {
		var refused sqlite3.Error
		if err := write(); !errors.As(err, &refused) || refused.Code != sqlite3.ErrReadonly {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := writer.Claim(ctx, launch.ID); err != nil {
		t.Error(err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	db := openDB(t, other)
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`PRAGMA journal_mode = WAL`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if reader, err = sqlite.OpenReader(ctx, other); err != nil {
		t.Fatal(err)
	}
	if found, err := must(t, reader).List(ctx, launchlog.Filter{}); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	reader.Close()
	if after, err := os.ReadFile(other); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
}

func must(t *testing.T, s *sqlite.Store) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
