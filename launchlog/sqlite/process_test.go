package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestMain(m *testing.M) {
	workers := storetest.Workers(func(path string) (launchlog.Store, error) {
		return sqlite.Open(ctx, path)
	})
	workers["lock"] = lockWorker
	subprocess.Main(m, workers)
}

// lockWorker says whether nobody has SQLite's write lock.
func lockWorker(args []string) error {
	db, err := sql.Open("sqlite3", sqlite.DSN(args[0], sqlite.Existing)+"&_busy_timeout=0")
	if err != nil {
		return err
	}
	_, err = db.Begin()
	if _, cause := dialect.CauseOf(err); cause == dialect.Contended {
		fmt.Println("busy")
		return nil
	}
	if err == nil {
		fmt.Println("free")
	}
	return err
}

// wantLock compares what another process finds.
func wantLock(t *testing.T, path, want string) {
	t.Helper()
	out, err := subprocess.Command("lock", path).Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != want {
		t.Errorf("for another process the lock is %q, %v; want %s", got, err, want)
	}
}

// TestLocked: a call tries again while a transaction of the app holds the lock, says so when its
// context ends, and succeeds when the transaction has ended.
func TestLocked(t *testing.T) {
	path := newFile(t)
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := launchlog.New(open(t, path), &launchlog.Options{
		Budget: time.Hour,
		Observe: func(_ context.Context, s launchlog.Step) {
			if s.Op == "start" && s.Attempt == 3 {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := openDB(t, path).Begin()
	if err != nil {
		t.Fatal(err)
	}
	store := open(t, path) // reading takes no lock, and neither does opening
	if _, err := store.Launches(ctx, "default", launchlog.Filter{Limit: 1}); err != nil {
		t.Errorf("reading: %v", err)
	}
	_, err = l.Start(calling, storetest.Request("a"))
	var late *launchlog.UnresolvedError
	if !errors.As(err, &late) || late.Uncertain || late.Attempts < 3 ||
		!strings.Contains(err.Error(), "Ready") {
		t.Errorf("got %v, want a certain UnresolvedError with advice", err)
	}
	if found, err := l.List(ctx, launchlog.Filter{}); err != nil || len(found) != 0 {
		t.Errorf("reading goes on: %v, %v", found, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if launch, err := must(t, store).Start(ctx, storetest.Request("a")); err != nil ||
		launch.ID != 1 {
		t.Errorf("after the transaction: %+v, %v", launch, err)
	}
}
