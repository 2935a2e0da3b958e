package bunid

import (
	"errors"
	"fmt"
	"strings"
)

// ErrForeignDB is returned by [Check] and [CheckTables] for a DB that was not created by [NewDB],
// and therefore has no rules. It is also the reason of an [*Error] when a row is inserted.
var ErrForeignDB = errors.New("bunid: the DB has no rules: create it with bunid.NewDB")

// An Error reports what was rejected, and why. There are four reasons:
//
//   - A model whose columns cannot hold its IDs, or whose keys the database would number.
//   - A value that cannot be stored or compared, such as an ID that is zero. errors.Is finds
//     [idtype.ErrZero] in it.
//   - A source that cannot mint. Err wraps the source's error.
//   - A table whose keys the database numbers, which [CheckTables] reports.
//
// A DB and a transaction do not send the statement. A bun.Conn may send it, because database/sql
// does not check the context of a Conn first. The statement is then invalid SQL, so nothing is
// stored, and the error may come from the database or the driver, instead of an *Error.
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
