package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"math/bits"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// Short is the short ID of an entity E. It is a positive int64 whose lower 60 bits hold a time, a
// number within the time, and random bits. Its text has up to 10 characters.
//
//	11093174944930914, as base 64 naS8QBhxi, as text xinaS8QBh
//	0000 000000100111011010010010111100010000000001 100001110 001100010
//	0000 tttttttttttttttttttttttttttttttttttttttttt sssssssss rrrrrrrrr
//	2019-07-03T18:45:04.129Z · sequence 270 · random 98
//
//	bits   part         range          source
//	4      reserved     0
//	42     timestamp    0 ..= 2^42−1   the clock: milliseconds since 2018-03-01T00:00:00Z
//	9      sequence     0 ..= 511      the generator, wrapping around
//	9      random       0 ..= 511      anything
//
// The text is the number in base 64 with the digits A-Z a-z 0-9 - _, of which A is 0, without
// leading A. Its last two digits are moved to the front. Therefore the first two digits and the
// last one change from ID to ID and look random, while the digits between them hold the time, and
// the highest of those stay the same for days. Texts do not sort like their IDs. IDs minted since
// 2020-05-04T08:44:36.736Z have 10 characters. A value above 60 bits is written by the same rule,
// in up to 11 characters.
//
// IDs of one generator ascend from one millisecond to the next. Within a millisecond they also
// ascend, except when the sequence wraps from 511 to 0. docs/design/formats.md names the source of
// the layout and of the text.
type Short[E any] int64

// ShortID is a short ID that is not tied to an entity.
type ShortID = Short[any]

// SchemeShort is the name of the scheme.
const SchemeShort Scheme = "short"

var _ = is[ShortID]

const shortType = "ShortID"

// ShortParts are the numbers that make up a short ID. Their ranges are listed at [Short]; UnixMs is
// the Unix time in milliseconds, 1519862400000 ..= 5917908911103.
type ShortParts struct {
	UnixMs   int64 `json:"unix_ms"`
	Sequence int   `json:"sequence"`
	Random   int   `json:"random"`
}

// ID composes an ID from its parts. It returns a [*RangeError] for the first part outside its
// range. If every part has its smallest value, the result would be zero, and the error is an
// [*InputError] that wraps [ErrZero].
func (p ShortParts) ID() (ShortID, error) {
	if err := p.validate(); err != nil {
		return 0, err
	}
	id := ShortID(p.UnixMs-formats.ShortEpoch)*formats.ShortTimeStep |
		ShortID(p.Sequence)*formats.ShortSequenceStep | ShortID(p.Random)
	return id, inDomain(shortType, int64(id))
}

func (p ShortParts) validate() error {
	return checkParts(shortType, []part[int64]{
		{"unix_ms", p.UnixMs, formats.ShortEpoch, formats.ShortMaxUnixMs},
		{"sequence", int64(p.Sequence), 0, formats.ShortMaxSequence},
		{"random", int64(p.Random), 0, formats.ShortMaxRandom},
	})
}

// Parts returns the parts of the ID. They are meaningless if [Short.Validate] rejects it.
func (s Short[E]) Parts() ShortParts {
	return ShortParts{
		UnixMs: int64(s>>(formats.ShortSequenceBits+formats.ShortRandomBits)) +
			formats.ShortEpoch,
		Sequence: int(s >> formats.ShortRandomBits & formats.ShortMaxSequence),
		Random:   int(s & formats.ShortMaxRandom),
	}
}

// Time returns the time at which the ID was minted, in UTC, to the millisecond.
func (s Short[E]) Time() time.Time { return time.UnixMilli(s.Parts().UnixMs).UTC() }

// IsZero reports whether the ID is zero, which means "not assigned".
func (s Short[E]) IsZero() bool { return s == 0 }

// Validate checks the value against the layout. The error is a [*RangeError] if a part is outside
// its range. If the value is outside the domain, it is an [*InputError], which wraps [ErrZero] for
// zero.
func (s Short[E]) Validate() error {
	if err := inDomain(shortType, int64(s)); err != nil {
		return err
	}
	return s.Parts().validate()
}

