package idtype

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// Slice is a list of IDs as one parameter or one column of a database: a JSON array of the IDs' texts, which SQLite's
// json_each, MySQL's JSON_TABLE and PostgreSQL's jsonb_array_elements_text take apart.
//
//	db.Query("SELECT name FROM users WHERE id IN (SELECT value FROM json_each(?))", idtype.Slice[UserID](ids))
type Slice[T ID] []T

var (
	_ driver.Valuer = Slice[DecimalID]{}
	_ sql.Scanner   = (*Slice[DecimalID])(nil)
)

// Value is a JSON array as a string, "[]" for an empty or nil slice. An ID that is zero is an error that wraps [ErrZero].
func (s Slice[T]) Value() (driver.Value, error) {
	if len(s) == 0 {
		return "[]", nil
	}
	for i, id := range s {
		if _, err := id.Value(); err != nil {
			return nil, fmt.Errorf("index %d: %w", i, err)
		}
	}
	b, err := json.Marshal([]T(s))
	return string(b), err
}

// Scan reads a JSON array of IDs from a string or []byte. NULL, and null within the array, are errors. On an error the
// slice is left as it was.
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
	var ids []T
	if err := json.Unmarshal(data, &ids); err != nil {
		return &InputError{Type: "Slice", Input: quote(data), Err: err}
	}
	if ids == nil {
		return &InputError{Type: "Slice", Input: quote(data), Err: ErrNull}
	}
	for i, id := range ids {
		if id.IsZero() {
			return &InputError{Type: "Slice", Input: quote(data), Err: fmt.Errorf("index %d: %w", i, ErrZero)}
		}
	}
	*s = ids
	return nil
}
