package idtype

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Storage is the form in which a database column holds an ID. An int64 ID is a bigint. A byte ID is
// bytes (a [UUID7] is a UUID), unless the declaration of the key has a tag around the entity:
//
//	type ID = idtype.Sno[Event]                         // BYTEA, BINARY(10), BLOB, FixedString(10)
//	type ID = idtype.Sno[idtype.AsText[Event]]          // CHAR(16), FixedString(16)
//	type ID = idtype.Sno[idtype.AsUUID[Event]]          // UUID
//	type ID = idtype.EightByte[Event]                   // BYTEA, BINARY(8), BLOB, FixedString(8)
//	type ID = idtype.EightByte[idtype.AsBigint[Event]]  // BIGINT, Int64
//	type ID = idtype.UUID7[Event]                       // UUID
//	type ID = idtype.UUID7[idtype.AsBytes[Event]]       // BYTEA, BINARY(16), BLOB, FixedString(16)
//
// A tag for another type of ID has no effect. Value, Scan, GormDataType, [OrZero], and [Slice]
// follow the form, but the text, JSON, bytes, and order of an ID do not depend on it.
type Storage string

// The forms in which columns hold IDs.
const (
	StorageBigint Storage = "bigint" // a 64-bit integer
	StorageBytes  Storage = "bytes"  // the ID's bytes
	StorageText   Storage = "text"   // the ID's text
	StorageUUID   Storage = "uuid"   // a UUID; for a Sno its bytes are the characters of the text
)

// AsText stores a [Sno] as the 16 characters of its text. The column sorts like the IDs if its
// collation compares bytes, as COLLATE "C", ascii_bin, and SQLite's default do.
type AsText[E any] struct{}

// AsUUID stores a [Sno] in a UUID column. The 16 bytes of the UUID are the characters of the ID's
// text. Value writes the UUID's text. Scan accepts that text in lower case, or the 16 bytes in the
// same order. SQL Server returns a uniqueidentifier in a different order.
//
// PostgreSQL sorts such a column like the IDs, and so does MariaDB from 10.11.5 and 11.0.3 on.
// Earlier versions of MariaDB used a different order, and ClickHouse sorts UUIDs by their second
// half, so for these prefer bytes or text. MySQL has no such column type.
type AsUUID[E any] struct{}

// AsBigint stores an [EightByte] as the int64 with the same 64 bits. Scan accepts signed and
// unsigned integers, also as decimal digits. The column sorts as signed numbers, unlike the bytes:
// TIME_SEQUENTIAL IDs are negative from 2039-09-07T15:47:35.552Z on and then sort before all
// earlier ones, and half of all SPREAD IDs are negative.
type AsBigint[E any] struct{}

// AsBytes stores a [UUID7] as its 16 bytes. It is for MySQL, which has no type for UUIDs, and for
// SQLite, which would otherwise store them as a text of 36 characters.
type AsBytes[E any] struct{}

// The method of a tag has a pointer receiver and is called on nil, so that no entity is ever
// created or copied.
type tag interface {
	storage() (Storage, *byteScheme) // the form, and the scheme it is for
}

func (*AsText[E]) storage() (Storage, *byteScheme)   { return StorageText, snoScheme }
func (*AsUUID[E]) storage() (Storage, *byteScheme)   { return StorageUUID, snoScheme }
func (*AsBytes[E]) storage() (Storage, *byteScheme)  { return StorageBytes, uuid7Scheme }
func (*AsBigint[E]) storage() (Storage, *byteScheme) { return StorageBigint, eightByteScheme }

// storageOf returns the form that E is tagged with, if the tag is for f.
func storageOf[E any](f *byteScheme) Storage {
	if t, ok := any((*E)(nil)).(tag); ok {
		if form, of := t.storage(); of == f {
			return form
		}
	}
	return StorageBytes
}