// Scheme returns [SchemeShort].
func (Short[E]) Scheme() Scheme { return SchemeShort }

// Storage returns [StorageBigint].
func (Short[E]) Storage() Storage { return StorageBigint }

// String returns the text of the ID. Zero and negative values have no text, and are shown as
// numbers in parentheses, such as "(0)". String cannot return "0" for zero, because that is the
// text of ID 52.
func (s Short[E]) String() string {
	var buf [maxDigits + 3]byte
	return string(appendShort(buf[:0], int64(s)))
}

// AppendText appends the text of String to b. Zero is an error that wraps [ErrZero].
func (s Short[E]) AppendText(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(shortType, int64(s))
	}
	return appendShort(b, int64(s)), nil
}

// MarshalText returns the text of String, or the same error as AppendText.
func (s Short[E]) MarshalText() ([]byte, error) {
	return s.AppendText(make([]byte, 0, maxShortText))
}

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (s *Short[E]) UnmarshalText(text []byte) error { return set(s)(decodeShort(text)) }

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (s *Short[E]) UnmarshalParam(param string) error { return s.UnmarshalText([]byte(param)) }

// MarshalJSON returns the text as a string, or null for zero.
func (s Short[E]) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	b := append(make([]byte, 0, maxShortText+2), '"')
	return append(appendShort(b, int64(s)), '"'), nil
}

// UnmarshalJSON accepts the output of MarshalJSON. An integer up to 2^53−1, without fraction or
// exponent, is read as the ID's number, whereas digits in a string are read as text. null sets the
// ID to zero. On failure the ID is unchanged, and the error is an [*InputError].
func (s *Short[E]) UnmarshalJSON(data []byte) error { return set(s)(decodeShortJSON[E](data)) }

// AppendBinary appends the ID to b as 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (s Short[E]) AppendBinary(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(shortType, int64(s))
	}
	return binary.BigEndian.AppendUint64(b, uint64(s)), nil
}

