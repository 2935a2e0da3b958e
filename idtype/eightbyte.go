package idtype

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"time"
)

// Widths of an eightbyte ID's parts, in bits. All else about the layout derives from them. The mode
// parts the generator's bits.
const (
	EightByteTimeBits         = 42
	EightByteSequenceBits     = 6
	EightByteGeneratorTopBits = 3
	EightByteModeBits         = 1
	EightByteGeneratorLowBits = 8
	EightByteClusterBits      = 4

	// The places of the parts.
	eightByteGeneratorLow = EightByteClusterBits
	eightByteMode         = eightByteGeneratorLow + EightByteGeneratorLowBits
	eightByteGeneratorTop = eightByteMode + EightByteModeBits
	eightByteSequence     = eightByteGeneratorTop + EightByteGeneratorTopBits
	eightByteTime         = eightByteSequence + EightByteSequenceBits
)

// Limits of an eightbyte ID's parts.
const (
	// EightByteMaxUnixMs is the last millisecond, as Unix time: 2109-05-15T07:35:11.103Z.
	EightByteMaxUnixMs = 1<<EightByteTimeBits - 1
	// EightByteMaxSequence is the largest sequence number.
	EightByteMaxSequence = 1<<EightByteSequenceBits - 1
	// EightByteMaxGenerator is the largest generator number. Former layouts have fewer.
	EightByteMaxGenerator = 1<<(EightByteGeneratorTopBits+EightByteGeneratorLowBits) - 1
	// EightByteMaxCluster is the largest cluster number.
	EightByteMaxCluster = 1<<EightByteClusterBits - 1

	// The largest generator number of each former layout. The second and the third have the low
	// bits.
	eightByteV1MaxGenerator = 1<<6 - 1
	eightByteV2MaxGenerator = 1<<EightByteGeneratorLowBits - 1
	eightByteV3MaxGenerator = eightByteV2MaxGenerator
)

// EightByte is the eightbyte ID of an entity E. It is a time, a number within it, and the
// generator's two numbers, in 64 bits.
//
//	5b9bda2989e1989b
//	010110111001101111011010001010011000100111 100001 100 1 10001001 1011
//	tttttttttttttttttttttttttttttttttttttttttt ssssss ggg m gggggggg cccc
//	2019-11-15T14:12:39.591Z · sequence 33 · mode TIME_SEQUENTIAL · generator 1161 · cluster 11
//
//	bits    part           range          who gives it
//	42      timestamp      0 ..= 2^42−1   the clock: milliseconds of Unix time;
//	                                      in mode SPREAD with their bits reversed
//	6       sequence       0 ..= 63       the generator, counting
//	3 + 8   generator_id   0 ..= 2047     the configuration or a claim, together with the cluster
//	1       mode           0 or 1         the configuration: 0 is SPREAD, 1 is TIME_SEQUENTIAL
//	4       cluster_id     0 ..= 15       the configuration or a claim
//
// TIME_SEQUENTIAL IDs of one generator ascend. SPREAD IDs have no order by time. Those of
// neighbouring milliseconds are far apart, so writes spread over the key ranges of a store. The
// number with all parts zero, in mode SPREAD, is no ID: it means "not assigned".
//
// The text is 16 hexadecimal digits in lower case. It sorts as the bytes do. A database holds the
// bytes, or an integer: see [AsBigint]. The layout orders the bits as LableOrg's java-uniqueid
// does, and docs/design/formats.md names its source. Three layouts came before it. Each uses bits
// that were zero before. So an ID of a former layout has the same bytes in the later ones. Without
// a mode it is SPREAD:
//
//	ssssss 000 0 00gggggg cccc   v1, of java-uniqueid 1.0 to 1.13: generators 0 ..= 63, no mode
//	ssssss 000 0 gggggggg cccc   v2, of 1.14 to 2.4: generators 0 ..= 255, no mode
//	ssssss 000 m gggggggg cccc   v3, of 2.5 to 3.1 and 4.0-beta1: generators 0 ..= 255
//	ssssss ggg m gggggggg cccc   this one, of 3.2 and of 4.1 and later
//
// [EightByteParts.ID] composes by this layout; [EightByteParts.V1ID], V2ID and V3ID keep to the
// ranges of the other layouts. They are for databases that programs with an older java-uniqueid use
// as well.
type EightByte[E any] [8]byte

