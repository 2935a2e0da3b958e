package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// target is a database of the kind, and the flags of an import into it.
func target(t *testing.T, kind databases.Kind) (dsn.DSN, []string) {
	t.Helper()
	d := dbtest.New(t, kind)
	flags := []string{"--db", d.URL()}
	if kind == databases.ClickHouse {
		flags = append(flags, "--log", "sqlite:app.db")
	}
	return d, flags
}

func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// checkOnServer checks that the rows of numbered(n) are in table t once.
func checkOnServer(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	for _, query := range []string{
		`SELECT count(*) FROM t`, `SELECT count(DISTINCT id) FROM t`,
		`SELECT count(DISTINCT n) FROM t`,
	} {
		if got := number(t, db, query); got != n {
			t.Errorf("%s: %d, want %d", query, got, n)
		}
	}
}

// imported is must for an import that makes its launch log, and says so.
func (s *shell) imported(args ...string) string {
	s.Helper()
	got := s.run(args...)
	made := "idmint: created a new launch log in "
	if got.status != 0 || !strings.HasPrefix(got.stderr, made) ||
		strings.Count(got.stderr, "\n") != 1 {
		s.Fatalf("idmint %q: %v", args, got)
	}
	return got.stdout
}

func TestImportOnServers(t *testing.T) {
	for _, kind := range databases.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := newShell(t)
			d, flags := target(t, kind)
			s.write("f.csv", numbered(1234))
			args := append([]string{"import", "f.csv", "--table", "t"}, flags...)
			out := s.imported(args...)
			if !strings.Contains(out, "t: 1234 rows in ") ||
				!strings.Contains(out, "IDs 10000000001 to 12340000000001\n") {
				t.Errorf("%q", out)
			}
			checkOnServer(t, dbtest.Open(t, d), 1234)
			// The same by the environment.
			for i, variable := range map[int]string{1: dsnVariable, 3: logVariable} {
				if i < len(flags) {
					s.env = append(s.env, variable+"="+flags[i])
				}
			}
			out = s.must("import", "f.csv", "--table", "t", "--resume")
			if !strings.Contains(out, "nothing was left to import: all 1234 rows are there") {
				t.Errorf("%q", out)
			}
		})
	}
}

// The DSN chooses the schema, which --table does not.
func TestImportIntoSchema(t *testing.T) {
	s := newShell(t)
	d, _ := target(t, databases.Postgres)
	db := dbtest.Open(t, d)
	if _, err := db.Exec("CREATE SCHEMA sales"); err != nil {
		t.Fatal(err)
	}
	s.write("f.csv", numbered(7))
	s.imported("import", "f.csv", "--table", "t", "--db", d.URL()+"&search_path=sales")
	if n := number(t, db, "SELECT count(*) FROM sales.t"); n != 7 {
		t.Errorf("%d rows", n)
	}
	if n := number(t, db, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"); n != 0 {
		t.Errorf("%d tables are in the schema public", n)
	}
}

// Imports are killed at random moments, and resumed until they are finished: each row is there
// once.
func TestImportKilledOnServers(t *testing.T) {
	const rows, kills = 10_000, 6
	for _, kind := range databases.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := newShell(t)
			d, flags := target(t, kind)
			db := dbtest.Open(t, d)
			s.write("f.csv", numbered(rows))
			killed, inBetween, between, inDoubt := 0, 0, time.Duration(0), 0
			for resume := false; ; resume = true {
				cmd := s.command(append(
					[]string{
						"import", "f.csv", "--table", "t", "--batch", "50",
						fmt.Sprintf("--resume=%v", resume),
					}, flags...)...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				// a moment after it has come further
				if killed < kills || inBetween < kills/2 && killed < 10*kills {
					before := stored(db)
					for end := time.Now().Add(30 * time.Second); stored(db) <= before &&
						time.Now().Before(end); time.Sleep(time.Millisecond) {
					}
					between = time.Duration(rand.IntN(50)) * time.Millisecond
					time.Sleep(between)
					_ = cmd.Process.Kill()
				}
				err := cmd.Wait()
				if err == nil {
					break
				}
				if cmd.ProcessState.Exited() {
					t.Fatalf("it was not killed, but ended: %v, %s", err, stderr.String())
				}
				killed++
				n := number(t, db, `SELECT count(*) FROM t`)
				if n > 0 && n < rows {
					inBetween++
				}
				if kind == databases.ClickHouse {
					inDoubt += s.count(`SELECT count(*) FROM idmint_import WHERE in_doubt <> ''`)
				} else if more := number(
					t, db, `SELECT (SELECT count(*) FROM t) - stored_rows FROM idmint_import`); more != 0 {
					t.Errorf("%d rows more are stored than are noted", more)
				}
			}
			checkOnServer(t, db, rows)
			t.Logf("%s: %d kills, %d of them with a part of the rows stored, %d with a batch in "+
				"doubt: 0 rows twice, 0 lost", kind, killed, inBetween, inDoubt)
			if inBetween < kills/2 {
				t.Error("the kills met no import at work: the test shows too little")
			}
		})
	}
}

