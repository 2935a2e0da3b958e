// Package dbtest gives tests databases of their own on real servers, which are started once per
// test program.
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
//
//	func TestInPostgres(t *testing.T) {
//		pool, err := pgxpool.New(ctx, dbtest.New(t, databases.Postgres).Source())
//		…
//	}
//
// Where a server cannot be had a test is skipped, with a line that says how to get it; with CI set
// it fails.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
)

// shared is a server of all tests of the program.
type shared struct {
	once   sync.Once
	server *databases.Server
	err    error
}

var servers = map[databases.Kind]*shared{
	databases.Postgres: {}, databases.MariaDB: {},
	databases.ClickHouse: {},
}

// Main runs the tests, ends the servers that they started, and exits.
func Main(m *testing.M) { os.Exit(Code(m)) }

// Code is [Main] without the exit: it returns the exit code.
func Code(m *testing.M) int {
	code := m.Run()
	for _, s := range servers {
		if s.server != nil {
			if err := s.server.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err) // scripts/test removes what is left
			}
		}
	}
	return code
}

// Server is the server of the kind that the program's tests share.
func Server(t testing.TB, k databases.Kind) *databases.Server {
	t.Helper()
	s := servers[k]
	s.once.Do(func() {
		if s.server, s.err = databases.Start(context.Background(), k); s.err == nil {
			fmt.Printf("database: %s\n", s.server.Version) // what ran, for the end of make test
		}
	})
	orSkip(t, s.err)
	return s.server
}

// New makes a database for the test on the shared server.
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

// Open opens a database until the test ends.
func Open(t testing.TB, d dsn.DSN) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.Driver(), d.Source())
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

// Run starts a server for this test alone, which it may kill. See [databases.Run].
func Run(t testing.TB, k databases.Kind, args ...string) *databases.Server {
	t.Helper()
	return RunOn(t, k, "", args...)
}

// RunOn is [Run] with the data in a directory of this machine.
func RunOn(t testing.TB, k databases.Kind, disk string, args ...string) *databases.Server {
	t.Helper()
	s, err := databases.Run(t.Context(), k, disk, args...)
	orSkip(t, err)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Log(err)
		}
	})
	return s
}

func orSkip(t testing.TB, err error) {
	t.Helper()
	var unavailable *databases.UnavailableError
	switch {
	case errors.As(err, &unavailable) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}
