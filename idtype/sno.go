package idtype

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// Positions of the parts in the first eight bytes; the sequence is the last two bytes.
const (
	snoMeta     = formats.SnoPartitionBits
	snoTickTock = snoMeta + formats.SnoMetaBits
	snoTime     = snoTickTock + formats.SnoTickTockBits
)

// Sno is the sno ID of an entity E. Its ten bytes hold a time, a byte that the app chooses, a
// partition, and a number within all of these.
//
//	335f48168d 9e 8808 dc82, as text 8fhmi7mfls62jp64
//	001100110101111101001000000101101000110 1 10011110 1000100000001000 1101110010000010
//	ttttttttttttttttttttttttttttttttttttttt k mmmmmmmm pppppppppppppppp ssssssssssssssss
//	2023-12-26T10:49:43.960Z · tick-tock 1 · metabyte 158 · partition 34824 · sequence 56450
//
//	bits   part        range          source
//	39     time        0 ..= 2^39−1   the clock: units of 4 ms since 2010-01-01T00:00:00Z
//	1      tick_tock   0 or 1         the generator, which flips it if the clock steps back
//	8      meta        0 ..= 255      the app, for each ID
//	16     partition   0 ..= 65535    the configuration or a claim
//	16     sequence    0 ..= 65535    the generator, counting
//
// IDs of one generator with the same metabyte ascend as long as its clock does. Bytes that are all
// zero are not an ID; they mean "not assigned".
//
// The text is 16 characters of base 32, five bits at a time from the first byte on, with the
// alphabet 23456789abcdefghijklmnopqrstuvwx in lower case. It sorts like the bytes. A database
// stores the bytes, the text, or a UUID: see [AsText] and [AsUUID]. The layout and the text follow
// the sno specification, muyo/sno 1.2.
type Sno[E any] [10]byte

// SnoID is a sno ID that is not tied to an entity.
type SnoID = Sno[any]

// SchemeSno is the name of the scheme.
const SchemeSno Scheme = "sno"

var _ = is[SnoID]

var snoScheme = &byteScheme{
	typ: "SnoID", size: 10, alphabet: "23456789abcdefghijklmnopqrstuvwx", letters: "2-9 or a-x",
}

// SnoParts are the numbers that make up a sno ID. Their ranges are listed at [Sno]; UnixMs is the
// Unix time in milliseconds, 1262304000000 ..= 3461327255551.
type SnoParts struct {
	UnixMs    int64 `json:"unix_ms"`
	TickTock  int   `json:"tick_tock"`
	Meta      int   `json:"meta"`
	Partition int   `json:"partition"`
	Sequence  int   `json:"sequence"`
}

// ID composes an ID from its parts, with the time rounded down to a unit of 4 ms. It returns a
// [*RangeError] for the first part outside its range. If all bytes of the result would be zero, the
// error is an [*InputError] that wraps [ErrZero].
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

// Parts returns the parts of the ID.
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

// Time returns the start of the 4 ms in which the ID was minted, in UTC.
func (s Sno[E]) Time() time.Time { return time.UnixMilli(s.Parts().UnixMs).UTC() }

// IsZero reports whether the ID is zero, which means "not assigned".
func (s Sno[E]) IsZero() bool { return s == Sno[E]{} }

// Validate checks only that the ID is not zero, because the layout leaves no bit unused. The error
// is an [*InputError] that wraps [ErrZero].
func (s Sno[E]) Validate() error { return snoScheme.validate(s[:]) }

// Scheme returns [SchemeSno].
func (Sno[E]) Scheme() Scheme { return SchemeSno }

// Storage returns [StorageBytes], or the form that [AsText] or [AsUUID] in the declaration chooses.
func (Sno[E]) Storage() Storage { return storageOf[E](snoScheme) }

// String returns 16 characters of base 32. For zero all characters are 2; that text is for people
// to read, and is not accepted as an ID.
func (s Sno[E]) String() string { return string(appendByteText(make([]byte, 0, textLen), s[:])) }

// AppendText appends the text of String to b. Zero is an error that wraps [ErrZero].
func (s Sno[E]) AppendText(b []byte) ([]byte, error) {
	if s.IsZero() {
		return b, snoScheme.unset(s[:])
	}
	return appendByteText(b, s[:]), nil
}

// MarshalText returns the text of String, or the same error as AppendText.
func (s Sno[E]) MarshalText() ([]byte, error) { return s.AppendText(make([]byte, 0, textLen)) }

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (s *Sno[E]) UnmarshalText(text []byte) error { return snoScheme.unmarshalText(s[:], text) }

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (s *Sno[E]) UnmarshalParam(param string) error { return s.UnmarshalText([]byte(param)) }

