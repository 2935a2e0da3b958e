package idtype

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"math/bits"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// Positions of the parts, in bits.
const (
	eightByteGeneratorLow = formats.EightByteClusterBits
	eightByteMode         = eightByteGeneratorLow + formats.EightByteGeneratorLowBits
	eightByteGeneratorTop = eightByteMode + formats.EightByteModeBits
	eightByteSequence     = eightByteGeneratorTop + formats.EightByteGeneratorTopBits
	eightByteTime         = eightByteSequence + formats.EightByteSequenceBits

	eightByteLowMask = 1<<formats.EightByteGeneratorLowBits - 1
)

// EightByte is the eightbyte ID of an entity E. Its 64 bits hold a time, a number within the time,
// and the two numbers of the generator.
//
//	5b9bda2989e1989b
//	010110111001101111011010001010011000100111 100001 100 1 10001001 1011
//	tttttttttttttttttttttttttttttttttttttttttt ssssss ggg m gggggggg cccc
//	2019-11-15T14:12:39.591Z · sequence 33 · mode TIME_SEQUENTIAL · generator 1161 · cluster 11
//
//	bits    part           range          source
//	42      timestamp      0 ..= 2^42−1   the clock: milliseconds of Unix time;
//	                                      in mode SPREAD with their bits reversed
//	6       sequence       0 ..= 63       the generator, counting
//	3 + 8   generator_id   0 ..= 2047     the configuration or a claim, together with the cluster
//	1       mode           0 or 1         the configuration: 0 is SPREAD, 1 is TIME_SEQUENTIAL
//	4       cluster_id     0 ..= 15       the configuration or a claim
//
// TIME_SEQUENTIAL IDs of one generator ascend. SPREAD IDs are not ordered by time: IDs of
// neighboring milliseconds are far apart, which spreads writes over the key ranges of a store. The
// value in which all parts are zero, in mode SPREAD, is not an ID; it means "not assigned".
//
// The text is 16 hexadecimal digits in lower case, and sorts like the bytes. A database stores the
// bytes, or an integer: see [AsBigint]. The layout orders the bits as LableOrg's java-uniqueid
// does; docs/design/formats.md names the source. Three layouts preceded this one. Each layout uses
// bits that were zero in the one before, so an ID of a former layout has the same bytes in later
// ones. There, an ID without a mode is a SPREAD ID:
//
//	ssssss 000 0 00gggggg cccc   v1, of java-uniqueid 1.0 to 1.13: generators 0 ..= 63, no mode
//	ssssss 000 0 gggggggg cccc   v2, of 1.14 to 2.4: generators 0 ..= 255, no mode
//	ssssss 000 m gggggggg cccc   v3, of 2.5 to 3.1 and 4.0-beta1: generators 0 ..= 255
//	ssssss ggg m gggggggg cccc   this one, of 3.2 and of 4.1 and later
//
// [EightByteParts.ID] composes IDs in this layout. [EightByteParts.FormerID] keeps within the
// ranges of a former layout, for databases that are shared with programs that use an older
// java-uniqueid.
type EightByte[E any] [8]byte

// EightByteID is an eightbyte ID that is not tied to an entity.
type EightByteID = EightByte[any]

// SchemeEightByte is the name of the scheme.
const SchemeEightByte Scheme = "eightbyte"

var _ = is[EightByteID]

var eightByteScheme = &byteScheme{
	typ: "EightByteID", size: 8, alphabet: "0123456789abcdef", letters: "0-9 or a-f",
}

// EightByteMode determines whether the IDs of neighboring milliseconds are far apart or follow each
// other. An empty mode means [EightByteSpread], as in the layouts that had no mode.
type EightByteMode string

// The modes.
const (
	EightByteSpread         EightByteMode = "SPREAD"          // the timestamp's bits are reversed
	EightByteTimeSequential EightByteMode = "TIME_SEQUENTIAL" // the IDs of a generator ascend
)

var errMode = errors.New("want SPREAD or TIME_SEQUENTIAL")

// bit returns the mode's bit in an ID.
func (m EightByteMode) bit() (int64, error) {
	switch m {
	case EightByteSpread, "":
		return 0, nil
	case EightByteTimeSequential:
		return 1, nil
	}
	return 0, &InputError{Type: "EightByteMode", Input: quote(string(m)), Err: errMode}
}

// EightByteParts are the numbers that make up an eightbyte ID. Their ranges are listed at
// [EightByte]; UnixMs is the Unix time in milliseconds, 0 ..= 4398046511103.
type EightByteParts struct {
	Mode      EightByteMode `json:"mode"`
	UnixMs    int64         `json:"unix_ms"`
	Sequence  int           `json:"sequence"`
	Generator int           `json:"generator_id"`
	Cluster   int           `json:"cluster_id"`
}

// ID composes an ID from its parts. It returns a [*RangeError] for the first part outside its
// range. If all parts are zero, the result would be zero, and the error is an [*InputError] that
// wraps [ErrZero]. An unknown mode is an InputError too.
func (p EightByteParts) ID() (EightByteID, error) {
	return p.id(newestLayout)
}

