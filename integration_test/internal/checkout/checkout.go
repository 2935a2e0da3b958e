// Package checkout copies the checkout that tests run in, for what must not touch it.
package checkout

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Hold copies the checkout in the current folder to a folder whose name is idmint, in one of its own.
// What the go command has compiled counts for one folder. So that folder is the same for all test
// programs, and in each run. This program has it for itself until it is released.
func Hold() (dir string, release func() error, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	name := sha256.Sum256([]byte(here))
	top := filepath.Join(os.TempDir(), fmt.Sprintf("idmint-checkout-%d-%.8x", os.Getuid(), name[:]))
	if err := os.MkdirAll(top, 0o700); err != nil {
		return "", nil, err
	}
	lock, err := os.Open(top)
	if err != nil {
		return "", nil, err
	}
	release = func() error { return errors.Join(empty(top), lock.Close()) }
	dir = filepath.Join(top, "idmint")
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	if err == nil {
		err = empty(top) // of what a run left that was killed
	}
	if err == nil {
		err = copyTo(dir)
	}
	if err != nil {
		return "", nil, errors.Join(err, lock.Close())
	}
	return dir, release, nil
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// copyTo copies what git tracks, and would track.
func copyTo(dir string) error {
	out, err := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-coz",
		"--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed yet
		} else if err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			return err
		}
	}
	return nil
}
