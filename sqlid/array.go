package sqlid

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/idmint/idmint/idtype"
)

// Array is a list of IDs as a PostgreSQL array. It can be the parameter of = ANY($1) in every
// driver of database/sql, whereas lib/pq's own pq.Array sends bytes as text and is therefore wrong
// for byte IDs. With package pgxid a plain slice does the same, and is faster.
//
//	db.Query("SELECT name FROM users WHERE id = ANY($1)", sqlid.Array[UserID](ids))
//
// For SQLite, MySQL, and MariaDB see [idtype.Slice].
type Array[T idtype.ID] []T

var (
	_ driver.Valuer = Array[idtype.DecimalID]{}
	_ sql.Scanner   = (*Array[idtype.DecimalID])(nil)
)

// Value returns the text of a PostgreSQL array, such as {8,9}, or {"\\x0a",…} for bytes. An empty
// list is {}, and a nil list is NULL; = ANY of either matches no row. If an ID is zero, the error
// is an [*ArrayError].
func (a Array[T]) Value() (driver.Value, error) {
	if a == nil {
		return nil, nil
	}
	b := []byte{'{'}
	for i, id := range a {
		column, err := id.Value()
		if err != nil {
			return nil, &ArrayError{i, err}
		}
		if i > 0 {
			b = append(b, ',')
		}
		switch column := column.(type) {
		case int64:
			b = strconv.AppendInt(b, column, 10)
		case []byte:
			b = append(b, `"\\x`...)
			b = append(hex.AppendEncode(b, column), '"')
		case string: // the text of an ID needs no quotes
			b = append(b, column...)
		}
	}
	return string(append(b, '}')), nil
}

// Scan reads a PostgreSQL array as [idtype.Slice] does. NULL is an error. On failure the list is
// unchanged.
func (a *Array[T]) Scan(src any) error {
	list := idtype.Slice[T](*a)
	if err := list.Scan(src); err != nil {
		return err
	}
	*a = Array[T](list)
	return nil
}

// An ArrayError names the element of an [Array] that was rejected. It wraps the element's own
// error.
type ArrayError struct {
	Index int
	Err   error
}

func (e *ArrayError) Error() string { return fmt.Sprintf("sqlid: index %d: %v", e.Index, e.Err) }

func (e *ArrayError) Unwrap() error { return e.Err }
