package idtype

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// Slice is a list of IDs as one parameter or one column of a database. It is a JSON array of what a
// column of such IDs holds. SQLite's json_each, MySQL's JSON_TABLE and PostgreSQL's
// jsonb_array_elements_text take it apart.
//
//	db.Query("SELECT name FROM users WHERE id IN (SELECT value FROM json_each(?))",
//		idtype.Slice[UserID](ids))
//
// The elements are strings: the digits of integers, texts, or UUIDs. JSON has no bytes: of those
// they are the hexadecimal digits. A query turns these into bytes with unhex(value), UNHEX(value)
// or decode(value, 'hex').
type Slice[T ID] []T

var (
	_ driver.Valuer = Slice[DecimalID]{}
	_ sql.Scanner   = (*Slice[DecimalID])(nil)
)

// Value is a JSON array as a string, "[]" for an empty or nil slice. An ID that is zero is an
// [*InputError] that wraps [ErrZero].
func (s Slice[T]) Value() (driver.Value, error) {
	b := append(make([]byte, 0, 2+len(s)*22), '[')
	for i, id := range s {
		v, err := id.Value()
		if err != nil {
			return "", &elementError{i, err} // not nil: see valueInt63
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		switch v := v.(type) {
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case string: // no text of an ID needs an escape
			b = append(b, v...)
		case []byte:
			b = hex.AppendEncode(b, v)
		}
		b = append(b, '"')
	}
	return string(append(b, ']')), nil
}

// Scan reads a JSON array from a string or []byte. It takes strings as Value writes them, and exact
// integers for IDs that are stored as integers. It also reads an array of PostgreSQL, of columns as
// the IDs have them. NULL, and null within the array, are errors. On an error the slice stays as it
// was.
func (s *Slice[T]) Scan(src any) error {
	var data []byte
	switch src := src.(type) {
	case string:
		data = []byte(src)
	case []byte:
		data = src
	case nil:
		return &InputError{Type: "Slice", Input: "NULL", Err: ErrNull}
	default:
		return &InputError{Type: "Slice", Input: fmt.Sprintf("%T", src), Err: errSliceType}
	}
	if isArray(data) {
		return s.scanArray(data)
	}
	var elements []element[T]
	if err := json.Unmarshal(data, &elements); err != nil {
		return &InputError{Type: "Slice", Input: quote(data), Err: err}
	}
	if elements == nil {
		return &InputError{Type: "Slice", Input: quote(data), Err: ErrNull}
	}
	ids := make([]T, len(elements))
	for i, e := range elements {
		if e.id.IsZero() {
			return sliceError(data, i, ErrZero)
		}
		ids[i] = e.id
	}
	*s = ids
	return nil
}

func sliceError(data []byte, i int, err error) error {
	return &InputError{Type: "Slice", Input: quote(data), Err: &elementError{i, err}}
}

// An elementError says which element of a slice is refused.
type elementError struct {
	index int
	err   error
}

func (e *elementError) Error() string {
	return fmt.Sprintf("idtype: index %d: %s", e.index, bare(e.err))
}

func (e *elementError) Unwrap() error { return e.err }

func (s *Slice[T]) scanArray(data []byte) error {
	var zero T
	columns, err := arrayColumns(data, zero.Storage())
	if err != nil {
		return &InputError{Type: "Slice", Input: quote(data), Err: err}
	}
	ids := make([]T, len(columns))
	for i, column := range columns {
		if err := any(&ids[i]).(sql.Scanner).Scan(column); err != nil {
			return sliceError(data, i, err)
		}
	}
	*s = ids
	return nil
}

// An element is an ID as its column holds it: the text of an ID in JSON may be another.
type element[T ID] struct{ id T }

func (e *element[T]) UnmarshalJSON(data []byte) error {
	column, quoted := jsonString(data)
	if !quoted && (e.id.Storage() != StorageBigint || string(data) == "null") {
		return any(&e.id).(json.Unmarshaler).UnmarshalJSON(data)
	}
	if e.id.Storage() == StorageBytes {
		raw := make([]byte, hex.DecodedLen(len(column)))
		if _, err := hex.Decode(raw, column); err != nil {
			return err
		}
		column = raw
	}
	return any(&e.id).(sql.Scanner).Scan(column)
}
