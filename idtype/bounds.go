package idtype

import (
	"errors"
	"math"
	"time"
)

// A Range is all IDs from Min to Max, inclusive.
type Range[T any] struct {
	Min, Max T
}

// timed is implemented by the IDs that carry a time.
type timed[T any] interface {
	ID
	bounds(from, to time.Time) ([]Range[T], error)
}

// Bounds returns the ranges of IDs to compare with in a query for a span of time: WHERE id BETWEEN
// Min AND Max. They hold the IDs of all units of time from the one that contains from to the one
// that contains to, inclusive. The unit is one second for trace IDs, 4 ms for sno IDs, the layout's
// unit for snowflake IDs, and one millisecond for all others.
//
//   - For trace IDs the ranges also hold the IDs of the same seconds of other periods. Bounds
//     returns two ranges, the earlier first, if timestamps start again at 0 within the span.
//   - For eightbyte IDs the ranges bound those of mode TIME_SEQUENTIAL. SPREAD IDs are not ordered
//     by time, so some of them, from any time, fall into the ranges as well. Bounds returns two
//     ranges if the key is declared with [AsBigint] and its numbers turn negative within the span.
//
// The error is a [*RangeError] for a time that IDs cannot carry. It is an [*InputError] if to is
// before from, or if a span for trace IDs is longer than 2^25 seconds, after which timestamps
// repeat.
func Bounds[T timed[T]](from, to time.Time) ([]Range[T], error) {
	var zero T
	if !inOrder(from, to) {
		return nil, spanError(nameOf[T](), from, to, errInverted)
	}
	return zero.bounds(from, to)
}

// inOrder compares times by the wall clock, which is also the clock of IDs. Before would compare
// monotonic readings if both times have one.
func inOrder(from, to time.Time) bool {
	first, last := from.Unix(), to.Unix()
	return first < last || first == last && from.Nanosecond() <= to.Nanosecond()
}

func oneRange[T any](least, most T, err, err2 error) ([]Range[T], error) {
	if err == nil {
		err = err2
	}
	if err != nil {
		return nil, err
	}
	return []Range[T]{{least, most}}, nil
}

// unixMs returns t in milliseconds, rounded down, or the nearest int64 if t does not fit. UnixMilli
// would wrap around to times that may be valid.
func unixMs(t time.Time) int64 {
	switch s := t.Unix(); {
	case s >= math.MaxInt64/1000:
		return math.MaxInt64
	case s <= math.MinInt64/1000:
		return math.MinInt64
	}
	return t.UnixMilli()
}

func spanError(typ string, from, to time.Time, reason error) error {
	span := from.UTC().Format(time.RFC3339Nano) + " to " + to.UTC().Format(time.RFC3339Nano)
	return &InputError{Type: typ, Input: span, Err: reason}
}

var (
	errInverted = errors.New("the span ends before it begins")
	errPeriod   = errors.New("the span is so long that timestamps repeat within it")
)
