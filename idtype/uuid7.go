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

// UUID7 is a UUID of 16 bytes as the key of an entity E. Minted UUIDs have version 7, and hold a
// time and random bits. This is the only scheme whose uniqueness depends on randomness: two IDs
// minted in the same millisecond are told apart by 74 random bits, or by as many as the library
// behind the generator leaves random. In return it needs no coordination.
//
//	01932c07-209d-7c3a-8f5e-2b1a90d4e6f7
//	000000011001001100101100000001110010000010011101 0111 110000111010 10 001111010111100010101100011010 10010000110101001110011011110111
//	tttttttttttttttttttttttttttttttttttttttttttttttt vvvv aaaaaaaaaaaa xx bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cccccccccccccccccccccccccccccccc
//
//	bits   part      range          source
//	48     unix_ms   0 ..= 2^48−1   the clock: milliseconds since 1970
//	4      version   7              RFC 9562
//	12     rand_a    0 ..= 4095     the library: random, a counter, or more of the time
//	2      variant   2              RFC 9562
//	30     rand_b    0 ..= 2^30−1   the library: random
//	32     rand_c    0 ..= 2^32−1   the same
//
// The RFC treats rand_b and rand_c as one number of 62 bits, which JavaScript's numbers cannot
// hold.
//
// A UUID7 is [16]byte, as are the types of google/uuid and of Go's package uuid, so a plain
// conversion turns one into the other: uuid.UUID(id). Parse and Scan accept every UUID except nil,
// because older rows may hold version 4, whereas Validate requires version 7. Bytes that are all
// zero mean "not assigned".
//
// The text is the 36 characters of a UUID in lower case, and sorts like the bytes. A database
// stores a UUID, or the bytes: see [AsBytes]. ClickHouse sorts UUIDs by their second half, which is
// random.
type UUID7[E any] [16]byte

// UUID7ID is a UUID that is not tied to an entity.
type UUID7ID = UUID7[any]

// SchemeUUID7 is the name of the scheme.
const SchemeUUID7 Scheme = "uuid7"

var _ = is[UUID7ID]

var uuid7Scheme = &byteScheme{typ: "UUID7ID", size: 16}

var errUUIDJSON = errors.New("want the text of 36 characters as a string, or null")

// UUID7Parts are the numbers that make up a UUID. Their ranges are listed at [UUID7].
type UUID7Parts struct {
	UnixMs  int64 `json:"unix_ms"`
	Version int   `json:"version"`
	RandA   int   `json:"rand_a"`
	Variant int   `json:"variant"`
	RandB   int64 `json:"rand_b"`
	RandC   int64 `json:"rand_c"`
}

// ID composes an ID from its parts. It returns a [*RangeError] for the first part outside its
// range.
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

// Parts returns the parts of the UUID. They are meaningless if [UUID7.Validate] rejects it.
func (u UUID7[E]) Parts() UUID7Parts {
	high, low := binary.BigEndian.Uint64(u[:]), binary.BigEndian.Uint64(u[8:])
	return UUID7Parts{
		UnixMs: int64(high >> 16), Version: int(high >> 12 & 15),
		RandA:   int(high & formats.UUID7MaxRandA),
		Variant: int(low >> 62), RandB: int64(low >> 32 & formats.UUID7MaxRandB),
		RandC: int64(low & formats.UUID7MaxRandC),
	}
}

// Time returns the time at which a UUID of version 7 was minted, in UTC, to the millisecond.
func (u UUID7[E]) Time() time.Time { return time.UnixMilli(u.Parts().UnixMs).UTC() }

// IsZero reports whether the ID is zero, which means "not assigned".
func (u UUID7[E]) IsZero() bool { return u == UUID7[E]{} }

// Validate requires version 7. It returns a [*RangeError] for the version or the variant. For zero
// it returns an [*InputError] that wraps [ErrZero].
func (u UUID7[E]) Validate() error {
	if u.IsZero() {
		return failure(uuid7Scheme, nilUUID, ErrZero)
	}
	return u.Parts().validate()
}

// Scheme returns [SchemeUUID7].
func (UUID7[E]) Scheme() Scheme { return SchemeUUID7 }

