package integration_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

func TestMain(m *testing.M) {
	subprocess.Work(map[string]func([]string) error{"app": app, "minter": minter, "writer": writer})
	dbtest.Main(m)
}

// newLogFile makes a launch log in a file, and opens the file.
func newLogFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, _, err := migrations.Up(context.Background(), db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	return db
}

// openLog opens the launch log of a file, until the process ends.
func openLog(path string) (*launchlog.Log, error) {
	store, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return launchlog.New(store, nil)
}

// openRecord opens the file in which a process writes down what it was told.
func openRecord(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// readRecords reads the files, named 1 to n, of processes that were killed: in each line what an ID
// is of, and the ID. The last line of a process may be cut off.
func readRecords(t *testing.T, dir string, n int, each func(process int, of, id string)) {
	t.Helper()
	for process := 1; process <= n; process++ {
		file, err := os.Open(filepath.Join(dir, strconv.Itoa(process)))
		if os.IsNotExist(err) {
			continue // killed before it had anything to write
		} else if err != nil {
			t.Fatal(err)
		}
		cut := false
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var of, id string
			_, err := fmt.Sscan(lines.Text(), &of, &id)
			if cut {
				t.Fatalf("process %d wrote more, up to %q, after half a line", process,
					lines.Text())
			}
			if cut = err != nil; !cut {
				each(process, of, id)
			}
		}
		file.Close()
	}
}
