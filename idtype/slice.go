package idtype

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// Slice is a list of IDs as a single parameter or column of a database. It is encoded as a JSON
// array whose elements are the IDs in their column form. SQLite's json_each, MySQL's JSON_TABLE,
// and PostgreSQL's jsonb_array_elements_text turn it into rows:
//
//	db.Query("SELECT name FROM users WHERE id IN (SELECT value FROM json_each(?))",
//		idtype.Slice[UserID](ids))
//
// The elements are strings: decimal digits for integers, texts, or UUIDs. JSON cannot hold bytes,
// so these are hexadecimal digits, which a query converts with unhex(value), UNHEX(value), or
// decode(value, 'hex').
type Slice[T ID] []T

var (
	_ driver.Valuer = Slice[DecimalID]{}
	_ sql.Scanner   = (*Slice[DecimalID])(nil)
)

// Value returns a JSON array as a string, which is "[]" for an empty or nil slice. If an ID is
// zero, the error wraps an [*InputError] and [ErrZero].
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
		case string: // the text of an ID needs no escape
			b = append(b, v...)
		case []byte:
			b = hex.AppendEncode(b, v)
		}
		b = append(b, '"')
	}
	return string(append(b, ']')), nil
}

// Scan reads a JSON array from a string or []byte. The elements must be strings as Value writes
// them, or exact integers if the IDs are stored as integers. Scan also reads a PostgreSQL array of
// a type that can hold the IDs. NULL is an error, and so is null within the array. On failure the
// slice is unchanged.
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

// An elementError names the element of a slice that was rejected.
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

// An element is an ID in its column form, which may differ from its text in JSON.
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
