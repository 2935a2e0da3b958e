package sqlid

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"

	"github.com/idmint/idmint/idtype"
)

// Null is an [sql.Null] of an ID with the JSON that clients expect: the ID, or null. The JSON of
// sql.Null itself is an object with two fields. The text and the binary form of NULL are empty.
type Null[T idtype.ID] struct {
	sql.Null[T]
}

var (
	_ driver.Valuer              = Null[idtype.DecimalID]{}
	_ sql.Scanner                = (*Null[idtype.DecimalID])(nil)
	_ json.Marshaler             = Null[idtype.DecimalID]{}
	_ json.Unmarshaler           = (*Null[idtype.DecimalID])(nil)
	_ encoding.TextMarshaler     = Null[idtype.DecimalID]{}
	_ encoding.TextUnmarshaler   = (*Null[idtype.DecimalID])(nil)
	_ encoding.BinaryMarshaler   = Null[idtype.DecimalID]{}
	_ encoding.BinaryUnmarshaler = (*Null[idtype.DecimalID])(nil)
)

// NullOf returns the ID for a nullable column. Zero becomes NULL.
func NullOf[T idtype.ID](id T) Null[T] { return Null[T]{sql.Null[T]{V: id, Valid: !id.IsZero()}} }

// IsZero reports whether the value is NULL.
func (n Null[T]) IsZero() bool { return !n.Valid }

// String returns the ID's text, or "NULL".
func (n Null[T]) String() string {
	if !n.Valid {
		return "NULL"
	}
	return n.V.String()
}

// Format formats the ID with its own Format method, or writes NULL.
func (n Null[T]) Format(s fmt.State, verb rune) {
	if n.Valid {
		fmt.Fprintf(s, fmt.FormatString(s, verb), n.V)
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, 's'), n.String())
}

// Generate returns a random ID that follows its layout, or NULL, for testing/quick.
func (Null[T]) Generate(r *rand.Rand, size int) reflect.Value {
	var n Null[T]
	if r.Intn(4) != 0 {
		n = NullOf(any(n.V).(quickGenerator).Generate(r, size).Interface().(T))
	}
	return reflect.ValueOf(n)
}

// quickGenerator is testing/quick's interface Generator, which a library should not import.
type quickGenerator interface {
	Generate(r *rand.Rand, size int) reflect.Value
}

// Compare orders IDs like [idtype.Compare], with NULL first.
func (n Null[T]) Compare(other Null[T]) int {
	a, _ := n.MarshalBinary()
	b, _ := other.MarshalBinary()
	return bytes.Compare(a, b)
}

// Scan accepts the same values as the ID's Scan, NULL, and a Null. On failure the receiver is
// unchanged.
func (n *Null[T]) Scan(src any) error {
	switch same := src.(type) {
	case Null[T]:
		*n = same
		return nil
	case *Null[T]:
		if same != nil {
			*n = *same
			return nil
		}
		src = nil
	}
	var scanned sql.Null[T]
	if err := scanned.Scan(src); err != nil {
		return err
	}
	n.Null = scanned
	return nil
}

// MarshalJSON returns the ID's JSON, or null.
func (n Null[T]) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return n.V.MarshalJSON()
}

// UnmarshalJSON accepts the same input as the ID's UnmarshalJSON, and an empty text. On failure the
// receiver is unchanged.
func (n *Null[T]) UnmarshalJSON(data []byte) error {
	var id T
	if string(data) == `""` { // a map key that is NULL
		data = []byte("null")
	}
	if err := json.Unmarshal(data, &id); err != nil {
		return err
	}
	*n = NullOf(id)
	return nil
}

// MarshalText returns the ID's text, or an empty text for NULL.
func (n Null[T]) MarshalText() ([]byte, error) {
	if !n.Valid {
		return []byte{}, nil
	}
	return n.V.MarshalText()
}

// UnmarshalText accepts the same input as the ID's UnmarshalText, and an empty text. On failure the
// receiver is unchanged.
func (n *Null[T]) UnmarshalText(text []byte) error {
	return n.set(len(text) == 0, func(id any) error {
		return id.(encoding.TextUnmarshaler).UnmarshalText(text)
	})
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (n *Null[T]) UnmarshalParam(param string) error { return n.UnmarshalText([]byte(param)) }

// MarshalBinary returns the ID's binary form, or no bytes for NULL. For an ID that is stored as
// text it returns the text, because clickhouse-go writes a FixedString with this method.
func (n Null[T]) MarshalBinary() ([]byte, error) {
	if !n.Valid || n.V.Storage() == idtype.StorageText {
		return n.MarshalText()
	}
	return n.V.MarshalBinary()
}

// UnmarshalBinary accepts the output of MarshalBinary. On failure the receiver is unchanged.
func (n *Null[T]) UnmarshalBinary(data []byte) error {
	if n.V.Storage() == idtype.StorageText {
		return n.UnmarshalText(data)
	}
	return n.set(len(data) == 0, func(id any) error {
		return id.(encoding.BinaryUnmarshaler).UnmarshalBinary(data)
	})
}

// MarshalBSONValue returns the ID in BSON, or null.
func (n Null[T]) MarshalBSONValue() (typ byte, data []byte, err error) {
	if !n.Valid {
		return bsonNull, nil, nil
	}
	return any(n.V).(encoder).MarshalBSONValue()
}

// UnmarshalBSONValue accepts the same input as the ID's UnmarshalBSONValue, and null. On failure
// the receiver is unchanged.
func (n *Null[T]) UnmarshalBSONValue(typ byte, data []byte) error {
	return n.set(typ == bsonNull, func(id any) error {
		return id.(decoder).UnmarshalBSONValue(typ, data)
	})
}

// MarshalCBOR returns the ID in CBOR, or null.
func (n Null[T]) MarshalCBOR() ([]byte, error) {
	if !n.Valid {
		return []byte{cborNull}, nil
	}
	return any(n.V).(encoder).MarshalCBOR()
}

// UnmarshalCBOR accepts the same input as the ID's UnmarshalCBOR, and null. On failure the receiver
// is unchanged.
func (n *Null[T]) UnmarshalCBOR(data []byte) error {
	null := len(data) == 1 && data[0] == cborNull
	return n.set(null, func(id any) error { return id.(decoder).UnmarshalCBOR(data) })
}

const (
	bsonNull byte = 0x0a
	cborNull byte = 0xf6
)

// encoder and decoder are the methods of IDs for formats that call them by name, without an
// interface of the standard library.
type encoder interface {
	MarshalBSONValue() (typ byte, data []byte, err error)
	MarshalCBOR() ([]byte, error)
}

type decoder interface {
	UnmarshalBSONValue(typ byte, data []byte) error
	UnmarshalCBOR(data []byte) error
}

// set stores the value that decode reads, or NULL.
func (n *Null[T]) set(null bool, decode func(id any) error) error {
	var id T
	if !null {
		if err := decode(&id); err != nil {
			return err
		}
	}
	*n = NullOf(id)
	return nil
}

// GormDataType returns the column type of the ID.
func (n Null[T]) GormDataType() string { return n.V.GormDataType() }
