package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

// begin has a call begin, and tells how it ends.
func begin(call func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	return ended
}

// Where the disk stands still, every call ends with its context nevertheless. That of the commit
// may have been carried out and says so, and those behind it have changed nothing. What was in
// doubt is settled by its key.
func TestStalled(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, disk *slowDisk) {
		store := open(t, newFile(t))
		l, err := launchlog.New(store, &launchlog.Options{Budget: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		wantStart := func(key string, want int) {
			t.Helper()
			if launch, err := l.Start(ctx, storetest.Request(key)); err != nil || launch.ID != want {
				t.Fatalf("start %s: launch %d, %v; want %d", key, launch.ID, err, want)
			}
		}
		unresolved := func(what string, err error, uncertain bool) {
			t.Helper()
			var u *launchlog.UnresolvedError
			if !errors.As(err, &u) || u.Uncertain != uncertain {
				t.Errorf("%s: %v, want an UnresolvedError whose Uncertain is %v", what, err, uncertain)
			}
		}
		wantStart("a", 1)
		c, err := l.Counter("c")
		if err == nil {
			_, err = c.Reserve(ctx, 0, 10)
		}
		if err != nil {
			t.Fatal(err)
		}

		calling, cancel := context.WithCancel(ctx)
		disk.stall(t)
		request := storetest.Request
		first := begin(func() error { _, err := l.Start(calling, request("b")); return err })
		disk.reached(t)
		claiming := begin(func() error { _, err := l.Claim(calling, 1); return err })
		starting := begin(func() error { _, err := l.Start(calling, request("c")); return err })
		reading := begin(func() error { _, err := l.List(calling, launchlog.Filter{}); return err })
		cancel()
		unresolved("the start whose commit stands still", <-first, true)
		unresolved("a claim behind it", <-claiming, false)
		unresolved("a start behind it", <-starting, false)
		if err := <-reading; err != nil { // a store may read meanwhile
			unresolved("reading", err, false)
		}
		disk.resume(t)
		wantStart("b", 2) // the launch in doubt, by its key
		wantStart("c", 3)

		// Below the log: the context ends, and the token settles it.
		take := launchlog.Claim{Namespace: "default", Launch: 1, Token: "t", Host: "h", PID: 1}
		calling, cancel = context.WithCancel(ctx)
		disk.stall(t)
		claiming = begin(func() error { _, err := store.ClaimGenerator(calling, take); return err })
		disk.reached(t)
		cancel()
		var again *launchlog.AttemptError
		err = <-claiming
		if !errors.As(err, &again) || !again.Ambiguous || !errors.Is(err, context.Canceled) {
			t.Errorf("a claim whose commit stands still: %v, want it ambiguous", err)
		}
		disk.resume(t)
		if claim, err := store.ClaimGenerator(ctx, take); err != nil || claim.Generator != 0 {
			t.Errorf("the claim in doubt, by its token: %+v, %v", claim, err)
		}
		if next, err := l.Claim(ctx, 1); err != nil || next.Generator != 1 {
			t.Errorf("the next one: %+v, %v", next, err)
		}

		// Numbers in doubt are left unused.
		calling, cancel = context.WithCancel(ctx)
		disk.stall(t)
		reserving := begin(func() error { _, err := c.Reserve(calling, 0, 5); return err })
		disk.reached(t)
		cancel()
		unresolved("a range whose commit stands still", <-reserving, true)
		disk.resume(t)
		if number, err := c.Reserve(ctx, 0, 1); err != nil || number != 11 && number != 16 {
			t.Errorf("after a range in doubt: %d, %v; want 11 or 16", number, err)
		}
	})
}

// Close waits for a commit that nobody waits for any more. It is in the file then.
func TestCloseStalled(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, disk *slowDisk) {
		path := newFile(t)
		store := open(t, path)
		l, err := launchlog.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		calling, cancel := context.WithCancel(ctx)
		disk.stall(t)
		started := begin(func() error {
			_, err := l.Start(calling, storetest.Request("a"))
			return err
		})
		disk.reached(t)
		cancel()
		if err := <-started; !errors.Is(err, context.Canceled) { // it does not wait for the disk
			t.Errorf("got %v, want the context's error", err)
		}
		closed := begin(store.Close)
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
		disk.resume(t)
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
	onSlowDisk(t, func(t *testing.T, disk *slowDisk) {
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
		disk.stall(t)
		opened := begin(func() error { _, err := sqlite.Open(opening, left); return err })
		disk.reached(t)
		cancel()
		if err := <-opened; !errors.Is(err, context.Canceled) { // it does not wait for the disk
			t.Errorf("got %v, want the context's error", err)
		}
		disk.resume(t)
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	})
}
