// Package dbtest gives each test a new database on real servers, which a test program starts once.
// Tests that break servers get their own servers and clusters.
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
//
//	func TestInPostgres(t *testing.T) {
//		pool, err := pgxpool.New(ctx, dbtest.New(t, databases.Postgres).Source())
//		…
//	}
//
// If a server is not available, a test is skipped, with a line that says how to get the server.
// With CI set, the test fails.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/internal/dialect"
)

// A shared is a server that all tests of the program use.
type shared struct {
	once   sync.Once
	server *databases.Server
	err    error
}

var servers = map[databases.Kind]*shared{
	databases.Postgres: {}, databases.Postgres18: {}, databases.MariaDB: {},
	databases.ClickHouse: {},
	databases.Etcd:       {}, databases.ZooKeeper: {}, databases.Cassandra: {},
}

// Main runs the tests, ends the servers that they started, and exits.
func Main(m *testing.M) { os.Exit(Code(m)) }

// Code is [Main] without the exit: it returns the exit code.
func Code(m *testing.M) int {
	code := m.Run()
	for _, s := range servers {
		if s.server != nil {
			if err := s.server.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err) // scripts/test removes the leftovers
			}
		}
	}
	return code
}

// Server returns the server of the kind that the program's tests share. For a store it is one node.
func Server(t testing.TB, k databases.Kind) *databases.Server {
	t.Helper()
	s := servers[k]
	s.once.Do(func() {
		s.server, s.err = databases.Start(context.Background(), k, databases.InMemory)
		if s.err == nil {
			ran(s.server)
		}
	})
	orSkip(t, s.err)
	return s.server
}

// ran records which servers ran, for the summary of make test.
func ran(s *databases.Server) { fmt.Printf("database: %s\n", s.Version) }

// New creates a database for the test on the shared server. On a store it is an empty place.
func New(t testing.TB, k databases.Kind) dsn.DSN {
	t.Helper()
	d, drop, err := Server(t, k).Create(context.Background(), "t_"+strings.ToLower(rand.Text()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Open opens a database, and closes it when the test ends.
func Open(t testing.TB, d dsn.DSN) *sql.DB {
	t.Helper()
	if d.Kind == dsn.SQLite {
		return OpenSource(t, d.Driver(), dialect.SQLiteDSN(d.Path, "rwc", 0))
	}
	return OpenSource(t, d.Driver(), d.Source())
}

// OpenSource is [Open] with the driver's name of the database.
func OpenSource(t testing.TB, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Exec runs statements, which must succeed.
func Exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// Run starts a server for this test alone, which the test may kill. See [databases.Run].
func Run(t testing.TB, k databases.Kind, args ...string) *databases.Server {
	t.Helper()
	return RunOn(t, k, "", args...)
}

// RunOn is [Run] with the data in a directory of this machine.
func RunOn(t testing.TB, k databases.Kind, disk string, args ...string) *databases.Server {
	t.Helper()
	s, err := databases.Run(t.Context(), k, disk, args...)
	orSkip(t, err)
	t.Cleanup(func() { end(t, s.Stop, s) })
	return s
}

// RunSecure starts a node of a store that admits only clients with its access. See
// [databases.RunSecure].
func RunSecure(t testing.TB, k databases.Kind) *databases.Server {
	t.Helper()
	s, err := databases.RunSecure(t.Context(), k, t.TempDir())
	orSkip(t, err)
	t.Cleanup(func() { end(t, s.Stop, s) })
	return s
}

// RunCluster starts a cluster of n nodes for this test alone, which the test may break. See
// [databases.RunCluster].
func RunCluster(t testing.TB, k databases.Kind, n int, settings ...string) *databases.Cluster {
	t.Helper()
	c, err := databases.RunCluster(t.Context(), k, n, settings...)
	orSkip(t, err)
	t.Cleanup(func() { end(t, c.Stop, c.Nodes...) })
	ran(c.Nodes[0])
	return c
}

// Cut cuts links of a server until it is healed or the test ends. If this program is not allowed to
// do so, the test is skipped, or fails in CI. See [databases.Server.Cut].
func Cut(t testing.TB, s *databases.Server, links databases.Links) {
	t.Helper()
	orSkip(t, s.Cut(t.Context(), links))
}

// lines is how many lines of a server's log a failed test shows.
const lines = 40

// end stops servers, and shows their output if the test failed.
func end(t testing.TB, stop func() error, servers ...*databases.Server) {
	if t.Failed() {
		for _, s := range servers {
			log := strings.Split(strings.TrimSpace(s.Log()), "\n")
			log = slices.DeleteFunc(log, func(line string) bool {
				return strings.Contains(line, "Aborted connection") // of a client that was killed
			})
			log = log[max(0, len(log)-lines):]
			t.Logf("the last lines of %v:\n%s", s, strings.Join(log, "\n"))
		}
	}
	if err := stop(); err != nil {
		t.Log(err)
	}
}

func orSkip(t testing.TB, err error) {
	t.Helper()
	var unavailable *databases.UnavailableError
	switch {
	case (errors.As(err, &unavailable) || errors.Is(err, databases.ErrNoPartition)) &&
		os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}
