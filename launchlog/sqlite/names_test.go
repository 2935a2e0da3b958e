//go:build unix

package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/slowdisk"
	"github.com/idmint/idmint/internal/storesuite"
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

// backedUp makes a log with launch 1 that nobody has open, and a backup of it.
func backedUp(t *testing.T) (path, backup string) {
	t.Helper()
	made := newFile(t)
	l, err := launchlog.New(open(t, made), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	path, backup = filepath.Join(t.TempDir(), "log.db"), filepath.Join(t.TempDir(), "backup.db")
	for _, to := range []string{path, backup} {
		if _, err := openDB(t, made).Exec("VACUUM INTO ?", to); err != nil {
			t.Fatal(err)
		}
		// The copy has the journal of old. One of a file that was closed has the log.
		if err := closeWAL(openDB(t, to)); err != nil {
			t.Fatal(err)
		}
	}
	return path, backup
}

func closeWAL(db *sql.DB) error { return errors.Join(db.Ping(), db.Close()) }

// claimElsewhere has another process take a generator number.
func claimElsewhere(t *testing.T, path string) (string, error) {
	t.Helper()
	cmd := slowdisk.Spare(subprocess.Command("claim", path, "1"))
	cmd.Stderr = nil // it may find the file broken
	out, err := cmd.Output()
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

// What is written under no name, others do not see: they would take the same numbers.
func TestTakenAway(t *testing.T) {
	for name, script := range storesuite.Attacks {
		for _, elsewhere := range []bool{false, true} {
			if elsewhere {
				name += ", another process opens it"
			}
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
				if elsewhere {
					_, _ = claimElsewhere(t, path)
				}
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
}

// Files that come back to their names lack what others wrote in the meantime.
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
			attack(t, `mv "$1-wal" "$1-wal.old" && mv "$1-shm" "$1-shm.old"`, path, "")
			var e *sqlite.FileError
			if err := call(ctx, l); !errors.As(err, &e) {
				t.Errorf("while they are away: got %v, want a FileError", err)
			}
			attack(t, `mv "$1-wal.old" "$1-wal" && mv "$1-shm.old" "$1-shm"`, path, "")
			for range 2 {
				if n, err := c.Reserve(ctx, 0, 1); !errors.As(err, &e) {
					t.Errorf("when they are back: number %d, %v; want a FileError", n, err)
				}
			}
			if last, err := c.Last(ctx); !errors.As(err, &e) {
				t.Errorf("when they are back: last %d, %v; want a FileError", last, err)
			}
		})
	}
}

// The files are replaced while the disk takes its time with a commit: it went into what nobody will
// open.
func TestTakenAwayInCommit(t *testing.T) {
	slowdisk.Run(t, func(t *testing.T, disk *slowdisk.Disk) {
		path, backup := backedUp(t)
		l, err := launchlog.New(open(t, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		disk.Stall(t)
		type answer struct {
			claim launchlog.Claim
			err   error
		}
		claimed := make(chan answer, 1)
		go func() {
			c, err := l.Claim(ctx, 1)
			claimed <- answer{c, err}
		}()
		disk.Reached(t)
		attack(t, storesuite.Attacks["copied over, both removed"], path, backup)
		if number, err := claimElsewhere(t, path); err != nil || number != "0" {
			t.Errorf("another process: %q, %v; want the first number", number, err)
		}
		disk.Resume(t)
		a := <-claimed
		var e *sqlite.FileError
		var u *launchlog.UnresolvedError
		if !errors.As(a.err, &e) || !errors.As(a.err, &u) || !u.Uncertain || u.Cause != nil {
			t.Errorf("got %+v, %v; want a FileError, and that it is uncertain", a.claim, a.err)
		}
	})
}

// A restore goes on to be what it is when the process that it was done under closes its log: SQLite
// would write that log into it.
func TestCloseTakenAway(t *testing.T) {
	path, backup := backedUp(t)
	store := open(t, path)
	l, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if _, err := l.Start(ctx, storetest.Request(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	attack(t, storesuite.Attacks["copied over, both removed"], path, backup)
	wantFileError(t, store.Close(), "removed or replaced")
	out, err := subprocess.Command("integrity", path).Output()
	if err != nil || string(out) != "ok, 1 launches\n" {
		t.Errorf("what was restored: %s, %v", out, err)
	}
}

func integrityWorker(args []string) error {
	db, err := sql.Open("sqlite3", sqlite.DSN(args[0], sqlite.Existing))
	if err != nil {
		return err
	}
	var verdict string
	var launches int
	err = db.QueryRow(`SELECT (SELECT group_concat(integrity_check) FROM pragma_integrity_check),
		(SELECT count(*) FROM idmint_launch)`).Scan(&verdict, &launches)
	fmt.Printf("%s, %d launches\n", verdict, launches)
	return err
}

// A file that has another journal yet, as a backup has, gets its log with the first connection.
func TestOpenOtherJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := sqlite.Backup(ctx, newFile(t), path); err != nil {
		t.Fatal(err)
	}
	l, err := launchlog.New(open(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		launch, err := l.Start(ctx, storetest.Request(fmt.Sprint(i)))
		if err != nil || launch.ID != i+1 {
			t.Errorf("launch %d, %v; want %d", launch.ID, err, i+1)
		}
	}
}