// FormerID composes an ID in a former layout, 1 to 3: see [EightByte]. It is like ID, but also
// returns a [*RangeError] for a mode or a generator that the layout cannot hold, and for an unknown
// layout.
func (p EightByteParts) FormerID(layout int) (EightByteID, error) {
	l, err := formerLayout(layout)
	if err != nil {
		return EightByteID{}, err
	}
	return p.id(l)
}

// An eightByteLayout holds the limits of a layout.
type eightByteLayout struct {
	maxMode, maxGenerator int64
}

var newestLayout = eightByteLayout{1, formats.EightByteMaxGenerator}

func formerLayout(number int) (eightByteLayout, error) {
	former := [...]eightByteLayout{
		{0, 63}, {0, eightByteLowMask}, {1, eightByteLowMask},
	}
	if number < 1 || number > len(former) {
		return eightByteLayout{}, &RangeError{
			eightByteScheme.typ, "layout", int64(number), 1, int64(len(former)),
		}
	}
	return former[number-1], nil
}

func (p EightByteParts) id(l eightByteLayout) (EightByteID, error) {
	mode, err := p.validate(l)
	if err != nil {
		return EightByteID{}, err
	}
	v := uint64(p.UnixMs) << eightByteTime
	if mode == 0 {
		v = bits.Reverse64(uint64(p.UnixMs))
	}
	generator := uint64(p.Generator)
	id := EightByteFromUint64(v | uint64(p.Sequence)<<eightByteSequence |
		generator>>formats.EightByteGeneratorLowBits<<eightByteGeneratorTop |
		uint64(mode)<<eightByteMode |
		generator&eightByteLowMask<<eightByteGeneratorLow | uint64(p.Cluster))
	return id, id.Validate()
}

func (p EightByteParts) validate(l eightByteLayout) (mode int64, err error) {
	mode, err = p.Mode.bit()
	if err != nil {
		return 0, err
	}
	return mode, checkParts(eightByteScheme.typ, []part[int64]{
		{"mode", mode, 0, l.maxMode},
		{"unix_ms", p.UnixMs, 0, formats.EightByteMaxUnixMs},
		{"sequence", int64(p.Sequence), 0, formats.EightByteMaxSequence},
		{"generator_id", int64(p.Generator), 0, l.maxGenerator},
		{"cluster_id", int64(p.Cluster), 0, formats.EightByteMaxCluster},
	})
}

// EightByteFromUint64 returns the ID whose bytes are v, big-endian. Every v except 0 is an ID.
func EightByteFromUint64(v uint64) (id EightByteID) {
	binary.BigEndian.PutUint64(id[:], v)
	return id
}

// Uint64 returns the ID's bytes as one big-endian number. The numbers sort like the IDs.
func (e EightByte[E]) Uint64() uint64 { return binary.BigEndian.Uint64(e[:]) }

// Parts returns the parts of the ID.
func (e EightByte[E]) Parts() EightByteParts {
	v := e.Uint64()
	p := EightByteParts{
		Mode:     EightByteTimeSequential,
		UnixMs:   int64(v >> eightByteTime),
		Sequence: int(v >> eightByteSequence & formats.EightByteMaxSequence),
		Generator: int(v>>eightByteGeneratorTop&(1<<formats.EightByteGeneratorTopBits-1)<<
			formats.EightByteGeneratorLowBits | v>>eightByteGeneratorLow&eightByteLowMask),
		Cluster: int(v & formats.EightByteMaxCluster),
	}
	if v>>eightByteMode&1 == 0 {
		p.Mode = EightByteSpread
		p.UnixMs = int64(bits.Reverse64(v) & formats.EightByteMaxUnixMs)
	}
	return p
}

// Time returns the time at which the ID was minted, in UTC, to the millisecond.
func (e EightByte[E]) Time() time.Time { return time.UnixMilli(e.Parts().UnixMs).UTC() }

// IsZero reports whether the ID is zero, which means "not assigned".
func (e EightByte[E]) IsZero() bool { return e == EightByte[E]{} }

// Validate checks only that the ID is not zero, because the layout leaves no bit unused. The error
// is an [*InputError] that wraps [ErrZero].
func (e EightByte[E]) Validate() error { return eightByteScheme.validate(e[:]) }

// ValidateFormer checks the ID against a former layout, 1 to 3. The error is a [*RangeError] for a
// mode or a generator that the layout cannot hold, and for an unknown layout. For zero it is the
// error of Validate.
func (e EightByte[E]) ValidateFormer(layout int) error {
	l, err := formerLayout(layout)
	if err != nil {
		return err
	}
	if err := e.Validate(); err != nil {
		return err
	}
	_, err = e.Parts().validate(l)
	return err
}

// Scheme returns [SchemeEightByte].
func (EightByte[E]) Scheme() Scheme { return SchemeEightByte }

// Storage returns [StorageBytes], or [StorageBigint] if the key is declared with [AsBigint].
func (EightByte[E]) Storage() Storage { return storageOf[E](eightByteScheme) }

