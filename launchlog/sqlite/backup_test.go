package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	"github.com/idmint/idmint/migrations"
)

// A backup has all that was acknowledged before it began, while this process and others go on. The
// locks of this process are not lost by it: no number comes twice, and none is missing.
func TestBackup(t *testing.T) {
	path, dir := newFile(t), t.TempDir()
	l := logIn(t, path, time.Minute)
	launches, claims := map[string]string{}, map[string]bool{}
	work := func(round int) {
		t.Helper()
		key := fmt.Sprint("round ", round)
		launch, err := l.Start(ctx, storetest.Request(key))
		if err != nil {
			t.Fatal(err)
		}
		launches[key] = fmt.Sprint(launch.ID)
		for range 20 {
			c, err := l.Claim(ctx, launch.ID)
			if err != nil {
				t.Fatal(err)
			}
			claim := fmt.Sprint(c.Launch, " ", c.Generator)
			if claims[claim] {
				t.Errorf("claim %s was handed out twice", claim)
			}
			claims[claim] = true
		}
	}
	var others []*exec.Cmd
	for i := range 2 {
		cmd := subprocess.Command("mixed", path, filepath.Join(dir, fmt.Sprint("told ", i)))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		others = append(others, cmd)
	}
	for round := range 5 {
		work(round)
		to := filepath.Join(dir, fmt.Sprintf("backup ü?#%d.db", round))
		if err := sqlite.Backup(ctx, path, to); err != nil {
			t.Fatal(err)
		}
		rows := audit(t, to, launches, claims)
		t.Logf("backup %d: %d launches, %d claims", round, rows.launches, rows.claims)
	}
	work(5)
	for i, cmd := range others {
		subprocess.Kill(t, cmd)
		told, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("told ", i)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(told)) {
			if claim, ok := strings.CutPrefix(strings.TrimSpace(line), "claim "); ok {
				if claims[claim] {
					t.Errorf("claim %s was handed out twice", claim)
				}
				claims[claim] = true
			}
		}
	}
	audit(t, path, launches, claims)
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
		{"no path", ctx, path, "", nil, "no file"},
	} {
		err := sqlite.Backup(test.ctx, test.from, test.to)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		} else if !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: got %v, want %q in it", test.name, err, test.words)
		}
		storesuite.BeginsWith(t, err, "launchlog/sqlite: ")
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
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == n {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the folder has %v, want %d files", found, n)
		}
	}
}

// A backup that nobody waits for any more leaves nothing behind.
func TestBackupStalled(t *testing.T) {
	slowdisk.Run(t, func(t *testing.T, disk *slowdisk.Disk) {
		path, dir := newFile(t), t.TempDir()
		calling, cancel := context.WithCancel(ctx)
		disk.Stall(t)
		ended := make(chan error, 1)
		go func() { ended <- sqlite.Backup(calling, path, filepath.Join(dir, "backup.db")) }()
		disk.Reached(t)
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the context's error", err)
			}
		case <-time.After(30 * time.Second):
			t.Error("Backup waits for the disk")
		}
		disk.Resume(t)
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
