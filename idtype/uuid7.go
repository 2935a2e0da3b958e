package idtype

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// UUID7 is a UUID as the key of an entity E, of version 7 when it is minted: a time and random bits,
// in 16 bytes. It is the one key here that rests on luck: two that are minted in one millisecond
// differ by 74 random bits, or by those that the library behind the generator leaves random. Nobody
// has to coordinate anything for that.
//
//	01932c07-209d-7c3a-8f5e-2b1a90d4e6f7
//	000000011001001100101100000001110010000010011101 0111 110000111010 10 001111010111100010101100011010 10010000110101001110011011110111
//	tttttttttttttttttttttttttttttttttttttttttttttttt vvvv aaaaaaaaaaaa xx bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cccccccccccccccccccccccccccccccc
//
//	bits   part      range          who gives it
//	48     unix_ms   0 ..= 2^48−1   the clock: milliseconds since 1970
//	4      version   7              RFC 9562
//	12     rand_a    0 ..= 4095     the library: random, a counter, or more of the time
//	2      variant   2              RFC 9562
//	30     rand_b    0 ..= 2^30−1   the library: random
//	32     rand_c    0 ..= 2^32−1   the same
//
// The RFC has rand_b and rand_c as one number, of 62 bits. JavaScript's numbers do not hold that.
//
// A UUID7 is [16]byte, as the types of google/uuid and of Go's package uuid are, so a plain
// conversion makes one of the other: uuid.UUID(id). Parse and Scan take every UUID except nil, because
// rows of version 4 may be there. Validate asks for version 7. Bytes that are all zero mean "not
// assigned".
//
// The text is the 36 characters of a UUID in lower case. It sorts as the bytes do. A database holds a
// UUID, or the bytes: see [AsBytes]. ClickHouse sorts UUIDs by their second half, which is random.
type UUID7[E any] [16]byte

// UUID7ID is the UUID of any entity.
type UUID7ID = UUID7[any]

// SchemeUUID7 is the name of the scheme.
const SchemeUUID7 Scheme = "uuid7"

var _ = is[UUID7ID]

var uuid7Scheme = &byteScheme{typ: "UUID7ID", size: 16}

var errUUIDJSON = errors.New("want the text of 36 characters as a string, or null")

// UUID7Parts are the numbers that a UUID consists of. Their ranges are those of [UUID7].
type UUID7Parts struct {
	UnixMs  int64 `json:"unix_ms"`
	Version int   `json:"version"`
	RandA   int   `json:"rand_a"`
	Variant int   `json:"variant"`
	RandB   int64 `json:"rand_b"`
	RandC   int64 `json:"rand_c"`
}

// ID composes the parts. It returns a [*RangeError] for the first part outside its range.
func (p UUID7Parts) ID() (id UUID7ID, err error) {
	if err := p.validate(); err != nil {
		return UUID7ID{}, err
	}
	binary.BigEndian.PutUint64(id[:], uint64(p.UnixMs)<<16|uint64(p.Version)<<12|uint64(p.RandA))
	binary.BigEndian.PutUint64(id[8:], uint64(p.Variant)<<62|uint64(p.RandB)<<32|uint64(p.RandC))
	return id, nil
}

func (p UUID7Parts) validate() error {
	return checkParts(uuid7Scheme.typ, []part[int64]{
		{"unix_ms", p.UnixMs, 0, formats.UUID7MaxUnixMs},
		{"version", int64(p.Version), formats.UUID7Version, formats.UUID7Version},
		{"rand_a", int64(p.RandA), 0, formats.UUID7MaxRandA},
		{"variant", int64(p.Variant), formats.UUID7Variant, formats.UUID7Variant},
		{"rand_b", p.RandB, 0, formats.UUID7MaxRandB},
		{"rand_c", p.RandC, 0, formats.UUID7MaxRandC},
	})
}

// Parts takes the UUID apart. They mean nothing if [UUID7.Validate] refuses it.
func (u UUID7[E]) Parts() UUID7Parts {
	high, low := binary.BigEndian.Uint64(u[:]), binary.BigEndian.Uint64(u[8:])
	return UUID7Parts{
		UnixMs: int64(high >> 16), Version: int(high >> 12 & 15), RandA: int(high & formats.UUID7MaxRandA),
		Variant: int(low >> 62), RandB: int64(low >> 32 & formats.UUID7MaxRandB),
		RandC: int64(low & formats.UUID7MaxRandC),
	}
}

