package bunid

import (
	"errors"
	"fmt"
	"strings"
)

// ErrForeignDB is for a DB that [NewDB] did not make. Nothing says there what mints keys. It is the
// reason of an [*Error] for a row that is inserted.
var ErrForeignDB = errors.New("bunid: the DB has no rules: make it with bunid.NewDB")

// An Error says what was refused, and why. There are four reasons:
//
//   - A model whose columns cannot hold its IDs, or whose keys the database would number.
//   - A value that cannot be stored or compared, such as an ID that is zero. errors.Is finds
//     [idtype.ErrZero] in it.
//   - A source that cannot mint. Err wraps the source's error.
//   - A table whose keys the database numbers, of [CheckTables].
//
// A DB and a transaction do not send the statement. A bun.Conn may: database/sql sends whatever a
// Conn is given. The statement is then no valid SQL, and nothing is stored. The error may be
// the database's or the driver's, in place of an *Error.
type Error struct {
	Table string // as SQL names it; empty for a query without a model
	Err   error  // the reason
}

func (e *Error) Error() string {
	reason := strings.TrimPrefix(e.Err.Error(), "bunid: ")
	if e.Table == "" {
		return fmt.Sprintf("bunid: %s", reason)
	}
	return fmt.Sprintf("bunid: table %s: %s", e.Table, reason)
}

func (e *Error) Unwrap() error { return e.Err }
