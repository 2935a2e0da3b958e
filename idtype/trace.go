package idtype

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Widths of a trace ID's parts, in bits. All else about the layout derives from them.
const (
	TraceTimestampBits = 25
	TraceNodeBits      = 16
	TraceBottomBits    = 22
	TraceCounterBits   = 10 // the lower bits of the bottom: see [Trace.Counter]
)

// Limits of a trace ID's parts.
const (
	// TraceTimeStep is the distance between an ID and the same number of its node one second later.
	TraceTimeStep = traceNodeStep << TraceNodeBits
	traceNodeStep = 1 << TraceBottomBits

	// TraceMaxTimestamp is the largest timestamp. The next second has timestamp 0.
	TraceMaxTimestamp = 1<<TraceTimestampBits - 1
	// TraceMaxNode is the largest node number.
	TraceMaxNode = 1<<TraceNodeBits - 1
	// TraceMaxBottom is the largest bottom. A node has as many IDs in a second.
	TraceMaxBottom = 1<<TraceBottomBits - 1

	// TracePeriod is the time after which timestamps, and with them IDs, repeat. It is 2^25
	// seconds, which are 388 days and some hours.
	TracePeriod = (TraceMaxTimestamp + 1) * time.Second
)

var (
	// ErrTraceTime is wrapped by the error of [Trace.ValidateAt] for an ID of another time.
	ErrTraceTime = errors.New("the timestamp is too far from now")

	// ErrSpanInverted and ErrSpanPeriod are wrapped by the errors of [TraceBounds].
	ErrSpanInverted = errors.New("it ends before it begins")
	ErrSpanPeriod   = errors.New("it is so long that timestamps repeat within it")
)

// Trace is the trace ID of an entity E. It is a time, a node and a number within them, in the bits
// of one positive int64.
//
//	4646428214845635103
//	0 1000000011110110110110111 0101111111010000 111001111110 1000011111
//	0 ttttttttttttttttttttttttt nnnnnnnnnnnnnnnn hhhhhhhhhhhh cccccccccc
//	timestamp 16903607 · node 24528 · bottom 3799583, which is chunk 3710 and counter 543
//
//	bits   part         range               who gives it
//	1      reserved     0
//	25     timestamp    0 ..= 33554431      the clock: seconds of Unix time modulo 2^25
//	16     node_no      0 ..= 65535         the configuration, or a claim
//	22     bottom       1 ..= 4194303       the generator, counting
//
// IDs ascend for 388 days, and then start again: see [TracePeriod], [Trace.Times] and
// [TraceBounds]. The elfo actor system has the same layout.
// docs/design/formats.md names the source.
type Trace[E any] int64

// TraceID is the trace ID of any entity.
type TraceID = Trace[any]

var _ = Parse[TraceID] // it is an ID

var (
	_ driver.Valuer              = TraceID(0)
	_ sql.Scanner                = (*TraceID)(nil)
	_ fmt.Stringer               = TraceID(0)
	_ encoding.TextAppender      = TraceID(0)
	_ encoding.TextMarshaler     = TraceID(0)
	_ encoding.TextUnmarshaler   = (*TraceID)(nil)
	_ encoding.BinaryAppender    = TraceID(0)
	_ encoding.BinaryMarshaler   = TraceID(0)
	_ encoding.BinaryUnmarshaler = (*TraceID)(nil)
	_ json.Marshaler             = TraceID(0)
	_ json.Unmarshaler           = (*TraceID)(nil)
)

const traceType = "TraceID"

// TraceParts are the numbers that a trace ID consists of. Their ranges are those of [Trace].
type TraceParts struct {
	Timestamp int `json:"timestamp"`
	Node      int `json:"node_no"`
	Bottom    int `json:"bottom"`
}

// ID composes the parts. It returns a [*RangeError] for the first part outside its range.
func (p TraceParts) ID() (TraceID, error) {
	if err := p.validate(); err != nil {
		return 0, err
	}
	return TraceID(p.Timestamp)*TraceTimeStep | TraceID(p.Node)*traceNodeStep |
		TraceID(p.Bottom), nil
}

func (p TraceParts) validate() error {
	return checkParts(traceType, []part[int]{
		{"timestamp", p.Timestamp, 0, TraceMaxTimestamp},
		{"node_no", p.Node, 0, TraceMaxNode},
		{"bottom", p.Bottom, 1, TraceMaxBottom},
	})
}

// TraceTimestamp is the timestamp of t's second: Unix time, rounded down, modulo 2^25. It holds for
// times before 1970 too.
func TraceTimestamp(t time.Time) int { return int(t.Unix() & TraceMaxTimestamp) }