// Time is the time at which a UUID of version 7 was made, in UTC, to the millisecond.
func (u UUID7[E]) Time() time.Time { return time.UnixMilli(u.Parts().UnixMs).UTC() }

// IsZero reports whether no ID was assigned.
func (u UUID7[E]) IsZero() bool { return u == UUID7[E]{} }

// Validate asks for version 7. It returns a [*RangeError] for the version or the variant. For zero it
// returns an [*InputError] that wraps [ErrZero].
func (u UUID7[E]) Validate() error {
	if u.IsZero() {
		return failure(uuid7Scheme, nilUUID, ErrZero)
	}
	return u.Parts().validate()
}

// Scheme is [SchemeUUID7].
func (UUID7[E]) Scheme() Scheme { return SchemeUUID7 }

// Storage is [StorageUUID], or [StorageBytes] of a key that is declared with [AsBytes].
func (UUID7[E]) Storage() Storage {
	if t, ok := any((*E)(nil)).(tag); ok {
		if form, of := t.storage(); of == uuid7Scheme {
			return form
		}
	}
	return StorageUUID
}

// String is the UUID's text, 36 characters.
func (u UUID7[E]) String() string {
	var text [uuidLen]byte
	return string(appendUUID(text[:0], u))
}

// AppendText appends the text of String. Zero is an error that wraps [ErrZero].
func (u UUID7[E]) AppendText(b []byte) ([]byte, error) {
	if u.IsZero() {
		return b, failure(uuid7Scheme, nilUUID, errUnset)
	}
	return appendUUID(b, u), nil
}

// MarshalText is the text of String. The error is that of AppendText.
func (u UUID7[E]) MarshalText() ([]byte, error) { return u.AppendText(make([]byte, 0, uuidLen)) }

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID
// stays as it was.
func (u *UUID7[E]) UnmarshalText(text []byte) error {
	return failure(uuid7Scheme, text, setUUIDText(u[:], text))
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (u *UUID7[E]) UnmarshalParam(param string) error { return u.UnmarshalText([]byte(param)) }

// MarshalJSON is the text as a string, and null for zero.
func (u UUID7[E]) MarshalJSON() ([]byte, error) {
	if u.IsZero() {
		return []byte("null"), nil
	}
	return append(appendUUID(append(make([]byte, 0, uuidLen+2), '"'), u), '"'), nil
}

// UnmarshalJSON accepts what MarshalJSON writes. null sets zero. On an error, which is an
// [*InputError], the ID stays as it was.
func (u *UUID7[E]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*u = UUID7[E]{}
		return nil
	}
	text, quoted := jsonString(data)
	if !quoted {
		return failure(uuid7Scheme, data, errUUIDJSON)
	}
	return failure(uuid7Scheme, data, setUUIDText(u[:], text))
}

// AppendBinary appends the 16 bytes. Zero is an error that wraps [ErrZero].
func (u UUID7[E]) AppendBinary(b []byte) ([]byte, error) {
	if u.IsZero() {
		return b, failure(uuid7Scheme, nilUUID, errUnset)
	}
	return append(b, u[:]...), nil
}

