package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// A backup has all that was acknowledged before it began, and nothing of a transaction that is
// under way. The locks of this process are not lost by it.
func TestBackup(t *testing.T) {
	path := newFile(t)
	l := must(t, open(t, path))
	launch, err := l.Start(ctx, storetest.Request("a"))
	if err != nil {
		t.Fatal(err)
	}
	const claims = 20
	for range claims {
		if _, err := l.Claim(ctx, launch.ID); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := openDB(t, path).Begin()
	if err == nil {
		_, err = tx.Exec("INSERT INTO idmint_namespace (namespace) VALUES ('under-way')")
	}
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "backup ü?#.db")
	if err := sqlite.Backup(ctx, path, to); err != nil {
		t.Fatal(err)
	}
	wantLock(t, path, "busy")
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	copied := must(t, open(t, to))
	if found, err := copied.List(ctx, launchlog.Filter{}); err != nil || len(found) != 1 {
		t.Errorf("launches of the copy: %+v, %v", found, err)
	}
	if found, err := copied.Claims(ctx, launch.ID, 0, 0); err != nil || len(found) != claims {
		t.Errorf("claims of the copy: %+v, %v", found, err)
	}
	var namespaces int
	err = openDB(t, to).QueryRow("SELECT count(*) FROM idmint_namespace").Scan(&namespaces)
	if err != nil || namespaces != 1 {
		t.Errorf("%d namespaces in the copy, %v", namespaces, err)
	}
	if c, err := l.Claim(ctx, launch.ID); err != nil || c.Generator != claims {
		t.Errorf("after the backup: %+v, %v", c, err)
	}
}

func TestBackupErrors(t *testing.T) {
	path, dir := newFile(t), t.TempDir()
	text, there := filepath.Join(dir, "text"), filepath.Join(dir, "there")
	fresh := filepath.Join(dir, "new")
	for _, name := range []string{text, there} {
		content := strings.Repeat("hello, world\n", 100)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, test := range []struct {
		name     string
		ctx      context.Context
		from, to string
		want     error
		words    string
	}{
		{"the target is there", ctx, path, there, fs.ErrExist, there},
		{"the target is the source", ctx, path, path, fs.ErrExist, path},
		{"no source", ctx, filepath.Join(dir, "none"), fresh, fs.ErrNotExist, "none"},
		{"no folder", ctx, path, filepath.Join(dir, "none", "new"), fs.ErrNotExist, "none"},
		{"no database", ctx, text, fresh, nil, "not a database"},
		{"the context has ended", ended, path, fresh, context.Canceled, ""},
		{"no path", ctx, path, "", nil, "must name a file"},
	} {
		err := sqlite.Backup(test.ctx, test.from, test.to)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		} else if !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: got %v, want %q in it", test.name, err, test.words)
		}
		storetest.BeginsWith(t, err, "launchlog/sqlite: ")
	}
	wantOnly(t, dir, 2)
	content, err := os.ReadFile(there)
	if err != nil || !strings.HasPrefix(string(content), "hello") {
		t.Errorf("what was there: %q, %v", content, err)
	}
}

// wantOnly waits until a folder has n files.
func wantOnly(t *testing.T, dir string, n int) {
	t.Helper()
	for {
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A backup that nobody waits for any more leaves nothing behind.
func TestBackupStalled(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, disk *slowDisk) {
		path, dir := newFile(t), t.TempDir()
		calling, cancel := context.WithCancel(ctx)
		disk.stall(t)
		ended := make(chan error, 1)
		go func() { ended <- sqlite.Backup(calling, path, filepath.Join(dir, "backup.db")) }()
		disk.reached(t)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) { // it does not wait for the disk
			t.Errorf("got %v, want the context's error", err)
		}
		disk.resume(t)
		wantOnly(t, dir, 0)
	})
}

// What a restore forgets is not handed out again by a log that was advanced.
func ExampleBackup() {
	dir, err := os.MkdirTemp("", "idmint")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	from, to := filepath.Join(dir, "log.db"), filepath.Join(dir, "backup.db")
	db, err := sql.Open("sqlite3", sqlite.DSN(from, sqlite.Create))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
		panic(err)
	}
	if err := sqlite.Backup(ctx, from, to); err != nil {
		panic(err)
	}
	store, err := sqlite.Open(ctx, to)
	if err != nil {
		panic(err)
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(log.Advance(ctx, 65, "operator"))
	// Output: 65 <nil>
}
