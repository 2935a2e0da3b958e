package importer

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// An appender appends a value, which is not NULL, as text.
type appender func(b []byte, v *parquet.Value) ([]byte, error)

var errNested = errors.New(
	"lists, maps and groups have no place in a column: write them as JSON text first")

// maxScale bounds the zeros that a decimal may begin with.
const maxScale = 1000

// appenderOf is how values of a type are written.
func appenderOf(typ parquet.Type, element *format.SchemaElement) (appender, error) {
	kind := typ.Kind()
	if !element.Type.Valid || parquet.Kind(element.Type.V) != kind {
		if _, null := element.LogicalType.Value.(*format.NullType); null {
			return func(b []byte, _ *parquet.Value) ([]byte, error) { return b, nil }, nil
		}
		return nil, fmt.Errorf("its type %v does not fit what it holds", typ)
	}
	unsupported := fmt.Errorf("type %v of %v is not supported", typ, kind)
	logical := typ.LogicalType()
	if logical == nil {
		if element.LogicalType.Value != nil || element.ConvertedType.Valid { // which typ does not know
			return nil, fmt.Errorf("type %v of %v is not supported", &element.LogicalType, kind)
		}
		return plain[kind], orNil(plain[kind] == nil, unsupported)
	}
	var a appender
	switch l := logical.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		a = plainIf(kind == parquet.ByteArray, appendText)
	case *format.BsonType:
		a = plainIf(kind == parquet.ByteArray, appendBinary)
	case *format.UUIDType:
		a = plainIf(kind == parquet.FixedLenByteArray && typ.Length() == 16, appendUUID)
	case *format.DateType:
		a = plainIf(kind == parquet.Int32, func(b []byte, v *parquet.Value) ([]byte, error) {
			return appendTime(b, time.Unix(int64(v.Int32())*86_400, 0), time.DateOnly)
		})
	case *format.IntType:
		a = integers(kind, l.IsSigned)
	case *format.DecimalType:
		if l.Scale < 0 || l.Scale > maxScale {
			return nil, fmt.Errorf("a decimal's scale is %d: want 0 to %d", l.Scale, maxScale)
		}
		a = decimals(kind, int(l.Scale))
	case *format.TimeType:
		a = times(kind, l.Unit)
	case *format.TimestampType:
		a = timestamps(kind, l)
	}
	return a, orNil(a == nil, unsupported)
}

func orNil(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

func plainIf(ok bool, a appender) appender {
	if ok {
		return a
	}
	return nil
}

// plain are the appenders of types without a meaning of their own.
var plain = map[parquet.Kind]appender{
	parquet.Boolean: func(b []byte, v *parquet.Value) ([]byte, error) {
		return strconv.AppendBool(b, v.Boolean()), nil
	},
	parquet.Int32: integers(parquet.Int32, true),
	parquet.Int64: integers(parquet.Int64, true),
	parquet.Int96: func(b []byte, v *parquet.Value) ([]byte, error) {
		const epoch = 2_440_588 // the Julian day of 1970-01-01
		i := v.Int96()
		nanos := int64(i[1])<<32 | int64(i[0])
		return appendTime(b, time.Unix((int64(i[2])-epoch)*86_400, nanos), localTime)
	},
	parquet.Float: func(b []byte, v *parquet.Value) ([]byte, error) {
		return appendFloat(b, float64(v.Float()), 32), nil
	},
	parquet.Double: func(b []byte, v *parquet.Value) ([]byte, error) {
		return appendFloat(b, v.Double(), 64), nil
	},
	parquet.ByteArray:         appendBinary,
	parquet.FixedLenByteArray: appendBinary,
}

func appendText(b []byte, v *parquet.Value) ([]byte, error) {
	text := v.ByteArray()
	if reason := badText(text); reason != "" {
		return nil, errors.New("a text " + reason)
	}
	return append(b, text...), nil
}

// appendBinary writes bytes as PostgreSQL does.
func appendBinary(b []byte, v *parquet.Value) ([]byte, error) {
	return hex.AppendEncode(append(b, `\x`...), v.ByteArray()), nil
}

func appendUUID(b []byte, v *parquet.Value) ([]byte, error) {
	u := v.ByteArray()
	if len(u) != 16 {
		return nil, fmt.Errorf("a UUID of %d bytes", len(u))
	}
	for i, end := range []int{4, 6, 8, 10, 16} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, u[[]int{0, 4, 6, 8, 10}[i]:end])
	}
	return b, nil
}

