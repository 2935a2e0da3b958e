package importer

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/integration_test/dbtest"
	sqldialect "github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/smalldisk"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func TestMain(m *testing.M) {
	subprocess.Work(map[string]func([]string) error{"hold": holdWorker})
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(len(places))); err != nil { // they wait
		panic(err)
	}
	dbtest.Main(m)
}

// holdWorker takes SQLite's write lock, and keeps it until it is killed.
func holdWorker(args []string) error {
	db, err := sql.Open("sqlite3", sqlite.DSN(args[0], sqlite.Existing))
	if err != nil {
		return err
	}
	if _, err := db.Begin(); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// hold lets another process take the lock. The function that it returns ends that.
func (f *fixture) hold() (release func()) {
	f.Helper()
	holder := subprocess.Command("hold", f.path)
	out, err := holder.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		f.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	})
	f.Cleanup(release)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		f.Fatal(err)
	}
	return release
}

// isBusy reports whether another process held the lock.
func isBusy(err error) bool {
	_, cause := sqldialect.CauseOf(err)
	return cause == sqldialect.Contended
}

// An import waits for a lock as long as its budget, at the start and between batches, and loses
// nothing where that is not enough.
func TestLocked(t *testing.T) {
	const budget = time.Second
	f := newFixture(t)
	short := func(im Import) (Result, error) {
		return Run(ctx, f.database(budget), f.log, strings.NewReader(numbered(50)), im)
	}
	release := f.hold()
	began := time.Now()
	_, err := short(importing())
	if !isBusy(err) || !strings.Contains(err.Error(), budget.String()) ||
		errors.As(err, new(*StoppedError)) {
		t.Errorf("at the start: %v", err)
	}
	if d := time.Since(began); d < budget/2 || d > 20*budget {
		t.Errorf("it waited for %v", d)
	}
	release()

	release = func() {}
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows == 20 {
			release = f.hold()
		}
	}
	_, err = short(im)
	var stopped *StoppedError
	if !isBusy(err) || !errors.As(err, &stopped) || stopped.Rows != 20 {
		t.Errorf("between batches: %v", err)
	}
	release()
	f.checkNumbered(20, 1)
	f.mustRun(numbered(50), importing(resume))
	f.checkNumbered(50, 1)
}

// A lock that is let go within the budget is waited for.
func TestLockedForAWhile(t *testing.T) {
	f := newFixture(t)
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows == 20 {
			release := f.hold()
			time.AfterFunc(600*time.Millisecond, release)
		}
	}
	f.mustRun(numbered(50), im)
	f.checkNumbered(50, 1)
}

// Whoever waits for a lock still obeys the context.
func TestInterruptedWhileLocked(t *testing.T) {
	f := newFixture(t)
	f.hold()
	ctx, cancel := context.WithCancelCause(ctx)
	time.AfterFunc(200*time.Millisecond, func() { cancel(errStop) })
	began := time.Now()
	_, err := Run(ctx, f.database(time.Minute), f.log, strings.NewReader(numbered(50)), importing())
	if !errors.Is(err, errStop) || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// A disk that fills up ends the import; what was stored stays, and with room again it goes on:
// nothing twice, nothing lost.
func TestDiskFull(t *testing.T) {
	const rows = 30_000
	dir := smalldisk.Mount(t, 4<<20)
	others := filepath.Join(dir, "others")
	if err := os.WriteFile(others, make([]byte, 5<<19), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixtureAt(t, filepath.Join(dir, "app.db"))
	file := numbered(rows)
	batches := func(im *Import) { im.Batch = 500 }
	_, err := f.run(ctx, strings.NewReader(file), importing(batches))
	var full sqlite3.Error
	var stopped *StoppedError
	if !errors.As(err, &full) || full.Code != sqlite3.ErrFull || !errors.As(err, &stopped) {
		t.Fatalf("got %v, want SQLite's error for a full disk", err)
	}
	if stopped.Rows == 0 || stopped.Rows == rows || stopped.Rows%500 != 0 {
		t.Errorf("it stopped after %d rows, which shows nothing", stopped.Rows)
	}
	f.checkNumbered(int(stopped.Rows), 1)
	// While there is no room, another try ends no worse. It may come further, where SQLite makes
	// room by a checkpoint.
	_, err = f.run(ctx, strings.NewReader(file), importing(batches, resume))
	if !errors.As(err, &full) {
		t.Errorf("without room: %v", err)
	}
	stored := f.count(`SELECT count(*) FROM t`)
	f.checkNumbered(stored, 1)

	if err := os.Remove(others); err != nil {
		t.Fatal(err)
	}
	f.mustRun(file, importing(batches, resume))
	t.Logf("full after %d rows, after another try %d, with room again all %d", stopped.Rows, stored,
		rows)
	f.checkNumbered(rows, 1)
	if n := f.count(`SELECT count(*) FROM idmint_launch WHERE outcome = 'succeeded'`); n != 1 {
		t.Errorf("%d launches succeeded", n)
	}
}

// To go on with a large file takes no memory for the part that was stored.
func TestResumeMemory(t *testing.T) {
	file := "a\n" + strings.Repeat(strings.Repeat("x", 1000)+"\n", 5000)
	src := newSource(strings.NewReader(file))
	rec, err := openRecords(src, CSV)
	if err != nil {
		t.Fatal(err)
	}
	stored := file[:len(file)-1001]
	err = skip(rec, src, &state{position: position{4999, int64(len(stored)), sum(stored)}})
	if err != nil {
		t.Fatal(err)
	}
	if n := src.pending.Cap(); n > 1<<20 {
		t.Errorf("%d bytes are kept of a file of %d", n, len(file))
	}
}
