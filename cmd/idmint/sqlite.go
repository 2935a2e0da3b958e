//go:build cgo

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/launchlog/sqlite"
)

// hasSQLite reports whether this build opens files of SQLite, whose driver is in C.
const hasSQLite = true

const errNoSQLite = ""

func openSQLite(ctx context.Context, path string, reading bool) (store, error) {
	if reading {
		return sqlite.OpenReader(ctx, path)
	}
	return sqlite.Open(ctx, path)
}

// checkSQLite says of a file what keeps a launch log out of it.
func checkSQLite(path string) error { return sqlite.Check(path) }

// isFileError reports whether an error is about the kind of file that a launch log lies in.
func isFileError(err error) bool { return errors.As(err, new(*sqlite.FileError)) }

// whyNotOpened asks the system why the file cannot be opened. SQLite may name a reason that is
// another file's: its log, beside a file on a read-only disk.
func whyNotOpened(path string, err error) error {
	var reason sqlite3.Error
	if !errors.As(err, &reason) || reason.Code != sqlite3.ErrCantOpen {
		return err
	}
	file, openErr := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case errors.Is(openErr, fs.ErrNotExist): // it is the file itself
		return err
	case openErr != nil:
		return openErr
	}
	return errors.Join(err, file.Close())
}
