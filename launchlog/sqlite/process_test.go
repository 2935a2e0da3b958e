package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestMain(m *testing.M) {
	subprocess.Main(m, map[string]func([]string) error{
		"lock": lockWorker,
		"claim": taking(func(l *launchlog.Log) (int64, error) { // numbers of launch 1
			c, err := l.Claim(ctx, 1)
			return int64(c.Generator), err
		}),
		"reserve": taking(func(l *launchlog.Log) (int64, error) { // numbers of a counter, one by one
			c, err := l.Counter("c")
			if err != nil {
				return 0, err
			}
			return c.Reserve(ctx, 0, 1)
		}),
	})
}

// taking is a worker that prints so many numbers of the log in a file.
func taking(next func(*launchlog.Log) (int64, error)) func([]string) error {
	return func(args []string) error {
		store, err := sqlite.Open(ctx, args[0])
		if err != nil {
			return err
		}
		l, err := launchlog.New(store, &launchlog.Options{Budget: time.Hour})
		if err != nil {
			return err
		}
		times, err := strconv.Atoi(args[1])
		for i := 0; i < times && err == nil; i++ {
			var number int64
			if number, err = next(l); err == nil {
				fmt.Println(number)
			}
		}
		return err
	}
}

// Processes take numbers at the same time. None is taken twice, and none left out.
func TestManyProcesses(t *testing.T) {
	const processes, times = 3, 50
	for worker, first := range map[string]int{"claim": 0, "reserve": 1} {
		t.Run(worker, func(t *testing.T) {
			path := newFile(t)
			if _, err := must(t, open(t, path)).Start(ctx, storetest.Request("a")); err != nil {
				t.Fatal(err)
			}
			var outputs [processes]string
			var all sync.WaitGroup
			for i := range processes {
				all.Go(func() {
					out, err := subprocess.Command(worker, path, strconv.Itoa(times)).Output()
					if err != nil {
						t.Errorf("process %d: %v", i, err)
					}
					outputs[i] = string(out)
				})
			}
			all.Wait()
			taken := strings.Fields(strings.Join(outputs[:], ""))
			for number := first; number < first+processes*times; number++ {
				if !slices.Contains(taken, strconv.Itoa(number)) {
					t.Errorf("number %d was left out", number)
				}
			}
			if len(taken) != processes*times {
				t.Errorf("%d numbers: %v", len(taken), taken)
			}
		})
	}
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
