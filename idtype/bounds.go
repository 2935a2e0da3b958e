package idtype

import (
	"errors"
	"math"
	"time"
)

// A Range is all IDs from Min to Max, both included.
type Range[T any] struct {
	Min, Max T
}

// timed are the IDs that carry a time.
type timed[T any] interface {
	ID
	bounds(from, to time.Time) ([]Range[T], error)
}

// Bounds is what a query for a span of time compares IDs with: WHERE id BETWEEN Min AND Max. It
// holds the IDs of all units of time from from's to to's, both included. The unit is a second for
// trace IDs, 4 ms for sno IDs, that of the layout for snowflake IDs, and a millisecond for short and
// eightbyte IDs.
//
//   - Of trace IDs the ranges also hold those of the same seconds of other periods. There are two
//     ranges, the earlier first, if timestamps start again at 0 within the span.
//   - Of eightbyte IDs they bound those of mode TIME_SEQUENTIAL. SPREAD IDs have no order by time:
//     some of them, of any time, lie in the ranges as well. There are two ranges if the key is
//     declared with [AsBigint] and its numbers turn negative within the span.
//
// The error is a [*RangeError] for a time that IDs cannot have. It is an [*InputError] if to is before
// from, or if a span of trace IDs has more than 2^25 seconds, so that some share a timestamp.
func Bounds[T timed[T]](from, to time.Time) ([]Range[T], error) {
	var zero T
	if !inOrder(from, to) {
		return nil, spanError(nameOf[T](), from, to, errInverted)
	}
	return zero.bounds(from, to)
}

// inOrder compares times as those of IDs are made, by the wall clock: Before would ask the monotonic
// one where both have a reading.
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

// unixMs is t in milliseconds, rounded down, or as near as an int64 comes: UnixMilli wraps around,
// to times that may be valid.
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
	errInverted = errors.New("it ends before it begins")
	errPeriod   = errors.New("it is so long that timestamps repeat within it")
)
