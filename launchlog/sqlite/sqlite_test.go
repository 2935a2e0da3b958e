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

	"github.com/idmint/idmint/internal/smalldisk"
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
	}, func(store launchlog.Store, ref launchlog.Ref) error {
		file, _ := files.Load(store)
		_, err := openDB(t, file.(string)).Exec(`DROP TRIGGER idmint_generator_update;
			UPDATE idmint_generator SET claimed_at = strftime('%Y-%m-%dT%H:%M:%fZ', claimed_at, '-2 days')
			WHERE launch_id = ?`, ref.Launch)
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

// TestOpenOrCreate: processes that start at once make one log. An old log is upgraded, and one that
// is newer, in WAL mode or no path is left as it is.
func TestOpenOrCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log ü?#.db")
	older := newFile(t)
	if err := migrations.Down(ctx, openDB(t, older), migrations.SQLite, 1); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, path := range []string{path, path, path, older} {
		wg.Go(func() {
			s, err := sqlite.OpenOrCreate(ctx, path)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			log, err := launchlog.New(s, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if l, err := log.Start(ctx, storetest.Request("a")); err != nil || l.ID != 1 {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
	wg.Wait()
	newer, wal := newFile(t), newFile(t)
	for path, change := range map[string]string{
		newer: "INSERT INTO idmint_schema (version) VALUES (1000)", wal: "PRAGMA journal_mode = WAL",
	} {
		if _, err := openDB(t, path).Exec(change); err != nil {
			t.Fatal(err)
		}
	}
	for path, message := range map[string]string{
		newer: "newer", wal: "WAL mode", "sqlite:no.db": `leave out "sqlite:"`,
		filepath.Join(path, "no.db"): "not a directory",
	} {
		_, err := sqlite.OpenOrCreate(ctx, path)
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", path, err, message)
		}
		storetest.BeginsWith(t, err, "launchlog/sqlite: ")
	}
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
		{"no name", "", "must name a file"},
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
			storetest.BeginsWith(t, err, "launchlog/sqlite: ")
		})
	}
	var schema *launchlog.SchemaError
	if _, err := sqlite.Open(ctx, newer); !errors.As(err, &schema) || schema.Have != 1000 {
		t.Errorf("newer: got %v, want a SchemaError", err)
	}
	_, err = sqlite.Open(ctx, older)
	if !errors.As(err, &schema) || schema.Have != 1 || schema.Want != 7 {
		t.Errorf("older: got %v, want a SchemaError", err)
	}
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
	if _, err := must(t, open(t, path)).Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	db := openDB(t, path)
	for _, mode := range []string{"DELETE", "WAL"} {
		if _, err := db.Exec("PRAGMA journal_mode = " + mode); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := sqlite.OpenReader(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := must(t, reader).Show(ctx, 1); err != nil || found.Key != "a" {
			t.Errorf("%+v, %v", found, err)
		}
		for what, write := range storetest.Writes(reader) {
			var refused sqlite3.Error
			err := write()
			if mode == "DELETE" && what != "StartLaunch, a key that is there" &&
				(!errors.As(err, &refused) || refused.Code != sqlite3.ErrReadonly) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("the file has changed in mode %s, %v", mode, err)
		}
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
