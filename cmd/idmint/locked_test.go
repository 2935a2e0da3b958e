package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/smalldisk"
)

// A DSN may hold a password, and messages end up in logs.
func TestPasswordStaysSecret(t *testing.T) {
	s := inside(t)
	s.write("f.csv", "a\n1\n")
	for _, dsn := range []string{
		"postgres:ann:hunter2@host/db",
		"postgres://ann:hunter2%@host/db",
		"mysql://ann:hunter2@host/db?allowAllFiles=hunter2",
		"clickhouse://ann:hunter2@host/db?dial_timeout=hunter2",
		"ann:hunter2@tcp(host)/db",
		"host=db user=ann password=hunter2 dbname=app",
		"hunter2@host",
		"clickhouse//ann:hunter2@host",
		"hunter2",
		"sqlite3:hunter2",
		"SQLITE:hunter2",
	} {
		for _, args := range [][]string{
			{"migrate"},
			{"launch", "list"},
			{"new", "decimal", "--launch", "1"},
			{"import", "f.csv", "--table", "t"},
		} {
			got := s.run(append(args, "--db", dsn)...)
			if got.status != 2 || !strings.Contains(got.stderr, "--db: ") ||
				strings.Contains(got.stderr+got.stdout, "hunter2") {
				t.Errorf("%v with %s: %v", args, dsn, got)
			}
		}
	}
}

// waitsForLock runs idmint on app.db, which is locked. It must fail after --wait.
func (s *shell) waitsForLock(args ...string) {
	s.Helper()
	args = append(args, "--db", "sqlite:app.db", "--wait")
	for wait := 500 * time.Millisecond; ; wait *= 4 {
		got := s.run(append(args, wait.String())...)
		locked := strings.Contains(got.stderr, "locked")
		if !locked && wait < time.Minute {
			continue // a busy machine may have had no time for an attempt
		}
		if got.status != 1 || !locked || !strings.Contains(got.stderr, wait.String()) ||
			strings.Count(got.stderr, "\n") != 1 {
			s.Errorf("%v: %v", args, got)
		}
		return
	}
}

// A trigger that loops in a file of somebody else's keeps no command from ending.
func TestLoopingTrigger(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.start("a")
	s.exec("app.db", `CREATE TRIGGER looping AFTER UPDATE ON idmint_namespace BEGIN
		SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n);
	END`)
	got := s.run("launch", "start", "--db", "sqlite:app.db", "--wait", "100ms", "--service", "s", "--env", "e",
		"--key", "b", "--initiator", "i")
	if got.status != 1 || !strings.Contains(got.stderr, "100ms") {
		t.Errorf("%v", got)
	}
}

// A database that another process has locked is waited for as long as --wait says.
func TestLocked(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("f.csv", "a\n1\n")
	id := s.start("a")
	db := s.open("app.db")
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	s.waitsForLock("import", "f.csv", "--table", "t")
	s.waitsForLock("new", "decimal", "--launch", id)
	s.waitsForLock("launch", "end", id, "--outcome", "failed")
	// What finds the tables as they should be has nothing to wait for.
	s.must("migrate", "--db", "sqlite:app.db")
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.must("new", "decimal", "--launch", id, "--db", "sqlite:app.db")
}

// A database whose tables are to be made, and which is locked against all use.
func TestLockedMigration(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.write("app.db", "")
	db := s.open("app.db")
	db.SetMaxOpenConns(1)
	for _, text := range []string{
		"PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = EXCLUSIVE",
		"BEGIN EXCLUSIVE",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	s.waitsForLock("migrate")
	s.waitsForLock("launch", "list")
}

// A database on a disk that is mounted read-only: whoever is root writes to files of any mode, so
// permissions show nothing.
func TestReadOnly(t *testing.T) {
	s := newShell(t)
	s.dir = smalldisk.Mount(t, 4<<20)
	s.write("f.csv", "a\n1\n")
	id := s.start("a")
	if err := syscall.Mount("", s.dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"import", "f.csv", "--table", "t"},
		{"import", "f.csv", "--table", "t", "--launch", id},
		{"new", "decimal", "--launch", id},
		{"launch", "start", "--service", "s", "--env", "e", "--key", "k", "--initiator", "i"},
		{"launch", "end", id, "--outcome", "failed"},
	} {
		got := s.run(append(args, "--db", "sqlite:app.db", "--wait", "1h")...) // it does not change
		if got.status != 1 || strings.Count(got.stderr, "\n") != 1 ||
			!strings.Contains(got.stderr, "attempt to write a readonly database") {
			t.Errorf("%v: %v", args, got)
		}
	}
	got := s.run("migrate", "--db", "sqlite:new.db")
	if got.status != 1 || !strings.Contains(got.stderr, "new.db: unable to open database file") {
		t.Errorf("migrate: %v", got)
	}
}
