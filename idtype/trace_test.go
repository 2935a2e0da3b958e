package idtype_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// publishedTrace is a line of traceid.jsonl, and the worked value of the type's own doc.
const publishedTrace = 4646428214845635103

// The reference writes the layout as a string of bits.

func refTrace(p idtype.TraceParts) int64 {
	bits := fmt.Sprintf("0%025b%016b%022b", p.Timestamp, p.Node, p.Bottom)
	v, err := strconv.ParseInt(bits, 2, 64)
	if len(bits) != 64 || err != nil {
		panic(bits)
	}
	return v
}

func refTraceParts(v int64) (p idtype.TraceParts, chunk, counter int) {
	bits := fmt.Sprintf("%064b", uint64(v))
	field := func(from, to int) int {
		n, _ := strconv.ParseInt(bits[from:to], 2, 64)
		return int(n)
	}
	return idtype.TraceParts{Timestamp: field(1, 26), Node: field(26, 42), Bottom: field(42, 64)}, field(42, 54), field(54, 64)
}

type traceVector struct {
	Kind, ID string

	Chunk   int `json:"chunk_no"`
	Counter int

	idtype.TraceParts
}

func TestTraceVectors(t *testing.T) {
	kinds := map[string]int{}
	for _, v := range readVectors[traceVector](t, "traceid.jsonl", 120) {
		kinds[v.Kind]++
		t.Run(v.ID, func(t *testing.T) {
			id, err := v.TraceParts.ID()
			if err != nil || id.String() != v.ID || strconv.FormatInt(int64(id), 10) != v.ID {
				t.Fatalf("%+v = %s, %v, want %s", v.TraceParts, id, err, v.ID)
			}
			parsed, err := idtype.ParseTraceID(v.ID)
			if err != nil || parsed != id {
				t.Errorf("ParseTraceID = %d, %v", parsed, err)
			}
			if got := parsed.Parts(); got != v.TraceParts {
				t.Errorf("Parts = %+v, want %+v", got, v.TraceParts)
			}
			if parsed.Chunk() != v.Chunk || parsed.Counter() != v.Counter {
				t.Errorf("chunk %d, counter %d, want %d, %d", parsed.Chunk(), parsed.Counter(), v.Chunk, v.Counter)
			}
			if err := parsed.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
	if kinds["boundary"] == 0 || kinds["onebit"] == 0 || kinds["random"] == 0 {
		t.Errorf("kinds of vectors: %v", kinds)
	}
}

type validatorVector struct {
	Raw          uint64 `json:",string"`
	AllowedSecs  *int64 `json:"allowed_secs,string"`
	AllowedNanos *int64 `json:"allowed_nanos"`
	NowUnix      int64  `json:"now_unix"`
	NowTruncated int    `json:"now_truncated"`
	Timestamp    int    `json:"timestamp"`
	Verdict      string `json:"verdict"`
}

func TestTraceValidatorVectors(t *testing.T) {
	verdicts := map[string]int{}
	for i, v := range readVectors[validatorVector](t, "traceid_validator.jsonl", 80) {
		verdicts[v.Verdict]++
		t.Run(fmt.Sprintf("%d/%d", i+1, v.Raw), func(t *testing.T) {
			now := time.Unix(v.NowUnix, 0)
			if got := idtype.TraceTimestamp(now); got != v.NowTruncated {
				t.Errorf("TraceTimestamp of now = %d, want %d", got, v.NowTruncated)
			}
			id := idtype.TraceID(v.Raw) // with the top bit it is negative
			if got := id.Timestamp(); got != v.Timestamp {
				t.Errorf("Timestamp = %d, want %d", got, v.Timestamp)
			}
			allowed := time.Duration(idtype.TracePeriod / 2) // elfo does not look at the time: no time is too far away
			if v.AllowedSecs != nil {
				allowed = time.Duration(*v.AllowedSecs)*time.Second + time.Duration(*v.AllowedNanos)
			}
			// The validator works in whole seconds: the time within the second of now changes nothing.
			for _, nanos := range []time.Duration{0, 1, 999_999_999} {
				err := id.ValidateAt(now.Add(nanos), allowed)
				switch v.Verdict {
				case "ok":
					if err != nil {
						t.Errorf("%d ns later: %v", nanos, err)
					}
				case "cannot be zero":
					wantInputError(t, err, "TraceID", "0", idtype.ErrZero)
				case "highest bit must be zero":
					wantInputError(t, err, "TraceID", strconv.FormatInt(int64(id), 10), nil)
					if errors.Is(err, idtype.ErrZero) || errors.Is(err, idtype.ErrTraceTime) {
						t.Errorf("error is %v", err)
					}
				case "invalid timestamp":
					wantInputError(t, err, "TraceID", id.String(), idtype.ErrTraceTime)
				default:
					t.Errorf("unknown verdict %q", v.Verdict)
				}
			}
		})
	}
	if len(verdicts) != 4 {
		t.Errorf("verdicts: %v, want all four", verdicts)
	}
}

func TestTracePublished(t *testing.T) {
	id := idtype.TraceID(publishedTrace)
	want := idtype.TraceParts{Timestamp: 16903607, Node: 24528, Bottom: 3799583}
	if id.Parts() != want || id.Chunk() != 3710 || id.Counter() != 543 {
		t.Errorf("%+v, chunk %d, counter %d", id.Parts(), id.Chunk(), id.Counter())
	}
}

func TestTraceBoundsOfParts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		parts idtype.TraceParts
		want  string // the ID, or the part that is out of range
	}{
		{"smallest", idtype.TraceParts{Bottom: 1}, "1"},
		{"node alone", idtype.TraceParts{Node: 1, Bottom: 1}, "4194305"},
		{"timestamp alone", idtype.TraceParts{Timestamp: 1, Bottom: 1}, "274877906945"},
		{"largest", idtype.TraceParts{Timestamp: 33_554_431, Node: 65_535, Bottom: 4_194_303}, "9223372036854775807"},
		{"no bottom", idtype.TraceParts{Timestamp: 1, Node: 1}, "bottom"},
		{"bottom above", idtype.TraceParts{Bottom: 4_194_304}, "bottom"},
		{"bottom below", idtype.TraceParts{Bottom: -1}, "bottom"},
		{"node above", idtype.TraceParts{Node: 65_536, Bottom: 1}, "node_no"},
		{"node below", idtype.TraceParts{Node: -1, Bottom: 1}, "node_no"},
		{"timestamp above", idtype.TraceParts{Timestamp: 33_554_432, Bottom: 1}, "timestamp"},
		{"timestamp far above", idtype.TraceParts{Timestamp: math.MaxInt, Bottom: 1}, "timestamp"},
		{"timestamp below", idtype.TraceParts{Timestamp: -1, Bottom: 1}, "timestamp"},
		{"the first bad part is named", idtype.TraceParts{Node: -1}, "node_no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := tt.parts.ID()
			if tt.want[0] > '9' {
				wantRangeError(t, err, "TraceID", tt.want)
				if id != 0 {
					t.Errorf("%d beside an error", id)
				}
				return
			}
			if err != nil || id.String() != tt.want {
				t.Errorf("%+v = %s, %v, want %s", tt.parts, id, err, tt.want)
			}
		})
	}
	if idtype.TraceMaxTimestamp != 33_554_431 || idtype.TraceMaxNode != 65_535 || idtype.TraceMaxBottom != 4_194_303 ||
		idtype.TraceTimeStep != 1<<38 || idtype.TraceNodeStep != 1<<22 || idtype.TracePeriod != 33_554_432*time.Second {
		t.Error("the exported bounds are not those of the layout")
	}
}