// EightByteID is the eightbyte ID of any entity.
type EightByteID = EightByte[any]

var _ = Parse[EightByteID] // it is an ID

var (
	_ driver.Valuer              = EightByteID{}
	_ sql.Scanner                = (*EightByteID)(nil)
	_ fmt.Stringer               = EightByteID{}
	_ encoding.TextAppender      = EightByteID{}
	_ encoding.TextMarshaler     = EightByteID{}
	_ encoding.TextUnmarshaler   = (*EightByteID)(nil)
	_ encoding.BinaryAppender    = EightByteID{}
	_ encoding.BinaryMarshaler   = EightByteID{}
	_ encoding.BinaryUnmarshaler = (*EightByteID)(nil)
	_ json.Marshaler             = EightByteID{}
	_ json.Unmarshaler           = (*EightByteID)(nil)
	_ encoding.TextMarshaler     = EightByteSpread
	_ encoding.TextUnmarshaler   = (*EightByteMode)(nil)
)

var eightByteScheme = &byteScheme{
	typ: "EightByteID", size: 8, alphabet: "0123456789abcdef", letters: "0-9 or a-f",
}

// EightByteMode says where the IDs of neighbouring milliseconds are: far apart, or one after the
// other.
type EightByteMode int

// The modes.
const (
	EightByteSpread         EightByteMode = 0 // the timestamp's bits are reversed
	EightByteTimeSequential EightByteMode = 1 // the IDs of a generator ascend
)

var errMode = errors.New("want SPREAD or TIME_SEQUENTIAL")

// String is SPREAD or TIME_SEQUENTIAL.
func (m EightByteMode) String() string {
	switch m {
	case EightByteSpread:
		return "SPREAD"
	case EightByteTimeSequential:
		return "TIME_SEQUENTIAL"
	}
	return fmt.Sprintf("EightByteMode(%d)", int(m))
}

func (m EightByteMode) part() part[int64] {
	return part[int64]{"mode", int64(m), int64(EightByteSpread), int64(EightByteTimeSequential)}
}

// MarshalText is String. It returns a [*RangeError] for a value that is none of the constants.
func (m EightByteMode) MarshalText() ([]byte, error) {
	if err := checkParts(eightByteScheme.typ, []part[int64]{m.part()}); err != nil {
		return nil, err
	}
	return []byte(m.String()), nil
}

// UnmarshalText accepts what MarshalText writes. On an error, an [*InputError], the mode is left as
// it was.
func (m *EightByteMode) UnmarshalText(text []byte) error {
	for _, mode := range [...]EightByteMode{EightByteSpread, EightByteTimeSequential} {
		if string(text) == mode.String() {
			*m = mode
			return nil
		}
	}
	return &InputError{Type: "EightByteMode", Input: quote(text), Err: errMode}
}

// EightByteParts are the numbers that an eightbyte ID consists of. Their ranges are those of
// [EightByte]; UnixMs is the time as Unix time, 0 ..= EightByteMaxUnixMs.
type EightByteParts struct {
	Mode      EightByteMode `json:"mode"`
	UnixMs    int64         `json:"unix_ms"`
	Sequence  int           `json:"sequence"`
	Generator int           `json:"generator_id"`
	Cluster   int           `json:"cluster_id"`
}

// ID composes the parts. It returns a [*RangeError] for the first part outside its range. Where all
// parts are zero, the ID would be zero, which is none. Then the error is an [*InputError] that
// wraps [ErrZero].
func (p EightByteParts) ID() (EightByteID, error) {
	return p.id(EightByteTimeSequential, EightByteMaxGenerator)
}

