package idtype

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// The places of the parts in the first eight bytes. The sequence is the last two.
const (
	snoMeta     = formats.SnoPartitionBits
	snoTickTock = snoMeta + formats.SnoMetaBits
	snoTime     = snoTickTock + formats.SnoTickTockBits
)

// Sno is the sno ID of an entity E. It is a time, a byte of the app's, a partition and a number
// within them, in ten bytes.
//
//	335f48168d 9e 8808 dc82, as text 8fhmi7mfls62jp64
//	001100110101111101001000000101101000110 1 10011110 1000100000001000 1101110010000010
//	ttttttttttttttttttttttttttttttttttttttt k mmmmmmmm pppppppppppppppp ssssssssssssssss
//	2023-12-26T10:49:43.960Z · tick-tock 1 · metabyte 158 · partition 34824 · sequence 56450
//
//	bits   part        range          who gives it
//	39     time        0 ..= 2^39−1   the clock: units of 4 ms since 2010-01-01T00:00:00Z
//	1      tick_tock   0 or 1         the generator: it changes when the clock steps back
//	8      meta        0 ..= 255      the app, per ID
//	16     partition   0 ..= 65535    the configuration or a claim
//	16     sequence    0 ..= 65535    the generator, counting
//
// IDs of one generator with one metabyte ascend while its clock does. Bytes that are all zero are
// no ID: they mean "not assigned".
//
// The text is 16 characters of base 32, five bits at a time from the first byte on. The alphabet is
// 23456789abcdefghijklmnopqrstuvwx, in lower case. It sorts as the bytes do. A database holds the
// bytes, the text or a UUID: see [AsText] and [AsUUID]. The layout and the text are those of the
// sno specification, muyo/sno 1.2.
type Sno[E any] [10]byte

// SnoID is the sno ID of any entity.
type SnoID = Sno[any]

// SchemeSno is the name of the scheme.
const SchemeSno Scheme = "sno"

var _ = is[SnoID]

var snoScheme = &byteScheme{
	typ: "SnoID", size: 10, alphabet: "23456789abcdefghijklmnopqrstuvwx", letters: "2-9 or a-x",
}

// SnoParts are the numbers that a sno ID consists of. Their ranges are those of [Sno]; UnixMs is
// the time as Unix time, 1262304000000 ..= 3461327255551.
type SnoParts struct {
	UnixMs    int64 `json:"unix_ms"`
	TickTock  int   `json:"tick_tock"`
	Meta      int   `json:"meta"`
	Partition int   `json:"partition"`
	Sequence  int   `json:"sequence"`
}

// ID composes the parts, the time rounded down to the unit of 4 ms. It returns a [*RangeError] for
// the first part outside its range. Where all bytes would be zero, which is none, the error is an
// [*InputError] that wraps [ErrZero].
func (p SnoParts) ID() (SnoID, error) {
	if err := p.validate(); err != nil {
		return SnoID{}, err
	}
	var id SnoID
	units := uint64(p.UnixMs-formats.SnoEpoch) / formats.SnoTimeUnit
	binary.BigEndian.PutUint64(id[:], units<<snoTime|uint64(p.TickTock)<<snoTickTock|
		uint64(p.Meta)<<snoMeta|uint64(p.Partition))
	binary.BigEndian.PutUint16(id[8:], uint16(p.Sequence))
	return id, id.Validate()
}

func (p SnoParts) validate() error {
	return checkParts(snoScheme.typ, []part[int64]{
		{"unix_ms", p.UnixMs, formats.SnoEpoch, formats.SnoMaxUnixMs},
		{"tick_tock", int64(p.TickTock), 0, formats.SnoMaxTickTock},
		{"meta", int64(p.Meta), 0, formats.SnoMaxMeta},
		{"partition", int64(p.Partition), 0, formats.SnoMaxPartition},
		{"sequence", int64(p.Sequence), 0, formats.SnoMaxSequence},
	})
}

// Parts takes the ID apart.
func (s Sno[E]) Parts() SnoParts {
	head := binary.BigEndian.Uint64(s[:]) // all but the sequence
	return SnoParts{
		UnixMs:    int64(head>>snoTime)*formats.SnoTimeUnit + formats.SnoEpoch,
		TickTock:  int(head >> snoTickTock & formats.SnoMaxTickTock),
		Meta:      int(head >> snoMeta & formats.SnoMaxMeta),
		Partition: int(head & formats.SnoMaxPartition),
		Sequence:  int(binary.BigEndian.Uint16(s[8:])),
	}
}

// Time is the start of the 4 ms in which the ID was made, in UTC.
func (s Sno[E]) Time() time.Time { return time.UnixMilli(s.Parts().UnixMs).UTC() }

// IsZero reports whether no ID was assigned.
func (s Sno[E]) IsZero() bool { return s == Sno[E]{} }

// Validate checks that the ID is not zero. The layout leaves no bit unused. Its error is an
// [*InputError] that wraps [ErrZero].
func (s Sno[E]) Validate() error { return snoScheme.validate(s[:]) }

// Scheme is [SchemeSno].
func (Sno[E]) Scheme() Scheme { return SchemeSno }

// Storage is [StorageBytes], or what [AsText] or [AsUUID] in the key's declaration says.
func (Sno[E]) Storage() Storage { return storageOf[E](snoScheme) }

// String is 16 characters of base 32. Those of zero are all 2, for people to read; they are not
// read back.
func (s Sno[E]) String() string { return string(appendByteText(make([]byte, 0, textLen), s[:])) }

// AppendText appends the characters of String. Zero is an error that wraps [ErrZero].
func (s Sno[E]) AppendText(b []byte) ([]byte, error) {
	if s.IsZero() {
		return b, snoScheme.unset(s[:])
	}
	return appendByteText(b, s[:]), nil
}

