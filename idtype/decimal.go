package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"

	"github.com/idmint/idmint/idtype/formats"
)

// Decimal is the decimal ID of an entity E. It is a positive int64 whose decimal places hold three
// numbers side by side.
//
//	14150009200065
//	ccccggggglllll   counter 1415 · generator 92 · launch 65
//
//	places   part         range              source
//	9        counter      1 ..= 922337202    the generator, counting upward
//	5        generator    0 ..= 99999        the launch log, for each generator
//	5        launch       1 ..= 99999        the launch log, once per deployment; 0 only in tests
//
// The launch part is the last five digits of a launch number. Launches with the same digits have
// different generator numbers, so their IDs differ.
//
// The IDs of one generator ascend. The IDs of several generators interleave by counter. A generator
// of package generator starts above the counters of earlier deployments, if its launch log knows
// them.
type Decimal[E any] int64

// DecimalID is a decimal ID that is not tied to an entity.
type DecimalID = Decimal[any]

// SchemeDecimal is the name of the scheme.
const SchemeDecimal Scheme = "decimal"

var _ = is[DecimalID]

const decimalType = "DecimalID"

// DecimalParts are the numbers that make up a decimal ID. Their ranges are listed at [Decimal].
type DecimalParts struct {
	Counter   int `json:"counter"`
	Generator int `json:"generator_id"`
	Launch    int `json:"launch_id"`
}

// ID composes an ID from its parts. It returns a [*RangeError] for the first part outside its
// range. Launch 0 is allowed, for tests only.
func (p DecimalParts) ID() (DecimalID, error) {
	if err := p.validate(); err != nil {
		return 0, err
	}
	return DecimalID(p.Counter)*formats.DecimalStep +
		DecimalID(p.Generator)*formats.DecimalGeneratorStep + DecimalID(p.Launch), nil
}

func (p DecimalParts) validate() error {
	return checkParts(decimalType, []part[int]{
		{"counter", p.Counter, 1, formats.DecimalMaxCounter},
		{"generator_id", p.Generator, 0, formats.DecimalMaxGenerator},
		{"launch_id", p.Launch, 0, formats.DecimalMaxLaunch},
	})
}

// Parts returns the parts of the ID. They are meaningless if [Decimal.Validate] rejects it.
func (d Decimal[E]) Parts() DecimalParts {
	return DecimalParts{
		Counter:   int(d / formats.DecimalStep),
		Generator: int(d % formats.DecimalStep / formats.DecimalGeneratorStep),
		Launch:    int(d % formats.DecimalGeneratorStep),
	}
}

// IsTest reports whether the ID comes from a test generator, whose launch is 0. Such an ID does not
// belong in production.
func (d Decimal[E]) IsTest() bool { return d != 0 && d%formats.DecimalGeneratorStep == 0 }

// IsZero reports whether the ID is zero, which means "not assigned".
func (d Decimal[E]) IsZero() bool { return d == 0 }

// Validate checks the value against the layout. The error is a [*RangeError] if a part is outside
// its range. If the value is outside the domain, it is an [*InputError], which wraps [ErrZero] for
// zero.
func (d Decimal[E]) Validate() error {
	if err := inDomain(decimalType, int64(d)); err != nil {
		return err
	}
	return d.Parts().validate()
}

// Scheme returns [SchemeDecimal].
func (Decimal[E]) Scheme() Scheme { return SchemeDecimal }

// Storage returns [StorageBigint].
func (Decimal[E]) Storage() Storage { return StorageBigint }

// String returns the ID in decimal digits.
func (d Decimal[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(d)))
}

// AppendText appends the digits of String to b. Zero is an error that wraps [ErrZero].
func (d Decimal[E]) AppendText(b []byte) ([]byte, error) {
	if d <= 0 {
		return b, unset(decimalType, int64(d))
	}
	return appendInt63(b, int64(d)), nil
}

// MarshalText returns the digits of String, or the same error as AppendText.
func (d Decimal[E]) MarshalText() ([]byte, error) {
	return d.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (d *Decimal[E]) UnmarshalText(text []byte) error {
	return set(d)(decodeText(decimalType, text))
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (d *Decimal[E]) UnmarshalParam(param string) error { return d.UnmarshalText([]byte(param)) }

// MarshalJSON returns the digits as a string, or null for zero. With [AsNumber] the JSON is a
// number.
func (d Decimal[E]) MarshalJSON() ([]byte, error) {
	return appendJSON[E](make([]byte, 0, maxDigits+3), int64(d)), nil
}

// UnmarshalJSON accepts the output of MarshalJSON, and integers up to 2^53−1. It rejects larger
// integers because they may have been rounded on their way (see [AsInt64]), and all numbers with a
// fraction or an exponent. null sets the ID to zero. On failure the ID is unchanged, and the error
// is an [*InputError].
func (d *Decimal[E]) UnmarshalJSON(data []byte) error {
	return set(d)(decodeJSON[E](decimalType, data))
}

// AppendBinary appends the ID to b as 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (d Decimal[E]) AppendBinary(b []byte) ([]byte, error) {
	if d <= 0 {
		return b, unset(decimalType, int64(d))
	}
	return binary.BigEndian.AppendUint64(b, uint64(d)), nil
}

// MarshalBinary returns the ID as 8 bytes, big-endian, or the same error as AppendBinary.
func (d Decimal[E]) MarshalBinary() ([]byte, error) { return d.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (d *Decimal[E]) UnmarshalBinary(data []byte) error {
	return set(d)(decodeBytes(decimalType, data))
}

// Value returns the ID as an int64, for a database driver. Zero is an error that wraps [ErrZero].
// Together with an error Value returns the number rather than nil, so that a caller that drops the
// error does not mistake it for NULL.
func (d Decimal[E]) Value() (driver.Value, error) { return valueInt63(decimalType, int64(d)) }

// Scan reads the ID from a database driver, as an int64, uint64, string, or []byte. It also accepts
// an ID of the same type, by value or by pointer. The error wraps [ErrNull] for NULL, and [ErrZero]
// for 0. On failure the ID is unchanged, and the error is an [*InputError].
func (d *Decimal[E]) Scan(src any) error {
	return set(d)(scanInt63[Decimal[E]](decimalType, src))
}

// GormDataType returns "bigint", without which GORM would treat the integer key as
// auto-incremented.
func (Decimal[E]) GormDataType() string { return "bigint" }

func (Decimal[E]) parsed(text string) (Decimal[E], error) {
	v, err := decodeText(decimalType, text)
	return Decimal[E](v), err
}

func (d Decimal[E]) compare(other Decimal[E]) int { return cmp.Compare(d, other) }
func (Decimal[E]) none() driver.Value             { return int64(0) }
func (Decimal[E]) isNone(src any) bool            { return isZeroInt63(src) }
