package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"

	"github.com/idmint/idmint/idtype/formats"
)

// Decimal is the decimal ID of an entity E. It is three numbers side by side in the decimal places
// of a positive int64.
//
//	14150009200065
//	ccccggggglllll   counter 1415 · generator 92 · launch 65
//
//	places   part         range              who gives it
//	9        counter      1 ..= 922337202    the generator, counting on from those before it
//	5        generator    0 ..= 99999        the launch log, at each start of an app
//	5        launch       1 ..= 99999        the launch log, once per deployment; 0 in tests only
//
// The last part is the last five digits of a launch number. Launches that have the same digits have
// different generator numbers.
//
// IDs of one generator ascend. IDs of several interleave by counter. A generator of package
// generator begins above the counters of the deployments before it, if its launch log tells them.
type Decimal[E any] int64

// DecimalID is the decimal ID of any entity.
type DecimalID = Decimal[any]

// SchemeDecimal is the name of the scheme.
const SchemeDecimal Scheme = "decimal"

var _ = is[DecimalID]

const decimalType = "DecimalID"

// DecimalParts are the numbers that a decimal ID consists of. Their ranges are those of [Decimal].
type DecimalParts struct {
	Counter   int `json:"counter"`
	Generator int `json:"generator_id"`
	Launch    int `json:"launch_id"`
}

// ID composes the parts. It returns a [*RangeError] for the first part outside its range. Launch 0,
// for tests only, is allowed.
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

// Parts takes the ID apart. They mean nothing if [Decimal.Validate] refuses the value.
func (d Decimal[E]) Parts() DecimalParts {
	return DecimalParts{
		Counter:   int(d / formats.DecimalStep),
		Generator: int(d % formats.DecimalStep / formats.DecimalGeneratorStep),
		Launch:    int(d % formats.DecimalGeneratorStep),
	}
}

// IsTest reports whether the ID was made by a test generator: its launch is 0. Such an ID has no
// place in production.
func (d Decimal[E]) IsTest() bool { return d != 0 && d%formats.DecimalGeneratorStep == 0 }

// IsZero reports whether no ID was assigned.
func (d Decimal[E]) IsZero() bool { return d == 0 }

// Validate checks the value against the layout. It returns a [*RangeError] for a part outside its
// range. For a value outside the domain it returns an [*InputError], which wraps [ErrZero] for
// zero.
func (d Decimal[E]) Validate() error {
	if err := inDomain(decimalType, int64(d)); err != nil {
		return err
	}
	return d.Parts().validate()
}

// Scheme is [SchemeDecimal].
func (Decimal[E]) Scheme() Scheme { return SchemeDecimal }

// Storage is [StorageBigint].
func (Decimal[E]) Storage() Storage { return StorageBigint }

// String is the ID's decimal digits.
func (d Decimal[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(d)))
}

// AppendText appends the digits of String. Zero is an error that wraps [ErrZero].
func (d Decimal[E]) AppendText(b []byte) ([]byte, error) {
	if d <= 0 {
		return b, unset(decimalType, int64(d))
	}
	return appendInt63(b, int64(d)), nil
}

// MarshalText is the digits of String. The error is that of AppendText.
func (d Decimal[E]) MarshalText() ([]byte, error) {
	return d.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID stays as it was.
func (d *Decimal[E]) UnmarshalText(text []byte) error {
	return set(d)(decodeText(decimalType, text))
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (d *Decimal[E]) UnmarshalParam(param string) error { return d.UnmarshalText([]byte(param)) }

// MarshalJSON is the digits as a string, and null for zero. [AsNumber] makes them numbers.
func (d Decimal[E]) MarshalJSON() ([]byte, error) {
	return appendJSON[E](make([]byte, 0, maxDigits+3), int64(d)), nil
}

// UnmarshalJSON accepts what MarshalJSON writes, and integers up to 2^53−1: a greater one may have
// been rounded on its way, see [AsInt64]. It takes no fraction and no exponent, even of a whole
// number. null sets zero. On an error, which is an [*InputError], the ID stays as it was.
func (d *Decimal[E]) UnmarshalJSON(data []byte) error {
	return set(d)(decodeJSON[E](decimalType, data))
}

// AppendBinary appends 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (d Decimal[E]) AppendBinary(b []byte) ([]byte, error) {
	if d <= 0 {
		return b, unset(decimalType, int64(d))
	}
	return binary.BigEndian.AppendUint64(b, uint64(d)), nil
}

// MarshalBinary is 8 bytes, big-endian. The error is that of AppendBinary.
func (d Decimal[E]) MarshalBinary() ([]byte, error) { return d.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (d *Decimal[E]) UnmarshalBinary(data []byte) error {
	return set(d)(decodeBytes(decimalType, data))
}

// Value hands the ID to a database driver, as int64. Zero is an error that wraps [ErrZero]. Beside
// the error is the number and not nil: a caller who drops the error would take nil for NULL.
func (d Decimal[E]) Value() (driver.Value, error) { return valueInt63(decimalType, int64(d)) }

// Scan takes the ID from a database driver, as int64, uint64, string or []byte. It also takes an ID
// of its own type, by value or by pointer. The error for NULL wraps [ErrNull], and that for 0 wraps
// [ErrZero]. On an error, which is an [*InputError], the ID stays as it was.
func (d *Decimal[E]) Scan(src any) error {
	return set(d)(scanInt63[Decimal[E]](decimalType, src))
}

// GormDataType keeps GORM from taking an integer key for an auto-incremented one.
func (Decimal[E]) GormDataType() string { return "bigint" }

func (Decimal[E]) parsed(text string) (Decimal[E], error) {
	v, err := decodeText(decimalType, text)
	return Decimal[E](v), err
}

func (d Decimal[E]) compare(other Decimal[E]) int { return cmp.Compare(d, other) }
func (Decimal[E]) none() driver.Value             { return int64(0) }
func (Decimal[E]) isNone(src any) bool            { return isZeroInt63(src) }
