package idtype_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// moments are at and around the wraps of the timestamp, before and after 1970.
func moments() (all []time.Time) {
	const period = 1 << 25
	for _, second := range []int64{-2 * period, -period, 0, period, 1_700_000_000, 51 * period} {
		for _, offset := range []int64{-1, 0, 1} {
			for _, nanos := range []int64{0, 1, 500_000_000, 999_999_999} {
				all = append(all, time.Unix(second+offset, nanos))
			}
		}
	}
	abroad := time.FixedZone("", 3600)
	return append(all, time.Time{}, time.Date(9999, 12, 31, 23, 59, 59, 0, abroad))
}

func TestTraceTimestamp(t *testing.T) {
	for unix, want := range map[int64]int{
		-1: 1<<25 - 1, 0: 0, 1: 1, 1<<25 - 1: 1<<25 - 1, 1 << 25: 0, 1_700_000_000: 22_278_400,
		-1 << 25: 0, -1<<25 - 1: 1<<25 - 1, math.MinInt64: 0, math.MaxInt64: 1<<25 - 1,
	} {
		for _, nanos := range []int64{0, 999_999_999} {
			at := time.Unix(unix, nanos)
			if got := idtype.TraceTimestamp(at); got != want {
				t.Errorf("TraceTimestamp of Unix time %d.%09d = %d, want %d", unix, nanos, got,
					want)
			}
		}
	}
}

// TestTraceTimes: the definition, and not the formula.
func TestTraceTimes(t *testing.T) {
	check := func(t failing, id idtype.TraceID, around time.Time) {
		last, next := id.Times(around)
		for _, at := range []time.Time{last, next} {
			if idtype.TraceTimestamp(at) != id.Timestamp() || at.Nanosecond() != 0 ||
				at.Location() != time.UTC {
				t.Fatalf("Times(%v) of timestamp %d has %v", around, id.Timestamp(), at)
			}
		}
		if last.After(around) || !next.After(around) || next.Sub(last) != idtype.TracePeriod {
			t.Fatalf("Times(%v) of timestamp %d are %v and %v", around, id.Timestamp(), last, next)
		}
	}
	for _, around := range moments() {
		for _, offset := range []int{-1, 0, 1, 1 << 24} {
			timestamp := (idtype.TraceTimestamp(around) + offset) & idtype.TraceMaxTimestamp
			check(t, idtype.TraceID(timestamp)<<38|1, around)
		}
	}
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		id := idtype.TraceID(rapid.Int64().Draw(t, "number"))
		seconds := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seconds")
		check(t, id, time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")))
	}))

	around := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	last, next := idtype.TraceID(publishedTrace).Times(around)
	if last.Format(time.RFC3339) != "2022-08-21T08:32:55Z" ||
		next.Format(time.RFC3339) != "2023-09-13T17:13:27Z" {
		t.Errorf("the published ID is of %v or %v", last, next)
	}
}

// TestTraceOfSecond: the IDs of a second are those between its bounds, and no other.
func TestTraceOfSecond(t *testing.T) {
	for _, at := range moments() {
		minID, maxID := idtype.MinTraceID(at), idtype.MaxTraceID(at)
		timestamp := idtype.TraceTimestamp(at)
		if want := (idtype.TraceParts{Timestamp: timestamp, Bottom: 1}); minID.Parts() != want ||
			minID.Validate() != nil {
			t.Errorf("smallest of %v is %+v, %v", at, minID.Parts(), minID.Validate())
		}
		want := idtype.TraceParts{
			Timestamp: timestamp, Node: idtype.TraceMaxNode, Bottom: idtype.TraceMaxBottom,
		}
		if maxID.Parts() != want || maxID.Validate() != nil {
			t.Errorf("largest of %v is %+v, %v", at, maxID.Parts(), maxID.Validate())
		}
	}
}

