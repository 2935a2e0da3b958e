package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/idmint/idmint/internal/named"
)

// A FileError is returned by Open, Check and Backup for a path that does not name a file, and for a
// file in which SQLite's locks do not work, so that two processes would take the same number. Open
// and the calls of a store return one for a file in WAL mode, and the calls also if the file was
// removed or replaced.
type FileError struct {
	Path   string
	Reason string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("launchlog/sqlite: %q %s", e.Path, e.Reason)
}

// failed adds the package's name to errors about a file that leave the package. A FileError has the
// name already. Errors of a store's steps get launchlog's name instead.
func failed(what string, err error) error {
	if _, ok := err.(*FileError); ok {
		return err
	}
	return named.Failed("launchlog/sqlite: "+what, err)
}

// Check returns a [*FileError] if a launch log must not be kept in the file path, because the file
// is on a network file system or has several names, or because the program was built without cgo.
// The file need not exist yet. The command line's sqlite:PATH and SQLite's URIs are rejected.
// [Open] makes the same check. Check recognizes the file systems of Linux. It accepts FUSE, which
// may or may not be local.
func Check(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return checkSystem(path)
}

// checkPath returns an error if path does not name a file.
func checkPath(path string) error {
	for _, prefix := range []string{"sqlite:", "file:"} {
		if strings.HasPrefix(path, prefix) {
			return &FileError{path, fmt.Sprintf("must be a path: leave out %q", prefix)}
		}
	}
	switch {
	case path == "" || strings.HasPrefix(path, ":memory:"):
		return &FileError{path, "must name a file: a launch log in memory would not survive the " +
			"process"}
	case strings.IndexByte(path, 0) >= 0:
		return &FileError{path, "has a NUL byte"}
	case !hasCgo:
		return &FileError{path, "needs cgo, without which this program was built: set " +
			"CGO_ENABLED=1 and install gcc, or keep the launch log in PostgreSQL, MySQL, " +
			"MariaDB, etcd, ZooKeeper or Cassandra"}
	}
	return nil
}

// check returns an error if the file no longer has its name. It may have been removed or replaced,
// for example by a restore: others then do not see what is written to it, and their locks are in
// another file. The file is only looked at and never opened, because closing it would drop this
// process's locks on it.
//
// The result is remembered, because a file that comes back to its name lacks what others wrote in
// the meantime.
func (s *Store) check() error {
	if now, err := os.Stat(s.path); err != nil || !os.SameFile(s.file, now) {
		s.gone.Store(true)
	}
	if !s.gone.Load() {
		return nil
	}
	return &FileError{
		s.path, "was removed or replaced while the launch log was open: after a restore, " +
			"stop all apps and follow docs/operate/restore.md before you start any of them again",
	}
}

// checkJournal rejects a file in WAL mode. Commits would be in another file, PATH-wal, and anyone
// who removes it, or copies only the main file, would cause numbers to be handed out again. A
// checkpoint after each commit does not help, because connections that still use a removed log do
// not share their locks with those that come later, and would overwrite their pages.
func (s *Store) checkJournal(ctx context.Context, tx interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
},
) error {
	var mode string
	err := tx.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA journal_mode").Scan(&mode)
	if err == nil && mode == "wal" {
		err = &FileError{
			s.path, "is in WAL mode, in which an acknowledged number is lost with " +
				filepath.Base(s.path) + "-wal: keep the launch log in a separate file, such as " +
				"launches.db, or set PRAGMA journal_mode = DELETE in this one",
		}
	}
	return err
}
