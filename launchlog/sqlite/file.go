package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/idmint/idmint/launchlog/internal/named"
)

// Open, Check and Backup return a FileError for a path that names no file, and for a file in which
// SQLite's locks do not hold. In such a file two processes would take the same number. The calls of
// a store return one where the file, or what SQLite keeps beside it, was removed or replaced.
type FileError struct {
	Path   string
	Reason string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("launchlog/sqlite: %q %s", e.Path, e.Reason)
}

// A failure is an error about a file, behind the package's name. The errors of a store's steps get
// that of launchlog.
type failure struct {
	what string
	err  error
}

func (e *failure) Error() string {
	return "launchlog/sqlite: " + e.what + ": " + named.Bare(e.err)
}

func (e *failure) Unwrap() error { return e.err }

// failed is where errors about a file leave the package. A FileError has its name already.
func failed(what string, err error) error {
	switch err.(type) {
	case nil, *FileError:
		return err
	}
	return &failure{what, err}
}

// Check says why a launch log must not be kept in the file path. The file is on a network file
// system, or it has several names. It need not be there yet. The command line's sqlite:PATH and
// SQLite's URIs are no paths. [Open] checks as well. Check recognises the file systems of Linux. It
// lets FUSE through, which may be local or not.
func Check(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return checkSystem(path)
}

// checkPath says why path names no file.
func checkPath(path string) error {
	for _, prefix := range []string{"sqlite:", "file:"} {
		if strings.HasPrefix(path, prefix) {
			return &FileError{path, fmt.Sprintf("is no path: leave out %q", prefix)}
		}
	}
	switch {
	case path == "" || strings.HasPrefix(path, ":memory:"):
		return &FileError{path, "is no file: a log in memory ends with the process"}
	case strings.IndexByte(path, 0) >= 0:
		return &FileError{path, "has a NUL byte"}
	}
	return nil
}
