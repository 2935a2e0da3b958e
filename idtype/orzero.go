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

// OrZero is an optional ID in a NOT NULL column in which zero means "none". Depending on the ID's
// [Storage], zero is 0, bytes that are all zero, an empty text, or the nil UUID. ClickHouse stores
// such a column in less space, and reads it faster, than a Nullable one. For a column that holds
// NULL use [database/sql.Null].
//
// Without an ID, the JSON is null, or 0 with [AsNumber], and the text and the binary form are
// empty. A zero that another program wrote, such as 0 in JSON, is also read as none.
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

// String returns the ID's text.
func (o OrZero[T]) String() string { return o.ID.String() }

// Format formats the ID with its own Format method.
func (o OrZero[T]) Format(s fmt.State, verb rune) { format(s, verb, o.ID) }

// Generate returns a random ID like the ID's Generate, or none, for testing/quick.
func (OrZero[T]) Generate(r *rand.Rand, _ int) reflect.Value {
	var o OrZero[T]
	if r.Intn(4) != 0 {
		o.ID = generate[T](r).Interface().(T)
	}
	return reflect.ValueOf(o)
}

// Compare orders IDs like the function [Compare], with none first.
func (o OrZero[T]) Compare(other OrZero[T]) int {
	return bytes.Compare(AppendBytes(nil, o.ID), AppendBytes(nil, other.ID))
}

// Value returns the ID's value, or the column's zero if there is no ID.
func (o OrZero[T]) Value() (driver.Value, error) {
	if o.ID.IsZero() {
		return o.ID.none(), nil
	}
	return o.ID.Value()
}

// Scan accepts the same values as the ID's Scan, the column's zero, and an OrZero. NULL is an
// error. On failure the receiver is unchanged.
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

// orNone returns a decoder's err, unless the input was zero or null, which mean none.
func (o *OrZero[T]) orNone(err error) error {
	if errors.Is(err, ErrZero) || errors.Is(err, ErrNull) {
		*o = OrZero[T]{}
		return nil
	}
	return err
}

// MarshalJSON returns the ID's JSON, or the JSON of zero if there is no ID.
func (o OrZero[T]) MarshalJSON() ([]byte, error) { return o.ID.MarshalJSON() }

// UnmarshalJSON accepts the same input as the ID's UnmarshalJSON, an empty text, and zero, which is
// 0 or "0" for an integer ID. The exception is "0" for a [Short], because that is the text of an
// ID. On failure the receiver is unchanged.
func (o *OrZero[T]) UnmarshalJSON(data []byte) error {
	if string(data) == `""` { // a map key that is none
		*o = OrZero[T]{}
		return nil
	}
	return o.orNone(any(&o.ID).(json.Unmarshaler).UnmarshalJSON(data))
}

// MarshalText returns the ID's text, or an empty text if there is no ID.
func (o OrZero[T]) MarshalText() ([]byte, error) {
	if o.ID.IsZero() {
		return []byte{}, nil
	}
	return o.ID.MarshalText()
}

// UnmarshalText accepts the same input as the ID's UnmarshalText, an empty text, and zero. On
// failure the receiver is unchanged.
func (o *OrZero[T]) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*o = OrZero[T]{}
		return nil
	}
	return o.orNone(any(&o.ID).(encoding.TextUnmarshaler).UnmarshalText(text))
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (o *OrZero[T]) UnmarshalParam(param string) error { return o.UnmarshalText([]byte(param)) }

// MarshalBinary returns the ID's binary form, or no bytes if there is no ID. For an ID that is
// stored as text it returns the text, because clickhouse-go writes a FixedString with this method.
func (o OrZero[T]) MarshalBinary() ([]byte, error) {
	if o.ID.IsZero() || o.ID.Storage() == StorageText {
		return o.MarshalText()
	}
	return o.ID.MarshalBinary()
}

// UnmarshalBinary accepts the output of MarshalBinary, and zero. On failure the receiver is
// unchanged.
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

// MarshalBSONValue returns the ID in BSON, or null if there is no ID.
func (o OrZero[T]) MarshalBSONValue() (typ byte, data []byte, err error) {
	if o.ID.IsZero() {
		return bsonNull, nil, nil
	}
	return marshalBSON(o.ID)
}

// UnmarshalBSONValue accepts the same input as the ID's UnmarshalBSONValue, null, and zero. On
// failure the receiver is unchanged.
func (o *OrZero[T]) UnmarshalBSONValue(typ byte, data []byte) error {
	return o.orNone(unmarshalBSON(&o.ID, typ, data))
}

// MarshalCBOR returns the ID in CBOR, or null if there is no ID.
func (o OrZero[T]) MarshalCBOR() ([]byte, error) {
	if o.ID.IsZero() {
		return []byte{cborNull}, nil
	}
	return marshalCBOR(o.ID)
}

// UnmarshalCBOR accepts the same input as the ID's UnmarshalCBOR, null, and zero. On failure the
// receiver is unchanged.
func (o *OrZero[T]) UnmarshalCBOR(data []byte) error { return o.orNone(unmarshalCBOR(&o.ID, data)) }

// GormDataType returns the column type of the ID.
func (o OrZero[T]) GormDataType() string { return o.ID.GormDataType() }
