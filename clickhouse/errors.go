package clickhouse

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A RowError is returned for a value of a column that is not an ID. The value was to be inserted,
// or a query returned it.
type RowError struct {
	Type string // of the IDs in Go, for example "idtype.Decimal[shop.User]"
	Row  int    // from 0, within the input or within the block
	Err  error  // an [*idtype.InputError], or the driver's error for a value of another type
}

func (e *RowError) Error() string {
	return fmt.Sprintf("clickhouse: row %d of %s: %s", e.Row, e.Type, reason(e.Err))
}

func (e *RowError) Unwrap() error { return e.Err }

// rowError returns the error for row i of IDs of type T.
func rowError[T idtype.ID](i int, err error) *RowError {
	return &RowError{keys.TypeName(reflect.TypeFor[T]()), i, err}
}

// reason adds advice to the error for zero.
func reason(err error) string {
	if errors.Is(err, idtype.ErrZero) {
		return err.Error() + `: set it, or use OrZero or OrNull for "none"`
	}
	return err.Error()
}

// An ElementError is returned for an element of an array, or a key of a map, that is not an ID. It
// is also returned for a value that is not an array or map of IDs.
type ElementError struct {
	Type string // of the value in Go; the driver's type if the driver returned it
	Err  error  // a [*RowError] with the index in an array, an [*idtype.InputError] for a key
}

func (e *ElementError) Error() string {
	if row, ok := e.Err.(*RowError); ok {
		return fmt.Sprintf("clickhouse: element %d of %s as %s: %s",
			row.Row, e.Type, row.Type, reason(row.Err))
	}
	return fmt.Sprintf("clickhouse: %s: %s", e.Type, reason(e.Err))
}

func (e *ElementError) Unwrap() error { return e.Err }

func elementError(value any, err error) *ElementError {
	if value == nil {
		return &ElementError{"NULL", err}
	}
	return &ElementError{keys.TypeName(reflect.TypeOf(value)), err}
}

var (
	errNoTime        = errors.New("the IDs carry no time")
	errUnknownScheme = errors.New("the scheme is not known here")
	errSpread        = errors.New("IDs of mode SPREAD have no order by time")
	errUUIDOrder     = errors.New("ClickHouse orders UUIDs by their second half: " +
		"store the bytes or the text")
	errColumnKind = errors.New("the driver returns no such value for a column of these IDs: " +
		"check the column and its type")

	// ErrNoTable is wrapped by the error of [CheckTable] for a table that does not exist.
	ErrNoTable = errors.New("the table does not exist: " +
		"name it as TABLE, in the connection's database, or as DATABASE.TABLE")
)

// A TimeError is returned for IDs that cannot be selected by time: see [Column.Between].
type TimeError struct {
	Scheme  idtype.Scheme
	Storage idtype.Storage
	Err     error // the reason
}

func (e *TimeError) Error() string {
	return fmt.Sprintf("clickhouse: no condition by time for %s IDs stored as %s: %v",
		e.Scheme, e.Storage, e.Err)
}

func (e *TimeError) Unwrap() error { return e.Err }

// A TableError is returned if the system tables cannot answer for a table. Err is [ErrNoTable] or
// the connection's error.
type TableError struct {
	Table string
	Err   error
}

func (e *TableError) Error() string {
	return fmt.Sprintf("clickhouse: table %s: %v", e.Table, e.Err)
}

func (e *TableError) Unwrap() error { return e.Err }
