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

// The vectors have spans of milliseconds. TestBounds has what is finer, and what wraps around.
func TestBounds(t *testing.T) {
	const nearly = time.Millisecond - 1
	abroad := time.FixedZone("", 3600)
	ms := time.UnixMilli
	for _, tt := range []struct {
		name     string
		bounds   func(from, to time.Time) ([]rangeVector, error)
		from, to time.Time
		want     []rangeVector // none for a *RangeError
	}{
		{
			"trace, by seconds", inTexts(idtype.Bounds[UserTraceID]),
			time.Unix(5, 999_999_999), time.Unix(6, 0).In(abroad),
			[]rangeVector{{"1374389534721", "1924145348607"}},
		},
		{
			"short, within its millisecond", inTexts(idtype.Bounds[UserShortID]),
			ms(1562179504129).Add(nearly), ms(1562179504129).In(abroad).Add(nearly),
			[]rangeVector{{"AAnaS8QBA", "__naS8QB_"}},
		},
		{
			"eightbyte, where numbers turn negative", inTexts(idtype.Bounds[EventBigintID]),
			ms(1<<41 - 1), ms(1 << 41),
			[]rangeVector{
				{"7fffffffffc01000", "7fffffffffffffff"}, {"8000000000000000", "80000000003fffff"},
			},
		},
		{
			"eightbyte, as negative numbers", inTexts(idtype.Bounds[EventBigintID]), ms(1 << 41), ms(1 << 41),
			[]rangeVector{{"8000000000001000", "80000000003fffff"}},
		},
		{
			"sno, by 4 ms", inTexts(idtype.Bounds[EventTextID]), ms(1703587783963).Add(nearly),
			ms(1703587783964),
			[]rangeVector{{"8fhmi7me22222222", "8fhmi7mhxxxxxxxx"}},
		},
		{
			"before the epoch", inTexts(idtype.Bounds[EventSnoID]), ms(1262304000000).Add(-1),
			ms(1262304000000), nil,
		},
		// In milliseconds these do not fit an int64, and wrap around to valid times.
		{
			"wraps around from above", inTexts(idtype.Bounds[UserShortID]), ms(1573827159591),
			time.Unix(math.MaxUint64/1000+1573827159, 0), nil,
		},
		{
			"wraps around from below", inTexts(idtype.Bounds[EventEightID]),
			time.Unix(-math.MaxUint64/1000+1573827159, 0), ms(1573827159591), nil,
		},
		{
			"all of time", inTexts(idtype.Bounds[EventSnoID]), time.Unix(math.MinInt64, 0),
			time.Unix(math.MaxInt64, 999_999_999), nil,
		},
	} {
		got, err := tt.bounds(tt.from, tt.to)
		outside := new(idtype.RangeError)
		if refused := errors.As(err, &outside) && outside.Part == "unix_ms"; !slices.Equal(got, tt.want) ||
			refused != (tt.want == nil) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	// What the doc warns of: a SPREAD ID of 2094 lies among those of 2019.
	id, err := idtype.EightByteParts{Mode: spread, UnixMs: 3923794188762, Sequence: 1}.ID()
	if err != nil || id.String() <= "5b9bda2989c01000" || id.String() >= "5b9bda2989ffffff" {
		t.Errorf("%v, %v is not between the bounds of 2019-11-15T14:12:39.591Z", id, err)
	}
}

func TestBoundsRefuse(t *testing.T) {
	const period = 1 << 25
	for _, tt := range []struct {
		from, to time.Time
		reason   string
	}{
		{time.Unix(5, 8), time.Unix(5, 7), "ends before it begins"},
		{time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0), "ends before it begins"},
		{time.Unix(7, 999_999_999), time.Unix(period+7, 0), "timestamps repeat"},
		{time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64, 0), "timestamps repeat"},
		{time.Time{}, time.Unix(0, 0), "timestamps repeat"},
	} {
		got, err := idtype.Bounds[UserTraceID](tt.from, tt.to)
		var e *idtype.InputError
		if got != nil || !errors.As(err, &e) || e.Type != "TraceID" {
			t.Fatalf("%v, %#v, want an *InputError", got, err)
		}
		for _, part := range []string{
			"idtype: " + tt.from.UTC().Format(time.RFC3339Nano),
			tt.to.UTC().Format(time.RFC3339Nano), tt.reason,
		} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error is %q, want %q in it", err, part)
			}
		}
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
		id, err := idtype.TraceParts{
			Timestamp: int((from + offset) & (1<<25 - 1)),
			Node:      rapid.IntRange(0, 65_535).Draw(t, "node"),
			Bottom:    rapid.IntRange(1, 4_194_303).Draw(t, "bottom"),
		}.ID()
		if err != nil {
			t.Fatal(err)
		}
		ranges, err := idtype.Bounds[idtype.TraceID](
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
		for d := offset - 1<<25; d <= length; d += 1 << 25 { // the same second of the periods around
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

// inTexts are bounds whose IDs are texts.
func inTexts[T idtype.ID](
	bounds func(from, to time.Time) ([]idtype.Range[T], error),
) func(from, to time.Time) ([]rangeVector, error) {
	return func(from, to time.Time) (texts []rangeVector, err error) {
		ranges, err := bounds(from, to)
		for _, r := range ranges {
			texts = append(texts, rangeVector{r.Min.String(), r.Max.String()})
		}
		return texts, err
	}
}

// TestSnoBounds: of all IDs, the ranges hold those of the span whose metabyte is asked for.
func TestSnoBounds(t *testing.T) {
	first := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		from := first.Add(time.Duration(rapid.Int64Range(0, 40).Draw(t, "from")) * time.Millisecond)
		to := from.Add(time.Duration(rapid.Int64Range(0, 20).Draw(t, "span")) * time.Millisecond)
		least := rapid.Byte().Draw(t, "least")
		most := rapid.ByteMin(least).Draw(t, "most")
		ranges, err := idtype.SnoBounds[any](from, to, least, most)
		if err != nil {
			t.Fatal(err)
		}
		p := idtype.SnoParts{
			UnixMs:    first.UnixMilli() + rapid.Int64Range(0, 70).Draw(t, "ms"),
			TickTock:  rapid.IntRange(0, 1).Draw(t, "tick_tock"),
			Meta:      int(rapid.OneOf(rapid.Just(least), rapid.Just(most), rapid.Byte()).Draw(t, "meta")),
			Partition: rapid.SampledFrom([]int{0, 1, 65535}).Draw(t, "partition"),
			Sequence:  rapid.SampledFrom([]int{0, 1, 65535}).Draw(t, "sequence"),
		}
		id, err := p.ID()
		if err != nil {
			return // zero
		}
		unit := func(m time.Time) int64 { return m.UnixMilli() / 4 }
		want := unit(id.Time()) >= unit(from) && unit(id.Time()) <= unit(to) &&
			p.Meta >= int(least) && p.Meta <= int(most)
		in := 0
		for _, r := range ranges {
			if idtype.Compare(r.Min, id) <= 0 && idtype.Compare(id, r.Max) <= 0 {
				in++
			}
		}
		if want != (in == 1) || in > 1 || ranges[0].Min.IsZero() {
			t.Fatalf("%+v is in %d of %d ranges", p, in, len(ranges))
		}
	})
	second, err := idtype.SnoBounds[any](first, first.Add(time.Second-1), 9, 9)
	if err != nil || len(second) != 500 {
		t.Errorf("%d ranges for a second, %v", len(second), err)
	}
	if _, err := idtype.SnoBounds[any](first, first.Add(time.Minute-1), 9, 9); err != nil {
		t.Error(err)
	}
	_, err = idtype.SnoBounds[any](first, first.Add(time.Minute), 9, 9)
	if !errors.As(err, new(*idtype.InputError)) || !strings.Contains(err.Error(), "use Bounds") {
		t.Errorf("more than a minute: %v", err)
	}
	for name, bad := range map[string]func() ([]idtype.Range[idtype.SnoID], error){
		"metabytes": func() ([]idtype.Range[idtype.SnoID], error) {
			return idtype.SnoBounds[any](first, first, 9, 8)
		},
		"time": func() ([]idtype.Range[idtype.SnoID], error) {
			return idtype.SnoBounds[any](first.Add(-1), first, 9, 9)
		},
	} {
		if got, err := bad(); !errors.As(err, new(*idtype.RangeError)) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
