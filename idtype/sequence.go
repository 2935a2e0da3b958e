package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
)

// Sequence is the ID of an entity E that is a number of a sequence: a counter in the database,
// which is advanced by one, or by a block of numbers at a time. It has no parts.
//
//	57 is the 57th number of its sequence
//
//	bits   part         range
//	1      reserved     0
//	63     number       1 ..= 9223372036854775807
//
// IDs from one counter ascend. If several processes each hold a block of numbers, IDs ascend within
// each block. Sequence is also the type for columns with AUTO_INCREMENT or an identity.
type Sequence[E any] int64

// SequenceID is the number of a sequence that is not tied to an entity.
type SequenceID = Sequence[any]

// SchemeSequence is the name of the scheme.
const SchemeSequence Scheme = "sequence"

var _ = is[SequenceID]

const sequenceType = "SequenceID"

// IsZero reports whether the ID is zero, which means "not assigned".
func (s Sequence[E]) IsZero() bool { return s == 0 }

// Validate checks that the value is positive, which is all that the layout requires. The error is
// an [*InputError], which wraps [ErrZero] for zero.
func (s Sequence[E]) Validate() error { return inDomain(sequenceType, int64(s)) }

// Scheme returns [SchemeSequence].
func (Sequence[E]) Scheme() Scheme { return SchemeSequence }

// Storage returns [StorageBigint].
func (Sequence[E]) Storage() Storage { return StorageBigint }

// String returns the ID in decimal digits.
func (s Sequence[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(s)))
}

// AppendText appends the digits of String to b. Zero is an error that wraps [ErrZero].
func (s Sequence[E]) AppendText(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(sequenceType, int64(s))
	}
	return appendInt63(b, int64(s)), nil
}

// MarshalText returns the digits of String, or the same error as AppendText.
func (s Sequence[E]) MarshalText() ([]byte, error) {
	return s.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (s *Sequence[E]) UnmarshalText(text []byte) error {
	return set(s)(decodeText(sequenceType, text))
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (s *Sequence[E]) UnmarshalParam(param string) error { return s.UnmarshalText([]byte(param)) }

// MarshalJSON returns the digits as a string, or null for zero. With [AsNumber] the JSON is a
// number.
func (s Sequence[E]) MarshalJSON() ([]byte, error) {
	return appendJSON[E](make([]byte, 0, maxDigits+3), int64(s)), nil
}

// UnmarshalJSON accepts the output of MarshalJSON, and integers up to 2^53−1. It rejects larger
// integers because they may have been rounded on their way (see [AsInt64]), and all numbers with a
// fraction or an exponent. null sets the ID to zero. On failure the ID is unchanged, and the error
// is an [*InputError].
func (s *Sequence[E]) UnmarshalJSON(data []byte) error {
	return set(s)(decodeJSON[E](sequenceType, data))
}

// AppendBinary appends the ID to b as 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (s Sequence[E]) AppendBinary(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(sequenceType, int64(s))
	}
	return binary.BigEndian.AppendUint64(b, uint64(s)), nil
}

// MarshalBinary returns the ID as 8 bytes, big-endian, or the same error as AppendBinary.
func (s Sequence[E]) MarshalBinary() ([]byte, error) { return s.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (s *Sequence[E]) UnmarshalBinary(data []byte) error {
	return set(s)(decodeBytes(sequenceType, data))
}

// Value returns the ID as an int64, for a database driver. Zero is an error that wraps [ErrZero].
// Together with an error Value returns the number rather than nil, so that a caller that drops the
// error does not mistake it for NULL.
func (s Sequence[E]) Value() (driver.Value, error) { return valueInt63(sequenceType, int64(s)) }

// Scan reads the ID from a database driver, as an int64, uint64, string, or []byte. It also accepts
// an ID of the same type, by value or by pointer. The error wraps [ErrNull] for NULL, and [ErrZero]
// for 0. On failure the ID is unchanged, and the error is an [*InputError].
func (s *Sequence[E]) Scan(src any) error {
	return set(s)(scanInt63[Sequence[E]](sequenceType, src))
}

// GormDataType returns "bigint", without which GORM would treat the integer key as
// auto-incremented.
func (Sequence[E]) GormDataType() string { return "bigint" }

func (Sequence[E]) parsed(text string) (Sequence[E], error) {
	v, err := decodeText(sequenceType, text)
	return Sequence[E](v), err
}

func (s Sequence[E]) compare(other Sequence[E]) int { return cmp.Compare(s, other) }
func (Sequence[E]) none() driver.Value              { return int64(0) }
func (Sequence[E]) isNone(src any) bool             { return isZeroInt63(src) }
