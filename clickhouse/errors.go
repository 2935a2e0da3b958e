package clickhouse

import (
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// A RowError is returned for a value of a column that is no ID: of IDs on their way in, and of what a query returned.
type RowError struct {
	Row int   // from 0, within what was given or within the block
	Err error // an [*idtype.InputError]
}

func (e *RowError) Error() string { return fmt.Sprintf("clickhouse: row %d: %v", e.Row, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

// at is the error of another row.
func (e *RowError) at(row int) error { return &RowError{row, e.Err} }

// An ElementError is returned for an element of an array, or a key of a map, that is no ID.
type ElementError struct {
	Type string // of the column's value as the driver has it
	Err  error
}

func (e *ElementError) Error() string { return fmt.Sprintf("clickhouse: %s: %v", e.Type, e.Err) }

func (e *ElementError) Unwrap() error { return e.Err }

var (
	errNoTime     = errors.New("they carry no time")
	errSpread     = errors.New("IDs of mode SPREAD have no order by time")
	errUUIDOrder  = errors.New("ClickHouse orders UUIDs by their second half: store the bytes or the text")
	errColumnKind = errors.New("not what the driver gives for a column of these IDs")

	// ErrCompact is wrapped by the error of [BytesPerID] for a table of which no part stores its columns apart.
	ErrCompact = errors.New("its parts are compact, so the sizes of their columns are unknown: set min_bytes_for_wide_part = 0 and OPTIMIZE … FINAL")
	// ErrNoRows is wrapped by the error of [BytesPerID] for a table without rows.
	ErrNoRows = errors.New("it has no rows")
	// ErrNoColumn is wrapped by the errors of [BytesPerID] for a column, and of [CheckTable] for a table, that there is not.
	ErrNoColumn = errors.New("there is no such table or column")
)

// A TimeError is returned for IDs that no condition selects by time.
type TimeError struct {
	Scheme  idtype.Scheme
	Storage idtype.Storage
	Err     error // the reason
}

func (e *TimeError) Error() string {
	return fmt.Sprintf("clickhouse: %s IDs stored as %s by time: %v", e.Scheme, e.Storage, e.Err)
}

func (e *TimeError) Unwrap() error { return e.Err }

// A TableError is returned where the system tables cannot answer for a table.
type TableError struct {
	Table, Column string
	Err           error
}

func (e *TableError) Error() string {
	name := e.Table
	if e.Column != "" {
		name += ", column " + e.Column
	}
	return fmt.Sprintf("clickhouse: %s: %v", name, e.Err)
}

func (e *TableError) Unwrap() error { return e.Err }

// checkSpan says that a span of time goes forward.
func checkSpan(s idtype.Scheme, from, to time.Time) error {
	if to.Before(from) {
		return &idtype.SpanError{Type: string(s), From: from, To: to, Err: idtype.ErrSpanInverted}
	}
	return nil
}