func TestTraceBounds(t *testing.T) {
	const period = 1 << 25
	all := func(first, last int64) idtype.TraceRange {
		return idtype.TraceRange{
			Min: idtype.TraceID(first<<38 | 1),
			Max: idtype.TraceID((last+1)<<38 - 1),
		}
	}
	at := func(second, nanos int64) time.Time { return time.Unix(second, nanos) }
	for _, tt := range []struct {
		name     string
		from, to time.Time
		want     []idtype.TraceRange
		err      error
	}{
		{"a moment", at(5, 7), at(5, 7), []idtype.TraceRange{all(5, 5)}, nil},
		{"within a second", at(5, 0), at(5, 999_999_999), []idtype.TraceRange{all(5, 5)}, nil},
		{
			"the last nanosecond counts", at(5, 999_999_999), at(6, 0),
			[]idtype.TraceRange{all(5, 6)},
			nil,
		},
		{"the first second", at(0, 0), at(0, 0), []idtype.TraceRange{all(0, 0)}, nil},
		{
			"the last second", at(period-1, 0), at(period-1, 9),
			[]idtype.TraceRange{all(period-1, period-1)},
			nil,
		},
		{
			"around the wrap", at(period-1, 0), at(period, 0),
			[]idtype.TraceRange{all(period-1, period-1), all(0, 0)},
			nil,
		},
		{
			"around 1970", at(-2, 1), at(1, 1),
			[]idtype.TraceRange{all(period-2, period-1), all(0, 1)},
			nil,
		},
		{"before 1970", at(-3, 1), at(-2, 1), []idtype.TraceRange{all(period-3, period-2)}, nil},
		{
			"another period", at(51*period+3, 0), at(51*period+4, 0),
			[]idtype.TraceRange{all(3, 4)},
			nil,
		},
		{
			"across another wrap", at(51*period-1, 0), at(51*period+4, 0),
			[]idtype.TraceRange{all(period-1, period-1), all(0, 4)},
			nil,
		},
		{
			"every second, in order", at(period, 0), at(2*period-1, 999_999_999),
			[]idtype.TraceRange{all(0, period-1)},
			nil,
		},
		{
			"every second", at(7, 0), at(period+6, 0),
			[]idtype.TraceRange{all(7, period-1), all(0, 6)},
			nil,
		},
		{"a second twice", at(7, 0), at(period+7, 0), nil, idtype.ErrSpanPeriod},
		{
			"a second twice, by a nanosecond", at(7, 999_999_999), at(period+7, 0), nil,
			idtype.ErrSpanPeriod,
		},
		{"two periods", at(7, 0), at(2*period+7, 0), nil, idtype.ErrSpanPeriod},
		{"all of time", at(math.MinInt64, 0), at(math.MaxInt64, 0), nil, idtype.ErrSpanPeriod},
		{"from zero time", time.Time{}, at(0, 0), nil, idtype.ErrSpanPeriod},
		{"inverted by a nanosecond", at(5, 8), at(5, 7), nil, idtype.ErrSpanInverted},
		{"inverted by a second", at(6, 0), at(5, 999_999_999), nil, idtype.ErrSpanInverted},
		{"inverted by a period", at(period+5, 0), at(5, 0), nil, idtype.ErrSpanInverted},
		{
			"inverted as far as can be", at(math.MaxInt64, 0), at(math.MinInt64, 0), nil,
			idtype.ErrSpanInverted,
		},
		{
			"elsewhere", at(5, 0).In(time.FixedZone("", 3600)), at(6, 0).UTC(),
			[]idtype.TraceRange{all(5, 6)},
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := idtype.TraceBounds(tt.from, tt.to)
			if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("got %v, %v, want %v, %v", got, err, tt.want, tt.err)
			}
			if tt.err == nil {
				return
			}
			var e *idtype.SpanError
			if !errors.As(err, &e) || e.Type != "TraceID" || !e.From.Equal(tt.from) ||
				!e.To.Equal(tt.to) {
				t.Fatalf("error is %#v, want a *SpanError of this span", err)
			}
			for _, part := range []string{
				"TraceID", tt.from.UTC().Format(time.RFC3339Nano),
				tt.to.UTC().Format(time.RFC3339Nano), tt.err.Error(),
			} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error is %q, want %q in it", err, part)
				}
			}
		})
	}
}

