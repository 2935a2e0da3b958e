package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
	"time"
)

// SnowflakeIn is the snowflake ID of an entity E in a layout L. It is a time, the number of a node
// and a count within them, in one positive int64. [Snowflake] has Twitter's layout, which is drawn
// here:
//
//	1541815603606036480
//	0 00101010110010110100001000111110110001000 0101111010 000000000000
//	0 ttttttttttttttttttttttttttttttttttttttttt nnnnnnnnnn ssssssssssss
//	2022-06-28T16:07:40.105Z · node 378 · step 0
//
//	bits   part   range          who gives it
//	41     time   0 ..= 2^41−1   the clock: milliseconds since 2010-11-04T01:42:54.657Z
//	10     node   0 ..= 1023     the configuration or a claim
//	12     step   0 ..= 4095     the generator, counting
//
// [SnowflakeBits] has the other layouts. Two layouts make two types, and a number does not tell
// which one it is of. IDs of one generator ascend. The text is that of the layout, decimal digits
// in most.
type SnowflakeIn[E any, L Snowflakes] int64

// Snowflake is the snowflake ID of an entity E in Twitter's layout, which bwmarrin/snowflake has too.
type Snowflake[E any] = SnowflakeIn[E, Twitter]

// SnowflakeID is the snowflake ID of any entity in Twitter's layout.
type SnowflakeID = Snowflake[any]

// SchemeSnowflake is the name of the scheme, whatever the layout.
const SchemeSnowflake Scheme = "snowflake"

var _ = is[SnowflakeID]

const snowflakeType = "SnowflakeID"

// SnowflakeParts are the numbers that a snowflake ID consists of. Their ranges are those of the
// layout; UnixMs is the time as Unix time.
type SnowflakeParts struct {
	UnixMs int64 `json:"unix_ms"`
	Node   int   `json:"node"`
	Step   int   `json:"step"`
}

// ID composes the parts in Twitter's layout: see [SnowflakeLayout.ID], which does so in any.
func (p SnowflakeParts) ID() (SnowflakeID, error) {
	id, err := twitter.ID(p)
	return SnowflakeID(id), err
}

// Layout is that of L.
func (SnowflakeIn[E, L]) Layout() *SnowflakeLayout {
	var layout L
	return layout.Layout()
}

// LayoutOf is the scheme of an ID, and behind it the layout of a [SnowflakeIn] that is not Twitter's.
// Where it differs, a number is not the same ID: a generator of one mints no keys of the other.
func LayoutOf(id interface{ Scheme() Scheme }) Scheme {
	s, ok := id.(interface{ Layout() *SnowflakeLayout })
	if !ok || s.Layout().name == twitter.name {
		return id.Scheme()
	}
	return s.Layout().scheme
}

// Parts takes the ID apart. They mean nothing if [SnowflakeIn.Validate] refuses the value.
func (s SnowflakeIn[E, L]) Parts() SnowflakeParts { return s.Layout().Parts(int64(s)) }

// Node is the number of the generator.
func (s SnowflakeIn[E, L]) Node() int { return s.Parts().Node }

// Step is the count within a unit of time.
func (s SnowflakeIn[E, L]) Step() int { return s.Parts().Step }

// Time is the start of the unit of time in which the ID was made, in UTC.
func (s SnowflakeIn[E, L]) Time() time.Time { return time.UnixMilli(s.Parts().UnixMs).UTC() }

// IsZero reports whether no ID was assigned.
func (s SnowflakeIn[E, L]) IsZero() bool { return s == 0 }

// Validate checks the value against the layout. It returns a [*RangeError] for a time beyond it.
// For a value outside the domain it returns an [*InputError], which wraps [ErrZero] for zero.
func (s SnowflakeIn[E, L]) Validate() error {
	if err := inDomain(snowflakeType, int64(s)); err != nil {
		return err
	}
	return s.Layout().check(s.Parts())
}

// Scheme is [SchemeSnowflake].
func (SnowflakeIn[E, L]) Scheme() Scheme { return SchemeSnowflake }

// Storage is [StorageBigint].
func (SnowflakeIn[E, L]) Storage() Storage { return StorageBigint }

// String is the ID's text. A value that is no ID has none: it is shown as its number, in parentheses
// where texts are not decimal digits.
func (s SnowflakeIn[E, L]) String() string {
	var buf [maxDigits + 3]byte
	return string(s.appendText(buf[:0]))
}

func (s SnowflakeIn[E, L]) appendText(b []byte) []byte {
	if t := s.Layout().text; t != nil {
		return t.append(b, int64(s))
	}
	return appendInt63(b, int64(s))
}

