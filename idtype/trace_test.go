package idtype_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
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
	return idtype.TraceParts{Timestamp: field(1, 26), Node: field(26, 42), Bottom: field(42, 64)},
		field(42, 54), field(54, 64)
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
				t.Errorf("chunk %d, counter %d, want %d, %d", parsed.Chunk(), parsed.Counter(),
					v.Chunk, v.Counter)
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
			// The validator works in whole seconds: the time within the second of now changes
			// nothing.
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
	testPartBounds(t, "TraceID", []partBound[idtype.TraceParts, idtype.TraceID]{
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
	})
	if idtype.TraceMaxTimestamp != 33_554_431 || idtype.TraceMaxNode != 65_535 ||
		idtype.TraceMaxBottom != 4_194_303 ||
		idtype.TraceTimeStep != 1<<38 || idtype.TracePeriod != 33_554_432*time.Second {
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
			t.Fatalf("%d is %+v, %d, %d, want %+v, %d, %d", id, id.Parts(), id.Chunk(),
				id.Counter(), want, chunk, counter)
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
