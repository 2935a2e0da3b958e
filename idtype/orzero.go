package idtype

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
)

// OrZero is an optional ID in a NOT NULL column, where zero means "none". By the ID's [Storage]
// that is 0, bytes that are all zero, an empty text or the nil UUID. ClickHouse stores such a
// column smaller and reads it faster than a Nullable one. For a column that holds NULL use
// [database/sql.Null].
//
// Its JSON is that of the ID: null for none, or 0 with [AsNumber].
type OrZero[T ID] struct {
	ID T
}

var (
	_ driver.Valuer    = OrZero[DecimalID]{}
	_ sql.Scanner      = (*OrZero[DecimalID])(nil)
	_ json.Marshaler   = OrZero[DecimalID]{}
	_ json.Unmarshaler = (*OrZero[DecimalID])(nil)
)

// IsZero reports whether there is no ID.
func (o OrZero[T]) IsZero() bool { return o.ID.IsZero() }

// String is the ID's text.
func (o OrZero[T]) String() string { return o.ID.String() }

// Value is the ID's value, or the column's zero for none.
func (o OrZero[T]) Value() (driver.Value, error) {
	if o.ID.IsZero() {
		return o.ID.none(), nil
	}
	return o.ID.Value()
}

// Scan takes what the ID's Scan takes, the column's zero, and an OrZero. NULL is an error. On an
// error the receiver stays as it was.
func (o *OrZero[T]) Scan(src any) error {
	if same, err := own[OrZero[T]](src); err == nil {
		*o = same
		return nil
	}
	if o.ID.isNone(src) {
		*o = OrZero[T]{}
		return nil
	}
	return any(&o.ID).(sql.Scanner).Scan(src)
}

// MarshalJSON is the ID's JSON, as that of zero for none.
func (o OrZero[T]) MarshalJSON() ([]byte, error) { return o.ID.MarshalJSON() }

// UnmarshalJSON accepts what the ID's UnmarshalJSON accepts. On an error the receiver stays as it
// was.
func (o *OrZero[T]) UnmarshalJSON(data []byte) error {
	return any(&o.ID).(json.Unmarshaler).UnmarshalJSON(data)
}

// GormDataType is the ID's column type.
func (o OrZero[T]) GormDataType() string { return o.ID.GormDataType() }
