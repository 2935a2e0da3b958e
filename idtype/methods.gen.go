// Code generated from methods.tmpl by TestSchemesInSuites. DO NOT EDIT.

package idtype

import (
	"fmt"
	"math/rand"
	"reflect"
)

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id Decimal[E]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (Decimal[E]) Generate(r *rand.Rand, _ int) reflect.Value { return generate[Decimal[E]](r) }

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id Decimal[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *Decimal[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id Decimal[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *Decimal[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id Trace[E]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (Trace[E]) Generate(r *rand.Rand, _ int) reflect.Value { return generate[Trace[E]](r) }

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id Trace[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *Trace[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id Trace[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *Trace[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id EightByte[E]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (EightByte[E]) Generate(r *rand.Rand, _ int) reflect.Value { return generate[EightByte[E]](r) }

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id EightByte[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *EightByte[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id EightByte[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *EightByte[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id Short[E]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (Short[E]) Generate(r *rand.Rand, _ int) reflect.Value { return generate[Short[E]](r) }

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id Short[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *Short[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id Short[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *Short[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id Sno[E]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (Sno[E]) Generate(r *rand.Rand, _ int) reflect.Value { return generate[Sno[E]](r) }

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id Sno[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *Sno[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id Sno[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *Sno[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id Sequence[E]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (Sequence[E]) Generate(r *rand.Rand, _ int) reflect.Value { return generate[Sequence[E]](r) }

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id Sequence[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *Sequence[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id Sequence[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *Sequence[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id SnowflakeIn[E, L]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (SnowflakeIn[E, L]) Generate(r *rand.Rand, _ int) reflect.Value {
	return generate[SnowflakeIn[E, L]](r)
}

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id SnowflakeIn[E, L]) MarshalBSONValue() (typ byte, data []byte, err error) {
	return marshalBSON(id)
}

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *SnowflakeIn[E, L]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id SnowflakeIn[E, L]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *SnowflakeIn[E, L]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// Format writes the text of the ID for %s, %v, and %q. Other verbs, such as %d and %016x, write its
// number, or its bytes if the ID is not an integer.
func (id UUID7[E]) Format(s fmt.State, verb rune) { format(s, verb, id) }

// Generate returns a random ID that follows the layout, for testing/quick.
func (UUID7[E]) Generate(r *rand.Rand, _ int) reflect.Value { return generate[UUID7[E]](r) }

// MarshalBSONValue returns the ID in BSON, as a 64-bit integer or as bytes. Zero is an error that
// wraps [ErrZero].
func (id UUID7[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts the output of MarshalBSONValue, and 32-bit integers. On failure the ID
// is unchanged, and the error is an [*InputError].
func (id *UUID7[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR returns the ID in CBOR, as an integer or as bytes. Zero is an error that wraps
// [ErrZero].
func (id UUID7[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts the output of MarshalCBOR. On failure the ID is unchanged, and the error is
// an [*InputError].
func (id *UUID7[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }
