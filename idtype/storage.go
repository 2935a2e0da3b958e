package idtype

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Storage is the form in which a database column holds an ID. An int64 ID is a bigint. A byte ID is bytes, unless the key's
// declaration says otherwise by a tag around the entity:
//
//	type EventID = idtype.Sno[Event]                           // BYTEA, BINARY(10), BLOB, FixedString(10)
//	type EventID = idtype.Sno[idtype.AsText[Event]]            // CHAR(16), FixedString(16)
//	type EventID = idtype.Sno[idtype.AsUUID[Event]]            // UUID
//	type EventID = idtype.EightByte[Event]                     // BYTEA, BINARY(8), BLOB, FixedString(8)
//	type EventID = idtype.EightByte[idtype.AsBigint[Event]]    // BIGINT, Int64
//
// These are all the forms there are; a tag around the entity of another type has no effect. The form is that of Value, of Scan,
// of GormDataType, of [OrZero] and of [Slice]. Text, JSON, binary form and order of an ID are the same in all forms.
type Storage string

// The forms.
const (
	StorageBigint Storage = "bigint" // an integer of 64 bits
	StorageBytes  Storage = "bytes"  // the ID's bytes
	StorageText   Storage = "text"   // the ID's text
	StorageUUID   Storage = "uuid"   // the 16 characters of the ID's text, as the bytes of a UUID
)

// AsText stores a [Sno] as the 16 characters of its text. All forms of a Sno sort by its bytes, provided that the column's
// collation does: in a collation of a language, digits may follow letters. Scan takes the 16 characters.
type AsText[E any] struct{}

// AsUUID stores a [Sno] in a UUID column: the bytes of the UUID are the 16 characters of the ID's text. It is not a UUID of any
// version. Value writes the UUID's text; Scan takes that in lower case, and the 16 bytes in the order of the text, which is not
// the order in which SQL Server hands over a uniqueidentifier.
type AsUUID[E any] struct{}

// AsBigint stores an [EightByte] as an int64 of the same 64 bits. Such a column sorts as signed numbers do, and only there the
// order is not that of the bytes: TIME_SEQUENTIAL IDs turn negative at 2039-09-07T15:47:35.552Z, and sort before all earlier
// ones from then on; of SPREAD IDs, which have no order by time, every second one is negative. Scan takes integers, signed or
// unsigned, also as decimal digits.
type AsBigint[E any] struct{}

// A tag's method has a pointer as its receiver, and is called on a nil one, so that no entity is ever made or copied.
type tag interface{ storage() Storage }

func (*AsText[E]) storage() Storage   { return StorageText }
func (*AsUUID[E]) storage() Storage   { return StorageUUID }
func (*AsBigint[E]) storage() Storage { return StorageBigint }

// storageOf is the form that E is tagged with if f has it, else the default.
func storageOf[E any](f *byteScheme) Storage {
	if t, ok := any((*E)(nil)).(tag); ok {
		if form := t.storage(); slices.Contains(f.forms, form) {
			return form
		}
	}
	return f.forms[0]
}

// gormDataType is the type of a column in GORM's words.
func (s Storage) gormDataType() string {
	if s == StorageText {
		return "char(16)"
	}
	return string(s)
}

const (
	uuidLen = 36
	nilUUID = "00000000-0000-0000-0000-000000000000"
	spaces  = ' ' * ones
)

var (
	errBytesType = errors.New("want []byte, string or an array of bytes; integers are for keys that are declared with AsBigint")
	errHex       = errors.New("not the bytes in lower-case hexadecimal digits")
	errUUID      = errors.New("not a UUID of lower-case hexadecimal digits")
	errBigint    = errors.New("want an integer of 64 bits, or its digits without plus, spaces or leading zeros")
)

// value hands an ID to a database driver.
func (f *byteScheme) value(form Storage, id []byte) (driver.Value, error) {
	if err := f.validate(id); err != nil {
		return nil, err
	}
	switch form {
	case StorageBigint:
		return int64(binary.BigEndian.Uint64(id)), nil
	case StorageText:
		return string(appendByteText(make([]byte, 0, textLen), id)), nil
	case StorageUUID:
		return uuidText(id), nil
	}
	return bytes.Clone(id), nil
}

// none is what a column of [OrZero] holds for zero.
func (f *byteScheme) none(form Storage) driver.Value {
	switch form {
	case StorageBigint:
		return int64(0)
	case StorageText:
		return ""
	case StorageUUID:
		return nilUUID
	}
	return make([]byte, f.size)
}

// isNone recognises what none returns in every form that a driver gives it: that for which scan says that it is zero.
func (f *byteScheme) isNone(form Storage, src any) bool {
	var id [16]byte
	return f.set(form, id[:f.size], src) == ErrZero
}

