package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// Trace is the trace ID of an entity E. It is a positive int64 whose bits hold a time, a node, and
// a number within the two.
//
//	4646428214845635103
//	0 1000000011110110110110111 0101111111010000 1110011111101000011111
//	0 ttttttttttttttttttttttttt nnnnnnnnnnnnnnnn bbbbbbbbbbbbbbbbbbbbbb
//	timestamp 16903607 · node 24528 · bottom 3799583
//
//	bits   part         range               source
//	1      reserved     0
//	25     timestamp    0 ..= 33554431      the clock: seconds of Unix time modulo 2^25
//	16     node_no      0 ..= 65535         the configuration, or a claim
//	22     bottom       1 ..= 4194303       the generator, counting
//
// IDs ascend for a period of 2^25 seconds, which is a little over 388 days, and then repeat. A
// table that keeps rows for longer needs [Trace.Period] in its key: see docs/use/trace.md,
// [Trace.Times], and [Bounds]. The elfo actor system uses the same layout; docs/design/formats.md
// names the source.
type Trace[E any] int64

// TraceID is a trace ID that is not tied to an entity.
type TraceID = Trace[any]

// SchemeTrace is the name of the scheme.
const SchemeTrace Scheme = "trace"

var _ = is[TraceID]

const traceType = "TraceID"

// TraceParts are the numbers that make up a trace ID. Their ranges are listed at [Trace].
type TraceParts struct {
	Timestamp int `json:"timestamp"`
	Node      int `json:"node_no"`
	Bottom    int `json:"bottom"`
}

// ID composes an ID from its parts. It returns a [*RangeError] for the first part outside its
// range.
func (p TraceParts) ID() (TraceID, error) {
	if err := p.validate(); err != nil {
		return 0, err
	}
	return TraceID(p.Timestamp)*formats.TraceTimeStep |
		TraceID(p.Node)*formats.TraceNodeStep | TraceID(p.Bottom), nil
}

func (p TraceParts) validate() error {
	return checkParts(traceType, []part[int]{
		{"timestamp", p.Timestamp, 0, formats.TraceMaxTimestamp},
		{"node_no", p.Node, 0, formats.TraceMaxNode},
		{"bottom", p.Bottom, 1, formats.TraceMaxBottom},
	})
}

// Parts returns the parts of the ID. They are meaningless if [Trace.Validate] rejects it.
func (t Trace[E]) Parts() TraceParts {
	return TraceParts{
		Timestamp: int(t >> (formats.TraceNodeBits + formats.TraceBottomBits) &
			formats.TraceMaxTimestamp),
		Node:   int(t >> formats.TraceBottomBits & formats.TraceMaxNode),
		Bottom: int(t & formats.TraceMaxBottom),
	}
}

// Times returns the two seconds nearest to around in which the ID may have been minted, in UTC. The
// second last begins at or before around, and next begins 2^25 seconds later, which is after
// around.
func (t Trace[E]) Times(around time.Time) (last, next time.Time) {
	since := (around.Unix() - int64(t.Parts().Timestamp)) & formats.TraceMaxTimestamp
	last = time.Unix(around.Unix()-since, 0).UTC()
	return last, last.Add(formats.TracePeriod)
}

// Period returns the number, counted from 1970, of the period of the latest second at or before
// around in which the ID may have been minted. IDs of one period are unique. Pass a time one day
// ahead of now, because a clock that is behind the one that minted the ID would otherwise yield the
// previous period. Up to 388 days after the ID was minted, the result is the same.
func (t Trace[E]) Period(around time.Time) int {
	last, _ := t.Times(around)
	return int(last.Unix() >> formats.TraceTimestampBits)
}

// IsZero reports whether the ID is zero, which means "not assigned".
func (t Trace[E]) IsZero() bool { return t == 0 }

// Validate checks the value against the layout. The error is a [*RangeError] if a part is outside
// its range. If the value is outside the domain, it is an [*InputError], which wraps [ErrZero] for
// zero.
func (t Trace[E]) Validate() error {
	if err := inDomain(traceType, int64(t)); err != nil {
		return err
	}
	return t.Parts().validate()
}

// Scheme returns [SchemeTrace].
func (Trace[E]) Scheme() Scheme { return SchemeTrace }

// Storage returns [StorageBigint].
func (Trace[E]) Storage() Storage { return StorageBigint }

