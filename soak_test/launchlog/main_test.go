// Package launchlog_test looks for errors of launch logs by chance: in a SQLite file beside which
// files are removed, and in simulations of lost answers. Processes are killed in soak_test/faults.
package launchlog_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	subprocess.Main(m, map[string]func([]string) error{
		"attacked": attackedWorker, "app": appWorker,
	})
}

// logIn is the log in a file. Its calls go on until they are answered.
func logIn(path string) (*launchlog.Log, error) {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return launchlog.New(store, &launchlog.Options{Budget: time.Hour})
}

// newFile makes a file with an empty launch log.
func newFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.db")
	if _, _, err := migrations.Up(ctx, openDB(t, path), migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	return path
}

func openDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestDisturbed has contexts end in mid-call, and an operator who advances meanwhile.
func TestDisturbed(t *testing.T) {
	for name, store := range map[string]launchlog.Store{
		"memory": memory.New(nil), "SQLite": open(t, newFile(t)),
	} {
		t.Run(name, func(t *testing.T) { storetest.Disturb(t, store, 200, storetest.Operator) })
	}
}

// TestSimulation runs thousands of simulations, on a clock of its own that makes waiting free. A
// failing seed is printed.
func TestSimulation(t *testing.T) {
	const seeds = 5000
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) { storetest.Simulate(t, memory.New(nil), seed, 30) })
		if t.Failed() {
			return
		}
	}
	t.Logf("%d seeds: 0 repeats, 0 lost launches, with lost and late requests and lost answers "+
		"in 40 %% of the starts, claims and reservations", seeds)
}
