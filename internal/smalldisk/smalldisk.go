// Package smalldisk gives tests a disk that fills up: a tmpfs of a given size.
package smalldisk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Mount mounts a disk of size bytes until the end of the test. The file [Ballast] takes an eighth
// of it, and can be removed to make room. Mount requires root on Linux, and otherwise skips the
// test, or fails it in CI.
func Mount(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	mount := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprint("size=", size), "tmpfs", dir)
	if err := mount.Run(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("mount a small disk: %v", err)
		}
		t.Skipf("SKIPPED: a small disk requires root on Linux: %v", err)
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", dir).Run(); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	if err := os.WriteFile(Ballast(dir), make([]byte, size/8), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Ballast returns the path of a file on the disk that may be removed.
func Ballast(dir string) string { return filepath.Join(dir, "ballast") }
