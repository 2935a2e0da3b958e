package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
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
	for _, kind := range []databases.Kind{
		databases.Postgres, databases.MariaDB, databases.ClickHouse,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
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
			if !strings.Contains(out, "nothing was left to import: all 1234 rows are stored") {
				t.Errorf("%q", out)
			}
		})
	}
}

// silent is a server that never answers.
func silent(t *testing.T) (host string) {
	t.Helper()
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
		}
	}()
	return l.Addr().String()
}

// What is wrong with a server is said in one line, without the password.
func TestServersAway(t *testing.T) {
	mute := silent(t)
	for _, kind := range []databases.Kind{
		databases.Postgres, databases.MariaDB, databases.ClickHouse,
	} {
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
		password, _ := u.User.Password()
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
			{
				"nobody there", d.WithHost("127.0.0.1:1").URL(),
				"connection refused|did not answer within 2s", true,
			},
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
			commands := [][]string{{"import", "f.csv", "--table", "t"}, {"launch", "list"}}
			if kind == databases.ClickHouse {
				commands = [][]string{{"import", "f.csv", "--table", "t", "--log", "sqlite:app.db"}}
			}
			for _, args := range commands {
				args = append(args, "--db", test.db)
				if test.waits {
					args = append(args, "--wait", "2s")
				}
				t.Run(fmt.Sprintf("%s/%s/%s", kind, test.name, args[0]), func(t *testing.T) {
					t.Parallel()
					s := newShell(t)
					s.write("f.csv", "a\n1\n")
					if kind == databases.ClickHouse { // else import says that it made one
						s.must("migrate", "--db", "sqlite:app.db")
					}
					got := s.run(args...)
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
				})
			}
		}
	}
}

// Where no node answers, the error says of each why.
func TestNodesThatDoNotAnswer(t *testing.T) {
	for _, kind := range []string{"etcd", "zookeeper", "cassandra"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			for wait := 5 * time.Second; ; wait *= 4 {
				got := s.run("launch", "list", "--wait", wait.String(),
					"--db", kind+"://ann:hunter2@127.0.0.1:1,127.0.0.1:2/x")
				said := strings.Contains(got.stderr, "127.0.0.1:1: connection refused; "+
					"127.0.0.1:2: connection refused: it was busy or away for "+wait.String()+"\n")
				if !said && wait < time.Minute {
					continue // a busy machine may have had no time to ask both
				}
				if got.status != statusBadInput || !said || strings.Contains(got.stderr, "hunter2") {
					t.Error(got)
				}
				return
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
			args := append(strings.Fields(args), "--db", "postgres://ann:hunter2@127.0.0.1:1/x",
				"--wait")
			cmd := s.command(append(args, "1h")...)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			const want = "idmint: postgres://ann:xxxxx@127.0.0.1:1/x does not answer: waiting for up " +
				"to 1h0m0s\n"
			if said, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || said != want {
				t.Errorf("%q, %v", said, err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			out, err := s.command(append(args, "1s")...).CombinedOutput()
			if err == nil || strings.Contains(string(out), "waiting") ||
				strings.Contains(string(out), "hunter2") {
				t.Errorf("%s", out)
			}
		})
	}
}
