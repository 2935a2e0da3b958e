// Package checkout copies the checkout in which tests run, for tests that must not change it.
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

// Hold copies the checkout in the current folder to a folder named idmint. The folder is the same
// for all test programs and in each run, because the go command's compiled packages are valid only
// for one folder. This program is its only user until the release.
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
		err = empty(top) // removes what a killed run has left
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

// copyTo copies the files that git tracks or would track.
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
