package idtype

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// The methods for BSON and CBOR involve no types of those packages, so nothing is imported for
// them. BSON means the interface of MongoDB's driver from version 2 on. IDs that are integers are
// encoded as integers, and all others as bytes. Both formats accept the same values as Scan: an ID,
// but neither null nor zero.

const (
	bsonBinary byte = 0x05
	bsonNull   byte = 0x0a
	bsonInt32  byte = 0x10
	bsonInt64  byte = 0x12

	cborUint  byte = 0 << 5 // the upper bits say what follows
	cborBytes byte = 2 << 5
	cborMajor byte = 7 << 5
	cborNull  byte = 0xf6
)

var (
	errEncodedInteger = errors.New("want a whole number of 1 to 9223372036854775807, as an integer")
	errEncodedBytes   = errors.New("want the bytes of the ID, as binary data")
)

// nameOf returns the type of an ID as errors show it, such as "DecimalID".
func nameOf[T any]() string {
	name, _, _ := strings.Cut(reflect.TypeFor[T]().Name(), "[")
	return strings.TrimSuffix(name, "In") + "ID" // SnowflakeIn's is SnowflakeID
}

func isInteger[T any]() bool { return reflect.TypeFor[T]().Kind() == reflect.Int64 }

// setEncoded sets an ID to the bytes that a decoder found in data, or returns an error if there are
// none.
func setEncoded[T ID](dst *T, raw []byte, format string, data []byte, null bool) error {
	var err error
	switch {
	case null:
		err = ErrNull
	case raw != nil:
		return any(dst).(encoding.BinaryUnmarshaler).UnmarshalBinary(raw)
	case isInteger[T]():
		err = errEncodedInteger
	default:
		err = errEncodedBytes
	}
	return &InputError{Type: nameOf[T](), Input: format + " " + quote(data), Err: err}
}

func marshalBSON[T ID](id T) (kind byte, data []byte, err error) {
	raw, err := id.MarshalBinary()
	switch {
	case err != nil:
		return 0, nil, err
	case isInteger[T]():
		return bsonInt64, binary.LittleEndian.AppendUint64(nil, binary.BigEndian.Uint64(raw)), nil
	}
	data = binary.LittleEndian.AppendUint32(nil, uint32(len(raw)))
	return bsonBinary, append(append(data, 0), raw...), nil // 0 is the generic subtype
}

func unmarshalBSON[T ID](dst *T, kind byte, data []byte) error {
	const head = 5 // binary data begins with its length and its subtype
	var raw []byte
	switch {
	case !isInteger[T]():
		if kind == bsonBinary && len(data) > head &&
			binary.LittleEndian.Uint32(data) == uint32(len(data)-head) {
			raw = data[head:]
		}
	case kind == bsonInt64 && len(data) == 8:
		raw = binary.BigEndian.AppendUint64(nil, binary.LittleEndian.Uint64(data))
	case kind == bsonInt32 && len(data) == 4:
		v := int32(binary.LittleEndian.Uint32(data))
		raw = binary.BigEndian.AppendUint64(nil, uint64(v))
	}
	return setEncoded(dst, raw, fmt.Sprintf("BSON of type %#02x", kind), data, kind == bsonNull)
}

func marshalCBOR[T ID](id T) ([]byte, error) {
	raw, err := id.MarshalBinary()
	switch {
	case err != nil:
		return nil, err
	case isInteger[T]():
		return appendCBOR(nil, cborUint, binary.BigEndian.Uint64(raw)), nil
	}
	return append(appendCBOR(nil, cborBytes, uint64(len(raw))), raw...), nil
}

func unmarshalCBOR[T ID](dst *T, data []byte) error {
	var raw []byte
	major, v, rest, ok := cborHead(data)
	switch {
	case !ok:
	case isInteger[T]() && major == cborUint && len(rest) == 0:
		raw = binary.BigEndian.AppendUint64(nil, v)
	case !isInteger[T]() && major == cborBytes && uint64(len(rest)) == v:
		raw = rest
	}
	return setEncoded(dst, raw, "CBOR", data, len(data) == 1 && data[0] == cborNull)
}

// appendCBOR appends a number of a major type in its shortest form.
func appendCBOR(b []byte, major byte, v uint64) []byte {
	switch {
	case v < 24:
		return append(b, major|byte(v))
	case v < 1<<8:
		return append(b, major|24, byte(v))
	case v < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(v))
	case v < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), v)
}

func cborHead(data []byte) (major byte, v uint64, rest []byte, ok bool) {
	if len(data) == 0 {
		return 0, 0, nil, false
	}
	major, v, rest = data[0]&cborMajor, uint64(data[0]&^cborMajor), data[1:]
	if v < 24 {
		return major, v, rest, true
	}
	if v > 27 || len(rest) < 1<<(v-24) {
		return 0, 0, nil, false
	}
	number := rest[:1<<(v-24)]
	v = 0
	for _, b := range number {
		v = v<<8 | uint64(b)
	}
	return major, v, rest[len(number):], true
}
