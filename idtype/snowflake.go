package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
	"time"
)

// SnowflakeIn is the snowflake ID of an entity E in a layout L. It is a positive int64 that holds a
// time, the number of a node, and a count within the two. [Snowflake] has Twitter's layout, which
// is shown here:
//
//	1541815603606036480
//	0 00101010110010110100001000111110110001000 0101111010 000000000000
//	0 ttttttttttttttttttttttttttttttttttttttttt nnnnnnnnnn ssssssssssss
//	2022-06-28T16:07:40.105Z · node 378 · step 0
//
//	bits   part   range          source
//	41     time   0 ..= 2^41−1   the clock: milliseconds since 2010-11-04T01:42:54.657Z
//	10     node   0 ..= 1023     the configuration or a claim
//	12     step   0 ..= 4095     the generator, counting
//
// [SnowflakeBits] describes other layouts. IDs of two layouts are different types, because the
// number alone does not tell which layout it has. IDs of one generator ascend. The layout also
// chooses the text, which is decimal digits in most layouts.
type SnowflakeIn[E any, L Snowflakes] int64

// Snowflake is the snowflake ID of an entity E in Twitter's layout, which bwmarrin/snowflake uses
// too.
type Snowflake[E any] = SnowflakeIn[E, Twitter]

// SnowflakeID is a snowflake ID in Twitter's layout that is not tied to an entity.
type SnowflakeID = Snowflake[any]

// SchemeSnowflake is the name of the scheme in every layout.
const SchemeSnowflake Scheme = "snowflake"

var _ = is[SnowflakeID]

const snowflakeType = "SnowflakeID"

// SnowflakeParts are the numbers that make up a snowflake ID. Their ranges depend on the layout;
// UnixMs is the Unix time in milliseconds.
type SnowflakeParts struct {
	UnixMs int64 `json:"unix_ms"`
	Node   int   `json:"node"`
	Step   int   `json:"step"`
}

// ID composes an ID from its parts in Twitter's layout. For other layouts see [SnowflakeLayout.ID].
func (p SnowflakeParts) ID() (SnowflakeID, error) {
	id, err := twitter.ID(p)
	return SnowflakeID(id), err
}

// Layout returns the layout of L.
func (SnowflakeIn[E, L]) Layout() *SnowflakeLayout {
	var layout L
	return layout.Layout()
}

// LayoutOf returns the scheme of an ID. For a [SnowflakeIn] whose layout is not Twitter's, the
// layout is appended. If the results differ for two types, the same number is a different ID in
// each, and a generator for one must not mint keys of the other.
func LayoutOf(id interface{ Scheme() Scheme }) Scheme {
	s, ok := id.(interface{ Layout() *SnowflakeLayout })
	if !ok || s.Layout().name == twitter.name {
		return id.Scheme()
	}
	return s.Layout().scheme
}

// Parts returns the parts of the ID. They are meaningless if [SnowflakeIn.Validate] rejects it.
func (s SnowflakeIn[E, L]) Parts() SnowflakeParts { return s.Layout().Parts(int64(s)) }

// Node returns the number of the generator.
func (s SnowflakeIn[E, L]) Node() int { return s.Parts().Node }

// Step returns the count within a unit of time.
func (s SnowflakeIn[E, L]) Step() int { return s.Parts().Step }

// Time returns the start of the unit of time in which the ID was minted, in UTC.
func (s SnowflakeIn[E, L]) Time() time.Time { return time.UnixMilli(s.Parts().UnixMs).UTC() }

// IsZero reports whether the ID is zero, which means "not assigned".
func (s SnowflakeIn[E, L]) IsZero() bool { return s == 0 }

// Validate checks the value against the layout. The error is a [*RangeError] if the time is beyond
// the layout. If the value is outside the domain, it is an [*InputError], which wraps [ErrZero] for
// zero.
func (s SnowflakeIn[E, L]) Validate() error {
	if err := inDomain(snowflakeType, int64(s)); err != nil {
		return err
	}
	return s.Layout().check(s.Parts())
}

// Scheme returns [SchemeSnowflake].
func (SnowflakeIn[E, L]) Scheme() Scheme { return SchemeSnowflake }

// Storage returns [StorageBigint].
func (SnowflakeIn[E, L]) Storage() Storage { return StorageBigint }

// String returns the text of the ID. Zero and negative values have no text, and are shown as
// numbers, in parentheses if the layout's text is not decimal digits.
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

// AppendText appends the text of String to b. Zero is an error that wraps [ErrZero].
func (s SnowflakeIn[E, L]) AppendText(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(snowflakeType, int64(s))
	}
	return s.appendText(b), nil
}

// MarshalText returns the text of String, or the same error as AppendText.
func (s SnowflakeIn[E, L]) MarshalText() ([]byte, error) {
	return s.AppendText(make([]byte, 0, maxDigits))
}

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (s *SnowflakeIn[E, L]) UnmarshalText(text []byte) error {
	return set(s)(decodeSnowflake(s.Layout(), text))
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (s *SnowflakeIn[E, L]) UnmarshalParam(param string) error {
	return s.UnmarshalText([]byte(param))
}

// MarshalJSON returns the text as a string, or null for zero. With [AsNumber] the JSON is a number
// if the layout's text is decimal digits.
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

// UnmarshalJSON accepts the output of MarshalJSON, and the ID's number up to 2^53−1. It rejects
// larger numbers because they may have been rounded on their way (see [AsInt64]), and all numbers
// with a fraction or an exponent. null sets the ID to zero. On failure the ID is unchanged, and the
// error is an [*InputError].
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

// AppendBinary appends the ID to b as 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (s SnowflakeIn[E, L]) AppendBinary(b []byte) ([]byte, error) {
	if s <= 0 {
		return b, unset(snowflakeType, int64(s))
	}
	return binary.BigEndian.AppendUint64(b, uint64(s)), nil
}

// MarshalBinary returns the ID as 8 bytes, big-endian, or the same error as AppendBinary.
func (s SnowflakeIn[E, L]) MarshalBinary() ([]byte, error) {
	return s.AppendBinary(make([]byte, 0, 8))
}

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (s *SnowflakeIn[E, L]) UnmarshalBinary(data []byte) error {
	return set(s)(decodeBytes(snowflakeType, data))
}

// Value returns the ID as an int64, for a database driver. Zero is an error that wraps [ErrZero].
// Together with an error Value returns the number rather than nil, so that a caller that drops the
// error does not mistake it for NULL.
func (s SnowflakeIn[E, L]) Value() (driver.Value, error) {
	return valueInt63(snowflakeType, int64(s))
}

// Scan reads the ID from a database driver, as an integer, or as decimal digits in a string or
// []byte. It also accepts an ID of the same type, by value or by pointer. The error wraps [ErrNull]
// for NULL, and [ErrZero] for 0. On failure the ID is unchanged, and the error is an [*InputError].
func (s *SnowflakeIn[E, L]) Scan(src any) error {
	return set(s)(scanInt63[SnowflakeIn[E, L]](snowflakeType, src))
}

// GormDataType returns "bigint", without which GORM would treat the integer key as
// auto-incremented.
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