// MarshalBinary is the 16 bytes. The error is that of AppendBinary.
func (u UUID7[E]) MarshalBinary() ([]byte, error) { return u.AppendBinary(make([]byte, 0, len(u))) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (u *UUID7[E]) UnmarshalBinary(data []byte) error { return uuid7Scheme.fromBytes(u[:], data) }

// Value hands the ID to a database driver, as the UUID's text, or as [AsBytes] says. Zero is an error
// that wraps [ErrZero]. Beside the error is 0 and not nil: a caller who drops the error would take nil
// for NULL.
func (u UUID7[E]) Value() (driver.Value, error) {
	switch {
	case u.IsZero():
		return int64(0), failure(uuid7Scheme, nilUUID, errUnsetColumn)
	case u.Storage() == StorageBytes:
		return u.MarshalBinary()
	}
	return u.String(), nil
}

// Scan takes every UUID but nil from a database driver: its text in lower case, or its 16 bytes in a
// []byte or an array. With [AsBytes] a string may hold the bytes, as ClickHouse's FixedString does.
// Scan takes an ID of its own type, by value or by pointer. The error for NULL wraps [ErrNull], and
// that for zero wraps [ErrZero]. On an error, which is an [*InputError], the ID stays as it was.
func (u *UUID7[E]) Scan(src any) error {
	err := scanUUID(u[:], u.Storage(), src)
	if err == nil {
		return nil
	}
	switch same, ownErr := own[UUID7[E]](src); {
	case ownErr == errGoType: // it is no ID of the type
	case ownErr != nil:
		err = ownErr
	case same.IsZero():
		err = ErrZero
	default:
		*u = same
		return nil
	}
	return &InputError{Type: uuid7Scheme.typ, Input: describe(src), Err: orNone(err)}
}

// GormDataType is the column's type: uuid or bytes.
func (u UUID7[E]) GormDataType() string { return u.Storage().gormDataType() }

func (UUID7[E]) bounds(from, to time.Time) ([]Range[UUID7[E]], error) {
	p := UUID7Parts{UnixMs: unixMs(from), Version: formats.UUID7Version, Variant: formats.UUID7Variant}
	least, err := p.ID()
	p.UnixMs, p.RandA, p.RandB, p.RandC = unixMs(to), formats.UUID7MaxRandA, formats.UUID7MaxRandB,
		formats.UUID7MaxRandC
	most, err2 := p.ID()
	return oneRange(UUID7[E](least), UUID7[E](most), err, err2)
}

func (UUID7[E]) parsed(text string) (id UUID7[E], err error) {
	err = failure(uuid7Scheme, text, setUUIDText(id[:], text))
	return id, err
}

func (u UUID7[E]) compare(other UUID7[E]) int { return bytes.Compare(u[:], other[:]) }
func (u UUID7[E]) none() driver.Value         { return uuid7Scheme.none(u.Storage()) }

func (u UUID7[E]) isNone(src any) bool {
	var id UUID7[E]
	return scanUUID(id[:], u.Storage(), src) == ErrZero
}

// setUUIDText reads a UUID's text. It leaves the ID on an error.
func setUUIDText[S string | []byte](id []byte, s S) error {
	raw, err := parseUUID(s)
	text, quoted := jsonString(s)
	switch {
	case err == nil:
		return setBytes(id, raw[:])
	case quoted && setUUIDText(make([]byte, len(id)), text) == nil:
		return errQuoted
	case len(s) != uuidLen:
		return fmt.Errorf("%d bytes, want a UUID of %d characters", len(s), uuidLen)
	}
	return err
}

// scanUUID takes every form in which a driver hands over a column. No driver hands over a UUID as a
// string of its bytes: 16 characters would be a text of another kind.
func scanUUID(id []byte, form Storage, src any) error {
	switch src := src.(type) {
	case nil:
		return ErrNull
	case string:
		if form == StorageUUID {
			return setUUIDText(id, src)
		}
		return setUUIDColumn(id, form, src)
	case []byte:
		return setUUIDColumn(id, form, src)
	case [16]byte:
		return setUUIDColumn(id, form, src[:])
	}
	v := reflect.ValueOf(src)
	if v.Kind() == reflect.Array && v.Type().Elem() == reflect.TypeFor[byte]() {
		array := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(array), v)
		return setUUIDColumn(id, form, array)
	}
	return errBytesType
}

// setUUIDColumn goes by the length. Only a column of bytes comes as PostgreSQL's text of them.
func setUUIDColumn[S string | []byte](id []byte, form Storage, s S) error {
	switch {
	case len(s) == len(id):
		return setBytes(id, s)
	case form == StorageBytes && len(s) == len(byteaHex)+2*len(id) &&
		string(s[:len(byteaHex)]) == byteaHex:
		return setHex(id, s[len(byteaHex):])
	case len(s) == uuidLen:
		return setUUIDText(id, s)
	}
	return fmt.Errorf("%d bytes, want a UUID, as 36 characters or 16 bytes", len(s))
}
