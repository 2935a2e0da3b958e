package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// stallVariable names the file whose presence makes syncs stand still.
const stallVariable = "IDMINT_TEST_SLOWDISK"

// slowSyncs takes the place of the C library's syncs, which SQLite calls. Go's own go to the kernel
// and are not held up.
const slowSyncs = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stand_still(void) {
	const char *file = getenv("` + stallVariable + `");
	char reached[4096];
	if (file == NULL || access(file, F_OK) != 0)
		return;
	snprintf(reached, sizeof reached, "%s.reached", file);
	close(open(reached, O_CREAT | O_WRONLY, 0600));
	while (access(file, F_OK) == 0)
		usleep(1000);
}

int fsync(int fd) { stand_still(); return syscall(SYS_fsync, fd); }
int fdatasync(int fd) { stand_still(); return syscall(SYS_fdatasync, fd); }
`

// A slowDisk is the disk of a process that [onSlowDisk] started. Its syncs stand still for as long
// as a test wants.
type slowDisk struct{ file string }

// onSlowDisk runs test, which is all there is to t, in a process of its own that has such a disk. It
// takes Linux and gcc.
func onSlowDisk(t *testing.T, test func(*testing.T, *slowDisk)) {
	t.Helper()
	if file := os.Getenv(stallVariable); file != "" {
		test(t, &slowDisk{file})
		return
	}
	dir := t.TempDir()
	library, code := filepath.Join(dir, "syncs.so"), filepath.Join(dir, "syncs.c")
	if err := os.WriteFile(code, []byte(slowSyncs), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := exec.LookPath("gcc")
	if runtime.GOOS != "linux" || err != nil && os.Getenv("CI") == "" {
		t.Skip("SKIPPED: a slow disk takes gcc on Linux")
	}
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, code).CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	// What is not over by then waits for the disk.
	cmd := exec.Command(os.Args[0], "-test.run="+name, "-test.v", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+library, stallVariable+"="+filepath.Join(dir, "stall"),
		"GORACE=atexit_sleep_ms=0") // see package subprocess
	out, err = cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) && err == nil {
		t.Errorf("it did not run:\n%s", out)
	}
}

// spare gives a process that is about to start a disk that is as fast as ever.
func spare(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "LD_PRELOAD=") || strings.HasPrefix(s, stallVariable+"=")
	})
	return cmd
}

// stall makes the syncs that begin from now on stand still, until resume or the test's end.
func (d *slowDisk) stall(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.file + ".reached"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(d.file) })
}

// reached waits until a sync stands still.
func (d *slowDisk) reached(t *testing.T) {
	t.Helper()
	for {
		if _, err := os.Stat(d.file + ".reached"); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// resume lets the syncs go on.
func (d *slowDisk) resume(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.file); err != nil {
		t.Fatal(err)
	}
}
