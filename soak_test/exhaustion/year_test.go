package exhaustion_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// yearLog is the variable by which a program of this test is the apps of a month: it names the log.
const yearLog = "IDMINT_TEST_YEAR"

// live starts launches and claims numbers, and prints each, until its input ends.
func live(ctx context.Context, path, month string) error {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	for n := 0; ctx.Err() == nil; n++ {
		launch, err := log.Start(ctx, storetest.Request(fmt.Sprint("month ", month, ", day ", n)))
		for i := 0; i < 10 && err == nil; i++ {
			var c launchlog.Claim
			if c, err = log.Claim(ctx, launch.ID); err == nil {
				fmt.Println(launch.ID, launch.Digits(), c.Generator)
				time.Sleep(5 * time.Millisecond) // so that no app keeps the file from the others
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// TestYearOfTrouble: in each month apps start side by side, of which one is killed and one stops for
// a while, beside a trim. In one month the log is lost, and a copy of the month before is put in its
// place. No number comes twice, and the file does not grow from month to month.
func TestYearOfTrouble(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "log.db"), filepath.Join(t.TempDir(), "copy.db")
	migrate(t, "sqlite3", sqlite.DSN(path, sqlite.Create), migrations.SQLite)
	db := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Existing))
	dbtest.Exec(t, db, "DROP TRIGGER idmint_generator_update", "DROP TRIGGER idmint_launch_update")
	db.Close()
	var mu sync.Mutex
	taken, last := map[[2]int]bool{}, 0
	const months, lost = 12, 7
	var made, left [months]int // claims of a month, and those in the log after it
	for month := range months {
		if month == lost-1 {
			if err := sqlite.Backup(ctx, path, copied); err != nil {
				t.Fatal(err)
			}
		}
		if month == lost {
			if err := os.Rename(copied, path); err != nil {
				t.Fatal(err)
			}
		}
		store := closed(t)(sqlite.Open(ctx, path)).(closer)
		log, err := launchlog.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		if month == lost {
			if _, err := log.Advance(ctx, last, "operator"); err != nil {
				t.Fatal(err)
			}
		}
		apps := make([]*exec.Cmd, 3)
		inputs := make([]io.Closer, len(apps))
		var half, all sync.WaitGroup
		for i := range apps {
			apps[i] = exec.Command(os.Args[0], fmt.Sprint(month))
			apps[i].Env = append(os.Environ(), yearLog+"="+path)
			apps[i].Stderr = os.Stderr
			if inputs[i], err = apps[i].StdinPipe(); err != nil {
				t.Fatal(err)
			}
			out, err := apps[i].StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := apps[i].Start(); err != nil {
				t.Fatal(err)
			}
			defer apps[i].Process.Kill()
			half.Add(1)
			all.Go(func() {
				begun := sync.OnceFunc(half.Done)
				defer begun() // also where the app ends early
				lines := bufio.NewScanner(out)
				for n := 1; lines.Scan(); n++ {
					var launch int
					var number [2]int
					if _, err := fmt.Sscan(lines.Text(), &launch, &number[0], &number[1]); err != nil {
						continue // half a line, of the app that was killed
					}
					mu.Lock()
					if taken[number] {
						t.Errorf("month %d: %v was given twice", month, number)
					}
					taken[number], last = true, max(last, launch)
					made[month]++
					mu.Unlock()
					if n == 50 {
						begun()
					}
				}
			})
		}
		half.Wait()                                 // each has claimed some
		_ = apps[0].Process.Signal(syscall.SIGSTOP) // maybe with the file locked
		goOn := time.AfterFunc(300*time.Millisecond, func() { _ = apps[0].Process.Signal(syscall.SIGCONT) })
		defer goOn.Stop()
		_ = apps[1].Process.Kill()
		removed, err := log.Trim(ctx, 45*24*time.Hour)
		if err != nil || (removed == 0) == (month > 1) {
			t.Errorf("month %d: %d claims were removed, %v", month, removed, err)
		}
		for i, app := range apps {
			inputs[i].Close()
			if err := app.Wait(); err != nil && i != 1 {
				t.Error(err)
			}
		}
		all.Wait()
		store.Close()
		older := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Existing))
		dbtest.Exec(t, older,
			"UPDATE idmint_generator SET claimed_at = strftime('%Y-%m-%dT%H:%M:%fZ', claimed_at, '-30 days')",
			"UPDATE idmint_launch SET started_at = strftime('%Y-%m-%dT%H:%M:%fZ', started_at, '-30 days')")
		var launches int
		err = older.QueryRow(`SELECT (SELECT count(*) FROM idmint_generator),
			(SELECT count(*) FROM idmint_launch)`).Scan(&left[month], &launches)
		if err != nil {
			t.Fatal(err)
		}
		// Those of the last two months, the newest of each launch, and one that was not told by the app
		// that was killed, in each.
		if most := made[month] + made[max(month-1, 0)] + launches + 2; left[month] > most {
			t.Errorf("month %d leaves %d claims, want up to %d", month, left[month], most)
		}
		older.Close()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d numbers, 0 twice; claims of each month: %v; in the log after it: %v", len(taken), made, left)
}
