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

// Short is the short ID of an entity E. It is a time, a number within it and random bits, in 60
// bits of one positive int64. Its text has up to 10 characters.
//
//	11093174944930914, as base 64 naS8QBhxi, as text xinaS8QBh
//	0000 000000100111011010010010111100010000000001 100001110 001100010
//	0000 tttttttttttttttttttttttttttttttttttttttttt sssssssss rrrrrrrrr
//	2019-07-03T18:45:04.129Z · sequence 270 · random 98
//
//	bits   part         range          who gives it
//	4      reserved     0
//	42     timestamp    0 ..= 2^42−1   the clock: milliseconds since 2018-03-01T00:00:00Z
//	9      sequence     0 ..= 511      the generator, counting around
//	9      random       0 ..= 511      anything
//
// The text is the number in base 64, with the digits A-Z a-z 0-9 - _, of which A is 0. It has no
// leading A. Its last two digits are moved to the front. So the first two digits and the last one
// change from ID to ID, and look random. The digits between are the time, whose highest ones stay for
// days. Texts do not sort as their IDs do. IDs made since 2020-05-04T08:44:36.736Z have 10
// characters. A value above the 60 bits is written by the same rule, in up to 11 characters.
//
// IDs of one generator ascend from one millisecond to the next. Within one they ascend except where
// the sequence goes on from 511 to 0. docs/design/formats.md has the source of the layout and the text.
type Short[E any] int64

// ShortID is the short ID of any entity.
type ShortID = Short[any]

// SchemeShort is the name of the scheme.
const SchemeShort Scheme = "short"

var _ = is[ShortID]

const shortType = "ShortID"

// ShortParts are the numbers that a short ID consists of. Their ranges are those of [Short]; UnixMs
// is the time as Unix time, 1519862400000 ..= 5917908911103.
type ShortParts struct {
	UnixMs   int64 `json:"unix_ms"`
	Sequence int   `json:"sequence"`
	Random   int   `json:"random"`
}

// ID composes the parts. It returns a [*RangeError] for the first part outside its range. Where all
// parts are the smallest, the ID would be zero, which is none. Then the error is an [*InputError]
// that wraps [ErrZero].
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

// Parts takes the ID apart. They mean nothing if [Short.Validate] refuses the value.
func (s Short[E]) Parts() ShortParts {
	return ShortParts{
		UnixMs:   int64(s>>(formats.ShortSequenceBits+formats.ShortRandomBits)) + formats.ShortEpoch,
		Sequence: int(s >> formats.ShortRandomBits & formats.ShortMaxSequence),
		Random:   int(s & formats.ShortMaxRandom),
	}
}

// Time is the time at which the ID was made, in UTC, to the millisecond.
func (s Short[E]) Time() time.Time { return time.UnixMilli(s.Parts().UnixMs).UTC() }

// IsZero reports whether no ID was assigned.
func (s Short[E]) IsZero() bool { return s == 0 }

// Validate checks the value against the layout. It returns a [*RangeError] for a part outside its
// range. For a value outside the domain it returns an [*InputError], which wraps [ErrZero] for
// zero.
func (s Short[E]) Validate() error {
	if err := inDomain(shortType, int64(s)); err != nil {
		return err
	}
	return s.Parts().validate()
}

// Scheme is [SchemeShort].
func (Short[E]) Scheme() Scheme { return SchemeShort }

// Storage is [StorageBigint].
func (Short[E]) Storage() Storage { return StorageBigint }

// String is the ID's text. A value that is no ID has none. It is shown as its number in
// parentheses, such as "(0)" for zero, which is no text of any ID. The digit 0 would not do,
// because it is the text of the ID 52.
func (s Short[E]) String() string {
	var buf [maxDigits + 3]byte
	return string(appendShort(buf[:0], int64(s)))
}

// AppendText appends the text of String. Zero is an error that wraps [ErrZero].
func (s Short[E]) AppendText(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(shortType, int64(s))
	}
	return appendShort(b, int64(s)), nil
}

// MarshalText is the text of String. The error is that of AppendText.
func (s Short[E]) MarshalText() ([]byte, error) {
	return s.AppendText(make([]byte, 0, maxShortText))
}

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID stays as it was.
func (s *Short[E]) UnmarshalText(text []byte) error { return set(s)(decodeShort(text)) }

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (s *Short[E]) UnmarshalParam(param string) error { return s.UnmarshalText([]byte(param)) }