// scan takes an ID from a database driver.
func (f *byteScheme) scan(form Storage, id []byte, src any) error {
	err := f.set(form, id, src)
	if err == nil {
		return nil
	}
	input := "NULL"
	switch src := src.(type) {
	case nil:
	case string:
		input = quote(src)
	case []byte:
		input = quote(src)
	default:
		input = fmt.Sprintf("%T %s", src, quote(fmt.Sprint(src)))
	}
	return &InputError{Type: f.typ, Input: input, Err: err}
}

// set takes every form in which a driver hands over a column, and leaves the ID on an error.
func (f *byteScheme) set(form Storage, id []byte, src any) error {
	switch src := src.(type) {
	case nil:
		return ErrNull
	case int64:
		if form == StorageBigint {
			return setBigint(id, uint64(src))
		}
	case uint64: // ClickHouse
		if form == StorageBigint {
			return setBigint(id, src)
		}
	case string:
		return setColumn(f, form, id, src)
	case []byte:
		return setColumn(f, form, id, src)
	case [16]byte:
		return f.setArray(form, id, src[:])
	default:
		if v := reflect.ValueOf(src); v.Kind() == reflect.Array && v.Type().Elem() == reflect.TypeFor[byte]() {
			array := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(array), v)
			return f.setArray(form, id, array)
		}
	}
	if form == StorageBigint {
		return errGoType
	}
	return errBytesType
}

// setArray: an array is bytes or a UUID, never digits.
func (f *byteScheme) setArray(form Storage, id, array []byte) error {
	if form == StorageBigint {
		return errGoType
	}
	return setColumn(f, form, id, array)
}

// setColumn goes by the length, which is never that of two things that a column of the form may hold: raw bytes are taken in
// the bytes form only, where 8 or 10 bytes are the ID and its text has 16; digits in the bigint form only, where 8 or 16 of them
// are not taken for bytes or hexadecimal ones.
func setColumn[S string | []byte](f *byteScheme, form Storage, id []byte, s S) error {
	if form == StorageBigint {
		return setDigits(id, s)
	}
	switch n := len(s); {
	case n == textLen:
		first, second := bigEndian8(s, 0), bigEndian8(s, 8)
		if first == second && (first == 0 && form != StorageBytes || first == spaces && form == StorageText) {
			return ErrZero // a nil UUID, and an empty FixedString or CHAR
		}
		return setByteText(f, id, s)
	case n == uuidLen && form == StorageUUID:
		return setUUID(f, id, s)
	case n == 0 && form == StorageText:
		return ErrZero
	case n == 2*f.size && form == StorageBytes: // as a Slice holds them
		raw, err := hex.DecodeString(string(s))
		if err != nil || hex.EncodeToString(raw) != string(s) {
			return errHex
		}
		return setBytes(id, raw)
	case form == StorageBytes:
		return setBytes(id, s)
	}
	return setByteText(f, id, s) // for its error about the length
}

func setBigint(id []byte, v uint64) error {
	if v == 0 {
		return ErrZero
	}
	binary.BigEndian.PutUint64(id, v)
	return nil
}

// setDigits reads the decimal digits of an int64, and of a uint64.
func setDigits[S string | []byte](id []byte, s S) error {
	digits, err := string(s), error(nil)
	if digits == "0" {
		return ErrZero
	}
	var v uint64
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		var signed int64
		signed, err = strconv.ParseInt(digits, 10, 64)
		v, digits = uint64(signed), rest
	} else {
		v, err = strconv.ParseUint(digits, 10, 64)
	}
	if err != nil || digits[0] < '1' {
		return errBigint
	}
	return setBigint(id, v)
}

// uuidPlaces are where the digits of a UUID stand, four at a time.
var uuidPlaces = [...][2]int{{0, 4}, {9, 14}, {19, 24}, {28, 32}}

// uuidText writes an ID's 16 characters as a UUID.
func uuidText(id []byte) string {
	var chars [textLen]byte
	appendByteText(chars[:0], id)
	text := []byte(nilUUID)
	for i, place := range uuidPlaces {
		digits := spell(uint64(binary.BigEndian.Uint32(chars[4*i:])), 4, '0')
		binary.BigEndian.PutUint32(text[place[0]:], uint32(digits>>32))
		binary.BigEndian.PutUint32(text[place[1]:], uint32(digits))
	}
	return string(text)
}

// setUUID is the inverse of uuidText.
func setUUID[S string | []byte](f *byteScheme, id []byte, s S) error {
	var text [uuidLen]byte
	copy(text[:], s)
	var chars [textLen]byte
	for i, place := range uuidPlaces {
		digits := uint64(binary.BigEndian.Uint32(text[place[0]:]))<<32 | uint64(binary.BigEndian.Uint32(text[place[1]:]))
		values, stray := unspell(digits, '0')
		if values&(0xf0*ones)|stray&highBits != 0 {
			return errUUID
		}
		binary.BigEndian.PutUint32(chars[4*i:], uint32(join(values, 4)))
	}
	if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return errUUID
	}
	return setColumn(f, StorageUUID, id, chars[:])
}