// stored is how many rows are in t, 0 where there is none.
func stored(db *sql.DB) (n int) {
	_ = db.QueryRow(`SELECT count(*) FROM t`).Scan(&n)
	return n
}

// silent is a server that takes connections and never answers, and how many it took.
func silent(t *testing.T) (host string, taken *atomic.Int32) {
	t.Helper()
	taken = new(atomic.Int32)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
			taken.Add(1)
		}
	}()
	return l.Addr().String(), taken
}

// What is wrong with a server is said in one line, without the password, within the time that
// --wait gives.
func TestServersAway(t *testing.T) {
	const wait = 2 * time.Second
	mute, _ := silent(t)
	for _, kind := range databases.Kinds() {
		d := dbtest.Server(t, kind).DSN
		u, err := url.Parse(d.URL())
		if err != nil {
			t.Fatal(err)
		}
		wrong := *u
		wrong.User = url.UserPassword(u.User.Username(), "hunter2")
		stranger := *u
		stranger.User = url.UserPassword("stranger", "hunter2")
		missing := "no_such_database"
		for _, test := range []struct {
			name, db string
			want     string // in the message; a | separates what each kind says
			waits    bool
		}{
			{
				"wrong password", wrong.String(),
				"password authentication failed|Access denied|Authentication failed", false,
			},
			{
				"unknown user", stranger.String(),
				"authentication failed|Access denied|Authentication failed", false,
			},
			{"missing database", d.WithDatabase(missing).URL(), missing, false},
			{"nobody there", d.WithHost("127.0.0.1:1").URL(), "connection refused", true},
			{
				"nobody answers", d.WithHost(mute).URL(),
				"the server did not answer within 2s|i/o timeout: it was busy or away for 2s",
				true,
			},
			{
				"unknown host", d.WithHost("no-such-host.invalid:1").URL(), "no-such-host.invalid",
				false,
			},
		} {
			s := newShell(t)
			s.write("f.csv", "a\n1\n")
			commands := [][]string{
				{"import", "f.csv", "--table", "t"},
				{"migrate"},
				{"launch", "list"},
			}
			if kind == databases.ClickHouse {
				s.must("migrate", "--db", "sqlite:app.db") // else import says that it made one
				commands = [][]string{{"import", "f.csv", "--table", "t", "--log", "sqlite:app.db"}}
			}
			password, _ := u.User.Password()
			for _, args := range commands {
				args = append(args, "--db", test.db)
				if test.waits {
					args = append(args, "--wait", wait.String())
				}
				t.Run(fmt.Sprintf("%s/%s/%s", kind, test.name, args[0]), func(t *testing.T) {
					t.Parallel()
					began := time.Now()
					got := s.run(args...)
					took := time.Since(began)
					said := slices.ContainsFunc(strings.Split(test.want, "|"),
						func(want string) bool { return strings.Contains(got.stderr, want) })
					if got.status != statusBadInput || !said || got.stdout != "" ||
						strings.Count(got.stderr, "\n") != 1 ||
						strings.ContainsAny(got.stderr, "\t\r") {
						t.Errorf("%v: %v", args, got)
					}
					if strings.Contains(got.stderr, "hunter2") ||
						strings.Contains(got.stderr, ":"+password+"@") {
						t.Errorf("%v: the password is in %q", args, got.stderr)
					}
					if test.waits && took < wait/20 || took > soon {
						t.Errorf("%v: it took %v", args, took)
					}
				})
			}
		}
	}
}

