package idtype

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
)

// Limits of a decimal ID's parts, and what derives from them.
const (
	// DecimalMaxLaunch is the largest launch number.
	DecimalMaxLaunch = 99_999
	// DecimalMaxGenerator is the largest generator number.
	DecimalMaxGenerator = 99_999
	// DecimalMaxCounter is the largest counter: with it, every generator and launch fits 63 bits.
	DecimalMaxCounter = math.MaxInt64/DecimalStep - 1

	// DecimalStep is the distance between an ID and the next one of its generator.
	DecimalStep = (DecimalMaxGenerator + 1) * decimalGeneratorStep

	decimalGeneratorStep = DecimalMaxLaunch + 1

	// MinDecimalID and MaxDecimalID are the smallest and the largest ID of the layout. IDs of test
	// launches are among those between them.
	MinDecimalID DecimalID = DecimalStep
	MaxDecimalID DecimalID = DecimalMaxCounter*DecimalStep + (DecimalStep - 1)
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
// IDs of one generator ascend. IDs of several interleave by counter. A generator of package
// generator begins above the counters of the deployments before it, if its launch log tells them.
type Decimal[E any] int64

// DecimalID is the decimal ID of any entity.
type DecimalID = Decimal[any]

var _ = Parse[DecimalID] // it is an ID

var (
	_ driver.Valuer              = DecimalID(0)
	_ sql.Scanner                = (*DecimalID)(nil)
	_ fmt.Stringer               = DecimalID(0)
	_ encoding.TextAppender      = DecimalID(0)
	_ encoding.TextMarshaler     = DecimalID(0)
	_ encoding.TextUnmarshaler   = (*DecimalID)(nil)
	_ encoding.BinaryAppender    = DecimalID(0)
	_ encoding.BinaryMarshaler   = DecimalID(0)
	_ encoding.BinaryUnmarshaler = (*DecimalID)(nil)
	_ json.Marshaler             = DecimalID(0)
	_ json.Unmarshaler           = (*DecimalID)(nil)
)

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
	return DecimalID(p.Counter)*DecimalStep + DecimalID(p.Generator)*decimalGeneratorStep +
		DecimalID(p.Launch), nil
}

func (p DecimalParts) validate() error {
	return checkParts(decimalType, []part[int]{
		{"counter", p.Counter, 1, DecimalMaxCounter},
		{"generator_id", p.Generator, 0, DecimalMaxGenerator},
		{"launch_id", p.Launch, 0, DecimalMaxLaunch},
	})
}

// ParseDecimalID reads the digits that String writes, and nothing else: no sign, no spaces, no
// leading zeros. It takes the whole domain, 1 ..= 2^63−1. [Decimal.Validate] checks the layout. Its
// error is an [*InputError]. [Parse] does the same for a typed key.
func ParseDecimalID(s string) (DecimalID, error) {
	v, err := decodeText(decimalType, s)
	return DecimalID(v), err
}

// MustParseDecimalID is [ParseDecimalID] for literals and tests: it panics on an error.
func MustParseDecimalID(s string) DecimalID { return must(ParseDecimalID(s)) }

// Parts takes the ID apart. They mean nothing if [Decimal.Validate] refuses the value.
func (d Decimal[E]) Parts() DecimalParts {
	return DecimalParts{Counter: d.Counter(), Generator: d.Generator(), Launch: d.Launch()}
}

// Counter is the generator's count at this ID, 1 ..= 922337202.
func (d Decimal[E]) Counter() int { return int(d / DecimalStep) }

// Generator is the number of the generator within its launch, 0 ..= 99999.
func (d Decimal[E]) Generator() int { return int(d % DecimalStep / decimalGeneratorStep) }

// Launch is the number of the launch, 1 ..= 99999, or 0 in tests.
func (d Decimal[E]) Launch() int { return int(d % decimalGeneratorStep) }

// IsTest reports whether the ID was made by a test generator: its launch is 0. Such an ID has no
// place in production.
func (d Decimal[E]) IsTest() bool { return d != 0 && d.Launch() == 0 }

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

// Compare orders IDs by their number, which is also how an integer column orders them.
func (d Decimal[E]) Compare(other Decimal[E]) int { return cmp.Compare(d, other) }

// Scheme is [SchemeDecimal].
func (Decimal[E]) Scheme() Scheme { return SchemeDecimal }

// Storage is [StorageBigint].
func (Decimal[E]) Storage() Storage { return StorageBigint }

// String is the ID's decimal digits.
func (d Decimal[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(d)))
}

// AppendText appends the digits of String. It never fails.
func (d Decimal[E]) AppendText(b []byte) ([]byte, error) { return appendInt63(b, int64(d)), nil }

// MarshalText is the digits of String. It never fails.
func (d Decimal[E]) MarshalText() ([]byte, error) {
	return d.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText is [ParseDecimalID]. On an error the ID stays as it was.
func (d *Decimal[E]) UnmarshalText(text []byte) error {
	return set(d)(decodeText(decimalType, text))
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (d *Decimal[E]) UnmarshalParam(param string) error { return d.UnmarshalText([]byte(param)) }

// MarshalJSON is the digits as a string, and null for zero.
func (d Decimal[E]) MarshalJSON() ([]byte, error) {
	return appendJSON(make([]byte, 0, maxDigits+3), int64(d)), nil
}

// UnmarshalJSON accepts what MarshalJSON writes, and exact integers. It takes no fraction and no
// exponent, even of a whole number. null sets zero. On an error, which is an [*InputError], the ID
// stays as it was.
func (d *Decimal[E]) UnmarshalJSON(data []byte) error {
	return set(d)(decodeJSON(decimalType, data))
}

// AppendBinary appends 8 bytes, big-endian. It never fails.
func (d Decimal[E]) AppendBinary(b []byte) ([]byte, error) {
	return binary.BigEndian.AppendUint64(b, uint64(d)), nil
}

// MarshalBinary is 8 bytes, big-endian. It never fails.
func (d Decimal[E]) MarshalBinary() ([]byte, error) { return d.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (d *Decimal[E]) UnmarshalBinary(data []byte) error {
	return set(d)(decodeBinary(decimalType, data))
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

func (Decimal[E]) none() driver.Value  { return int64(0) }
func (Decimal[E]) isNone(src any) bool { return isZeroInt63(src) }
