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

// Backup copies the database in the file path into a new file, to, while apps continue to use it.
// The copy is a consistent snapshot. SQLite checks it before it gets its name, and it is on disk
// when Backup returns. An existing file is never replaced: the error is an [fs.ErrExist].
//
// Unlike a log that is in use, the copy may be on a network file system. If that can neither rename
// without replacing nor create hard links, Backup fails and leaves nothing behind.
//
// Use Backup to copy a log that is in use. A copy of the file alone lacks what SQLite keeps in
// other files, and a process that reads the file without SQLite loses its locks.
//
// A log that was restored from a copy hands out again the numbers taken since. Advance its launches
// and log counters before anything else: see package launchlog.
func Backup(ctx context.Context, path, to string) error {
	return failed("backup of "+path, backup(ctx, path, to))
}

func backup(ctx context.Context, path, to string) (err error) {
	// Nobody else has the copy open, so it may be where locks do not work.
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
	// SQLite copies into an existing file if it is empty.
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
		// A sync of the disk cannot be interrupted. The copy is removed after the sync, or has got
		// its name already.
		select {
		case err = <-done:
		default:
			return context.Cause(ctx)
		}
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // SQLite only says that it was interrupted
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

// openPlain opens a file as it is, whereas [DSN] would set its journal mode.
func openPlain(path string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw")
}

// verify runs SQLite's integrity check on a file that nobody else uses.
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
		return fmt.Errorf("is damaged: %s", verdict)
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

// link gives a file its new name, unless that exists already, and removes the old one.
func link(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}