func TestTraceValidate(t *testing.T) {
	for _, id := range []idtype.TraceID{1, 57, 4_194_303, 4_194_305, publishedTrace, math.MaxInt64} {
		if err := id.Validate(); err != nil {
			t.Errorf("%d: %v", id, err)
		}
	}
	for _, id := range []idtype.TraceID{4_194_304, 1 << 38, 1 << 62} {
		wantRangeError(t, id.Validate(), "TraceID", "bottom")
		if err := id.ValidateAt(time.Unix(0, 0), idtype.TracePeriod); err != nil {
			t.Errorf("elfo takes %d: %v", id, err)
		}
	}
	for _, id := range []idtype.TraceID{0, -1, math.MinInt64} {
		wantInputError(t, id.Validate(), "TraceID", id.String(), map[bool]error{true: idtype.ErrZero}[id == 0])
	}
}

func TestTraceAgainstReference(t *testing.T) {
	t.Run("parts to ID", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.TraceParts{
			Timestamp: rapid.IntRange(0, 33_554_431).Draw(t, "timestamp"),
			Node:      rapid.IntRange(0, 65_535).Draw(t, "node"),
			Bottom:    rapid.IntRange(1, 4_194_303).Draw(t, "bottom"),
		}
		id, err := p.ID()
		if want := refTrace(p); err != nil || int64(id) != want {
			t.Fatalf("%+v = %d, %v, want %d", p, id, err, want)
		}
		if id.Parts() != p || id.Validate() != nil {
			t.Fatalf("parts came back as %+v, %v, want %+v", id.Parts(), id.Validate(), p)
		}
	}))
	t.Run("ID to parts", rapid.MakeCheck(func(t *rapid.T) {
		id := idtype.TraceID(rapid.OneOf(rapid.Custom(drawID), rapid.Int64()).Draw(t, "number"))
		want, chunk, counter := refTraceParts(int64(id))
		if id.Parts() != want || id.Chunk() != chunk || id.Counter() != counter {
			t.Fatalf("%d is %+v, %d, %d, want %+v, %d, %d", id, id.Parts(), id.Chunk(), id.Counter(), want, chunk, counter)
		}
		if ok := id > 0 && want.Bottom > 0; ok != (id.Validate() == nil) {
			t.Fatalf("Validate of %d: %v", id, id.Validate())
		}
	}))
	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.TraceParts{
			Timestamp: rapid.IntRange(-2, 1<<25+1).Draw(t, "timestamp"),
			Node:      rapid.IntRange(-2, 1<<16+1).Draw(t, "node"),
			Bottom:    rapid.Int().Draw(t, "bottom"),
		}
		id, err := p.ID()
		if err == nil && id.Parts() != p || err != nil && id != 0 {
			t.Fatalf("%+v gives %d, which is %+v, %v", p, id, id.Parts(), err)
		}
	}))
}

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
	return append(all, time.Time{}, time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", 3600)))
}