// MinTraceID is the smallest ID of t's second, on any node.
func MinTraceID(t time.Time) TraceID { return TraceID(TraceTimestamp(t))*TraceTimeStep + 1 }

// MaxTraceID is the largest ID of t's second, on any node.
func MaxTraceID(t time.Time) TraceID {
	return TraceID(TraceTimestamp(t))*TraceTimeStep + (TraceTimeStep - 1)
}

// A TraceRange is all IDs from Min to Max, both included.
type TraceRange struct {
	Min, Max TraceID
}

// A SpanError is returned for a span of time that has no bounds.
type SpanError struct {
	Type     string // the ID type
	From, To time.Time
	Err      error // the reason
}

func (e *SpanError) Error() string {
	return fmt.Sprintf("idtype: %s: from %s to %s: %v",
		e.Type, e.From.UTC().Format(time.RFC3339Nano), e.To.UTC().Format(time.RFC3339Nano), e.Err)
}

func (e *SpanError) Unwrap() error { return e.Err }

// TraceBounds is what a query for a span of time compares IDs with. That is the IDs of all seconds
// from the second of from to that of to, both included. It is one range. It is two, the earlier
// first, where timestamps start again at 0 in between. IDs of the same seconds of another period
// are in the ranges too. It returns a [*SpanError]. That wraps [ErrSpanInverted] where to is before
// from. It wraps [ErrSpanPeriod] where the span has more than 2^25 seconds: some of them share a
// timestamp.
func TraceBounds(from, to time.Time) ([]TraceRange, error) {
	// Compared as the timestamps are made, by the wall clock: Before would ask the monotonic one
	// where both have a reading.
	first, last := from.Unix(), to.Unix()
	switch {
	case first > last || first == last && from.Nanosecond() > to.Nanosecond():
		return nil, &SpanError{traceType, from, to, ErrSpanInverted}
	case uint64(last-first) > TraceMaxTimestamp: // also where an int64 does not hold the difference
		return nil, &SpanError{traceType, from, to, ErrSpanPeriod}
	}
	minID, maxID := MinTraceID(from), MaxTraceID(to)
	if minID < maxID {
		return []TraceRange{{minID, maxID}}, nil
	}
	const smallest, largest = 1, (TraceMaxTimestamp+1)*TraceTimeStep - 1
	return []TraceRange{{minID, largest}, {smallest, maxID}}, nil
}

// ParseTraceID reads the digits that String writes, and nothing else: no sign, no spaces, no
// leading zeros. It takes the whole domain, 1 ..= 2^63−1. [Trace.Validate] checks the layout. Its
// error is an [*InputError]. [Parse] does the same for a typed key.
func ParseTraceID(s string) (TraceID, error) {
	v, err := decodeText(traceType, s)
	return TraceID(v), err
}

// MustParseTraceID is [ParseTraceID] for literals and tests: it panics on an error.
func MustParseTraceID(s string) TraceID { return must(ParseTraceID(s)) }

// Parts takes the ID apart. They mean nothing if [Trace.Validate] refuses the value.
func (t Trace[E]) Parts() TraceParts {
	return TraceParts{Timestamp: t.Timestamp(), Node: t.Node(), Bottom: t.Bottom()}
}

// Timestamp is the second at which the ID was made, modulo 2^25: 0 ..= 33554431. [Trace.Times] has
// the times it stands for.
func (t Trace[E]) Timestamp() int {
	return int(t >> (TraceNodeBits + TraceBottomBits) & TraceMaxTimestamp)
}

// Node is the number of the node, 0 ..= 65535.
func (t Trace[E]) Node() int { return int(t >> TraceBottomBits & TraceMaxNode) }

// Bottom is the number of the ID within its second and node, 1 ..= 4194303.
func (t Trace[E]) Bottom() int { return int(t & TraceMaxBottom) }

// Chunk is the upper part of the bottom as elfo splits it: the number of a thread's chunk, 0 ..=
// 4095.
func (t Trace[E]) Chunk() int { return t.Bottom() >> TraceCounterBits }

// Counter is the lower part of the bottom as elfo splits it: the thread's count within its chunk.
// In elfo's own IDs it is 1 ..= 1023.
func (t Trace[E]) Counter() int { return t.Bottom() & (1<<TraceCounterBits - 1) }

// Times are the two seconds nearest to around in which the ID can have been made. The last one
// begins at or before around. The next one begins after it, [TracePeriod] later. Both are in UTC.
func (t Trace[E]) Times(around time.Time) (last, next time.Time) {
	since := (TraceTimestamp(around) - t.Timestamp()) & TraceMaxTimestamp
	last = time.Unix(around.Unix()-int64(since), 0).UTC()
	return last, last.Add(TracePeriod)
}

