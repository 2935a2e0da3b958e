package importer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/integration_test/dbtest"
	sqldialect "github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/smalldisk"
)

func TestMain(m *testing.M) {
	// Most of the time they wait. The command line may say otherwise.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := dbtest.Code(m)
	if code == 0 { // tests that fail leave some behind themselves
		if err := leftBehind(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftBehind looks for goroutines that imports have left behind when all tests have ended. What
// ends takes its time, on a busy machine.
func leftBehind() (err error) {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
		err = goleak.Find(
			// connections to the Docker engine, which started PgBouncer
			goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
			goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
		if err == nil {
			break
		}
	}
	return err
}

// hold takes SQLite's write lock by another connection. The function that it returns lets it go.
func (f *fixture) hold() (release func()) {
	f.Helper()
	db := f.open()
	holder, err := db.Conn(ctx)
	if err == nil {
		_, err = holder.ExecContext(ctx, "BEGIN IMMEDIATE")
	}
	if err != nil {
		f.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		holder.Close()
		db.Close() // which ends its transaction
	})
	f.Cleanup(release)
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
	t.Parallel()
	const budget = time.Second
	f := newFixture(t)
	release := f.hold()
	began := time.Now()
	_, err := Run(ctx, f.database(budget), f.log, strings.NewReader(numbered(50)), importing())
	if !isBusy(err) || !strings.Contains(err.Error(), budget.String()) ||
		errors.As(err, new(*StoppedError)) {
		t.Errorf("at the start: %v", err)
	}
	if d := time.Since(began); d < budget/2 {
		t.Errorf("it waited for %v", d)
	}
	release()

	db := f.database(patience)
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows == 20 {
			release = f.hold()
			db.(*table).budget = budget
		}
	}
	_, err = Run(ctx, db, f.log, strings.NewReader(numbered(50)), im)
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
	t.Parallel()
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
	t.Parallel()
	f := newFixture(t)
	f.hold()
	ctx, cancel := context.WithCancelCause(ctx)
	time.AfterFunc(200*time.Millisecond, func() { cancel(errStop) })
	_, err := Run(ctx, f.database(patience), f.log, strings.NewReader(numbered(50)), importing())
	if !errors.Is(err, errStop) {
		t.Error(err)
	}
}

// A disk that fills up ends the import; what was stored stays, and with room again it goes on:
// nothing twice, nothing lost.
func TestDiskFull(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