func TestTraceTimestamp(t *testing.T) {
	for unix, want := range map[int64]int{
		-1: 1<<25 - 1, 0: 0, 1: 1, 1<<25 - 1: 1<<25 - 1, 1 << 25: 0, 1_700_000_000: 22_278_400,
		-1 << 25: 0, -1<<25 - 1: 1<<25 - 1, math.MinInt64: 0, math.MaxInt64: 1<<25 - 1,
	} {
		for _, nanos := range []int64{0, 999_999_999} {
			at := time.Unix(unix, nanos)
			if got := idtype.TraceTimestamp(at); got != want {
				t.Errorf("TraceTimestamp of Unix time %d.%09d = %d, want %d", unix, nanos, got, want)
			}
		}
	}
}

// TestTraceTimes: the definition, and not the formula.
func TestTraceTimes(t *testing.T) {
	check := func(t failing, id idtype.TraceID, around time.Time) {
		last, next := id.Times(around)
		for _, at := range []time.Time{last, next} {
			if idtype.TraceTimestamp(at) != id.Timestamp() || at.Nanosecond() != 0 || at.Location() != time.UTC {
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
	if last.Format(time.RFC3339) != "2022-08-21T08:32:55Z" || next.Format(time.RFC3339) != "2023-09-13T17:13:27Z" {
		t.Errorf("the published ID is of %v or %v", last, next)
	}
}

// TestTraceOfSecond: the IDs of a second are those between its bounds, and no other.
func TestTraceOfSecond(t *testing.T) {
	for _, at := range moments() {
		minID, maxID := idtype.MinTraceID(at), idtype.MaxTraceID(at)
		timestamp := idtype.TraceTimestamp(at)
		if want := (idtype.TraceParts{Timestamp: timestamp, Bottom: 1}); minID.Parts() != want || minID.Validate() != nil {
			t.Errorf("smallest of %v is %+v, %v", at, minID.Parts(), minID.Validate())
		}
		want := idtype.TraceParts{Timestamp: timestamp, Node: idtype.TraceMaxNode, Bottom: idtype.TraceMaxBottom}
		if maxID.Parts() != want || maxID.Validate() != nil {
			t.Errorf("largest of %v is %+v, %v", at, maxID.Parts(), maxID.Validate())
		}
	}
}

func TestTraceBounds(t *testing.T) {
	const period = 1 << 25
	all := func(first, last int64) idtype.TraceRange {
		return idtype.TraceRange{Min: idtype.TraceID(first<<38 | 1), Max: idtype.TraceID((last+1)<<38 - 1)}
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
		{"the last nanosecond counts", at(5, 999_999_999), at(6, 0), []idtype.TraceRange{all(5, 6)}, nil},
		{"the first second", at(0, 0), at(0, 0), []idtype.TraceRange{all(0, 0)}, nil},
		{"the last second", at(period-1, 0), at(period-1, 9), []idtype.TraceRange{all(period-1, period-1)}, nil},
		{"around the wrap", at(period-1, 0), at(period, 0), []idtype.TraceRange{all(period-1, period-1), all(0, 0)}, nil},
		{"around 1970", at(-2, 1), at(1, 1), []idtype.TraceRange{all(period-2, period-1), all(0, 1)}, nil},
		{"before 1970", at(-3, 1), at(-2, 1), []idtype.TraceRange{all(period-3, period-2)}, nil},
		{"another period", at(51*period+3, 0), at(51*period+4, 0), []idtype.TraceRange{all(3, 4)}, nil},
		{"across another wrap", at(51*period-1, 0), at(51*period+4, 0), []idtype.TraceRange{all(period-1, period-1), all(0, 4)}, nil},
		{"every second, in order", at(period, 0), at(2*period-1, 999_999_999), []idtype.TraceRange{all(0, period-1)}, nil},
		{"every second", at(7, 0), at(period+6, 0), []idtype.TraceRange{all(7, period-1), all(0, 6)}, nil},
		{"a second twice", at(7, 0), at(period+7, 0), nil, idtype.ErrSpanPeriod},
		{"a second twice, by a nanosecond", at(7, 999_999_999), at(period+7, 0), nil, idtype.ErrSpanPeriod},
		{"two periods", at(7, 0), at(2*period+7, 0), nil, idtype.ErrSpanPeriod},
		{"all of time", at(math.MinInt64, 0), at(math.MaxInt64, 0), nil, idtype.ErrSpanPeriod},
		{"from zero time", time.Time{}, at(0, 0), nil, idtype.ErrSpanPeriod},
		{"inverted by a nanosecond", at(5, 8), at(5, 7), nil, idtype.ErrSpanInverted},
		{"inverted by a second", at(6, 0), at(5, 999_999_999), nil, idtype.ErrSpanInverted},
		{"inverted by a period", at(period+5, 0), at(5, 0), nil, idtype.ErrSpanInverted},
		{"inverted as far as can be", at(math.MaxInt64, 0), at(math.MinInt64, 0), nil, idtype.ErrSpanInverted},
		{"elsewhere", at(5, 0).In(time.FixedZone("", 3600)), at(6, 0).In(time.FixedZone("", -3600)), []idtype.TraceRange{all(5, 6)}, nil},
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
			if !errors.As(err, &e) || e.Type != "TraceID" || !e.From.Equal(tt.from) || !e.To.Equal(tt.to) {
				t.Fatalf("error is %#v, want a *SpanError of this span", err)
			}
			for _, part := range []string{"TraceID", tt.from.UTC().Format(time.RFC3339Nano), tt.to.UTC().Format(time.RFC3339Nano), tt.err.Error()} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error is %q, want %q in it", err, part)
				}
			}
		})
	}
}