// MarshalBinary returns the ID as 8 bytes, big-endian, or the same error as AppendBinary.
func (s Short[E]) MarshalBinary() ([]byte, error) { return s.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (s *Short[E]) UnmarshalBinary(data []byte) error {
	return set(s)(decodeBytes(shortType, data))
}

// Value returns the ID as an int64, for a database driver. Zero is an error that wraps [ErrZero].
// Together with an error Value returns the number rather than nil, so that a caller that drops the
// error does not mistake it for NULL.
func (s Short[E]) Value() (driver.Value, error) { return valueInt63(shortType, int64(s)) }

// Scan reads the ID from a database driver, as an int64 or uint64, or as decimal digits in a string
// or []byte, because some drivers return integer columns like that. It never reads the ID's text,
// since "1234567" is both the digits of one ID and the text of another. If a column holds texts,
// scan a string and call [Parse]. Scan also accepts an ID of the same type, by value or by pointer.
// The error wraps [ErrNull] for NULL, and [ErrZero] for 0. On failure the ID is unchanged, and the
// error is an [*InputError].
func (s *Short[E]) Scan(src any) error { return set(s)(scanInt63[Short[E]](shortType, src)) }

// GormDataType returns "bigint", without which GORM would treat the integer key as
// auto-incremented.
func (Short[E]) GormDataType() string { return "bigint" }

func (Short[E]) bounds(from, to time.Time) ([]Range[Short[E]], error) {
	least, err := ShortParts{UnixMs: unixMs(from)}.ID()
	if errors.Is(err, ErrZero) {
		least, err = 1, nil // the first millisecond of the epoch
	}
	most, err2 := ShortParts{unixMs(to), formats.ShortMaxSequence, formats.ShortMaxRandom}.ID()
	return oneRange(Short[E](least), Short[E](most), err, err2)
}

func (Short[E]) parsed(text string) (Short[E], error) {
	v, err := decodeShort(text)
	return Short[E](v), err
}

func (s Short[E]) compare(other Short[E]) int { return cmp.Compare(s, other) }
func (Short[E]) none() driver.Value           { return int64(0) }
func (Short[E]) isNone(src any) bool          { return isZeroInt63(src) }

const (
	shortAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	shortDigit    = 6 // bits per digit
	shortMask     = 1<<shortDigit - 1
	shortMoved    = 2  // digits that move to the front
	maxShortText  = 11 // digits of 2^63−1
	maxShortTop   = 7  // the largest value of the highest digit
	noDigit       = 0xff
)

var (
	errShortSyntax   = errors.New("not a short ID's text: 1 to 11 characters of A-Z a-z 0-9 - _")
	errShortLead     = errors.New("its highest digit is A, which stands for 0 and must be left out")
	errShortOverflow = errors.New("above the largest ID, __H________")
	errShortJSON     = errors.New("want the text as a string, or an exact integer")
)

// shortValues maps characters to the values of their digits.
var shortValues = func() (values [256]byte) {
	for i := range values {
		values[i] = noDigit
	}
	for i := range len(shortAlphabet) {
		values[shortAlphabet[i]] = byte(i)
	}
	return values
}()

// appendShort appends the text of v: its two lowest digits, then the others from the highest down.
func appendShort(b []byte, v int64) []byte {
	if v <= 0 {
		return append(appendInt63(append(b, '('), v), ')')
	}
	n := (bits.Len64(uint64(v)) + shortDigit - 1) / shortDigit
	if n == 1 {
		return append(b, shortAlphabet[v&shortMask])
	}
	var buf [16]byte // a power of two: a masked index needs no bounds check
	buf[0], buf[1] = shortAlphabet[v>>shortDigit&shortMask], shortAlphabet[v&shortMask]
	for i := n - 1; i >= shortMoved; i-- {
		v >>= shortDigit
		buf[i&15] = shortAlphabet[v>>shortDigit&shortMask]
	}
	return append(b, buf[:n]...)
}

// parseShort is the exact inverse of appendShort over 1 ..= 2^63−1.
func parseShort[S string | []byte](s S) (int64, error) {
	n := len(s)
	if n == 0 || n > maxShortText {
		return 0, errShortSyntax
	}
	var v uint64
	var all byte // above shortMask if any digit was noDigit
	for i := shortMoved; i < n; i++ {
		d := shortValues[s[i]]
		v, all = v<<shortDigit|uint64(d), all|d
	}
	for i := range min(n, shortMoved) {
		d := shortValues[s[i]]
		v, all = v<<shortDigit|uint64(d), all|d
	}
	top := 0 // index of the highest digit
	if n > shortMoved {
		top = shortMoved
	}
	switch d := shortValues[s[top]]; {
	case all <= shortMask && d != 0 && (n < maxShortText || d <= maxShortTop):
		return int64(v), nil
	case string(s) == "A" || string(s) == "(0)":
		return 0, ErrZero
	case all > shortMask:
		return 0, errShortSyntax
	case d == 0:
		return 0, errShortLead
	default:
		return 0, errShortOverflow
	}
}

func decodeShort[S string | []byte](s S) (int64, error) {
	v, err := parseShort(s)
	if err != nil {
		return 0, &InputError{Type: shortType, Input: quote(s), Err: orQuoted(s, parseShort, err)}
	}
	return v, nil
}

func decodeShortJSON[E any](data []byte) (int64, error) {
	if string(data) == "null" {
		return 0, nil
	}
	var v int64
	var err error
	if text, isString := jsonString(data); isString {
		v, err = parseShort(text)
	} else if v, err = parseInt63(data); err == errSyntax {
		err = errShortJSON
	} else if err == nil {
		err = checkNumber[E](v)
	}
	if err != nil {
		return 0, &InputError{Type: shortType, Input: quote(data), Err: err}
	}
	return v, nil
}
