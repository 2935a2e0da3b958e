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

// The places of the parts.
const (
	eightByteGeneratorLow = formats.EightByteClusterBits
	eightByteMode         = eightByteGeneratorLow + formats.EightByteGeneratorLowBits
	eightByteGeneratorTop = eightByteMode + formats.EightByteModeBits
	eightByteSequence     = eightByteGeneratorTop + formats.EightByteGeneratorTopBits
	eightByteTime         = eightByteSequence + formats.EightByteSequenceBits

	eightByteLowMask = 1<<formats.EightByteGeneratorLowBits - 1
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
// [EightByteParts.ID] composes by this layout; [EightByteParts.FormerID] keeps to the ranges of the
// other layouts. It is for databases that programs with an older java-uniqueid use as well.
type EightByte[E any] [8]byte

// EightByteID is the eightbyte ID of any entity.
type EightByteID = EightByte[any]

// SchemeEightByte is the name of the scheme.
const SchemeEightByte Scheme = "eightbyte"

var _ = is[EightByteID]

var eightByteScheme = &byteScheme{
	typ: "EightByteID", size: 8, alphabet: "0123456789abcdef", letters: "0-9 or a-f",
}

// EightByteMode says where the IDs of neighbouring milliseconds are: far apart, or one after the
// other. An empty one is [EightByteSpread], as of the layouts that had no mode.
type EightByteMode string

// The modes.
const (
	EightByteSpread         EightByteMode = "SPREAD"          // the timestamp's bits are reversed
	EightByteTimeSequential EightByteMode = "TIME_SEQUENTIAL" // the IDs of a generator ascend
)

var errMode = errors.New("want SPREAD or TIME_SEQUENTIAL")

// bit is the mode as IDs have it.
func (m EightByteMode) bit() (int64, error) {
	switch m {
	case EightByteSpread, "":
		return 0, nil
	case EightByteTimeSequential:
		return 1, nil
	}
	return 0, &InputError{Type: "EightByteMode", Input: quote(string(m)), Err: errMode}
}

// EightByteParts are the numbers that an eightbyte ID consists of. Their ranges are those of
// [EightByte]; UnixMs is the time as Unix time, 0 ..= 4398046511103.
type EightByteParts struct {
	Mode      EightByteMode `json:"mode"`
	UnixMs    int64         `json:"unix_ms"`
	Sequence  int           `json:"sequence"`
	Generator int           `json:"generator_id"`
	Cluster   int           `json:"cluster_id"`
}

// ID composes the parts. It returns a [*RangeError] for the first part outside its range. Where all
// parts are zero, the ID would be zero, which is none. Then the error is an [*InputError] that
// wraps [ErrZero]. A mode that there is not is an InputError too.
func (p EightByteParts) ID() (EightByteID, error) {
	return p.id(newestLayout)
}

// FormerID composes the parts by a former layout, 1 to 3: see [EightByte]. It returns what ID does,
// but a [*RangeError] also for a mode and for generators that the layout does not have, and for a
// layout that there is not.
func (p EightByteParts) FormerID(layout int) (EightByteID, error) {
	l, err := formerLayout(layout)
	if err != nil {
		return EightByteID{}, err
	}
	return p.id(l)
}

// An eightByteLayout is what a layout's IDs can hold.
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

// EightByteFromUint64 is the ID whose bytes are v, big-endian. Every v but 0 is one.
func EightByteFromUint64(v uint64) (id EightByteID) {
	binary.BigEndian.PutUint64(id[:], v)
	return id
}

// Uint64 is the ID's bytes as one number, big-endian. Numbers sort as IDs do.
func (e EightByte[E]) Uint64() uint64 { return binary.BigEndian.Uint64(e[:]) }

// Parts takes the ID apart.
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

// Time is the time at which the ID was made, in UTC, to the millisecond.
func (e EightByte[E]) Time() time.Time { return time.UnixMilli(e.Parts().UnixMs).UTC() }

// IsZero reports whether no ID was assigned.
func (e EightByte[E]) IsZero() bool { return e == EightByte[E]{} }

// Validate checks that the ID is not zero. The layout leaves no bit unused. Its error is an
// [*InputError] that wraps [ErrZero].
func (e EightByte[E]) Validate() error { return eightByteScheme.validate(e[:]) }

// ValidateFormer checks the ID against a former layout, 1 to 3. It returns a [*RangeError] for a mode
// and for generators that the layout does not have, and for a layout that there is not. For zero it
// returns what Validate returns.
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

// Scheme is [SchemeEightByte].
func (EightByte[E]) Scheme() Scheme { return SchemeEightByte }

// Storage is [StorageBytes], or [StorageBigint] for a key that is declared with [AsBigint].
func (EightByte[E]) Storage() Storage { return storageOf[E](eightByteScheme) }

// String is 16 hexadecimal digits, in lower case. Those of zero are all 0, for people to read; they
// are not read back.
func (e EightByte[E]) String() string {
	return string(appendByteText(make([]byte, 0, textLen), e[:]))
}

// AppendText appends the digits of String. Zero is an error that wraps [ErrZero].
func (e EightByte[E]) AppendText(b []byte) ([]byte, error) {
	if e.IsZero() {
		return b, eightByteScheme.unset(e[:])
	}
	return appendByteText(b, e[:]), nil
}

// MarshalText is the digits of String. The error is that of AppendText.
func (e EightByte[E]) MarshalText() ([]byte, error) {
	return e.AppendText(make([]byte, 0, textLen))
}

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID stays as it was.
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

// AppendBinary appends the 8 bytes. Zero is an error that wraps [ErrZero].
func (e EightByte[E]) AppendBinary(b []byte) ([]byte, error) {
	if e.IsZero() {
		return b, eightByteScheme.unset(e[:])
	}
	return append(b, e[:]...), nil
}

// MarshalBinary is the 8 bytes. The error is that of AppendBinary.
func (e EightByte[E]) MarshalBinary() ([]byte, error) {
	return e.AppendBinary(make([]byte, 0, len(e)))
}

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (e *EightByte[E]) UnmarshalBinary(data []byte) error {
	return eightByteScheme.fromBytes(e[:], data)
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

// bounds are two ranges where the numbers of a column of integers turn negative within the span.
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
func (e EightByte[E]) isNone(src any) bool            { return eightByteScheme.isNone(e.Storage(), src) }