// V1ID composes the parts by the first layout, of java-uniqueid 1.0 to 1.13. It returns what ID
// does, but a [*RangeError] for mode TIME_SEQUENTIAL, and for generators above 63.
func (p EightByteParts) V1ID() (EightByteID, error) {
	return p.id(EightByteSpread, eightByteV1MaxGenerator)
}

// V2ID composes the parts by the second layout, of java-uniqueid 1.14 to 2.4. It returns what ID
// does, but a [*RangeError] for mode TIME_SEQUENTIAL, and for generators above 255.
func (p EightByteParts) V2ID() (EightByteID, error) {
	return p.id(EightByteSpread, eightByteV2MaxGenerator)
}

// V3ID composes the parts by the third layout, of java-uniqueid 2.5 to 3.1. It returns what ID
// does, but a [*RangeError] for generators above 255.
func (p EightByteParts) V3ID() (EightByteID, error) {
	return p.id(EightByteTimeSequential, eightByteV3MaxGenerator)
}

func (p EightByteParts) id(maxMode EightByteMode, maxGenerator int64) (EightByteID, error) {
	if err := p.validate(maxMode, maxGenerator); err != nil {
		return EightByteID{}, err
	}
	v := uint64(p.UnixMs) << eightByteTime
	if p.Mode == EightByteSpread {
		v = bits.Reverse64(uint64(p.UnixMs))
	}
	generator := uint64(p.Generator)
	id := EightByteFromUint64(v | uint64(p.Sequence)<<eightByteSequence |
		generator>>EightByteGeneratorLowBits<<eightByteGeneratorTop |
		uint64(p.Mode)<<eightByteMode |
		generator&(1<<EightByteGeneratorLowBits-1)<<eightByteGeneratorLow | uint64(p.Cluster))
	return id, id.Validate()
}

func (p EightByteParts) validate(maxMode EightByteMode, maxGenerator int64) error {
	return checkParts(eightByteScheme.typ, []part[int64]{
		{"mode", int64(p.Mode), int64(EightByteSpread), int64(maxMode)},
		{"unix_ms", p.UnixMs, 0, EightByteMaxUnixMs},
		{"sequence", int64(p.Sequence), 0, EightByteMaxSequence},
		{"generator_id", int64(p.Generator), 0, maxGenerator},
		{"cluster_id", int64(p.Cluster), 0, EightByteMaxCluster},
	})
}

// EightByteFromUint64 is the ID whose bytes are v, big-endian. Every v but 0 is one.
func EightByteFromUint64(v uint64) (id EightByteID) {
	binary.BigEndian.PutUint64(id[:], v)
	return id
}

// MinEightByteID is the smallest TIME_SEQUENTIAL ID of t's millisecond, of any generator. It
// returns a [*RangeError] for a time outside 0 ..= EightByteMaxUnixMs.
//
// It bounds TIME_SEQUENTIAL IDs only. SPREAD IDs have no order by time. Where a table holds both
// modes, some of them lie between two bounds, of any time: look at their [EightByte.Mode]. In a
// BIGINT column a span of time that holds 2039-09-07T15:47:35.552Z is two ranges: see [AsBigint].
func MinEightByteID(t time.Time) (EightByteID, error) {
	return EightByteParts{Mode: EightByteTimeSequential, UnixMs: unixMs(t)}.ID()
}

// MaxEightByteID is the largest TIME_SEQUENTIAL ID of t's millisecond, of any generator: see
// [MinEightByteID].
func MaxEightByteID(t time.Time) (EightByteID, error) {
	return EightByteParts{
		EightByteTimeSequential, unixMs(t),
		EightByteMaxSequence, EightByteMaxGenerator, EightByteMaxCluster,
	}.ID()
}

