package launchlog_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

// attackedWorker takes numbers until the file done is there, and writes down what it was given. It
// opens the log anew now and then, and after it was refused: in WAL mode, which an app has set, or
// by SQLite, which may find what is left of the app's files broken.
func attackedWorker(args []string) error {
	path, done := args[0], args[1]
	out, err := os.OpenFile(args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for n := 0; !exists(done); n++ {
		store, err := sqlite.Open(ctx, path)
		if err == nil {
			key := fmt.Sprintf("%d-%d", os.Getpid(), n)
			err = errors.Join(takeSome(store, key, out), store.Close())
		}
		if errors.As(err, new(*sqlite.FileError)) || errors.As(err, new(sqlite3.Error)) {
			fmt.Fprintln(out, "refused")
			time.Sleep(time.Millisecond) // the app has a moment for itself
		} else if err != nil {
			return err
		}
	}
	return nil
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

func takeSome(store *sqlite.Store, key string, out *os.File) error {
	l, err := launchlog.New(store, &launchlog.Options{Budget: time.Hour})
	if err != nil {
		return err
	}
	c, err := l.Counter("c")
	if err != nil {
		return err
	}
	for i := range 5 {
		launch, err := l.Start(ctx, storetest.Request(fmt.Sprint(key, "-", i)))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "launch %d\n", launch.ID)
		claim, err := l.Claim(ctx, 1)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "claim %d\n", claim.Generator)
		number, err := c.Reserve(ctx, 0, 1)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "number %d\n", number)
	}
	return nil
}

// appWorker sets WAL mode in the log's file, and writes to a table of its own, until the file done
// is there. What it loses with its files is its own.
func appWorker(args []string) error {
	db, err := sql.Open("sqlite3", sqlite.DSN(args[0], sqlite.Existing)+"&_journal_mode=WAL")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	for !exists(args[1]) {
		_, err := db.Exec("REPLACE INTO app VALUES (abs(random() % 10), randomblob(5000))")
		if err != nil && !errors.As(err, new(sqlite3.Error)) {
			return err
		}
	}
	return db.Close()
}

// TestFilesRemoved removes the files beside the log at random moments, under processes that take
// numbers: in a file of the log's own, and in one that an app puts into WAL mode meanwhile. Nothing
// that was acknowledged is given out twice, and all of it is in the file.
func TestFilesRemoved(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for name, workers := range map[string][]string{
		"a file of its own": {"attacked", "attacked"},
		"an app's file":     {"attacked", "attacked", "app"},
	} {
		t.Run(name, func(t *testing.T) {
			path, dir := newFile(t), t.TempDir()
			_, err := openDB(t, path).Exec("CREATE TABLE app (n INTEGER PRIMARY KEY, x)")
			if err != nil {
				t.Fatal(err)
			}
			l, err := logIn(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Start(ctx, storetest.Request("first")); err != nil {
				t.Fatal(err)
			}
			done := filepath.Join(dir, "done")
			var all []*exec.Cmd
			begin := func() {
				i := len(all)
				cmd := subprocess.Command(workers[i], path, done, filepath.Join(dir, fmt.Sprint(i)))
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test has failed
				all = append(all, cmd)
			}
			begin()
			begin()
			removed := map[string]int{}
			for removed["-journal"] < 300 || len(workers) > 2 && removed["-wal"] < 100 {
				if len(all) < len(workers) && removed["-journal"] >= 300 {
					begin()
				}
				time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
				for _, end := range []string{"-journal", "-wal", "-shm"} {
					if random.IntN(2) == 0 && os.Remove(path+end) == nil {
						removed[end]++
					}
				}
			}
			if err := os.WriteFile(done, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			taken := map[string]int{}
			for i, cmd := range all {
				if err := cmd.Wait(); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
				told, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
				if err != nil && workers[i] != "app" {
					t.Fatal(err)
				}
				for line := range strings.Lines(string(told)) {
					taken[strings.TrimSpace(line)]++
				}
			}
			refused := taken["refused"]
			delete(taken, "refused")
			t.Logf("%d numbers, %d refusals, removed: %v", len(taken), refused, removed)
			if len(taken) == 0 || removed["-journal"] == 0 || (refused > 0) != (len(workers) > 2) {
				t.Error("this shows nothing")
			}
			checkTaken(t, path, taken)
		})
	}
}

// checkTaken checks what processes were given: each once, and all of it in a copy of the file
// alone.
func checkTaken(t *testing.T, path string, taken map[string]int) {
	t.Helper()
	if out, err := exec.Command("cp", path, path+".copy").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	db := openDB(t, path+".copy")
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
	last := map[string]int{}
	for kind, query := range map[string]string{
		"launch": "SELECT last_launch_id FROM idmint_namespace",
		"claim":  "SELECT next_generator_id - 1 FROM idmint_launch WHERE launch_id = 1",
		"number": "SELECT value FROM idmint_counter",
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		last[kind] = n
	}
	for line, times := range taken {
		var kind string
		var n int
		if _, err := fmt.Sscan(line, &kind, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if times > 1 {
			t.Errorf("%s was acknowledged %d times", line, times)
		}
		if n > last[kind] {
			t.Errorf("%s was acknowledged, and the file ends at %d", line, last[kind])
		}
	}
}
