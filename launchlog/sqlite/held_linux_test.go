package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/slowdisk"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// logIn is a log with launch 1, whose calls have a budget.
func logIn(t *testing.T, path string, budget time.Duration) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(open(t, path), &launchlog.Options{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// hold takes the lock.
func hold(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

// A transaction of this process that waits for the log keeps the lock for as long as it waits.
func TestHeld(t *testing.T) {
	path, _ := backedUp(t)
	l := logIn(t, path, time.Minute)
	tx := hold(t, openDB(t, path))
	calling, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	_, err := l.Claim(calling, 1)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, launchlog.ErrHeld) {
		t.Errorf("got %v, want the context's error: so early it is not known", err)
	}
	began := time.Now()
	_, err = l.Claim(ctx, 1)
	if !errors.Is(err, launchlog.ErrHeld) || !strings.Contains(err.Error(), "Ready") {
		t.Errorf("got %v, want ErrHeld with advice", err)
	}
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("it took %v: a store that has written nothing is not told at once", d)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if c, err := l.Claim(ctx, 1); err != nil || c.Generator != 0 {
		t.Errorf("after the transaction: %+v, %v", c, err)
	}
}

// Calls that wait together give up together, although one after another looks at the lock.
func TestHeldTogether(t *testing.T) {
	path, _ := backedUp(t)
	l := logIn(t, path, time.Minute)
	hold(t, openDB(t, path))
	began := time.Now()
	const calls = 6
	ended := make(chan error, calls)
	for range calls {
		go func() {
			_, err := l.Claim(ctx, 1)
			ended <- err
		}()
	}
	var first, last time.Duration
	for i := range calls {
		if err := <-ended; !errors.Is(err, launchlog.ErrHeld) {
			t.Errorf("got %v, want ErrHeld", err)
		}
		if last = time.Since(began); i == 0 {
			first = last
		}
	}
	t.Logf("the first call ended after %v, the last after %v", first, last)
	if last > 3*first {
		t.Errorf("the first call ended after %v, the last after %v", first, last)
	}
}

// A store that has written waits longer: its app has long transactions now and then.
func TestHeldAtWork(t *testing.T) {
	for name, passes := range map[string]bool{"for a while": true, "for good": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFile(t)
			l := logIn(t, path, time.Minute)
			if _, err := l.Start(ctx, storetest.Request("a")); err != nil {
				t.Fatal(err)
			}
			tx := hold(t, openDB(t, path))
			claimed := make(chan error, 1)
			go func() {
				_, err := l.Claim(ctx, 1)
				claimed <- err
			}()
			select {
			case err := <-claimed:
				t.Fatalf("got %v while the transaction may be one that is merely long", err)
			case <-time.After(3 * time.Second):
			}
			if !passes {
				if err := <-claimed; !errors.Is(err, launchlog.ErrHeld) {
					t.Errorf("got %v, want ErrHeld", err)
				}
				return
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			if err := <-claimed; err != nil {
				t.Error(err)
			}
		})
	}
}

// Transactions that commit are waited for, however many come one after another.
func TestHeldNowAndThen(t *testing.T) {
	path, _ := backedUp(t)
	l := logIn(t, path, time.Minute)
	db := openDB(t, path)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (n)"); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	busy := make(chan struct{})
	go func() { stopped <- keepBusy(db, busy, stop) }()
	<-busy
	claimed := make(chan error, 1)
	go func() {
		_, err := l.Claim(ctx, 1)
		claimed <- err
	}()
	select {
	case err := <-claimed: // it came in between
		if err != nil {
			t.Error(err)
		}
		close(stop)
	case <-time.After(3 * time.Second):
		close(stop)
		if err := <-claimed; err != nil {
			t.Error(err)
		}
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// keepBusy has transactions of a third of a second follow each other.
func keepBusy(db *sql.DB, busy, stop chan struct{}) error {
	for n := 0; ; n++ {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO t VALUES (?)", n); err != nil {
			return err
		}
		if n == 0 {
			close(busy)
		}
		select {
		case <-stop:
			return tx.Commit()
		case <-time.After(300 * time.Millisecond):
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
}

// A commit of another store of this process that the disk holds up is no transaction of the app.
func TestNotHeldButStalled(t *testing.T) {
	slowdisk.Run(t, func(t *testing.T, disk *slowdisk.Disk) {
		path := newFile(t)
		l, other := logIn(t, path, time.Minute), logIn(t, path, 3*time.Second)
		disk.Stall(t)
		started := make(chan error, 1)
		go func() {
			_, err := l.Start(ctx, storetest.Request("a"))
			started <- err
		}()
		disk.Reached(t)
		_, err := other.Start(ctx, storetest.Request("b"))
		assertUnresolved(t, err)
		_, cause := dialect.CauseOf(err)
		if errors.Is(err, launchlog.ErrHeld) || cause != dialect.Contended {
			t.Errorf("got %v, want SQLite's error", err)
		}
		disk.Resume(t)
		if err := <-started; err != nil {
			t.Error(err)
		}
	})
}