func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, bits)
}

func integers(kind parquet.Kind, signed bool) appender {
	switch {
	case kind == parquet.Int32 && signed:
		return func(b []byte, v *parquet.Value) ([]byte, error) {
			return strconv.AppendInt(b, int64(v.Int32()), 10), nil
		}
	case kind == parquet.Int32:
		return func(b []byte, v *parquet.Value) ([]byte, error) {
			return strconv.AppendUint(b, uint64(v.Uint32()), 10), nil
		}
	case kind == parquet.Int64 && signed:
		return func(b []byte, v *parquet.Value) ([]byte, error) {
			return strconv.AppendInt(b, v.Int64(), 10), nil
		}
	case kind == parquet.Int64:
		return func(b []byte, v *parquet.Value) ([]byte, error) {
			return strconv.AppendUint(b, v.Uint64(), 10), nil
		}
	}
	return nil
}

// decimals writes integers with a point before their last digits.
func decimals(kind parquet.Kind, scale int) appender {
	switch kind {
	case parquet.Int32:
		return func(b []byte, v *parquet.Value) ([]byte, error) {
			return appendPoint(b, strconv.Itoa(int(v.Int32())), scale), nil
		}
	case parquet.Int64:
		return func(b []byte, v *parquet.Value) ([]byte, error) {
			return appendPoint(b, strconv.FormatInt(v.Int64(), 10), scale), nil
		}
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return func(b []byte, v *parquet.Value) ([]byte, error) {
			bytes := v.ByteArray() // in two's complement, the highest first
			if len(bytes) == 0 || len(bytes) > maxScale {
				return nil, fmt.Errorf("a decimal of %d bytes", len(bytes))
			}
			n := new(big.Int).SetBytes(bytes)
			if bytes[0] >= 0x80 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
			}
			return appendPoint(b, n.String(), scale), nil
		}
	}
	return nil
}

func appendPoint(b []byte, digits string, scale int) []byte {
	if digits[0] == '-' {
		b, digits = append(b, '-'), digits[1:]
	}
	if scale == 0 {
		return append(b, digits...)
	}
	whole := len(digits) - scale
	if whole <= 0 {
		b = append(b, '0')
	} else {
		b = append(b, digits[:whole]...)
	}
	b = append(b, '.')
	for range -whole {
		b = append(b, '0')
	}
	return append(b, digits[max(whole, 0):]...)
}

// localTime is a time that belongs to no zone.
const localTime = "2006-01-02T15:04:05.999999999"

// appendTime writes a time, in UTC. Databases read years of four digits.
func appendTime(b []byte, t time.Time, layout string) ([]byte, error) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("the year %d: want 0 to 9999", y)
	}
	return t.AppendFormat(b, layout), nil
}

// nanosIn are the nanoseconds of a unit, which is 0 where it is not known.
func nanosIn(unit format.TimeUnit) int64 {
	if unit.Value == nil {
		return 0
	}
	return int64(unit.Value.Duration())
}

// split is a number of units as whole seconds, and nanoseconds.
func split(n, unit int64) time.Time {
	perSecond := int64(time.Second) / unit
	return time.Unix(n/perSecond, n%perSecond*unit)
}

func timestamps(kind parquet.Kind, l *format.TimestampType) appender {
	unit, layout := nanosIn(l.Unit), localTime
	if l.IsAdjustedToUTC {
		layout += "Z"
	}
	if kind != parquet.Int64 || unit == 0 {
		return nil
	}
	return func(b []byte, v *parquet.Value) ([]byte, error) {
		return appendTime(b, split(v.Int64(), unit), layout)
	}
}

func times(kind parquet.Kind, of format.TimeUnit) appender {
	unit := nanosIn(of)
	if unit == 0 || kind != parquet.Int32 && kind != parquet.Int64 {
		return nil
	}
	return func(b []byte, v *parquet.Value) ([]byte, error) {
		n := v.Int64()
		if kind == parquet.Int32 {
			n = int64(v.Int32())
		}
		if n < 0 || n >= 86_400*(int64(time.Second)/unit) {
			return nil, fmt.Errorf("the time of day %d: want less than a day", n)
		}
		return appendTime(b, split(n, unit), "15:04:05.999999999")
	}
}