// TestTraceBoundsHoldIDs: an ID that was made in the span is in one range, and in one only; an ID
// of another second is in none.
func TestTraceBoundsHoldIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(-1<<26, 1<<31).Draw(t, "from")
		lengths := rapid.OneOf(rapid.Int64Range(0, 10), rapid.Int64Range(0, 1<<25-1))
		length := lengths.Draw(t, "length")
		// A second at the bounds of the span, within it, or anywhere within a period of it.
		offset := rapid.OneOf(
			rapid.SampledFrom([]int64{-1, 0, length, length + 1}), rapid.Int64Range(0, length),
			rapid.Int64Range(length-1<<25+1, 1<<25-1),
		).Draw(t, "offset")
		made := time.Unix(from+offset, 0)
		id, err := idtype.TraceParts{
			Timestamp: idtype.TraceTimestamp(made), Node: rapid.IntRange(0, 65_535).Draw(t, "node"),
			Bottom: rapid.IntRange(1, 4_194_303).Draw(t, "bottom"),
		}.ID()
		if err != nil {
			t.Fatal(err)
		}
		ranges, err := idtype.TraceBounds(
			time.Unix(from, 999_999_999), time.Unix(from+length, 999_999_999),
		)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, r := range ranges {
			if r.Min > r.Max || r.Min.Validate() != nil || r.Max.Validate() != nil {
				t.Fatalf("range %+v", r)
			}
			if r.Min <= id && id <= r.Max {
				found++
			}
		}
		want := 0
		// the same second of the periods around
		for d := offset - 1<<25; d <= length; d += 1 << 25 {
			if d >= 0 {
				want = 1
			}
		}
		if found != want {
			t.Fatalf("ID of second %d is in %d of the ranges %v of %d seconds from %d",
				from+offset, found, ranges, length+1, from)
		}
	})
}

// TestTraceValidateAt has what the vectors do not: bounds of the distance in both directions,
// fractions, and odd durations.
func TestTraceValidateAt(t *testing.T) {
	const period = 1 << 25
	for _, tt := range []struct {
		name      string
		timestamp int
		now       time.Time
		allowed   time.Duration
		ok        bool
	}{
		{"now", 5, time.Unix(5, 0), 0, true},
		{"now, at the end of its second", 5, time.Unix(5, 999_999_999), 0, true},
		{"a second ago", 4, time.Unix(5, 0), time.Second, true},
		{"a second ago, by the whole second", 4, time.Unix(5, 999_999_999), time.Second, true},
		{"a second ahead", 6, time.Unix(5, 999_999_999), time.Second, true},
		{"less than a second allowed", 4, time.Unix(5, 0), time.Second - 1, false},
		{"a fraction allows nothing", 3, time.Unix(5, 0), 2*time.Second - 1, false},
		{"a fraction takes nothing", 4, time.Unix(5, 0), 2*time.Second - 1, true},
		{"ahead across the wrap", 1, time.Unix(period-1, 0), 2 * time.Second, true},
		{"too far ahead across the wrap", 2, time.Unix(period-1, 0), 2 * time.Second, false},
		{"ago across the wrap", period - 1, time.Unix(1, 0), 2 * time.Second, true},
		{"too long ago across the wrap", period - 2, time.Unix(1, 0), 2 * time.Second, false},
		{"before 1970", period - 1, time.Unix(-1, 5), 0, true},
		{"opposite", period / 2, time.Unix(0, 0), idtype.TracePeriod / 2, true},
		{"opposite, not allowed", period / 2, time.Unix(0, 0), idtype.TracePeriod/2 - 1, false},
		{"the longest duration", period / 2, time.Unix(0, 0), math.MaxInt64, true},
		{"negative", 5, time.Unix(5, 0), -1, false},
		{"the most negative", 5, time.Unix(5, 0), math.MinInt64, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := idtype.Trace[User](tt.timestamp)<<38 | 1
			err := id.ValidateAt(tt.now, tt.allowed)
			if tt.ok != (err == nil) {
				t.Errorf("ValidateAt = %v, want ok %v", err, tt.ok)
			}
			if !tt.ok {
				wantInputError(t, err, "TraceID", id.String(), idtype.ErrTraceTime)
				if !strings.Contains(err.Error(), tt.allowed.String()) {
					t.Errorf("error is %q, want what is allowed in it", err)
				}
			}
		})
	}
	for _, id := range []idtype.TraceID{1 << 22, 1 << 38, 1 << 62} { // that have no bottom
		if err := id.ValidateAt(time.Unix(0, 0), idtype.TracePeriod); err != nil {
			t.Errorf("elfo takes %d: %v", id, err)
		}
	}
}