// Storage returns [StorageUUID], or [StorageBytes] if the key is declared with [AsBytes].
func (UUID7[E]) Storage() Storage {
	if t, ok := any((*E)(nil)).(tag); ok {
		if form, of := t.storage(); of == uuid7Scheme {
			return form
		}
	}
	return StorageUUID
}

// String returns the 36 characters of the UUID.
func (u UUID7[E]) String() string {
	var text [uuidLen]byte
	return string(appendUUID(text[:0], u))
}

// AppendText appends the text of String to b. Zero is an error that wraps [ErrZero].
func (u UUID7[E]) AppendText(b []byte) ([]byte, error) {
	if u.IsZero() {
		return b, failure(uuid7Scheme, nilUUID, errUnset)
	}
	return appendUUID(b, u), nil
}

// MarshalText returns the text of String, or the same error as AppendText.
func (u UUID7[E]) MarshalText() ([]byte, error) { return u.AppendText(make([]byte, 0, uuidLen)) }

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (u *UUID7[E]) UnmarshalText(text []byte) error {
	return failure(uuid7Scheme, text, setUUIDText(u[:], text))
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (u *UUID7[E]) UnmarshalParam(param string) error { return u.UnmarshalText([]byte(param)) }

// MarshalJSON returns the text as a string, or null for zero.
func (u UUID7[E]) MarshalJSON() ([]byte, error) {
	if u.IsZero() {
		return []byte("null"), nil
	}
	return append(appendUUID(append(make([]byte, 0, uuidLen+2), '"'), u), '"'), nil
}

// UnmarshalJSON accepts the output of MarshalJSON; null sets the ID to zero. On failure the ID is
// unchanged, and the error is an [*InputError].
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

// AppendBinary appends the 16 bytes of the ID to b. Zero is an error that wraps [ErrZero].
func (u UUID7[E]) AppendBinary(b []byte) ([]byte, error) {
	if u.IsZero() {
		return b, failure(uuid7Scheme, nilUUID, errUnset)
	}
	return append(b, u[:]...), nil
}

// MarshalBinary returns the 16 bytes of the ID, or the same error as AppendBinary.
func (u UUID7[E]) MarshalBinary() ([]byte, error) { return u.AppendBinary(make([]byte, 0, len(u))) }

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (u *UUID7[E]) UnmarshalBinary(data []byte) error { return uuid7Scheme.fromBytes(u[:], data) }

// Value returns the text of the UUID, for a database driver, or its bytes if the key is declared
// with [AsBytes]. Zero is an error that wraps [ErrZero]. Together with the error Value returns 0
// rather than nil, so that a caller that drops the error does not mistake it for NULL.
func (u UUID7[E]) Value() (driver.Value, error) {
	switch {
	case u.IsZero():
		return int64(0), failure(uuid7Scheme, nilUUID, errUnsetColumn)
	case u.Storage() == StorageBytes:
		return u.MarshalBinary()
	}
	return u.String(), nil
}

// Scan reads any UUID but nil from a database driver, as its text in lower case, or as its 16 bytes
// in a []byte or an array. With [AsBytes] the bytes may come in a string, as from ClickHouse's
// FixedString. Scan also accepts an ID of the same type, by value or by pointer. The error wraps
// [ErrNull] for NULL, and [ErrZero] for zero. On failure the ID is unchanged, and the error is an
// [*InputError].
func (u *UUID7[E]) Scan(src any) error {
	err := scanUUID(u[:], u.Storage(), src)
	if err == nil {
		return nil
	}
	switch same, ownErr := own[UUID7[E]](src); {
	case ownErr == errGoType: // not an ID of this type
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

// GormDataType returns the type of the column: uuid or bytes.
func (u UUID7[E]) GormDataType() string { return u.Storage().gormDataType() }

func (UUID7[E]) bounds(from, to time.Time) ([]Range[UUID7[E]], error) {
	p := UUID7Parts{
		UnixMs: unixMs(from), Version: formats.UUID7Version, Variant: formats.UUID7Variant,
	}
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

// setUUIDText reads the text of a UUID. On error it leaves the ID unchanged.
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

// scanUUID accepts every form in which drivers return such a column. No driver returns a UUID as a
// string of its bytes, so a string of 16 characters would be some other text.
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

// setUUIDColumn chooses by length. PostgreSQL's text of bytes is accepted only for a column of
// bytes.
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
