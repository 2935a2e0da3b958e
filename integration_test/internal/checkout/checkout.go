// Package checkout copies the checkout that tests run in, for what must not touch it.
package checkout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Copy copies what git tracks, and would track, of the checkout in the current folder.
func Copy(to string) error {
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
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			return err
		}
	}
	return nil
}