// MarshalText is the characters of String. The error is that of AppendText.
func (s Sno[E]) MarshalText() ([]byte, error) { return s.AppendText(make([]byte, 0, textLen)) }

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID stays as it was.
func (s *Sno[E]) UnmarshalText(text []byte) error { return snoScheme.unmarshalText(s[:], text) }

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (s *Sno[E]) UnmarshalParam(param string) error { return s.UnmarshalText([]byte(param)) }

// MarshalJSON is the text as a string, and null for zero.
func (s Sno[E]) MarshalJSON() ([]byte, error) {
	return appendByteJSON(make([]byte, 0, textLen+2), s[:]), nil
}

// UnmarshalJSON accepts what MarshalJSON writes. null sets zero. On an error, which is an
// [*InputError], the ID stays as it was.
func (s *Sno[E]) UnmarshalJSON(data []byte) error { return snoScheme.unmarshalJSON(s[:], data) }

// AppendBinary appends the 10 bytes. Zero is an error that wraps [ErrZero].
func (s Sno[E]) AppendBinary(b []byte) ([]byte, error) {
	if s.IsZero() {
		return b, snoScheme.unset(s[:])
	}
	return append(b, s[:]...), nil
}

// MarshalBinary is the 10 bytes. The error is that of AppendBinary.
func (s Sno[E]) MarshalBinary() ([]byte, error) { return s.AppendBinary(make([]byte, 0, len(s))) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (s *Sno[E]) UnmarshalBinary(data []byte) error { return snoScheme.fromBytes(s[:], data) }

// Value hands the ID to a database driver, as 10 bytes, or as [AsText] or [AsUUID] say. Zero is an
// error that wraps [ErrZero]. Beside the error is 0 and not nil: a caller who drops the error would
// take nil for NULL.
func (s Sno[E]) Value() (driver.Value, error) { return snoScheme.value(s.Storage(), s[:]) }

// Scan takes the ID from a database driver, as 10 bytes or its text. They come in a []byte, a
// string or an array. An array of PostgreSQL's bytea has \x and 20 digits for the bytes. For other
// forms see [AsText] and [AsUUID]. Scan takes an ID of its own type, by value or by pointer. The
// error for NULL wraps [ErrNull], and that for zero wraps [ErrZero]. On an error, which is an
// [*InputError], the ID stays as it was.
//
// A string of 10 bytes is taken for the bytes of an ID: a FixedString of ClickHouse comes so. It
// may also be a text of as many characters from another column. Nothing here tells the two apart.
// Package pgxid does, for what pgx reads itself.
func (s *Sno[E]) Scan(src any) error { return scanBytes(snoScheme, s.Storage(), s, s[:], src) }

// GormDataType is the column's type: bytes, char(16) or uuid.
func (s Sno[E]) GormDataType() string { return s.Storage().gormDataType() }

func (Sno[E]) bounds(from, to time.Time) ([]Range[Sno[E]], error) {
	least, err := SnoParts{UnixMs: unixMs(from)}.ID()
	if errors.Is(err, ErrZero) {
		least, err = SnoParts{UnixMs: formats.SnoEpoch, Sequence: 1}.ID() // the first 4 ms of all
	}
	most, err2 := SnoParts{
		unixMs(to), formats.SnoMaxTickTock, formats.SnoMaxMeta, formats.SnoMaxPartition,
		formats.SnoMaxSequence,
	}.ID()
	return oneRange(Sno[E](least), Sno[E](most), err, err2)
}

// maxSnoRanges are those of a minute.
const maxSnoRanges = 60_000 / formats.SnoTimeUnit * 2

var errSnoRanges = errors.New("it is longer than a minute: take Bounds, and compare the metabyte")

// SnoBounds is [Bounds] of the IDs whose metabytes are least to most. The metabyte stands below the
// time and the tick-tock bit, so each 4 ms have two ranges, and a second has 500. A store that seeks
// by key reads no other IDs then. For more than a minute the error is an [*InputError]: let the query
// compare the metabyte there, as docs/use/metabyte.md shows. It is a [*RangeError] if most is below least.
func SnoBounds[E any](from, to time.Time, least, most byte) ([]Range[Sno[E]], error) {
	span, err := Bounds[Sno[E]](from, to)
	if err != nil {
		return nil, err
	}
	if most < least {
		return nil, &RangeError{snoScheme.typ, "meta", int64(most), int64(least), formats.SnoMaxMeta}
	}
	head := binary.BigEndian.Uint64(span[0].Min[:]) >> snoTickTock
	last := binary.BigEndian.Uint64(span[0].Max[:]) >> snoTickTock
	if last-head >= maxSnoRanges {
		return nil, spanError(snoScheme.typ, from, to, errSnoRanges)
	}
	var ranges []Range[Sno[E]]
	for ; head <= last; head++ {
		var r Range[Sno[E]]
		binary.BigEndian.PutUint64(r.Min[:], head<<snoTickTock|uint64(least)<<snoMeta)
		binary.BigEndian.PutUint64(r.Max[:], head<<snoTickTock|uint64(most)<<snoMeta|formats.SnoMaxPartition)
		binary.BigEndian.PutUint16(r.Max[8:], formats.SnoMaxSequence)
		if r.Min.IsZero() {
			r.Min[9] = 1
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

func (Sno[E]) parsed(text string) (id Sno[E], err error) {
	err = snoScheme.parse(id[:], text)
	return id, err
}

func (s Sno[E]) compare(other Sno[E]) int { return bytes.Compare(s[:], other[:]) }
func (s Sno[E]) none() driver.Value       { return snoScheme.none(s.Storage()) }
func (s Sno[E]) isNone(src any) bool      { return snoScheme.isNone(s.Storage(), src) }