// MarshalJSON is the text as a string, and null for zero.
func (s Short[E]) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	b := append(make([]byte, 0, maxShortText+2), '"')
	return append(appendShort(b, int64(s)), '"'), nil
}

// UnmarshalJSON accepts what MarshalJSON writes. An exact integer, without fraction and exponent,
// is the ID's number, up to 2^53−1. Digits in a string are a text like any other. null sets zero. On an error,
// which is an [*InputError], the ID stays as it was.
func (s *Short[E]) UnmarshalJSON(data []byte) error { return set(s)(decodeShortJSON[E](data)) }

// AppendBinary appends 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (s Short[E]) AppendBinary(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(shortType, int64(s))
	}
	return binary.BigEndian.AppendUint64(b, uint64(s)), nil
}

// MarshalBinary is 8 bytes, big-endian. The error is that of AppendBinary.
func (s Short[E]) MarshalBinary() ([]byte, error) { return s.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (s *Short[E]) UnmarshalBinary(data []byte) error {
	return set(s)(decodeBytes(shortType, data))
}

// Value hands the ID to a database driver, as int64. Zero is an error that wraps [ErrZero]. Beside
// the error is the number and not nil: a caller who drops the error would take nil for NULL.
func (s Short[E]) Value() (driver.Value, error) { return valueInt63(shortType, int64(s)) }

// Scan takes the ID's number from a database driver, as int64 or uint64. It takes decimal digits in
// a string or []byte too, because drivers hand over an integer column so. It never takes the text:
// "1234567" is digits and text of two different IDs. If a column holds texts, scan a string and
// parse it. It takes an ID of its own type, by value or by pointer. The error for NULL wraps
// [ErrNull], and that for 0 wraps [ErrZero]. On an error, which is an [*InputError], the ID stays
// as it was.
func (s *Short[E]) Scan(src any) error { return set(s)(scanInt63[Short[E]](shortType, src)) }

// GormDataType keeps GORM from taking an integer key for an auto-incremented one.
func (Short[E]) GormDataType() string { return "bigint" }

func (Short[E]) bounds(from, to time.Time) ([]Range[Short[E]], error) {
	least, err := ShortParts{UnixMs: unixMs(from)}.ID()
	if errors.Is(err, ErrZero) {
		least, err = 1, nil // the first millisecond of all
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
	shortDigit    = 6 // bits of a digit
	shortMask     = 1<<shortDigit - 1
	shortMoved    = 2  // digits that move to the front
	maxShortText  = 11 // digits of 2^63−1
	maxShortTop   = 7  // the highest of them
	noDigit       = 0xff
)

var (
	errShortSyntax   = errors.New("not a short ID's text: 1 to 11 characters of A-Z a-z 0-9 - _")
	errShortLead     = errors.New("its highest digit is A, which stands for 0 and is left out")
	errShortOverflow = errors.New("above the largest ID, __H________")
	errShortJSON     = errors.New("want the text as a string, or an exact integer")
)

// shortValues are the values of the digits, by character.
var shortValues = func() (values [256]byte) {
	for i := range values {
		values[i] = noDigit
	}
	for i := range len(shortAlphabet) {
		values[shortAlphabet[i]] = byte(i)
	}
	return values
}()

// appendShort appends the text of v: its two lowest digits, then the others from the top.
func appendShort(b []byte, v int64) []byte {
	if v <= 0 {
		return append(appendInt63(append(b, '('), v), ')')
	}
	n := (bits.Len64(uint64(v)) + shortDigit - 1) / shortDigit
	if n == 1 {
		return append(b, shortAlphabet[v&shortMask])
	}
	var buf [16]byte // a power of two: where the index is masked, no bounds are checked
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
	var all byte // tells whether any was noDigit
	for i := shortMoved; i < n; i++ {
		d := shortValues[s[i]]
		v, all = v<<shortDigit|uint64(d), all|d
	}
	for i := range min(n, shortMoved) {
		d := shortValues[s[i]]
		v, all = v<<shortDigit|uint64(d), all|d
	}
	top := 0 // where the highest digit is
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