// ParseEightByteID reads the 16 digits that String writes, and nothing else: no upper case, no 0x,
// no spaces. Every number but zero follows the layout. Its error is an [*InputError]. [Parse] does
// the same for a typed key.
func ParseEightByteID(s string) (id EightByteID, err error) {
	err = eightByteScheme.parse(id[:], s)
	return id, err
}

// MustParseEightByteID is [ParseEightByteID] for literals and tests: it panics on an error.
func MustParseEightByteID(s string) EightByteID { return must(ParseEightByteID(s)) }

// Uint64 is the ID's bytes as one number, big-endian. Numbers sort as IDs do.
func (e EightByte[E]) Uint64() uint64 { return binary.BigEndian.Uint64(e[:]) }

// Parts takes the ID apart.
func (e EightByte[E]) Parts() EightByteParts {
	return EightByteParts{e.Mode(), e.UnixMs(), e.Sequence(), e.Generator(), e.Cluster()}
}

// Mode is the mode in which the ID was made.
func (e EightByte[E]) Mode() EightByteMode { return EightByteMode(e.Uint64() >> eightByteMode & 1) }

// UnixMs is the time at which the ID was made, as Unix time in milliseconds, 0 ..=
// EightByteMaxUnixMs.
func (e EightByte[E]) UnixMs() int64 {
	v := e.Uint64()
	if e.Mode() == EightByteSpread {
		return int64(bits.Reverse64(v) & EightByteMaxUnixMs)
	}
	return int64(v >> eightByteTime)
}

// Time is the time at which the ID was made, in UTC, to the millisecond.
func (e EightByte[E]) Time() time.Time { return time.UnixMilli(e.UnixMs()).UTC() }

// Sequence is the number of the ID within its millisecond, 0 ..= 63.
func (e EightByte[E]) Sequence() int {
	return int(e.Uint64() >> eightByteSequence & EightByteMaxSequence)
}

// Generator is the number of the generator within its cluster, 0 ..= 2047.
func (e EightByte[E]) Generator() int {
	v := e.Uint64()
	top := v >> eightByteGeneratorTop & (1<<EightByteGeneratorTopBits - 1)
	low := v >> eightByteGeneratorLow & (1<<EightByteGeneratorLowBits - 1)
	return int(top<<EightByteGeneratorLowBits | low)
}

// Cluster is the number of the cluster, 0 ..= 15.
func (e EightByte[E]) Cluster() int { return int(e.Uint64() & EightByteMaxCluster) }

// IsZero reports whether no ID was assigned.
func (e EightByte[E]) IsZero() bool { return e == EightByte[E]{} }

// Validate checks that the ID is not zero. The layout leaves no bit unused. Its error is an
// [*InputError] that wraps [ErrZero].
func (e EightByte[E]) Validate() error { return eightByteScheme.validate(e[:]) }

// ValidateV1 checks the ID against the first layout. It returns a [*RangeError] for mode
// TIME_SEQUENTIAL and for generators above 63, and what Validate returns for zero.
func (e EightByte[E]) ValidateV1() error {
	return e.validateParts(EightByteSpread, eightByteV1MaxGenerator)
}

// ValidateV2 checks the ID against the second layout. It returns a [*RangeError] for mode
// TIME_SEQUENTIAL and for generators above 255, and what Validate returns for zero.
func (e EightByte[E]) ValidateV2() error {
	return e.validateParts(EightByteSpread, eightByteV2MaxGenerator)
}

// ValidateV3 checks the ID against the third layout. It returns a [*RangeError] for generators
// above 255, and what Validate returns for zero.
func (e EightByte[E]) ValidateV3() error {
	return e.validateParts(EightByteTimeSequential, eightByteV3MaxGenerator)
}

func (e EightByte[E]) validateParts(maxMode EightByteMode, maxGenerator int64) error {
	if err := e.Validate(); err != nil {
		return err
	}
	return e.Parts().validate(maxMode, maxGenerator)
}