// String returns 16 hexadecimal digits in lower case. For zero all digits are 0; that text is for
// people to read, and is not accepted as an ID.
func (e EightByte[E]) String() string {
	return string(appendByteText(make([]byte, 0, textLen), e[:]))
}

// AppendText appends the digits of String to b. Zero is an error that wraps [ErrZero].
func (e EightByte[E]) AppendText(b []byte) ([]byte, error) {
	if e.IsZero() {
		return b, eightByteScheme.unset(e[:])
	}
	return appendByteText(b, e[:]), nil
}

// MarshalText returns the digits of String, or the same error as AppendText.
func (e EightByte[E]) MarshalText() ([]byte, error) {
	return e.AppendText(make([]byte, 0, textLen))
}

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (e *EightByte[E]) UnmarshalText(text []byte) error {
	return eightByteScheme.unmarshalText(e[:], text)
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (e *EightByte[E]) UnmarshalParam(param string) error { return e.UnmarshalText([]byte(param)) }

// MarshalJSON returns the digits as a string, or null for zero.
func (e EightByte[E]) MarshalJSON() ([]byte, error) {
	return appendByteJSON(make([]byte, 0, textLen+2), e[:]), nil
}

// UnmarshalJSON accepts the output of MarshalJSON; null sets the ID to zero. On failure the ID is
// unchanged, and the error is an [*InputError].
func (e *EightByte[E]) UnmarshalJSON(data []byte) error {
	return eightByteScheme.unmarshalJSON(e[:], data)
}

// AppendBinary appends the 8 bytes of the ID to b. Zero is an error that wraps [ErrZero].
func (e EightByte[E]) AppendBinary(b []byte) ([]byte, error) {
	if e.IsZero() {
		return b, eightByteScheme.unset(e[:])
	}
	return append(b, e[:]...), nil
}

// MarshalBinary returns the 8 bytes of the ID, or the same error as AppendBinary.
func (e EightByte[E]) MarshalBinary() ([]byte, error) {
	return e.AppendBinary(make([]byte, 0, len(e)))
}

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (e *EightByte[E]) UnmarshalBinary(data []byte) error {
	return eightByteScheme.fromBytes(e[:], data)
}

// Value returns the ID as 8 bytes, for a database driver, or as an int64 if the key is declared
// with [AsBigint]. Zero is an error that wraps [ErrZero]. Together with the error Value returns 0
// rather than nil, so that a caller that drops the error does not mistake it for NULL.
func (e EightByte[E]) Value() (driver.Value, error) {
	return eightByteScheme.value(e.Storage(), e[:])
}

// Scan reads the ID from a database driver, as 8 bytes or as its text, in a []byte, a string, or an
// array. The bytes may also be written as \x and 16 digits, as in a PostgreSQL array of bytea. For
// other forms see [AsBigint]. Scan also accepts an ID of the same type, by value or by pointer. The
// error wraps [ErrNull] for NULL, and [ErrZero] for zero. On failure the ID is unchanged, and the
// error is an [*InputError].
//
// A string of 8 bytes is read as the bytes of an ID, because ClickHouse returns a FixedString like
// that. It could also be a text of 8 characters from another column, which Scan cannot distinguish.
// Package pgxid can, for values that pgx reads itself.
func (e *EightByte[E]) Scan(src any) error {
	return scanBytes(eightByteScheme, e.Storage(), e, e[:], src)
}

// GormDataType returns the type of the column: bytes or bigint.
func (e EightByte[E]) GormDataType() string { return e.Storage().gormDataType() }

// bounds returns two ranges if the numbers of an integer column turn negative within the span.
func (e EightByte[E]) bounds(from, to time.Time) ([]Range[EightByte[E]], error) {
	least, err := EightByteParts{Mode: EightByteTimeSequential, UnixMs: unixMs(from)}.ID()
	most, err2 := EightByteParts{
		EightByteTimeSequential, unixMs(to), formats.EightByteMaxSequence,
		formats.EightByteMaxGenerator, formats.EightByteMaxCluster,
	}.ID()
	ranges, err := oneRange(EightByte[E](least), EightByte[E](most), err, err2)
	const seam = 1 << 63
	if err != nil || e.Storage() != StorageBigint || least[0] >= 0x80 || most[0] < 0x80 {
		return ranges, err
	}
	return []Range[EightByte[E]]{
		{EightByte[E](least), EightByte[E](EightByteFromUint64(seam - 1))},
		{EightByte[E](EightByteFromUint64(seam)), EightByte[E](most)},
	}, nil
}

func (EightByte[E]) parsed(text string) (id EightByte[E], err error) {
	err = eightByteScheme.parse(id[:], text)
	return id, err
}

func (e EightByte[E]) compare(other EightByte[E]) int { return bytes.Compare(e[:], other[:]) }
func (e EightByte[E]) none() driver.Value             { return eightByteScheme.none(e.Storage()) }

func (e EightByte[E]) isNone(src any) bool {
	return eightByteScheme.isNone(e.Storage(), src)
}