// String returns the ID in decimal digits.
func (t Trace[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(t)))
}

// AppendText appends the digits of String to b. Zero is an error that wraps [ErrZero].
func (t Trace[E]) AppendText(b []byte) ([]byte, error) {
	if t <= 0 {
		return b, unset(traceType, int64(t))
	}
	return appendInt63(b, int64(t)), nil
}

// MarshalText returns the digits of String, or the same error as AppendText.
func (t Trace[E]) MarshalText() ([]byte, error) {
	return t.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText accepts the output of MarshalText, and nothing else: see [Parse]. On failure the ID
// is unchanged.
func (t *Trace[E]) UnmarshalText(text []byte) error { return set(t)(decodeText(traceType, text)) }

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (t *Trace[E]) UnmarshalParam(param string) error { return t.UnmarshalText([]byte(param)) }

// MarshalJSON returns the digits as a string, or null for zero. With [AsNumber] the JSON is a
// number.
func (t Trace[E]) MarshalJSON() ([]byte, error) {
	return appendJSON[E](make([]byte, 0, maxDigits+3), int64(t)), nil
}

// UnmarshalJSON accepts the output of MarshalJSON, and integers up to 2^53−1. It rejects larger
// integers because they may have been rounded on their way (see [AsInt64]), and all numbers with a
// fraction or an exponent. null sets the ID to zero. On failure the ID is unchanged, and the error
// is an [*InputError].
func (t *Trace[E]) UnmarshalJSON(data []byte) error {
	return set(t)(decodeJSON[E](traceType, data))
}

// AppendBinary appends the ID to b as 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (t Trace[E]) AppendBinary(b []byte) ([]byte, error) {
	if t <= 0 {
		return b, unset(traceType, int64(t))
	}
	return binary.BigEndian.AppendUint64(b, uint64(t)), nil
}

// MarshalBinary returns the ID as 8 bytes, big-endian, or the same error as AppendBinary.
func (t Trace[E]) MarshalBinary() ([]byte, error) { return t.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary accepts the output of MarshalBinary. On failure the ID is unchanged, and the
// error is an [*InputError].
func (t *Trace[E]) UnmarshalBinary(data []byte) error {
	return set(t)(decodeBytes(traceType, data))
}

// Value returns the ID as an int64, for a database driver. Zero is an error that wraps [ErrZero].
// Together with an error Value returns the number rather than nil, so that a caller that drops the
// error does not mistake it for NULL.
func (t Trace[E]) Value() (driver.Value, error) { return valueInt63(traceType, int64(t)) }

// Scan reads the ID from a database driver, as an int64, uint64, string, or []byte. It also accepts
// an ID of the same type, by value or by pointer. The error wraps [ErrNull] for NULL, and [ErrZero]
// for 0. On failure the ID is unchanged, and the error is an [*InputError].
func (t *Trace[E]) Scan(src any) error { return set(t)(scanInt63[Trace[E]](traceType, src)) }

// GormDataType returns "bigint", without which GORM would treat the integer key as
// auto-incremented.
func (Trace[E]) GormDataType() string { return "bigint" }

// bounds returns two ranges if timestamps start again at 0 within the span.
func (Trace[E]) bounds(from, to time.Time) ([]Range[Trace[E]], error) {
	first, last := from.Unix(), to.Unix()
	if uint64(last-first) > formats.TraceMaxTimestamp { // or the difference overflows
		return nil, spanError(traceType, from, to, errPeriod)
	}
	const smallest, largest = 1, (formats.TraceMaxTimestamp+1)*formats.TraceTimeStep - 1
	minID := Trace[E](first&formats.TraceMaxTimestamp)*formats.TraceTimeStep + smallest
	maxID := Trace[E](last&formats.TraceMaxTimestamp)*formats.TraceTimeStep +
		formats.TraceTimeStep - 1
	if minID < maxID {
		return []Range[Trace[E]]{{minID, maxID}}, nil
	}
	return []Range[Trace[E]]{{minID, largest}, {smallest, maxID}}, nil
}

func (Trace[E]) parsed(text string) (Trace[E], error) {
	v, err := decodeText(traceType, text)
	return Trace[E](v), err
}

func (t Trace[E]) compare(other Trace[E]) int { return cmp.Compare(t, other) }
func (Trace[E]) none() driver.Value           { return int64(0) }
func (Trace[E]) isNone(src any) bool          { return isZeroInt63(src) }