// TestTraceBoundsHoldIDs: an ID that was made in the span is in one range, and in one only; an ID of another second is in none.
func TestTraceBoundsHoldIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(-1<<26, 1<<31).Draw(t, "from")
		length := rapid.OneOf(rapid.Int64Range(0, 10), rapid.Int64Range(0, 1<<25-1)).Draw(t, "length")
		// A second at the bounds of the span, within it, or anywhere within a period of it.
		offset := rapid.OneOf(rapid.SampledFrom([]int64{-1, 0, length, length + 1}), rapid.Int64Range(0, length),
			rapid.Int64Range(length-1<<25+1, 1<<25-1)).Draw(t, "offset")
		made := time.Unix(from+offset, 0)
		id, err := idtype.TraceParts{
			Timestamp: idtype.TraceTimestamp(made), Node: rapid.IntRange(0, 65_535).Draw(t, "node"),
			Bottom: rapid.IntRange(1, 4_194_303).Draw(t, "bottom"),
		}.ID()
		if err != nil {
			t.Fatal(err)
		}
		ranges, err := idtype.TraceBounds(time.Unix(from, 999_999_999), time.Unix(from+length, 999_999_999))
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
			t.Fatalf("ID of second %d is in %d of the ranges %v of %d seconds from %d", from+offset, found, ranges, length+1, from)
		}
	})
}

// TestTraceValidateAt has what the vectors do not: bounds of the distance in both directions, fractions, and odd durations.
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
}
