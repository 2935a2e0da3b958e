package idtype

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
	"time"

	"github.com/idmint/idmint/idtype/formats"
)

// Trace is the trace ID of an entity E. It is a time, a node and a number within them, in the bits
// of one positive int64.
//
//	4646428214845635103
//	0 1000000011110110110110111 0101111111010000 1110011111101000011111
//	0 ttttttttttttttttttttttttt nnnnnnnnnnnnnnnn bbbbbbbbbbbbbbbbbbbbbb
//	timestamp 16903607 · node 24528 · bottom 3799583
//
//	bits   part         range               who gives it
//	1      reserved     0
//	25     timestamp    0 ..= 33554431      the clock: seconds of Unix time modulo 2^25
//	16     node_no      0 ..= 65535         the configuration, or a claim
//	22     bottom       1 ..= 4194303       the generator, counting
//
// IDs ascend for the period of 2^25 seconds, which are 388 days and some hours, and then start again
// with the same ones. A table that keeps rows for longer has [Trace.Period] in its key: see
// docs/use/trace.md, [Trace.Times] and [Bounds]. The elfo actor system has the same layout.
// docs/design/formats.md names the source.
type Trace[E any] int64

// TraceID is the trace ID of any entity.
type TraceID = Trace[any]

// SchemeTrace is the name of the scheme.
const SchemeTrace Scheme = "trace"

var _ = is[TraceID]

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

// Parts takes the ID apart. They mean nothing if [Trace.Validate] refuses the value.
func (t Trace[E]) Parts() TraceParts {
	return TraceParts{
		Timestamp: int(t >> (formats.TraceNodeBits + formats.TraceBottomBits) &
			formats.TraceMaxTimestamp),
		Node:   int(t >> formats.TraceBottomBits & formats.TraceMaxNode),
		Bottom: int(t & formats.TraceMaxBottom),
	}
}

// Times are the two seconds nearest to around in which the ID can have been made. The last one
// begins at or before around. The next one begins after it, 2^25 seconds later. Both are in UTC.
func (t Trace[E]) Times(around time.Time) (last, next time.Time) {
	since := (around.Unix() - int64(t.Parts().Timestamp)) & formats.TraceMaxTimestamp
	last = time.Unix(around.Unix()-since, 0).UTC()
	return last, last.Add(formats.TracePeriod)
}

// Period numbers the period of the ID's last second at or before around, counted from 1970: IDs of
// one period are unique. Let around be a day after now, lest a clock that is behind the one that
// minted the ID lead into the period before. Up to 388 days after the ID was made it is the same.
func (t Trace[E]) Period(around time.Time) int {
	last, _ := t.Times(around)
	return int(last.Unix() >> formats.TraceTimestampBits)
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

// Scheme is [SchemeTrace].
func (Trace[E]) Scheme() Scheme { return SchemeTrace }

// Storage is [StorageBigint].
func (Trace[E]) Storage() Storage { return StorageBigint }

// String is the ID's decimal digits.
func (t Trace[E]) String() string {
	var buf [maxDigits + 1]byte
	return string(appendInt63(buf[:0], int64(t)))
}

// AppendText appends the digits of String. Zero is an error that wraps [ErrZero].
func (t Trace[E]) AppendText(b []byte) ([]byte, error) {
	if t <= 0 {
		return b, unset(traceType, int64(t))
	}
	return appendInt63(b, int64(t)), nil
}

// MarshalText is the digits of String. The error is that of AppendText.
func (t Trace[E]) MarshalText() ([]byte, error) {
	return t.AppendText(make([]byte, 0, maxDigits+1))
}

// UnmarshalText reads what MarshalText writes, and nothing else: see [Parse]. On an error the ID stays as it was.
func (t *Trace[E]) UnmarshalText(text []byte) error { return set(t)(decodeText(traceType, text)) }

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (t *Trace[E]) UnmarshalParam(param string) error { return t.UnmarshalText([]byte(param)) }

// MarshalJSON is the digits as a string, and null for zero. [AsNumber] makes them numbers.
func (t Trace[E]) MarshalJSON() ([]byte, error) {
	return appendJSON[E](make([]byte, 0, maxDigits+3), int64(t)), nil
}

// UnmarshalJSON accepts what MarshalJSON writes, and integers up to 2^53−1: a greater one may have
// been rounded on its way, see [AsInt64]. It takes no fraction and no exponent, even of a whole
// number. null sets zero. On an error, which is an [*InputError], the ID stays as it was.
func (t *Trace[E]) UnmarshalJSON(data []byte) error {
	return set(t)(decodeJSON[E](traceType, data))
}

// AppendBinary appends 8 bytes, big-endian. Zero is an error that wraps [ErrZero].
func (t Trace[E]) AppendBinary(b []byte) ([]byte, error) {
	if t <= 0 {
		return b, unset(traceType, int64(t))
	}
	return binary.BigEndian.AppendUint64(b, uint64(t)), nil
}

// MarshalBinary is 8 bytes, big-endian. The error is that of AppendBinary.
func (t Trace[E]) MarshalBinary() ([]byte, error) { return t.AppendBinary(make([]byte, 0, 8)) }

// UnmarshalBinary reads what MarshalBinary writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (t *Trace[E]) UnmarshalBinary(data []byte) error {
	return set(t)(decodeBytes(traceType, data))
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

// bounds are two ranges where timestamps start again at 0 within the span.
func (Trace[E]) bounds(from, to time.Time) ([]Range[Trace[E]], error) {
	first, last := from.Unix(), to.Unix()
	if uint64(last-first) > formats.TraceMaxTimestamp { // also where an int64 does not hold it
		return nil, spanError(traceType, from, to, errPeriod)
	}
	const smallest, largest = 1, (formats.TraceMaxTimestamp+1)*formats.TraceTimeStep - 1
	minID := Trace[E](first&formats.TraceMaxTimestamp)*formats.TraceTimeStep + smallest
	maxID := Trace[E](last&formats.TraceMaxTimestamp)*formats.TraceTimeStep + formats.TraceTimeStep - 1
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
