//go:build cgo

package sqlite

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

const hasCgo = true

// isDiskError reports whether SQLite could not read, write or sync.
func isDiskError(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrIoErr
}
