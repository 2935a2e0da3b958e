package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// Backup copies the database in the file path into a new file, to, while apps go on to use it. The
// copy is one moment's state. SQLite has checked it when it gets its name, and it is on disk when
// Backup returns. A file that is there is never replaced: the error is an [fs.ErrExist].
//
// The copy may lie on a network file system, unlike a log that is in use. If that can neither
// rename without replacing nor make hard links, Backup fails, and leaves nothing behind.
//
// It is the way to copy a log that is in use. A copy of the file alone lacks what SQLite keeps
// beside it. A process that reads the file by itself loses its locks.
//
// A log that was restored from a copy gives out again what was taken since. Advance its launches
// and counters before anything else: see package launchlog.
func Backup(ctx context.Context, path, to string) error {
	return failed("backup of "+path, backup(ctx, path, to))
}

func backup(ctx context.Context, path, to string) (err error) {
	// Nobody else has the copy open, so it may lie where locks do not hold.
	if err := cmp.Or(Check(path), checkPath(to)); err != nil {
		return err
	}
	source, err := os.Stat(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "back up", Path: to, Err: fs.ErrExist}
	}
	// SQLite copies into a file that is there if it is empty.
	copied, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	temporary := copied.Name()
	if err := errors.Join(copied.Chmod(source.Mode().Perm()), copied.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	done := make(chan error, 1)
	go func() {
		err := copyInto(ctx, path, temporary, to)
		if err != nil {
			err = errors.Join(err, remove(temporary))
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		// Nothing interrupts a sync of the disk. What was copied is removed after it, or has got
		// its name already.
		select {
		case err = <-done:
		default:
			return context.Cause(ctx)
		}
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // SQLite says no more than that it was interrupted
	}
	return err
}

func copyInto(ctx context.Context, path, temporary, to string) error {
	source, err := openPlain(path)
	if err != nil {
		return err
	}
	_, err = source.ExecContext(ctx, "VACUUM INTO ?", temporary)
	if err := errors.Join(err, source.Close()); err != nil {
		return err
	}
	if err := verify(ctx, temporary); err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	if err := syncFile(temporary); err != nil { // nobody has locks on it
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := publish(temporary, to); err != nil {
		return err
	}
	return syncFile(filepath.Dir(to))
}

// openPlain opens a file as it is: [DSN] would set its journal's mode.
func openPlain(path string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw")
}

// verify has SQLite look through a file that nobody else uses.
func verify(ctx context.Context, path string) error {
	db, err := openPlain(path)
	if err != nil {
		return err
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("is not sound: %s", verdict)
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// link gives a file its name, unless there is one of that name, and takes the other name away.
func link(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}
