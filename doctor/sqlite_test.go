package doctor_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

// file opens a file with the settings of a pool.
func file(t *testing.T, path, settings string) *sql.DB {
	t.Helper()
	name := url.URL{Path: path}
	db, err := sql.Open("sqlite3", "file:"+name.EscapedPath()+settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// newFile makes a log in a file, and a pool as a log has it.
func newFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	check(t, err)
	t.Cleanup(func() { db.Close() })
	_, _, err = migrations.Up(ctx, db, migrations.SQLite)
	check(t, err)
	return db
}

func do(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// base checks the database.
func base(t *testing.T, when string, db *sql.DB, wanted map[string]string) {
	t.Helper()
	results, err := doctor.SQL(ctx, db, migrations.SQLite)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	want(t, when, results, wanted)
}

func TestSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?.db")
	empty := file(t, path, "?_synchronous=FULL")
	base(t, "empty", empty, map[string]string{
		"schema": "finding: there is no launch log",
	})
	empty.Close()
	db := newFile(t, path)
	base(t, "migrated", db, nil)
	do(t, db, "INSERT INTO idmint_schema (version) VALUES (99)")
	base(t, "newer", db, map[string]string{
		"schema": "finding: the tables have version 99, newer than",
	})
	do(t, db, "DELETE FROM idmint_schema WHERE version = 99")
	next := migrations.Latest(migrations.SQLite) + 1
	do(t, db, fmt.Sprintf("INSERT INTO idmint_schema (version) VALUES (%d)", next))
	base(t, "newer by one", db, map[string]string{
		"schema": fmt.Sprintf("note: the tables have version %d, the next one", next),
	})
	do(t, db, fmt.Sprintf("DELETE FROM idmint_schema WHERE version = %d", next))
	base(t, "as before", db, nil)
	do(t, db, "PRAGMA journal_mode = WAL")
	base(t, "WAL", db, map[string]string{"sqlite.journal": "finding: the journal mode is wal"})
	do(t, db, "PRAGMA journal_mode = DELETE", "DROP TRIGGER idmint_counter_update")
	base(t, "without a trigger", db, map[string]string{
		"triggers": "finding: 1 of 20 triggers are missing: idmint_counter_update of 000",
	})
	do(t, db, "DROP TABLE idmint_counter")
	base(t, "without a table", db, map[string]string{
		"tables":   "finding: 1 of 7 tables are missing: idmint_counter. ",
		"triggers": "finding: 3 of 20 triggers are missing: ",
	})
}

// Another process writes: that passes. A pool that may not write is found.
func TestSQLiteWritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := newFile(t, path)
	db.SetMaxOpenConns(1)
	do(t, db, "BEGIN IMMEDIATE")
	other := file(t, path, "?_synchronous=FULL&_busy_timeout=1")
	base(t, "while another writes", other, nil)
	do(t, db, "ROLLBACK")
	base(t, "alone", other, nil)
	do(t, db, "BEGIN IMMEDIATE", "ROLLBACK") // the doctor has let go of the lock
	base(t, "read-only", file(t, path, "?mode=ro&_synchronous=FULL"), map[string]string{
		"writable": "finding: the file is read-only",
	})
}

// Damage in the log's tables is found, and damage in the app's is not looked for.
func TestSQLiteIntegrity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := newFile(t, path)
	do(t, db, "CREATE TABLE app (n INTEGER, text TEXT)", "CREATE INDEX app_n ON app (n)",
		"INSERT INTO app SELECT 7, 'x'",
		"INSERT INTO idmint_namespace (namespace) VALUES ('default')",
		"INSERT INTO idmint_counter (namespace, name, value, updated_at) "+
			"VALUES ('default', 'c', 1, 1)")
	for _, c := range []struct{ table, want string }{
		{"app", ""}, {"idmint_counter", "finding: table idmint_counter is damaged: "},
	} {
		var root, size int64
		err := db.QueryRow(`SELECT (SELECT rootpage FROM sqlite_schema WHERE name = ?), page_size
			FROM pragma_page_size`, c.table).Scan(&root, &size)
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			// The number of cells in the page's header.
			_, err = f.WriteAt([]byte{0x7f, 0xff}, (root-1)*size+3)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		db = file(t, path, "?_synchronous=FULL")
		wanted := map[string]string{}
		if c.want != "" {
			wanted["sqlite.integrity"] = c.want
		}
		base(t, c.table, db, wanted)
	}
}

// A dialect that keeps no launch log, and a database that does not answer.
func TestSQLErrors(t *testing.T) {
	db := newFile(t, filepath.Join(t.TempDir(), "a.db"))
	const unknown = `doctor: schema: migrations: unknown dialect "clickhouse": want`
	if _, err := doctor.SQL(ctx, db, "clickhouse"); err == nil ||
		!strings.HasPrefix(err.Error(), unknown) {
		t.Error(err)
	}
	db.Close()
	for name, f := range map[string]func() error{
		"SQL":      func() error { _, err := doctor.SQL(ctx, db, migrations.SQLite); return err },
		"Identity": func() error { _, err := doctor.Identity(ctx, db, migrations.SQLite); return err },
	} {
		if err := f(); err == nil || !strings.HasPrefix(err.Error(), "doctor: schema: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
