// Package smalldisk gives tests a disk that fills up: a tmpfs of a given size.
package smalldisk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Mount makes a disk of size bytes for the time of the test. A file, [Ballast], takes an eighth of
// it. Remove that to make room. It takes root on Linux: otherwise the test is skipped, which is a
// failure in CI.
func Mount(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	mount := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprint("size=", size), "tmpfs", dir)
	if err := mount.Run(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("mount a small disk: %v", err)
		}
		t.Skipf("SKIPPED: a small disk takes root on Linux: %v", err)
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

// Ballast is a file on the disk that may be removed.
func Ballast(dir string) string { return filepath.Join(dir, "ballast") }
