package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
)

// Sequence is the number of an entity E in a sequence. That is a counter in the database. Its
// holder advances it, one by one or a block at a time. It has no parts.
//
//	57 is the 57th number of its counter
//
//	bits   part         range
//	1      reserved     0
//	63     number       1 ..= 9223372036854775807
//
// IDs of one counter ascend; those of several holders of blocks ascend within each block. It is
// also the type of columns with AUTO_INCREMENT or an identity.
type Sequence[E any] int64

// SequenceID is the number of any entity.
type SequenceID = Sequence[any]

// SchemeSequence is the name of the scheme.
const SchemeSequence Scheme = "sequence"

var _ = is[SequenceID]

const sequenceType = "SequenceID"

// IsZero reports whether no ID was assigned.
func (s Sequence[E]) IsZero() bool { return s == 0 }

// Validate checks that the value is positive. That is all of the layout. It returns an
// [*InputError], which wraps [ErrZero] for zero.
func (s Sequence[E]) Validate() error { return inDomain(sequenceType, int64(s)) }

// Scheme is [SchemeSequence].
func (Sequence[E]) Scheme() Scheme { return SchemeSequence }

// Storage is [StorageBigint].
func (Sequence[E]) Storage() Storage { return StorageBigint }

// String is the ID's decimal digits.
func (s Sequence[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(s)))
}

// AppendText appends the digits of String. Zero is an error that wraps [ErrZero].
func (s Sequence[E]) AppendText(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(sequenceType, int64(s))
	}
	return appendInt63(b, int64(s)), nil
}

// MarshalText is the digits of String. The error is that of AppendText.
func (s Sequence[E]) MarshalText() ([]byte, error) {
	return s.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID stays as it was.
func (s *Sequence[E]) UnmarshalText(text []byte) error {
	return set(s)(decodeText(sequenceType, text))
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (s *Sequence[E]) UnmarshalParam(param string) error { return s.UnmarshalText([]byte(param)) }

// MarshalJSON is the digits as a string, and null for zero. [AsNumber] makes them numbers.
func (s Sequence[E]) MarshalJSON() ([]byte, error) {
	return appendJSON[E](make([]byte, 0, maxDigits+3), int64(s)), nil
}

// UnmarshalJSON accepts what MarshalJSON writes, and integers up to 2^53−1: a greater one may have
// been rounded on its way, see [AsInt64]. It takes no fraction and no exponent, even of a whole
// number. null sets zero. On an error, which is an [*InputError], the ID stays as it was.
func (s *Sequence[E]) UnmarshalJSON(data []byte) error {
	return set(s)(decodeJSON[E](sequenceType, data))
}

// AppendBinary appends 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (s Sequence[E]) AppendBinary(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(sequenceType, int64(s))
	}
	return binary.BigEndian.AppendUint64(b, uint64(s)), nil
}

// MarshalBinary is 8 bytes, big-endian. The error is that of AppendBinary.
func (s Sequence[E]) MarshalBinary() ([]byte, error) { return s.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (s *Sequence[E]) UnmarshalBinary(data []byte) error {
	return set(s)(decodeBytes(sequenceType, data))
}

// Value hands the ID to a database driver, as int64. Zero is an error that wraps [ErrZero]. Beside
// the error is the number and not nil: a caller who drops the error would take nil for NULL.
func (s Sequence[E]) Value() (driver.Value, error) { return valueInt63(sequenceType, int64(s)) }

// Scan takes the ID from a database driver, as int64, uint64, string or []byte. It also takes an ID
// of its own type, by value or by pointer. The error for NULL wraps [ErrNull], and that for 0 wraps
// [ErrZero]. On an error, which is an [*InputError], the ID stays as it was.
func (s *Sequence[E]) Scan(src any) error {
	return set(s)(scanInt63[Sequence[E]](sequenceType, src))
}

// GormDataType keeps GORM from taking an integer key for an auto-incremented one.
func (Sequence[E]) GormDataType() string { return "bigint" }

func (Sequence[E]) parsed(text string) (Sequence[E], error) {
	v, err := decodeText(sequenceType, text)
	return Sequence[E](v), err
}

func (s Sequence[E]) compare(other Sequence[E]) int { return cmp.Compare(s, other) }
func (Sequence[E]) none() driver.Value              { return int64(0) }
func (Sequence[E]) isNone(src any) bool             { return isZeroInt63(src) }
