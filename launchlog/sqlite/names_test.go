//go:build unix

package sqlite_test

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/slowdisk"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

// attacks take the files away under whoever has them open. $1 is the log, $2 a backup of it.
// Programs of their own do it: a process that opens and closes one of the files drops its own locks
// on it.
var attacks = map[string]string{
	"the log removed":           `rm "$1-wal"`,
	"the index removed":         `rm "$1-shm"`,
	"both removed":              `rm "$1-wal" "$1-shm"`,
	"copied over, both removed": `cp "$2" "$1" && rm "$1-wal" "$1-shm"`,
	"replaced, both left":       `mv "$2" "$1"`,
	"replaced, both removed":    `mv "$2" "$1" && rm "$1-wal" "$1-shm"`,
	"all moved aside": `for f in "$1" "$1-wal" "$1-shm"; do mv "$f" "$f.old"; done
		mv "$2" "$1"`,
	"both replaced by their own": `for f in "$1-wal" "$1-shm"; do
		cp "$f" "$f.new" && mv "$f.new" "$f"
	done`,
}

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

// What is written under no name, others do not see: they would take the same numbers.
func TestTakenAway(t *testing.T) {
	for name, script := range attacks {
		for _, elsewhere := range []bool{false, true} {
			if elsewhere {
				name += ", another process opens it"
			}
			t.Run(name, func(t *testing.T) {
				path, backup := backedUp(t)
				store := open(t, path)
				l, err := launchlog.New(store, nil)
				if err != nil {
					t.Fatal(err)
				}
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
	for what, call := range map[string]func(*launchlog.Log) error{
		"write": func(l *launchlog.Log) error { _, err := l.Claim(ctx, 1); return err },
		"read":  func(l *launchlog.Log) error { _, err := l.Show(ctx, 1); return err },
	} {
		t.Run(what, func(t *testing.T) {
			path, _ := backedUp(t)
			l := logIn(t, path, time.Minute)
			c, err := l.Counter("c")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Reserve(ctx, 0, 10); err != nil {
				t.Fatal(err)
			}
			attack(t, `mv "$1-wal" "$1-wal.old" && mv "$1-shm" "$1-shm.old"`, path, "")
			var e *sqlite.FileError
			if err := call(l); !errors.As(err, &e) {
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
		attack(t, attacks["copied over, both removed"], path, backup)
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
	attack(t, attacks["copied over, both removed"], path, backup)
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

// attackedWorker takes numbers until its files are taken away, or it has taken so many since the
// attack. The attack is over when the file done is there. The worker prints the numbers that it
// asked for after that.
func attackedWorker(args []string) error {
	path, done := args[0], args[1]
	l, err := workerLog(path)
	if err != nil {
		return err
	}
	c, err := l.Counter("c")
	if err != nil {
		return err
	}
	fmt.Println("open")
	for n, after := 0, 0; after < size(100, 20); n++ {
		_, err := os.Stat(done)
		over := err == nil
		launch, err := l.Start(ctx, storetest.Request(fmt.Sprintf("%d-%d", os.Getpid(), n)))
		var claim launchlog.Claim
		if err == nil {
			claim, err = l.Claim(ctx, 1)
		}
		var number int64
		if err == nil {
			number, err = c.Reserve(ctx, 0, 1)
		}
		if err != nil {
			return err
		}
		if over {
			after++
			fmt.Printf("launch %d\nclaim %d\nnumber %d\n", launch.ID, claim.Generator, number)
		}
	}
	return nil
}

// TestTakenAwayUnderProcesses takes the files away while processes take numbers, at a random
// moment, and starts others after that. What was taken before may be forgotten, as by every
// restore. From then on no two processes are given the same.
func TestTakenAwayUnderProcesses(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for name, script := range attacks {
		t.Run(name, func(t *testing.T) {
			path, backup := backedUp(t)
			done := filepath.Join(t.TempDir(), "done")
			var all []*exec.Cmd
			var outputs []*bufio.Scanner
			begin := func() *bufio.Scanner {
				cmd := subprocess.Command("attacked", path, done)
				cmd.Stderr = nil
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				all, outputs = append(all, cmd), append(outputs, bufio.NewScanner(out))
				return outputs[len(outputs)-1]
			}
			for range 2 {
				begin()
			}
			for _, out := range outputs {
				if !out.Scan() {
					t.Fatal("a process did not open the log")
				}
			}
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
			attack(t, script, path, backup)
			if err := os.WriteFile(done, nil, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
			for range 2 {
				begin()
			}
			taken := map[string]int{}
			for i, out := range outputs {
				for out.Scan() {
					if line := out.Text(); line != "open" {
						taken[line]++
					}
				}
				err := all[i].Wait()
				if i < 2 && err == nil {
					t.Errorf("process %d, whose files were taken away, goes on", i)
				}
			}
			repeats := 0
			for line, n := range taken {
				if n > 1 {
					repeats++
					t.Logf("%s: %d times", line, n)
				}
			}
			t.Logf("%d numbers after the attack, %d repeats", len(taken), repeats)
			if repeats > 0 {
				t.Errorf("%d numbers were acknowledged more than once", repeats)
			}
			if strings.Contains(script, "$2") && len(taken) != size(600, 120) {
				t.Errorf("%d numbers after a restore: the test shows too little", len(taken))
			}
		})
	}
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
