package idtype

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
)

// OrZero is an optional ID in a NOT NULL column, where zero means "none". By the ID's [Storage]
// that is 0, bytes that are all zero, an empty text or the nil UUID. ClickHouse stores such a
// column smaller and reads it faster than a Nullable one. For a column that holds NULL use
// [database/sql.Null].
//
// Its JSON is that of the ID: null for none, or 0 with [AsNumber]. Its text and its binary form are
// empty for none. A zero that another program wrote, such as 0 in JSON, is read as none too.
type OrZero[T ID] struct {
	ID T
}

var (
	_ driver.Valuer              = OrZero[DecimalID]{}
	_ sql.Scanner                = (*OrZero[DecimalID])(nil)
	_ json.Marshaler             = OrZero[DecimalID]{}
	_ json.Unmarshaler           = (*OrZero[DecimalID])(nil)
	_ encoding.TextMarshaler     = OrZero[DecimalID]{}
	_ encoding.TextUnmarshaler   = (*OrZero[DecimalID])(nil)
	_ encoding.BinaryMarshaler   = OrZero[DecimalID]{}
	_ encoding.BinaryUnmarshaler = (*OrZero[DecimalID])(nil)
)

// IsZero reports whether there is no ID.
func (o OrZero[T]) IsZero() bool { return o.ID.IsZero() }

// String is the ID's text.
func (o OrZero[T]) String() string { return o.ID.String() }

// Format writes what the ID's Format does.
func (o OrZero[T]) Format(s fmt.State, verb rune) { format(s, verb, o.ID) }

// Generate draws an ID as the ID's Generate does, or none, for testing/quick.
func (OrZero[T]) Generate(r *rand.Rand, _ int) reflect.Value {
	var o OrZero[T]
	if r.Intn(4) != 0 {
		o.ID = generate[T](r).Interface().(T)
	}
	return reflect.ValueOf(o)
}

// Compare orders as the function [Compare] does, none first.
func (o OrZero[T]) Compare(other OrZero[T]) int {
	return bytes.Compare(AppendBytes(nil, o.ID), AppendBytes(nil, other.ID))
}

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

// orNone is err of a decoder, unless it says that what it was given is zero or null: that is none.
func (o *OrZero[T]) orNone(err error) error {
	if errors.Is(err, ErrZero) || errors.Is(err, ErrNull) {
		*o = OrZero[T]{}
		return nil
	}
	return err
}

// MarshalJSON is the ID's JSON, as that of zero for none.
func (o OrZero[T]) MarshalJSON() ([]byte, error) { return o.ID.MarshalJSON() }

// UnmarshalJSON accepts what the ID's UnmarshalJSON accepts, an empty text, and zero: 0 and "0" of an
// integer ID. The "0" of a [Short] ID is an ID. On an error the receiver stays as it was.
func (o *OrZero[T]) UnmarshalJSON(data []byte) error {
	if string(data) == `""` { // none as the key of a map
		*o = OrZero[T]{}
		return nil
	}
	return o.orNone(any(&o.ID).(json.Unmarshaler).UnmarshalJSON(data))
}

// MarshalText is the ID's text, and empty for none.
func (o OrZero[T]) MarshalText() ([]byte, error) {
	if o.ID.IsZero() {
		return []byte{}, nil
	}
	return o.ID.MarshalText()
}

// UnmarshalText accepts what the ID's UnmarshalText accepts, an empty text, and zero. On an error
// the receiver stays as it was.
func (o *OrZero[T]) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*o = OrZero[T]{}
		return nil
	}
	return o.orNone(any(&o.ID).(encoding.TextUnmarshaler).UnmarshalText(text))
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (o *OrZero[T]) UnmarshalParam(param string) error { return o.UnmarshalText([]byte(param)) }

// MarshalBinary is the ID's binary form, and empty for none. Of an ID that is stored as text it is
// the text, because clickhouse-go writes a FixedString by it.
func (o OrZero[T]) MarshalBinary() ([]byte, error) {
	if o.ID.IsZero() || o.ID.Storage() == StorageText {
		return o.MarshalText()
	}
	return o.ID.MarshalBinary()
}

// UnmarshalBinary accepts what MarshalBinary writes, and zero. On an error the receiver stays as it
// was.
func (o *OrZero[T]) UnmarshalBinary(data []byte) error {
	if o.ID.Storage() == StorageText {
		return o.Scan(data)
	}
	if len(data) == 0 {
		*o = OrZero[T]{}
		return nil
	}
	return o.orNone(any(&o.ID).(encoding.BinaryUnmarshaler).UnmarshalBinary(data))
}

// MarshalBSONValue is the ID's, and null for none.
func (o OrZero[T]) MarshalBSONValue() (typ byte, data []byte, err error) {
	if o.ID.IsZero() {
		return bsonNull, nil, nil
	}
	return marshalBSON(o.ID)
}

// UnmarshalBSONValue accepts what the ID's UnmarshalBSONValue accepts, null, and zero. On an error
// the receiver stays as it was.
func (o *OrZero[T]) UnmarshalBSONValue(typ byte, data []byte) error {
	return o.orNone(unmarshalBSON(&o.ID, typ, data))
}

// MarshalCBOR is the ID's, and null for none.
func (o OrZero[T]) MarshalCBOR() ([]byte, error) {
	if o.ID.IsZero() {
		return []byte{cborNull}, nil
	}
	return marshalCBOR(o.ID)
}

// UnmarshalCBOR accepts what the ID's UnmarshalCBOR accepts, null, and zero. On an error the receiver
// stays as it was.
func (o *OrZero[T]) UnmarshalCBOR(data []byte) error { return o.orNone(unmarshalCBOR(&o.ID, data)) }

// GormDataType is the ID's column type.
func (o OrZero[T]) GormDataType() string { return o.ID.GormDataType() }
