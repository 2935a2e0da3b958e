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

// Wrong usage is status 2, and bad input 1. Each says what is wrong on standard error, in a line,
// and nothing on standard output.
func TestStatus(t *testing.T) {
	s := inside(t)
	s.write("f.csv", "a,b\n1,2\n")
	s.write("f.txt", "a,b\n1,2\n")
	s.write("bad.csv", "a,b\n1,2\n1,2,3\n")
	s.write("empty.csv", "")
	s.write("blank.db", "")
	s.write("text.db", strings.Repeat("hello, world\n", 100))
	if err := os.Mkdir(filepath.Join(s.dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.start("ended")
	s.start("runs")
	s.must("launch", "end", "1", "--db", "sqlite:app.db", "--outcome", "succeeded")
	s.must("migrate", "--db", "sqlite:newer.db")
	s.exec("newer.db", "INSERT INTO idmint_schema (version) VALUES (1000)")

	const (
		app       = " --db sqlite:app.db "
		decimal   = "new decimal" + app + "--launch "
		eightbyte = "new eightbyte "
		sno       = "new sno --partition 1 "
		sequence  = "new sequence" + app + "--counter c "
		scramble  = "scramble 57 --key 00112233445566778899aabbccddeeff "
		into      = "import f.csv" + app + "--table t "
		launch    = "launch start" + app
		start     = launch + "--service shop --env test --initiator ann --key "
	)
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

		{"new", 2, "which scheme? want decimal, trace, eightbyte, short, sno, sequence"},
		{"new bogus", 2, `unknown scheme "bogus": want decimal, trace`},
		{"new bogus -n 3 --db sqlite:app.db", 2, `unknown scheme "bogus": want decimal`},
		{"new decimal x", 2, `unknown command "x"`},
		{"new sno 2", 2, `"2" alone says nothing: for as many IDs write -n 2`},
		{"new sno --partition 7 2 -n 3", 2, `for as many IDs write -n 2`},
		{"new decimal", 2, "--launch (or IDMINT_LAUNCH_ID) is required"},
		{"new decimal --launch 2", 2, "--db is required"},
		{"new decimal --db sqlite:app.db", 2, "--launch (or IDMINT_LAUNCH_ID) is required"},
		{"new decimal --test -n 0", 2, "-n 0: want at least 1"},
		{"new decimal --test -n -1", 2, "-n -1: want at least 1"},
		{"new decimal --test -n 1e6", 2, "1e6"},
		{"new decimal --test -n 9223372036854775808", 2, "9223372036854775808"},
		{"new decimal --test --launch 2", 2, "--test goes without"},
		{"new decimal --test --db sqlite:app.db", 2, "--test goes without"},
		{decimal + "0", 2, `"0" is no launch number, 1 to 99999`},
		{decimal + "100000", 2, `"100000" is no launch number`},
		{decimal + "x", 2, `"x" is no launch number`},
		{decimal + "065", 2, `"065" is no launch number`},
		{decimal + "+65", 2, `"+65" is no launch number`},
		{decimal + "«»", 2, `"" is no launch number`},
		{decimal + "77", 1, "launch 77: no such launch"},
		{decimal + "1", 1, "launch 1: the launch has ended"},
		{decimal + "2 --namespace other", 1, "launch 2: no such launch"},
		{decimal + "2 --namespace Other!", 2, `namespace "Other!"`},

		{"new trace", 2, "--node is required, or a database that lends one: --db"},
		{"new trace --pool 1..2 --db sqlite:app.db", 2, "--pool shares a number that is named"},
		{"new sno --time 2023-12-26 --db sqlite:app.db", 2, "--partition is required"},
		{"new trace --node x", 2, `--node "x": want digits`},
		{"new trace --node 07", 2, `--node "07": want digits, without leading zeros`},
		{"new trace --node -1", 2, `--node "-1"`},
		{"new trace --node 0x7", 2, `--node "0x7"`},
		{"new trace --node 99999999999999999999", 2, `--node "99999999999999999999"`},
		{"new trace --node 65536", 2, "node_no 65536 is outside 0..65535"},
		{"new trace --node 65536 --db sqlite:app.db", 2, "node_no 65536 is outside 0..65535"},
		{"new trace --node 7 -n 0", 2, "-n 0: want at least 1"},
		{"new trace --node 7 --db «»", 2, "--db is empty: want"},
		{"new trace --node 7 --db x", 2, "sqlite:"},
		{"new trace --node 7 --db sqlite:no.db", 1, "no.db"},
		{"new trace --node 7 --db sqlite:blank.db", 1, "idmint migrate"},
		{"new trace --node 7 --db sqlite:app.db --namespace Other!", 2, `namespace "Other!"`},
		{"new trace --node 7 --pool «»", 2, `--pool ""`},
		{"new trace --node 7 --pool 5", 2, `--pool "5": want MIN..MAX`},
		{"new trace --node 7 --pool 05..6", 2, `--pool "05..6"`},
		{"new trace --node 7 --pool 0..6", 2, "Pool 0..6 is no range within 1..4194303"},
		{"new trace --node 7 x", 2, `unknown command "x"`},
		{eightbyte + "--cluster 1 --mode time", 2, "--generator is required"},
		{eightbyte + "--generator 1 --mode time", 2, "--cluster is required"},
		{eightbyte + "--generator 1 --cluster 1", 2, "--mode is required"},
		{
			eightbyte + "--generator 1 --cluster 1 --mode SPREAD", 2,
			`--mode "SPREAD": want spread or time`,
		},
		{
			eightbyte + "--generator 2048 --cluster 1 --mode time", 2,
			"generator_id 2048 is outside 0..2047",
		},
		{eightbyte + "--generator 1 --cluster 16 --mode time", 2, "cluster_id 16 is outside 0..15"},
		{"new short --node 1", 2, "unknown flag: --node"},
		{"new short --pool 500..512", 2, "Pool 500..512 is no range within 0..511"},
		{"new sno", 2, "--partition is required"},
		{"new sno --partition 65536", 2, "partition 65536 is outside 0..65535"},
		{sno + "--meta 256", 2, "--meta 256: want 0 to 255"},
		{sno + "--time «»", 2, `--time "": want a date or a time with its zone`},
		{sno + "--time yesterday", 2, `--time "yesterday"`},
		{sno + "--time 2025-03-01 --db sqlite:app.db", 2, "--time goes without --db"},
		{"new sno --partition 65536 --time 2025-03-01", 2, "partition 65536 is outside"},
		{sno + "--time 2025-03-01 --pool 6..5", 2, "Pool 6..5"},
		{sno + "--time 2025-03-01 -n 0", 2, "-n 0"},
		{sno + "--time 2009-12-31", 1, "unix_ms 1262217600000 is outside"},
		{"new sequence --db sqlite:app.db", 2, "--counter is required"},
		{"new sequence --counter c", 2, "--db is required"},
		{"new sequence --db sqlite:app.db --counter Orders", 2, `counter "Orders"`},
		{sequence + "--block 0", 2, "--block 0: want 1 to 2147483647"},
		{sequence + "--block 2147483648", 2, "--block 2147483648"},
		{sequence + "-n 0", 2, "-n 0"},
		{"new sequence --db sqlite:blank.db --counter c", 1, "idmint migrate"},

		{"bounds", 2, "bounds: SCHEME is missing"},
		{"bounds bogus --from 2025-03-01 --to 2025-03-01", 2, `unknown scheme "bogus"`},
		{"bounds decimal --from 2025-03-01 --to 2025-03-01", 2, "decimal IDs carry no time"},
		{"bounds sequence --from 2025-03-01 --to 2025-03-01", 2, "sequence IDs carry no time"},
		{"bounds sno --to 2025-03-01", 2, "--from is required"},
		{"bounds sno --from 2025-03-01", 2, "--to is required"},
		{"bounds sno --from 2025-3-1 --to 2025-03-02", 2, `--from "2025-3-1"`},
		{"bounds sno --from 2025-02-29 --to 2025-03-02", 2, `--from "2025-02-29"`},
		{"bounds sno --from 2025-03-01 --to 2025-03-01T00:00:00", 2, `--to "2025-03-01T00:00:00"`},
		{"bounds sno --from 1740787200000 --to 2025-03-01", 2, `--from "1740787200000"`},
		{
			"bounds sno --from 2025-03-02 --to 2025-03-01", 2,
			"--to 2025-03-01 is before --from 2025-03-02",
		},
		{"bounds trace --from 2025-03-01T00:00:00.2Z --to 2025-03-01T00:00:00.1Z", 2, "is before"},
		{
			"bounds sno --from 2025-03-01 --to 2025-03-01 --form number", 2,
			`--form "number": want one of the forms of sno IDs, text, hex, uuid`,
		},
		{
			"bounds short --from 2025-03-01 --to 2025-03-01 --form text", 2,
			"the order of these is not that of time",
		},
		{"bounds sno --from 2009-12-31 --to 2025-03-01", 1, "unix_ms 1262217600000 is outside"},
		{"bounds short --from 2018-02-28 --to 2025-03-01", 1, "is outside"},
		{"bounds eightbyte --from 1969-12-31 --to 2025-03-01", 1, "is outside"},
		{"bounds eightbyte --from 2025-03-01 --to 2109-05-15", 1, "is outside"},
		{"bounds trace --from 2025-03-01 --to 2026-03-24", 1, "so long that timestamps repeat"},

		{"scramble 57", 2, "IDMINT_SCRAMBLE_KEY (or --key) is required"},
		{"scramble 57 --key «»", 2, "--key: key has 0 bytes"},
		{
			"unscramble 57 --key 00112233445566778899AABBCCDDEEFF", 2,
			"32 hexadecimal digits in lower case",
		},
		{scramble + "--domain 64", 2, "--domain 64: want 63 or 53"},
		{scramble + "--method aes", 2, `--method "aes": want network or multiplicative`},
		{scramble + "--scheme sno", 2, "--scheme sno: its IDs are no numbers of 63 bits"},
		{scramble + "--scheme bogus", 2, `unknown scheme "bogus"`},
		{"scramble 0 --key 00112233445566778899aabbccddeeff", 1, "zero means not assigned"},

		{"import", 2, "import: FILE is missing"},
		{
			"import f.csv g.csv --db sqlite:app.db --table t", 2,
			`import: "g.csv" is one argument too many: want one FILE`,
		},
		{"import f.csv", 2, "--db is required"},
		{"import no.csv", 2, "--db is required"},
		{"import f.csv --db sqlite:app.db", 2, "--table is required"},
		{into + "--resume --restart", 2, "exclude each other"},
		{
			"import f.csv --db sqlite:app.db --table main.t", 2,
			`--table "main.t": want a plain name`,
		},
		{
			"import f.csv --db clickhouse://h --log sqlite:app.db --table default.t", 2,
			`--table "default.t": want a plain name`,
		},
		{
			"import f.csv --db postgres://h --table public.t", 2,
			"is the one that --db names, in PostgreSQL by ?search_path=SCHEMA",
		},
		{into + "--id-column «»", 2, `--id-column "": want a name`},
		{
			"import f.csv --db mysql://root:pw@host:3306 --table t", 2,
			"--db: the DSN names no database: mysql://USER:PASSWORD@HOST:PORT/DATABASE",
		},
		{
			"import f.csv --db clickhouse://h --log mysql://host/ --table t", 2,
			"--log: the DSN names no database",
		},
		{"launch list --db mariadb://host", 2, "--db: the DSN names no database"},
		{"migrate --db mysql://host", 2, "--db: the DSN names no database"},
		{into + "--batch 0", 2, "--batch 0"},
		{into + "--batch 1000001", 2, "--batch 1000001"},
		{into + "--batch x", 2, `"x"`},
		{into + "--format xml", 2, `unknown format "xml": want csv, tsv or jsonl`},
		{"import f.parquet --db sqlite:app.db --table t", 2, "| idmint import - --format csv"},
		{into + "--format parquet", 2, "| idmint import - --format csv"},
		{into + "--format CSV", 2, `unknown format "CSV"`},
		{"import f.txt --db sqlite:app.db --table t", 2, "say it with --format"},
		{"import - --db sqlite:app.db --table t", 2, "say it with --format"},
		{into + "--launch 0", 2, `"0" is no launch number`},
		{into + "--launch 100000", 2, `"100000" is no launch number`},
		{into + "--launch x", 2, `"x" is no launch number`},
		{into + "--launch 065", 2, `"065" is no launch number`},
		{into + "--launch 77", 1, "f.csv: launch 77: no such launch"},
		{into + "--launch 1", 1, "f.csv: launch 1: the launch has ended"},
		{into + "--wait 0s", 2, "--wait 0s"},
		{into + "--wait -1s", 2, "--wait -1s"},
		{into + "--wait 5", 2, `"5"`},
		{"import no.csv --db sqlite:app.db --table t", 1, "no.csv: no such file"},
		{"import folder --db sqlite:app.db --table t --format csv", 1, "folder is a folder"},
		{"import empty.csv --db sqlite:app.db --table t", 1, "empty.csv: the file is empty"},
		{
			"import bad.csv --db sqlite:app.db --table bad", 1,
			"bad.csv: line 3: 3 fields, while the header has 2; 0 rows are stored",
		},
		{"import f.csv --db sqlite:app.db --table sqlite_t", 1, `table "sqlite_t"`},
		{"import f.csv --db sqlite:app.db --table idmint_t", 1, `table "idmint_t"`},
		{into + "--id-column B", 1, "--id-column"},

		{"inspect --scheme bogus 1", 2, `unknown scheme "bogus": want decimal`},
		{"inspect --form bogus 1", 2, `--form "bogus": want text, number, hex or uuid`},
		{
			"inspect --form uuid --scheme trace 1", 2,
			`--form "uuid": want one of the forms of trace IDs, text, number`,
		},
		{"inspect --scheme trace 4194304", 1, "bottom 0 is outside"},
		{"inspect !", 1, `"!" fits no scheme`},
		{"inspect 017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1, "it is a UUID of version 7, made at 2022-"},
		{"inspect -1", 2, "unknown shorthand flag"},
		{"inspect --scheme decimal -- -1", 1, `"-1"`},
		{"compose", 2, "--scheme is required"},
		{"compose --scheme bogus", 2, `unknown scheme "bogus"`},
		{"compose --scheme decimal {}", 1, "counter"},

		{launch + "--env e --key k --initiator i", 2, "--service is required"},
		{launch + "--service s --key k --initiator i", 2, "--env is required"},
		{launch + "--service s --env e --initiator i", 2, "--key is required"},
		{launch + "--service s --env e --key k", 2, "--initiator is required"},
		{"launch start --service s --env e --key k --initiator i", 2, "--db is required"},
		{start + "k --format yaml", 2, `--format "yaml"`},
		{start + "k --data {", 1, "data"},
		{start + "k\x01", 1, "control character"},
		{start + "k --rolls-back 77", 1, "launch 77: no such launch"},
		{start + "k --known 77", 1, "the store has lost numbers"},
		{start + "k --known 100000", 1, "is no launch number"},
		{start + "runs --version 2", 1, "version"},
		{"launch end --db sqlite:app.db --outcome failed", 2, "launch end: LAUNCH is missing"},
		{"launch end 2 --db sqlite:app.db", 2, "--outcome is required"},
		{"launch end 0 --db sqlite:app.db --outcome failed", 2, `"0" is no launch number`},
		{"launch end 2 --db sqlite:app.db --outcome So_So", 1, `"So_So"`},
		{"launch end 77 --db sqlite:app.db --outcome failed", 1, "no such launch"},
		{"launch end 1 --db sqlite:app.db --outcome failed", 1, "outcome"},
		{"launch show --db sqlite:app.db", 2, "launch show: LAUNCH is missing"},
		{"counter show --db sqlite:app.db", 2, "counter show: COUNTER is missing"},
		{"counter advance --to 7 --db sqlite:app.db", 2, "counter advance: COUNTER is missing"},
		{"launch show x --db sqlite:app.db", 2, `"x" is no launch number`},
		{"launch show 77 --db sqlite:app.db", 1, "launch 77: no such launch"},
		{"launch show 1 --db sqlite:app.db --limit 0", 2, "--limit"},
		{"launch list --db sqlite:app.db --limit 0", 2, "--limit"},
		{"launch list --db sqlite:app.db --before -1", 2, "--before"},
		{"launch advance --db sqlite:app.db", 2, "--to"},
		{"launch advance --db sqlite:app.db --to 100000", 2, `"100000" is no launch number`},

		{"launch list --db sqlite:no.db", 1, "no.db"},
		{"launch list --db sqlite:no/folder/app.db", 1, "no/folder/app.db"},
		{"launch list --db sqlite:folder", 1, "folder: unable to open database file: is a directory"},
		{"launch list --db sqlite:text.db", 1, "text.db: file is not a database"},
		{"launch list --db sqlite:empty.csv", 1, "idmint migrate"},
		{
			"launch list --db sqlite:newer.db", 1,
			"newer.db: the launch log has schema version 1000, newer than 4",
		},
		{"migrate --db sqlite::memory:", 1, "is no file"},
		{"import f.csv --db sqlite::memory: --table t", 1, "is no file"},
		{
			"migrate --db sqlite:no/folder/app.db", 1,
			"no/folder/app.db: unable to open database file: no such file or directory",
		},
		{"migrate --db sqlite:folder", 1, "folder: unable to open database file: is a directory"},
		{"migrate --db sqlite:text.db", 1, "text.db: file is not a database"},
		{"migrate --db sqlite:newer.db", 1, "newer.db: the schema has version 1000, newer than 4"},
		{"import f.csv --db sqlite:folder --table t", 1, "folder: unable to open database file: is a directory"},
		{"import f.csv --db sqlite:text.db --table t", 1, "text.db: file is not a database"},
		{"import f.csv --db sqlite:newer.db --table t", 1, "newer than 4"},
		{"new decimal --db sqlite:text.db --launch 1", 1, "text.db: file is not a database"},
		{"new decimal --db sqlite:newer.db --launch 1", 1, "newer than 4"},
	} {
		args := strings.Split(test.args, " ")
		for i := range args {
			args[i] = strings.Trim(args[i], "«»")
		}
		got := s.run(args...)
		if got.status != test.status || !strings.Contains(got.stderr, test.want) ||
			got.stdout != "" {
			t.Errorf("idmint %s: %v; want status %d and %q", test.args, got, test.status, test.want)
		}
		lines := 1
		if test.status == statusUsage {
			lines = 2 // where to look
		}
		if !strings.HasPrefix(got.stderr, "idmint: ") || strings.Count(got.stderr, "\n") != lines {
			t.Errorf("idmint %s: stderr is not %d lines: %q", test.args, lines, got.stderr)
		}
		for _, name := range []string{
			"idtype:", "launchlog:", "generator:", "migrations:",
			"importer:", "sqlid:", "scramble:", "json:",
		} {
			if strings.Contains(got.stderr, name) {
				t.Errorf("idmint %s: the name of a package: %q", test.args, got.stderr)
			}
		}
	}
	// Where to look is the command's own help.
	for args, want := range map[string]string{
		"bogus": "idmint", "--bogus": "idmint", "launch bogus": "idmint launch",
		"launch show": "idmint launch show", "import --bogus": "idmint import",
		"new sno": "idmint new sno", "counter show X --db sqlite:app.db": "idmint counter show",
	} {
		got := s.run(strings.Fields(args)...)
		if !strings.HasSuffix(got.stderr, "\nSee '"+want+" --help'.\n") {
			t.Errorf("idmint %s: %v, want %s", args, got, want)
		}
	}
	// None of it has left anything behind but the import with the bad row.
	n := s.count(`SELECT count(*) FROM sqlite_schema WHERE name IN ('t', 'sqlite_t', 'idmint_t')`)
	if n != 0 {
		t.Errorf("%d tables were made", n)
	}
	n = s.count(`SELECT (SELECT count(*) FROM idmint_generator) + 10 * (SELECT count(*) FROM ` +
		`idmint_launch WHERE service = 'shop')`)
	if n != 20 {
		t.Errorf("launches × 10 + generator numbers: %d, want 20", n)
	}
}

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

func TestEnvironment(t *testing.T) {
	s := inside(t)
	s.write("f.csv", "a\n1\n")
	for _, value := range []string{"0", "x", "065", "100000", " 65"} {
		s.env = append(s.env, launchVariable+"="+value)
		for _, args := range [][]string{{"new", "decimal"}, {"import", "f.csv", "--table", "t"}} {
			got := s.run(append(args, "--db", "sqlite:app.db")...)
			if got.status != 2 || !strings.Contains(got.stderr, launchVariable) {
				t.Errorf("%v with %q: %v", args, value, got)
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
