//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

func attack(t *testing.T, script, path, backup string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", script, "sh", path, backup).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// backedUp makes a log with launch 1, and a backup of it.
func backedUp(t *testing.T) (path, backup string) {
	t.Helper()
	path, backup = newFile(t), filepath.Join(t.TempDir(), "backup.db")
	if _, err := must(t, open(t, path)).Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(ctx, path, backup); err != nil {
		t.Fatal(err)
	}
	return path, backup
}

// claimElsewhere has another process take a generator number.
func claimElsewhere(t *testing.T, path string) (string, error) {
	t.Helper()
	out, err := spare(subprocess.Command("claim", path, "1")).Output()
	return strings.TrimSpace(string(out)), err
}

// impatient is a log, and a context for its calls that ends when one has been tried several times.
func impatient(t *testing.T, store *sqlite.Store) (*launchlog.Log, context.Context) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := launchlog.New(store, &launchlog.Options{
		Budget: time.Hour,
		Observe: func(_ context.Context, s launchlog.Step) {
			if s.Attempt == 8 {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, ctx
}

// wantClaim has another process take a generator number, and compares it.
func wantClaim(t *testing.T, what, path, want string) {
	t.Helper()
	if number, err := claimElsewhere(t, path); err != nil || number != want {
		t.Errorf("%s: another process got %q, %v; want %s", what, number, err, want)
	}
}

// What was acknowledged is in the file, whatever happens to those beside it: another process gets
// the next number, also from a copy of the file alone.
func TestInTheFile(t *testing.T) {
	path, _ := backedUp(t)
	l := must(t, open(t, path))
	if _, err := l.Claim(ctx, 1); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	attack(t, `cp "$1" "$2" && rm -f "$1-journal" "$1-wal" "$1-shm"`, path, copied)
	wantClaim(t, "the files beside it removed", path, "1")
	wantClaim(t, "a copy", copied, "1")
	if c, err := l.Claim(ctx, 1); err != nil || c.Generator != 2 {
		t.Errorf("the process that had it open: %+v, %v; want number 2", c, err)
	}
}

// In WAL mode what was acknowledged would be beside the file. An app may set it, and end it, while
// the log is open.
func TestWAL(t *testing.T) {
	path, _ := backedUp(t)
	store := open(t, path)
	l := must(t, store)
	app := openDB(t, path)
	app.SetMaxOpenConns(1)
	if _, err := app.Exec("PRAGMA journal_mode = WAL"); err != nil {
		t.Fatal(err)
	}
	_, err := l.Claim(ctx, 1)
	wantFileError(t, err, "WAL")
	_, err = sqlite.Open(ctx, path)
	wantFileError(t, err, "a separate file")
	if found, err := l.List(ctx, launchlog.Filter{}); err != nil || len(found) != 1 {
		t.Errorf("reading: %v, %v", found, err)
	}
	if err := store.Close(); err != nil { // its connections keep the mode
		t.Fatal(err)
	}
	if _, err := app.Exec("PRAGMA journal_mode = DELETE"); err != nil {
		t.Fatal(err)
	}
	if c, err := must(t, open(t, path)).Claim(ctx, 1); err != nil || c.Generator != 0 {
		t.Errorf("after WAL mode: %+v, %v; want the first number", c, err)
	}
}

// A commit waits while an app reads rows from the file. What the step says names the cause.
func TestRowsAreRead(t *testing.T) {
	path, _ := backedUp(t)
	// The caller gives up after the first attempt.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := launchlog.New(open(t, path), &launchlog.Options{
		Observe: func(_ context.Context, s launchlog.Step) {
			if s.Err != nil {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := openDB(t, path).Query("SELECT 1 FROM idmint_launch")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	_, err = l.Claim(ctx, 1)
	if err == nil || !strings.Contains(err.Error(), "being read from the file") {
		t.Errorf("while rows are read: %v", err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := must(t, open(t, path)).Claim(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// What is written under no name, others do not see: they would take the same numbers.
func TestReplacedFile(t *testing.T) {
	for name, script := range map[string]string{
		"replaced": `mv "$2" "$1"`, "removed": `rm "$1"`, "moved": `mv "$1" "$2"`,
	} {
		t.Run(name, func(t *testing.T) {
			path, backup := backedUp(t)
			l, ctx := impatient(t, open(t, path))
			c, err := l.Counter("c")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Claim(ctx, 1); err != nil {
				t.Fatal(err)
			}
			attack(t, script, path, backup)
			for what, call := range map[string]func() error{
				"start": func() error {
					_, err := l.Start(ctx, storetest.Request("b"))
					return err
				},
				"claim":   func() error { _, err := l.Claim(ctx, 1); return err },
				"reserve": func() error { _, err := c.Reserve(ctx, 0, 1); return err },
				"show":    func() error { _, err := l.Show(ctx, 1); return err },
			} {
				var e *sqlite.FileError
				var u *launchlog.UnresolvedError
				if err := call(); !errors.As(err, &e) || errors.As(err, &u) {
					t.Errorf("%s: got %v, want a FileError", what, err)
				}
			}
		})
	}
}

// A file that comes back to its name lacks what others wrote in the meantime.
func TestMovedAwayAndBack(t *testing.T) {
	for what, call := range map[string]func(context.Context, *launchlog.Log) error{
		"write": func(ctx context.Context, l *launchlog.Log) error {
			_, err := l.Claim(ctx, 1)
			return err
		},
		"read": func(ctx context.Context, l *launchlog.Log) error {
			_, err := l.Show(ctx, 1)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			path, _ := backedUp(t)
			l, ctx := impatient(t, open(t, path))
			c, err := l.Counter("c")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Reserve(ctx, 0, 10); err != nil {
				t.Fatal(err)
			}
			attack(t, `mv "$1" "$1.old"`, path, "")
			var e *sqlite.FileError
			if err := call(ctx, l); !errors.As(err, &e) {
				t.Errorf("while it is away: got %v, want a FileError", err)
			}
			attack(t, `mv "$1.old" "$1"`, path, "")
			for range 2 {
				if n, err := c.Reserve(ctx, 0, 1); !errors.As(err, &e) {
					t.Errorf("when it is back: number %d, %v; want a FileError", n, err)
				}
			}
			if last, err := c.Last(ctx); !errors.As(err, &e) {
				t.Errorf("when it is back: last %d, %v; want a FileError", last, err)
			}
		})
	}
}

// The file is removed while the disk takes its time with a commit: it went into what nobody will
// open.
func TestRemovedInCommit(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, disk *slowDisk) {
		path, _ := backedUp(t)
		l := must(t, open(t, path))
		disk.stall(t)
		claimed := make(chan error, 1)
		go func() {
			_, err := l.Claim(ctx, 1)
			claimed <- err
		}()
		disk.reached(t)
		attack(t, `rm "$1"`, path, "")
		disk.resume(t)
		err := <-claimed
		var e *sqlite.FileError
		var u *launchlog.UnresolvedError
		if !errors.As(err, &e) || !errors.As(err, &u) || !u.Uncertain || u.Cause != nil {
			t.Errorf("got %v, want a FileError, and that it is uncertain", err)
		}
	})
}
