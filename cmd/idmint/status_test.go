package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/smalldisk"
)

// Wrong usage is status 2, and bad input 1. Each says what is wrong on standard error, in a line, and nothing on standard output.
func TestStatus(t *testing.T) {
	s := newShell(t)
	s.write("f.csv", "a,b\n1,2\n")
	s.write("f.txt", "a,b\n1,2\n")
	s.write("bad.csv", "a,b\n1,2\n1,2,3\n")
	s.write("empty.csv", "")
	s.write("text.db", strings.Repeat("hello, world\n", 100))
	if err := os.Mkdir(filepath.Join(s.dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.start("ended")
	s.start("runs")
	s.must("launch", "end", "1", "--db", "sqlite:app.db", "--outcome", "succeeded")
	s.must("migrate", "--db", "sqlite:newer.db")
	s.exec("newer.db", "INSERT INTO idmint_schema (version) VALUES (1000)")

	start := "launch start --db sqlite:app.db --service shop --env test --initiator ann --key "
	for _, test := range []struct {
		args   string // split at spaces; «» is the empty argument
		status int
		want   string // in stderr
	}{
		{"bogus", 2, `unknown command "bogus"`},
		{"inport f.csv", 2, `unknown command "inport"`},
		{"--bogus", 2, "unknown flag: --bogus"},
		{"launch bogus", 2, `unknown command "bogus"`},
		{"demo x", 2, `unknown command "x"`},
		{"demo --x", 2, "unknown flag: --x"},
		{"migrate", 2, "--db is required"},
		{"migrate x --db sqlite:app.db", 2, `unknown command "x"`},

		{"new", 2, "which scheme? want decimal"},
		{"new trace", 2, `unknown scheme "trace": want decimal`},
		{"new trace -n 3 --db sqlite:app.db", 2, `unknown scheme "trace": want decimal`},
		{"new decimal x", 2, `unknown command "x"`},
		{"new decimal", 2, "--launch (or IDMINT_LAUNCH_ID) is required"},
		{"new decimal --launch 2", 2, "--db is required"},
		{"new decimal --db sqlite:app.db", 2, "--launch (or IDMINT_LAUNCH_ID) is required"},
		{"new decimal --test -n 0", 2, "-n 0: want at least 1"},
		{"new decimal --test -n -1", 2, "-n -1: want at least 1"},
		{"new decimal --test -n 1e6", 2, "1e6"},
		{"new decimal --test -n 9223372036854775808", 2, "9223372036854775808"},
		{"new decimal --test --launch 2", 2, "--test goes without"},
		{"new decimal --test --db sqlite:app.db", 2, "--test goes without"},
		{"new decimal --db sqlite:app.db --launch 0", 2, `"0" is no launch number, 1 to 99999`},
		{"new decimal --db sqlite:app.db --launch 100000", 2, `"100000" is no launch number`},
		{"new decimal --db sqlite:app.db --launch x", 2, `"x" is no launch number`},
		{"new decimal --db sqlite:app.db --launch 065", 2, `"065" is no launch number`},
		{"new decimal --db sqlite:app.db --launch +65", 2, `"+65" is no launch number`},
		{"new decimal --db sqlite:app.db --launch «»", 2, `"" is no launch number`},
		{"new decimal --db sqlite:app.db --launch 77", 1, "launch 77: no such launch"},
		{"new decimal --db sqlite:app.db --launch 1", 1, "launch 1: the launch has ended"},
		{"new decimal --db sqlite:app.db --launch 2 --namespace other", 1, "launch 2: no such launch"},
		{"new decimal --db sqlite:app.db --launch 2 --namespace Other!", 2, `namespace "Other!"`},

		{"import", 2, "accepts 1 arg(s), received 0"},
		{"import f.csv g.csv --db sqlite:app.db --table t", 2, "accepts 1 arg(s), received 2"},
		{"import f.csv", 2, "--db is required"},
		{"import no.csv", 2, "--db is required"},
		{"import f.csv --db sqlite:app.db", 2, "--table is required"},
		{"import f.csv --db sqlite:app.db --table t --resume --restart", 2, "exclude each other"},
		{"import f.csv --db sqlite:app.db --table t --batch 0", 2, "--batch 0"},
		{"import f.csv --db sqlite:app.db --table t --batch 1000001", 2, "--batch 1000001"},
		{"import f.csv --db sqlite:app.db --table t --batch x", 2, `"x"`},
		{"import f.csv --db sqlite:app.db --table t --format xml", 2, `unknown format "xml": want csv, tsv or jsonl`},
		{"import f.csv --db sqlite:app.db --table t --format CSV", 2, `unknown format "CSV"`},
		{"import f.txt --db sqlite:app.db --table t", 2, "say it with --format"},
		{"import - --db sqlite:app.db --table t", 2, "say it with --format"},
		{"import f.csv --db sqlite:app.db --table t --launch 0", 2, `"0" is no launch number`},
		{"import f.csv --db sqlite:app.db --table t --launch 100000", 2, `"100000" is no launch number`},
		{"import f.csv --db sqlite:app.db --table t --launch x", 2, `"x" is no launch number`},
		{"import f.csv --db sqlite:app.db --table t --launch 065", 2, `"065" is no launch number`},
		{"import f.csv --db sqlite:app.db --table t --launch 77", 1, "f.csv: launch 77: no such launch"},
		{"import f.csv --db sqlite:app.db --table t --launch 1", 1, "f.csv: launch 1: the launch has ended"},
		{"import f.csv --db sqlite:app.db --table t --wait 0s", 2, "--wait 0s"},
		{"import f.csv --db sqlite:app.db --table t --wait -1s", 2, "--wait -1s"},
		{"import f.csv --db sqlite:app.db --table t --wait 5", 2, `"5"`},
		{"import no.csv --db sqlite:app.db --table t", 1, "no.csv: no such file"},
		{"import folder --db sqlite:app.db --table t --format csv", 1, "folder is a folder"},
		{"import empty.csv --db sqlite:app.db --table t", 1, "empty.csv: the file is empty"},
		{"import bad.csv --db sqlite:app.db --table bad", 1, "bad.csv: line 3: 3 fields, while the header has 2; 0 rows are stored"},
		{"import f.csv --db sqlite:app.db --table sqlite_t", 1, `table "sqlite_t"`},
		{"import f.csv --db sqlite:app.db --table idmint_t", 1, `table "idmint_t"`},
		{"import f.csv --db sqlite:app.db --table t --id-column B", 1, "--id-column"},

		{"inspect --scheme trace 1", 2, `unknown scheme "trace": want decimal`},
		{"inspect -1", 2, "unknown shorthand flag"},
		{"inspect -- -1", 1, `"-1"`},
		{"compose", 2, "--scheme is required"},
		{"compose --scheme trace", 2, `unknown scheme "trace"`},
		{"compose --scheme decimal {}", 1, "counter"},

		{"launch start --db sqlite:app.db --env e --key k --initiator i", 2, "--service is required"},
		{"launch start --db sqlite:app.db --service s --key k --initiator i", 2, "--env is required"},
		{"launch start --db sqlite:app.db --service s --env e --initiator i", 2, "--key is required"},
		{"launch start --db sqlite:app.db --service s --env e --key k", 2, "--initiator is required"},
		{"launch start --service s --env e --key k --initiator i", 2, "--db is required"},
		{start + "k --format yaml", 2, `--format "yaml"`},
		{start + "k --data {", 1, "data"},
		{start + "k\x01", 1, "control character"},
		{start + "k --rolls-back 77", 1, "launch 77: no such launch"},
		{start + "k --known 77", 1, "the store has lost launches"},
		{start + "k --known 100000", 1, "is no launch number"},
		{start + "runs --version 2", 1, "version"},
		{"launch end --db sqlite:app.db --outcome failed", 2, "accepts 1 arg(s)"},
		{"launch end 2 --db sqlite:app.db", 2, "--outcome is required"},
		{"launch end 0 --db sqlite:app.db --outcome failed", 2, `"0" is no launch number`},
		{"launch end 2 --db sqlite:app.db --outcome So_So", 1, `"So_So"`},
		{"launch end 77 --db sqlite:app.db --outcome failed", 1, "no such launch"},
		{"launch end 1 --db sqlite:app.db --outcome failed", 1, "outcome"},
		{"launch show --db sqlite:app.db", 2, "accepts 1 arg(s)"},
		{"launch show x --db sqlite:app.db", 2, `"x" is no launch number`},
		{"launch show 77 --db sqlite:app.db", 1, "launch 77: no such launch"},
		{"launch show 1 --db sqlite:app.db --limit 0", 2, "--limit"},
		{"launch list --db sqlite:app.db --limit 0", 2, "--limit"},
		{"launch list --db sqlite:app.db --before -1", 2, "--before"},
		{"launch advance --db sqlite:app.db", 2, "--to"},
		{"launch advance --db sqlite:app.db --to 100000", 2, `"100000" is no launch number`},

		{"launch list --db sqlite:no.db", 1, "no.db"},
		{"launch list --db sqlite:no/folder/app.db", 1, "no/folder/app.db"},
		{"launch list --db sqlite:folder", 1, "open folder: is a directory"},
		{"launch list --db sqlite:text.db", 1, "text.db: file is not a database"},
		{"launch list --db sqlite:empty.csv", 1, "idmint migrate"},
		{"launch list --db sqlite:newer.db", 1, "newer.db: the launch log has schema version 1000, newer than 1"},
		{"migrate --db sqlite::memory:", 1, "is no file"},
		{"import f.csv --db sqlite::memory: --table t", 1, "is no file"},
		{"migrate --db sqlite:no/folder/app.db", 1, "no/folder/app.db: unable to open database file: no such file or directory"},
		{"migrate --db sqlite:folder", 1, "open folder: is a directory"},
		{"migrate --db sqlite:text.db", 1, "text.db: file is not a database"},
		{"migrate --db sqlite:newer.db", 1, "newer.db: the schema has version 1000, newer than 1"},
		{"import f.csv --db sqlite:folder --table t", 1, "open folder: is a directory"},
		{"import f.csv --db sqlite:text.db --table t", 1, "text.db: file is not a database"},
		{"import f.csv --db sqlite:newer.db --table t", 1, "newer than 1"},
		{"new decimal --db sqlite:text.db --launch 1", 1, "text.db: file is not a database"},
		{"new decimal --db sqlite:newer.db --launch 1", 1, "newer than 1"},
	} {
		args := strings.Split(test.args, " ")
		for i := range args {
			args[i] = strings.Trim(args[i], "«»")
		}
		got := s.run(args...)
		if got.status != test.status || !strings.Contains(got.stderr, test.want) || got.stdout != "" {
			t.Errorf("idmint %s: %v; want status %d and %q", test.args, got, test.status, test.want)
		}
		lines := 1
		if test.status == statusUsage {
			lines = 2 // where to look
		}
		if !strings.HasPrefix(got.stderr, "idmint: ") || strings.Count(got.stderr, "\n") != lines {
			t.Errorf("idmint %s: stderr is not %d lines: %q", test.args, lines, got.stderr)
		}
		for _, name := range []string{"idtype:", "launchlog:", "generator:", "migrations:", "importer:", "sqlid:", "json:"} {
			if strings.Contains(got.stderr, name) {
				t.Errorf("idmint %s: the name of a package: %q", test.args, got.stderr)
			}
		}
	}
	// None of it has left anything behind but the import with the bad row.
	if n := s.count(`SELECT count(*) FROM sqlite_schema WHERE name IN ('t', 'sqlite_t', 'idmint_t')`); n != 0 {
		t.Errorf("%d tables were made", n)
	}
	if n := s.count(`SELECT (SELECT count(*) FROM idmint_generator) + 10 * (SELECT count(*) FROM idmint_launch WHERE service = 'shop')`); n != 20 {
		t.Errorf("launches × 10 + generator numbers: %d, want 20", n)
	}
}

// A DSN may hold a password, and messages end up in logs.
func TestPasswordStaysSecret(t *testing.T) {
	s := newShell(t)
	s.write("f.csv", "a\n1\n")
	for _, dsn := range []string{
		"postgres://ann:hunter2@host/db",
		"ann:hunter2@tcp(host)/db",
		"host=db user=ann password=hunter2 dbname=app",
		"hunter2@host",
		"clickhouse//ann:hunter2@host",
		"hunter2",
		"sqlite3:hunter2",
		"SQLITE:hunter2",
	} {
		for _, args := range [][]string{
			{"migrate"}, {"launch", "list"}, {"new", "decimal", "--launch", "1"}, {"import", "f.csv", "--table", "t"},
		} {
			got := s.run(append(args, "--db", dsn)...)
			if got.status != 2 || !strings.Contains(got.stderr, "sqlite:") || strings.Contains(got.stderr+got.stdout, "hunter2") {
				t.Errorf("%v with %s: %v", args, dsn, got)
			}
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, value := range []string{"0", "x", "065", "100000", " 65"} {
		s := newShell(t)
		s.write("f.csv", "a\n1\n")
		s.env = append(s.env, launchVariable+"="+value)
		for _, args := range [][]string{{"new", "decimal"}, {"import", "f.csv", "--table", "t"}} {
			got := s.run(append(args, "--db", "sqlite:app.db")...)
			if got.status != 2 || !strings.Contains(got.stderr, launchVariable) {
				t.Errorf("%v with %q: %v", args, value, got)
			}
		}
	}
}

// A database that another process has locked is waited for as long as --wait says.
func TestLocked(t *testing.T) {
	s := newShell(t)
	s.write("f.csv", "a\n1\n")
	id := s.start("a")
	db := s.open("app.db")
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"import", "f.csv", "--table", "t"},
		{"import", "f.csv", "--table", "t", "--launch", id},
		{"new", "decimal", "--launch", id},
		{"launch", "start", "--service", "s", "--env", "e", "--key", "k", "--initiator", "i"},
		{"launch", "end", id, "--outcome", "failed"},
		{"launch", "advance", "--to", "9"},
	} {
		began := time.Now()
		got := s.run(append(args, "--db", "sqlite:app.db", "--wait", "500ms")...)
		if got.status != 1 || !strings.Contains(got.stderr, "database is locked") || !strings.Contains(got.stderr, "500ms") || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%v: %v", args, got)
		}
		if d := time.Since(began); d > 3*time.Second {
			t.Errorf("%v: it took %v", args, d)
		}
	}
	// What finds the tables as they should be has nothing to wait for.
	s.must("migrate", "--db", "sqlite:app.db", "--wait", "500ms")
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.must("new", "decimal", "--launch", id, "--db", "sqlite:app.db")
}

// A database whose tables are to be made, and which is locked against all use.
func TestLockedMigration(t *testing.T) {
	s := newShell(t)
	s.write("app.db", "")
	db := s.open("app.db")
	db.SetMaxOpenConns(1)
	for _, text := range []string{"PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"migrate"}, {"launch", "list"}} {
		began := time.Now()
		got := s.run(append(args, "--db", "sqlite:app.db", "--wait", "500ms")...)
		if got.status != 1 || !strings.Contains(got.stderr, "app.db") || !strings.Contains(got.stderr, "locked") || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%v: %v", args, got)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%v: it took %v", args, d)
		}
	}
}

// A database on a disk that is mounted read-only: whoever is root writes to files of any mode, so permissions show nothing.
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
		began := time.Now()
		got := s.run(append(args, "--db", "sqlite:app.db", "--wait", "5s")...)
		if got.status != 1 || !strings.Contains(got.stderr, "app.db: read-only file system") {
			t.Errorf("%v: %v", args, got)
		}
		if d := time.Since(began); d > 4*time.Second {
			t.Errorf("%v: it was waited %v for something that does not change", args, d)
		}
	}
	got := s.run("migrate", "--db", "sqlite:new.db")
	if got.status != 1 || !strings.Contains(got.stderr, "new.db: unable to open database file") {
		t.Errorf("migrate: %v", got)
	}
}
