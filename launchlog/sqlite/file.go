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

// Open, Check and Backup return a FileError for a path that names no file, and for a file in which
// SQLite's locks do not hold: two processes would take the same number. Open and the calls of a
// store return one for a file in WAL mode, and the calls if the file was removed or replaced.
type FileError struct {
	Path   string
	Reason string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("launchlog/sqlite: %q %s", e.Path, e.Reason)
}

// failed is where errors about a file leave the package. A FileError has its name already. The
// errors of a store's steps get that of launchlog.
func failed(what string, err error) error {
	if _, ok := err.(*FileError); ok {
		return err
	}
	return named.Failed("launchlog/sqlite: "+what, err)
}

// Check says why a launch log must not be kept in the file path. The file is on a network file
// system, it has several names, or the program was built without cgo. It need not be there yet. The
// command line's sqlite:PATH and SQLite's URIs are no paths. [Open] checks as well. Check
// recognises the file systems of Linux. It lets FUSE through, which may be local or not.
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
	case !hasCgo:
		return &FileError{path, "needs cgo, without which this program was built: set " +
			"CGO_ENABLED=1 and install gcc, or keep the launch log in PostgreSQL, MySQL, " +
			"MariaDB, etcd, ZooKeeper or Cassandra"}
	}
	return nil
}

// check says whether the file still has its name. It may have been removed or replaced, as by a
// restore: others do not see what is written to it, and their locks are in another file. It is only
// ever looked at, because whoever opens and closes it drops this process's locks on it.
//
// What was seen once counts for good. A file that comes back to its name lacks what others wrote in
// the meantime.
func (s *Store) check() error {
	if now, err := os.Stat(s.path); err != nil || !os.SameFile(s.file, now) {
		s.gone.Store(true)
	}
	if !s.gone.Load() {
		return nil
	}
	return &FileError{
		s.path, "was removed or replaced while the launch log was open: after a restore " +
			"advance launches and counters; then start the processes that use it anew",
	}
}

// checkJournal refuses a file in WAL mode. What was committed would be beside the file, in
// PATH-wal: whoever removes that, or copies the file alone, would have numbers given out again. A
// checkpoint after each commit does not help. The connections that still have a removed log do not
// share their locks with those that come after, and would write their own pages over theirs.
func (s *Store) checkJournal(ctx context.Context, tx interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
},
) error {
	var mode string
	err := tx.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA journal_mode").Scan(&mode)
	if err == nil && mode == "wal" {
		err = &FileError{
			s.path, "is in WAL mode, in which an acknowledged number is lost with " +
				filepath.Base(s.path) + "-wal: keep the launch log in a file of its own, such as " +
				"launches.db, or set PRAGMA journal_mode = DELETE in this one",
		}
	}
	return err
}