// Ctrl-C ends what waits for a server.
func TestInterruptedOnServers(t *testing.T) {
	for _, kind := range []databases.Kind{databases.Postgres, databases.MariaDB} {
		mute, taken := silent(t)
		away := dbtest.Server(t, kind).DSN.WithHost(mute).URL()
		s := newShell(t)
		s.write("f.csv", "a\n1\n")
		for _, args := range [][]string{
			{"import", "f.csv", "--table", "t"},
			{"migrate"},
			{"launch", "list"},
		} {
			taken.Store(0)
			cmd := s.command(append(args, "--db", away)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s.until("it waits for an answer", func() bool { return taken.Load() > 0 })
			began := time.Now()
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
			if cmd.ProcessState.ExitCode() != statusInterrupted ||
				!strings.Contains(stderr.String(), "interrupted") ||
				strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("%s, %v: %v, %q", kind, args, cmd.ProcessState, stderr.String())
			}
			if d := time.Since(began); d > soon {
				t.Errorf("%s, %v: it took %v", kind, args, d)
			}
		}
	}
}

// ClickHouse keeps no launch log, and others need no second database.
func TestLogFlag(t *testing.T) {
	s := newShell(t)
	s.write("f.csv", "a\n1\n")
	const (
		into = "import f.csv --table t --db "
		none = "ClickHouse has no transactions"
	)
	for args, want := range map[string]string{
		into + "clickhouse://h/d":                          "--log is required, or IDMINT_LOG in the environment",
		into + "clickhouse://h/d --log clickhouse://h/d":   "--log: " + none,
		into + "clickhouse://h/d --log nonsense":           "--log: want the kind of database",
		into + "sqlite:app.db --log sqlite:other.db":       "--log is for clickhouse:// alone",
		"launch list --db clickhouse://h/d":                "--db: " + none + ", and keeps no launch log",
		"migrate --db clickhouse://h/d":                    "--db: " + none,
		"new sequence --counter c --db clickhouse://h/d":   "--db: " + none,
		into + "clickhouse://h/d --log sqlite:x --wait 0s": "--wait 0s",
	} {
		got := s.run(strings.Fields(args)...)
		if got.status != statusUsage || !strings.Contains(got.stderr, want) || got.stdout != "" {
			t.Errorf("idmint %s: %v; want %q", args, got, want)
		}
	}
	s.env = append(s.env, dsnVariable+"=hunter2")
	if got := s.run("migrate"); got.status != statusUsage ||
		!strings.Contains(got.stderr, dsnVariable+": want the kind") ||
		strings.Contains(got.stderr, "hunter2") {
		t.Error(got)
	}
}

// Where no node answers, the error says of each why.
func TestNodesThatDoNotAnswer(t *testing.T) {
	for _, kind := range []string{"etcd", "zookeeper", "cassandra"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			got := s.run("launch", "list", "--wait", "2s",
				"--db", kind+"://ann:hunter2@127.0.0.1:1,127.0.0.1:2/x")
			if got.status != statusBadInput || strings.Contains(got.stderr, "hunter2") ||
				!strings.Contains(got.stderr, "127.0.0.1:1: connection refused; "+
					"127.0.0.1:2: connection refused: it was busy or away for 2s\n") {
				t.Error(got)
			}
		})
	}
}

// A command that waits for long says so before it ends.
func TestSaysThatItWaits(t *testing.T) {
	for _, args := range []string{"serve", "launch list", "doctor"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			args := append(strings.Fields(args), "--db", "postgres://ann:hunter2@127.0.0.1:1/x")
			for wait, says := range map[string]bool{"2500ms": true, "1s": false} {
				got := s.run(append(args, "--wait", wait)...)
				said := strings.HasPrefix(got.stderr,
					"idmint: postgres://ann:xxxxx@127.0.0.1:1/x does not answer: waiting for up to 2.5s\n")
				if got.status == 0 || said != says || strings.Contains(got.stderr, "hunter2") {
					t.Error(got)
				}
			}
		})
	}
}

// The environment names the database where no flag does, and is in nobody's way who needs none.
func TestDatabaseOfEnvironment(t *testing.T) {
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.env = append(s.env, dsnVariable+"=sqlite:app.db")
	s.must("new", "decimal", "--test")
	s.must("new", "sequence", "--counter", "orders")
	s.must("new", "trace", "--node", "7")
	n := s.count(`SELECT count(*) FROM idmint_counter WHERE name IN ('orders', 'trace/7')`)
	if n != 2 {
		t.Errorf("%d counters, want 2", n)
	}
	s.must("migrate", "--db", "sqlite:other.db")
	s.must("new", "sequence", "--counter", "orders", "--db", "sqlite:other.db")
	if got := s.must("counter", "show", "orders"); got != "1\n" {
		t.Errorf("%q: --db was passed over", got)
	}
	got := s.run("counter", "list", "--db", "")
	if got.status != statusUsage || !strings.Contains(got.stderr, "--db is empty: want") {
		t.Error(got)
	}
}