// AppendText appends the text of String. Zero is an error that wraps [ErrZero].
func (s SnowflakeIn[E, L]) AppendText(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(snowflakeType, int64(s))
	}
	return s.appendText(b), nil
}

// MarshalText is the text of String. The error is that of AppendText.
func (s SnowflakeIn[E, L]) MarshalText() ([]byte, error) {
	return s.AppendText(make([]byte, 0, maxDigits))
}

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID
// stays as it was.
func (s *SnowflakeIn[E, L]) UnmarshalText(text []byte) error {
	return set(s)(decodeSnowflake(s.Layout(), text))
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (s *SnowflakeIn[E, L]) UnmarshalParam(param string) error {
	return s.UnmarshalText([]byte(param))
}

// MarshalJSON is the text as a string, and null for zero. [AsNumber] keeps numbers, where the text
// is decimal digits.
func (s SnowflakeIn[E, L]) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, maxDigits+2)
	switch {
	case s.Layout().text == nil:
		return appendJSON[E](b, int64(s)), nil
	case s == 0:
		return append(b, "null"...), nil
	}
	return append(s.appendText(append(b, '"')), '"'), nil
}

// UnmarshalJSON accepts what MarshalJSON writes, and the ID's number up to 2^53−1: a greater one may
// have been rounded on its way, see [AsInt64]. It takes no fraction and no exponent. null sets zero.
// On an error, which is an [*InputError], the ID stays as it was.
func (s *SnowflakeIn[E, L]) UnmarshalJSON(data []byte) error {
	l := s.Layout()
	text, isString := jsonString(data)
	if l.text == nil || !isString {
		return set(s)(decodeJSON[E](snowflakeType, data))
	}
	v, err := parseSnowflake(l.text, text)
	if err != nil {
		err = &InputError{Type: snowflakeType, Input: quote(data), Err: err}
	}
	return set(s)(v, err)
}

// AppendBinary appends 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (s SnowflakeIn[E, L]) AppendBinary(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(snowflakeType, int64(s))
	}
	return binary.BigEndian.AppendUint64(b, uint64(s)), nil
}

// MarshalBinary is 8 bytes, big-endian. The error is that of AppendBinary.
func (s SnowflakeIn[E, L]) MarshalBinary() ([]byte, error) {
	return s.AppendBinary(make([]byte, 0, 8))
}

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (s *SnowflakeIn[E, L]) UnmarshalBinary(data []byte) error {
	return set(s)(decodeBytes(snowflakeType, data))
}

// Value hands the ID to a database driver as an int64. Zero is an error that wraps [ErrZero]. The
// number is returned beside an error as well: a caller who drops the error would take nil for NULL.
func (s SnowflakeIn[E, L]) Value() (driver.Value, error) {
	return valueInt63(snowflakeType, int64(s))
}

// Scan takes the ID from a database driver: an integer, or its decimal digits as string or []byte.
// It takes an ID of its own type, by value or by pointer. The error for NULL wraps [ErrNull], and
// that for zero wraps [ErrZero]. On an error, which is an [*InputError], the ID stays as it was.
func (s *SnowflakeIn[E, L]) Scan(src any) error {
	return set(s)(scanInt63[SnowflakeIn[E, L]](snowflakeType, src))
}

// GormDataType keeps GORM from taking an integer key for an auto-incremented one.
func (SnowflakeIn[E, L]) GormDataType() string { return "bigint" }

func (s SnowflakeIn[E, L]) bounds(from, to time.Time) ([]Range[SnowflakeIn[E, L]], error) {
	r, err := s.Layout().Bounds(from, to)
	return oneRange(SnowflakeIn[E, L](r.Min), SnowflakeIn[E, L](r.Max), err, nil)
}

func (s SnowflakeIn[E, L]) parsed(text string) (SnowflakeIn[E, L], error) {
	v, err := decodeSnowflake(s.Layout(), text)
	return SnowflakeIn[E, L](v), err
}

func (s SnowflakeIn[E, L]) compare(other SnowflakeIn[E, L]) int { return cmp.Compare(s, other) }
func (SnowflakeIn[E, L]) none() driver.Value                    { return int64(0) }
func (SnowflakeIn[E, L]) isNone(src any) bool                   { return isZeroInt63(src) }

func decodeSnowflake[S string | []byte](l *SnowflakeLayout, s S) (int64, error) {
	if l.text == nil {
		return decodeText(snowflakeType, s)
	}
	parse := func(s S) (int64, error) { return parseSnowflake(l.text, s) }
	v, err := parse(s)
	if err != nil {
		return 0, &InputError{Type: snowflakeType, Input: quote(s), Err: orQuoted(s, parse, err)}
	}
	return v, nil
}