// gormDataType returns the type of a column as GORM names it.
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
	errBytesType = errors.New("want []byte, string, an array of bytes, or the ID's own type; " +
		"integers are for keys that are declared with AsBigint")
	errHex    = errors.New("not \\x and lower-case hexadecimal digits, as PostgreSQL writes bytes")
	errUUID   = errors.New("not a UUID of lower-case hexadecimal digits")
	errDigits = errors.New("want the digits of an integer of 64 bits, " +
		"without plus, spaces or leading zeros")
)

// value returns an ID for a database driver. Together with an error it returns 0 for all forms (see
// valueInt63), because GORM would treat bytes as a list there.
func (f *byteScheme) value(form Storage, id []byte) (driver.Value, error) {
	if isZeroBytes(id) {
		return int64(0), failure(f, appendByteText(nil, id), errUnsetColumn)
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

// unset returns the error for writing the text or the binary form of zero.
func (f *byteScheme) unset(id []byte) error { return failure(f, appendByteText(nil, id), errUnset) }

// none returns the value that a column of [OrZero] holds for zero.
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

// isNone recognizes the value of none in every form in which drivers return it: scan rejects all of
// these as zero.
func (f *byteScheme) isNone(form Storage, src any) bool {
	var id [16]byte
	return f.scan(form, id[:f.size], src) == ErrZero
}

// scanBytes sets an ID, whose bytes are id, from a database driver, or from another ID of its type.
func scanBytes[T comparable](f *byteScheme, form Storage, dst *T, id []byte, src any) error {
	err := f.scan(form, id, src)
	if err == nil {
		return nil
	}
	var zero T
	switch same, ownErr := own[T](src); {
	case ownErr == errGoType: // not an ID of this type
	case ownErr != nil:
		err = ownErr
	case same == zero:
		err = ErrZero
	default:
		*dst = same
		return nil
	}
	return &InputError{Type: f.typ, Input: describe(src), Err: orNone(err)}
}

// scan accepts every form in which drivers return a column. On error it leaves the ID unchanged.
func (f *byteScheme) scan(form Storage, id []byte, src any) error {
	if form == StorageBigint {
		return setInteger(id, src)
	}
	switch src := src.(type) {
	case nil:
		return ErrNull
	case string:
		return setColumn(f, form, id, src)
	case []byte:
		return setColumn(f, form, id, src)
	case [16]byte:
		return setColumn(f, form, id, src[:])
	}
	v := reflect.ValueOf(src)
	if v.Kind() == reflect.Array && v.Type().Elem() == reflect.TypeFor[byte]() {
		array := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(array), v)
		return setColumn(f, form, id, array)
	}
	return errBytesType
}

// setColumn chooses by length, because no two representations in a form have the same length. It
// accepts raw bytes only in the bytes form. Since these can have any value, a truncated text would
// otherwise be accepted as bytes.
func setColumn[S string | []byte](f *byteScheme, form Storage, id []byte, s S) error {
	n := len(s)
	switch {
	case n == textLen:
		first, second := bigEndian8(s, 0), bigEndian8(s, 8)
		nothing := first == 0 && form != StorageBytes || first == spaces && form == StorageText
		if first == second && nothing {
			return ErrZero // the nil UUID, and an empty FixedString or CHAR
		}
		return setByteText(f, id, s)
	case n == f.size && form == StorageBytes:
		return setBytes(id, s)
	case form == StorageBytes && n == len(byteaHex)+2*f.size &&
		string(s[:len(byteaHex)]) == byteaHex:
		return setHex(id, s[len(byteaHex):])
	case n == uuidLen && form == StorageUUID:
		return setUUID(f, id, s)
	case n == 0 && form == StorageText:
		return ErrZero
	}
	want := "the text of 16 characters"
	switch form {
	case StorageBytes:
		want = fmt.Sprintf("%d, or %s", f.size, want)
	case StorageUUID:
		want = "a UUID, as 36 characters or 16 bytes"
	}
	return fmt.Errorf("%d bytes, want %s", n, want)
}

// byteaHex begins the text form of PostgreSQL's bytea. It occurs in a bytea that was cast to text,
// and in the elements of an array that lib/pq's pq.Array reads.
const (
	byteaHex = `\x`
	maxSize  = 16 // of byte IDs
)

func setHex[S string | []byte](id []byte, digits S) error {
	var raw [maxSize]byte
	var again [2 * maxSize]byte // PostgreSQL writes lower case only
	n, err := hex.Decode(raw[:], []byte(digits))
	hex.Encode(again[:], raw[:n])
	if err != nil || string(again[:2*n]) != string(digits) {
		return errHex
	}
	return setBytes(id, raw[:n])
}

// setInteger is like setBytes for a column of integers. Only such a column may hold decimal digits,
// because 8 or 16 of them could also be bytes or hexadecimal.
func setInteger(id []byte, src any) error {
	switch src := src.(type) {
	case nil:
		return ErrNull
	case int64:
		return setUint64(id, uint64(src))
	case uint64: // ClickHouse
		return setUint64(id, src)
	case string:
		return setDigits(id, src)
	case []byte:
		return setDigits(id, string(src))
	}
	return errGoType
}

func setUint64(id []byte, v uint64) error {
	if v == 0 {
		return ErrZero
	}
	binary.BigEndian.PutUint64(id, v)
	return nil
}

// setDigits reads the decimal digits of an int64 or a uint64.
func setDigits(id []byte, digits string) error {
	if digits == "0" {
		return ErrZero
	}
	unsigned, negative := strings.CutPrefix(digits, "-")
	if unsigned == "" || unsigned[0] < '1' {
		return errDigits
	}
	var v uint64
	var err error
	if negative {
		var signed int64
		signed, err = strconv.ParseInt(digits, 10, 64)
		v = uint64(signed)
	} else {
		v, err = strconv.ParseUint(digits, 10, 64)
	}
	if err != nil {
		return errDigits
	}
	return setUint64(id, v)
}

// uuidPlaces are the positions of the digits of a UUID, four at a time, in pairs.
var uuidPlaces = [...][2]int{{0, 4}, {9, 14}, {19, 24}, {28, 32}}

// uuidText returns an ID's 16 characters as a UUID.
func uuidText(id []byte) string {
	var chars [textLen]byte
	appendByteText(chars[:0], id)
	var text [uuidLen]byte
	return string(appendUUID(text[:0], chars))
}

// appendUUID appends the text of a UUID.
func appendUUID(b []byte, chars [16]byte) []byte {
	b = append(b, nilUUID...)
	text := b[len(b)-uuidLen:]
	for i, place := range uuidPlaces {
		digits := spell(uint64(binary.BigEndian.Uint32(chars[4*i:])), 4, &hexPairs)
		binary.LittleEndian.PutUint32(text[place[0]:], uint32(digits))
		binary.LittleEndian.PutUint32(text[place[1]:], uint32(digits>>32))
	}
	return b
}

// setUUID is the inverse of uuidText.
func setUUID[S string | []byte](f *byteScheme, id []byte, s S) error {
	chars, err := parseUUID(s)
	if err != nil {
		return err
	}
	return setColumn(f, StorageUUID, id, chars[:])
}

// parseUUID is the inverse of appendUUID. It requires 36 characters.
func parseUUID[S string | []byte](s S) (chars [16]byte, err error) {
	var text [uuidLen]byte
	if copy(text[:], s) != uuidLen || len(s) != uuidLen {
		return chars, errUUID
	}
	for i, place := range uuidPlaces {
		digits := uint64(binary.BigEndian.Uint32(text[place[0]:]))<<32 |
			uint64(binary.BigEndian.Uint32(text[place[1]:]))
		values, stray := unspell(digits, '0')
		if values&(0xf0*ones)|stray&highBits != 0 {
			return chars, errUUID
		}
		binary.BigEndian.PutUint32(chars[4*i:], uint32(join(values, 4)))
	}
	if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return chars, errUUID
	}
	return chars, nil
}