// Compare orders IDs by their bytes, which is also how a column of bytes orders them. That is by
// time for TIME_SEQUENTIAL IDs.
func (e EightByte[E]) Compare(other EightByte[E]) int { return bytes.Compare(e[:], other[:]) }

// Scheme is [SchemeEightByte].
func (EightByte[E]) Scheme() Scheme { return SchemeEightByte }

// Storage is [StorageBytes], or [StorageBigint] for a key that is declared with [AsBigint].
func (EightByte[E]) Storage() Storage { return storageOf[E](eightByteScheme) }

// String is 16 hexadecimal digits, in lower case. Those of zero are all 0, for people to read; they
// are not read back.
func (e EightByte[E]) String() string {
	return string(appendByteText(make([]byte, 0, textLen), e[:]))
}

// AppendText appends the digits of String. It never fails.
func (e EightByte[E]) AppendText(b []byte) ([]byte, error) { return appendByteText(b, e[:]), nil }

// MarshalText is the digits of String. It never fails.
func (e EightByte[E]) MarshalText() ([]byte, error) {
	return e.AppendText(make([]byte, 0, textLen))
}

// UnmarshalText is [ParseEightByteID]. On an error the ID stays as it was.
func (e *EightByte[E]) UnmarshalText(text []byte) error {
	return eightByteScheme.unmarshalText(e[:], text)
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (e *EightByte[E]) UnmarshalParam(param string) error { return e.UnmarshalText([]byte(param)) }

// MarshalJSON is the digits as a string, and null for zero.
func (e EightByte[E]) MarshalJSON() ([]byte, error) {
	return appendByteJSON(make([]byte, 0, textLen+2), e[:]), nil
}

// UnmarshalJSON accepts what MarshalJSON writes. null sets zero. On an error, which is an
// [*InputError], the ID stays as it was.
func (e *EightByte[E]) UnmarshalJSON(data []byte) error {
	return eightByteScheme.unmarshalJSON(e[:], data)
}

// AppendBinary appends the 8 bytes. It never fails.
func (e EightByte[E]) AppendBinary(b []byte) ([]byte, error) { return append(b, e[:]...), nil }

// MarshalBinary is the 8 bytes. It never fails.
func (e EightByte[E]) MarshalBinary() ([]byte, error) {
	return e.AppendBinary(make([]byte, 0, len(e)))
}

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (e *EightByte[E]) UnmarshalBinary(data []byte) error {
	return eightByteScheme.unmarshalBinary(e[:], data)
}

// Value hands the ID to a database driver, as 8 bytes. For a key that is declared with [AsBigint]
// it is an int64. Zero is an error that wraps [ErrZero]. Beside the error is 0 and not nil: a
// caller who drops the error would take nil for NULL.
func (e EightByte[E]) Value() (driver.Value, error) {
	return eightByteScheme.value(e.Storage(), e[:])
}

// Scan takes the ID from a database driver, as 8 bytes or its text. They come in a []byte, a string
// or an array. An array of PostgreSQL's bytea has \x and 16 digits for the bytes. For other forms
// see [AsBigint]. Scan takes an ID of its own type, by value or by pointer. The error for NULL wraps
// [ErrNull], and that for zero wraps [ErrZero]. On an error, which is an [*InputError], the ID stays
// as it was.
//
// A string of 8 bytes is taken for the bytes of an ID: a FixedString of ClickHouse comes so. It may
// also be a text of as many characters from another column. Nothing here tells the two apart.
// Package pgxid does, for what pgx reads itself.
func (e *EightByte[E]) Scan(src any) error {
	return scanBytes(eightByteScheme, e.Storage(), e, e[:], src)
}

// GormDataType is the column's type: bytes, or bigint.
func (e EightByte[E]) GormDataType() string { return e.Storage().gormDataType() }

func (e EightByte[E]) none() driver.Value  { return eightByteScheme.none(e.Storage()) }
func (e EightByte[E]) isNone(src any) bool { return eightByteScheme.isNone(e.Storage(), src) }
