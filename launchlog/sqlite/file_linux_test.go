package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

func wantFileError(t *testing.T, err error, words string) {
	t.Helper()
	var e *sqlite.FileError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want a FileError with %q", err, words)
	}
}

// SQLite's log and locks go by the file's name: two names, two logs, and every number twice.
func TestSeveralNames(t *testing.T) {
	path := newFile(t)
	other := filepath.Join(t.TempDir(), "other.db")
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, other} {
		_, err := sqlite.Open(ctx, p)
		wantFileError(t, err, "several names")
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, other); err != nil {
		t.Fatal(err)
	}
	// A symbolic link is followed by SQLite itself: both are the one file.
	a, err := launchlog.New(open(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := launchlog.New(open(t, other), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range []*launchlog.Log{a, b, a} {
		launch, err := l.Start(ctx, storetest.Request(string(rune('a'+i))))
		if err != nil || launch.ID != i+1 {
			t.Errorf("launch %d, %v; want %d", launch.ID, err, i+1)
		}
	}
}

// As Docker mounts a file that is named alone.
func TestMountedFile(t *testing.T) {
	path := newFile(t)
	other := filepath.Join(t.TempDir(), "mounted.db")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(path, other, "", syscall.MS_BIND, ""); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("mount a file: %v", err)
		}
		t.Skipf("SKIPPED: to mount a file takes root on Linux: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(other, 0); err != nil {
			t.Error(err)
		}
	}()
	_, err := sqlite.Open(ctx, other)
	wantFileError(t, err, "several names")
}
