//go:build unix

package launchlog_test

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

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
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
	l, err := logIn(made)
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

// attackedWorker takes numbers until its files are taken away, or it has taken so many since the
// attack. The attack is over when the file done is there. The worker prints the numbers that it
// asked for after that.
func attackedWorker(args []string) error {
	path, done := args[0], args[1]
	l, err := logIn(path)
	if err != nil {
		return err
	}
	c, err := l.Counter("c")
	if err != nil {
		return err
	}
	fmt.Println("open")
	for n, after := 0, 0; after < 100; n++ {
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
	for name, script := range storesuite.Attacks {
		t.Run(name, func(t *testing.T) {
			path, backup := backedUp(t)
			done := filepath.Join(t.TempDir(), "done")
			var all []*exec.Cmd
			var outputs []*bufio.Scanner
			var errs []*strings.Builder
			begin := func() *bufio.Scanner {
				cmd := subprocess.Command("attacked", path, done)
				errs = append(errs, new(strings.Builder))
				cmd.Stderr = errs[len(errs)-1]
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
				restored := strings.Contains(script, "$2") // and sound for those that come after
				if i < 2 && err == nil || i >= 2 && err != nil && restored {
					t.Errorf("process %d of 4, of which 2 came after the attack: %v, %s", i, err, errs[i])
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
		})
	}
}
