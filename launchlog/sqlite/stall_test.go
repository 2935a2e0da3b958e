package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/idmint/idmint/internal/slowdisk"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestStalled(t *testing.T) {
	slowdisk.Run(t, func(t *testing.T, disk *slowdisk.Disk) {
		storetest.Stalled(t, open(t, newFile(t)), disk)
	})
}

// Close waits for a commit that nobody waits for any more. It is in the file then.
func TestCloseStalled(t *testing.T) {
	slowdisk.Run(t, func(t *testing.T, disk *slowdisk.Disk) {
		path := newFile(t)
		store := open(t, path)
		l, err := launchlog.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		calling, cancel := context.WithCancel(ctx)
		disk.Stall(t)
		started := make(chan error, 1)
		go func() {
			_, err := l.Start(calling, storetest.Request("a"))
			started <- err
		}()
		disk.Reached(t)
		cancel()
		if err := <-started; !errors.Is(err, context.Canceled) { // it does not wait for the disk
			t.Errorf("got %v, want the context's error", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- store.Close() }()
		for { // until Close has begun: nothing begins any more
			if _, err := store.Events(ctx, launchlog.Ref{Namespace: "default"}); err != nil {
				break
			}
		}
		select {
		case err := <-closed:
			t.Errorf("closed while a commit was under way: %v", err)
		default:
		}
		disk.Resume(t)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		found, err := open(t, path).Launches(ctx, "default", launchlog.Filter{Limit: 9})
		if err != nil || len(found) != 1 {
			t.Errorf("%d launches, %v; want the one that was committed", len(found), err)
		}
	})
}

// Open obeys its context where the disk stands still: to undo what a process left half written
// takes a sync.
func TestOpenStalled(t *testing.T) {
	slowdisk.Run(t, func(t *testing.T, disk *slowdisk.Disk) {
		path, left := newFile(t), filepath.Join(t.TempDir(), "left.db")
		tx, err := openDB(t, path).Begin()
		if err == nil { // more than the cache holds: the file is written to before the commit
			_, err = tx.Exec(`PRAGMA cache_size = 1;
				CREATE TABLE big (x); INSERT INTO big VALUES (randomblob(1 << 20))`)
		}
		if err != nil {
			t.Fatal(err)
		}
		attack(t, `cp "$1" "$2" && cp "$1-journal" "$2-journal"`, path, left)
		opening, cancel := context.WithCancel(ctx)
		disk.Stall(t)
		opened := make(chan error, 1)
		go func() {
			_, err := sqlite.Open(opening, left)
			opened <- err
		}()
		disk.Reached(t)
		cancel()
		if err := <-opened; !errors.Is(err, context.Canceled) { // it does not wait for the disk
			t.Errorf("got %v, want the context's error", err)
		}
		disk.Resume(t)
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	})
}