// MarshalJSON returns the text as a string, or null for zero.
func (s Sno[E]) MarshalJSON() ([]byte, error) {
	return appendByteJSON(make([]byte, 0, textLen+2), s[:]), nil
}

// UnmarshalJSON accepts the output of MarshalJSON; null sets the ID to zero. On failure the ID is
// unchanged, and the error is an [*InputError].
func (s *Sno[E]) UnmarshalJSON(data []byte) error { return snoScheme.unmarshalJSON(s[:], data) }

// AppendBinary appends the 10 bytes of the ID to b. Zero is an error that wraps [ErrZero].
func (s Sno[E]) AppendBinary(b []byte) ([]byte, error) {
	if s.IsZero() {
		return b, snoScheme.unset(s[:])
	}
	return append(b, s[:]...), nil
}

// MarshalBinary returns the 10 bytes of the ID, or the same error as AppendBinary.
func (s Sno[E]) MarshalBinary() ([]byte, error) { return s.AppendBinary(make([]byte, 0, len(s))) }

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (s *Sno[E]) UnmarshalBinary(data []byte) error { return snoScheme.fromBytes(s[:], data) }

// Value returns the ID as 10 bytes, for a database driver, or in the form that [AsText] or [AsUUID]
// chooses. Zero is an error that wraps [ErrZero]. Together with the error Value returns 0 rather
// than nil, so that a caller that drops the error does not mistake it for NULL.
func (s Sno[E]) Value() (driver.Value, error) { return snoScheme.value(s.Storage(), s[:]) }

// Scan reads the ID from a database driver, as 10 bytes or as its text, in a []byte, a string, or
// an array. The bytes may also be written as \x and 20 digits, as in a PostgreSQL array of bytea.
// For other forms see [AsText] and [AsUUID]. Scan also accepts an ID of the same type, by value or
// by pointer. The error wraps [ErrNull] for NULL, and [ErrZero] for zero. On failure the ID is
// unchanged, and the error is an [*InputError].
//
// A string of 10 bytes is read as the bytes of an ID, because ClickHouse returns a FixedString like
// that. It could also be a text of 10 characters from another column, which Scan cannot
// distinguish. Package pgxid can, for values that pgx reads itself.
func (s *Sno[E]) Scan(src any) error { return scanBytes(snoScheme, s.Storage(), s, s[:], src) }

// GormDataType returns the type of the column: bytes, char(16), or uuid.
func (s Sno[E]) GormDataType() string { return s.Storage().gormDataType() }

func (Sno[E]) bounds(from, to time.Time) ([]Range[Sno[E]], error) {
	least, err := SnoParts{UnixMs: unixMs(from)}.ID()
	if errors.Is(err, ErrZero) {
		least, err = SnoParts{UnixMs: formats.SnoEpoch, Sequence: 1}.ID() // the first 4 ms
	}
	most, err2 := SnoParts{
		unixMs(to), formats.SnoMaxTickTock, formats.SnoMaxMeta, formats.SnoMaxPartition,
		formats.SnoMaxSequence,
	}.ID()
	return oneRange(Sno[E](least), Sno[E](most), err, err2)
}

// maxSnoRanges is the number of ranges in one minute.
const maxSnoRanges = 60_000 / formats.SnoTimeUnit * 2

var errSnoRanges = errors.New("the span is longer than a minute: " +
	"use Bounds, and compare the metabyte")

// SnoBounds is like [Bounds], but only for the IDs whose metabytes are least to most. The metabyte
// is below the time and the tick-tock bit, so SnoBounds returns two ranges for every 4 ms, or 500
// for a second. A store that seeks by key then reads no other IDs. For more than a minute the error
// is an [*InputError]; let the query compare the metabyte instead, as docs/use/metabyte.md shows.
// If most is below least, the error is a [*RangeError].
func SnoBounds[E any](from, to time.Time, least, most byte) ([]Range[Sno[E]], error) {
	span, err := Bounds[Sno[E]](from, to)
	if err != nil {
		return nil, err
	}
	if most < least {
		return nil, &RangeError{
			snoScheme.typ, "meta", int64(most), int64(least), formats.SnoMaxMeta,
		}
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
		binary.BigEndian.PutUint64(r.Max[:],
			head<<snoTickTock|uint64(most)<<snoMeta|formats.SnoMaxPartition)
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