// IsZero reports whether no ID was assigned.
func (t Trace[E]) IsZero() bool { return t == 0 }

// Validate checks the value against the layout. It returns a [*RangeError] for a part outside its
// range. For a value outside the domain it returns an [*InputError], which wraps [ErrZero] for
// zero.
func (t Trace[E]) Validate() error {
	if err := inDomain(traceType, int64(t)); err != nil {
		return err
	}
	return t.Parts().validate()
}

// ValidateAt is elfo's check of an ID that comes from outside. The ID is in the domain, and its
// timestamp is at most allowed away from now. Before and after count alike, on the circle of 2^25
// seconds. Timestamps count in whole seconds, so a fraction of a second of allowed allows nothing.
// Half of [TracePeriod] allows every timestamp. Unlike [Trace.Validate] it takes a bottom of 0. Its
// error is an [*InputError]. It wraps [ErrZero] for zero, and [ErrTraceTime] for a time too far
// away.
func (t Trace[E]) ValidateAt(now time.Time, allowed time.Duration) error {
	if err := inDomain(traceType, int64(t)); err != nil {
		return err
	}
	ahead := (t.Timestamp() - TraceTimestamp(now)) & TraceMaxTimestamp
	away := time.Duration(min(ahead, TraceMaxTimestamp+1-ahead)) * time.Second
	if away > allowed {
		err := fmt.Errorf("%w: it is %v away, allowed are %v", ErrTraceTime, away, allowed)
		return &InputError{traceType, quote(t.String()), err}
	}
	return nil
}

// Compare orders IDs by their number, which is also how an integer column orders them. That is by
// time within one period of [TracePeriod].
func (t Trace[E]) Compare(other Trace[E]) int { return cmp.Compare(t, other) }

// Scheme is [SchemeTrace].
func (Trace[E]) Scheme() Scheme { return SchemeTrace }

// Storage is [StorageBigint].
func (Trace[E]) Storage() Storage { return StorageBigint }

// String is the ID's decimal digits.
func (t Trace[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(t)))
}

// AppendText appends the digits of String. It never fails.
func (t Trace[E]) AppendText(b []byte) ([]byte, error) { return appendInt63(b, int64(t)), nil }

// MarshalText is the digits of String. It never fails.
func (t Trace[E]) MarshalText() ([]byte, error) {
	return t.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText is [ParseTraceID]. On an error the ID stays as it was.
func (t *Trace[E]) UnmarshalText(text []byte) error { return set(t)(decodeText(traceType, text)) }

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (t *Trace[E]) UnmarshalParam(param string) error { return t.UnmarshalText([]byte(param)) }

// MarshalJSON is the digits as a string, and null for zero.
func (t Trace[E]) MarshalJSON() ([]byte, error) {
	return appendJSON(make([]byte, 0, maxDigits+3), int64(t)), nil
}

// UnmarshalJSON accepts what MarshalJSON writes, and exact integers. It takes no fraction and no
// exponent, even of a whole number. null sets zero. On an error, which is an [*InputError], the ID
// stays as it was.
func (t *Trace[E]) UnmarshalJSON(data []byte) error { return set(t)(decodeJSON(traceType, data)) }

// AppendBinary appends 8 bytes, big-endian. It never fails.
func (t Trace[E]) AppendBinary(b []byte) ([]byte, error) {
	return binary.BigEndian.AppendUint64(b, uint64(t)), nil
}

// MarshalBinary is 8 bytes, big-endian. It never fails.
func (t Trace[E]) MarshalBinary() ([]byte, error) { return t.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (t *Trace[E]) UnmarshalBinary(data []byte) error {
	return set(t)(decodeBinary(traceType, data))
}

// Value hands the ID to a database driver, as int64. Zero is an error that wraps [ErrZero]. Beside
// the error is the number and not nil: a caller who drops the error would take nil for NULL.
func (t Trace[E]) Value() (driver.Value, error) { return valueInt63(traceType, int64(t)) }

// Scan takes the ID from a database driver, as int64, uint64, string or []byte. It also takes an ID
// of its own type, by value or by pointer. The error for NULL wraps [ErrNull], and that for 0 wraps
// [ErrZero]. On an error, which is an [*InputError], the ID stays as it was.
func (t *Trace[E]) Scan(src any) error { return set(t)(scanInt63[Trace[E]](traceType, src)) }

// GormDataType keeps GORM from taking an integer key for an auto-incremented one.
func (Trace[E]) GormDataType() string { return "bigint" }

func (Trace[E]) none() driver.Value  { return int64(0) }
func (Trace[E]) isNone(src any) bool { return isZeroInt63(src) }
