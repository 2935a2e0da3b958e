package idtype_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

const (
	spread     = idtype.EightByteSpread
	sequential = idtype.EightByteTimeSequential
)

// eightByteVector is a line of the files that java-uniqueid made, not this package.
type eightByteVector struct {
	Kind, Op, Hex, Error string
	Version              string // of java-uniqueid, where it is not the newest

	Mode      idtype.EightByteMode
	UnixMs    json.Number `json:"timestamp_ms"` // a string where it is beyond 2^53
	Sequence  int
	Generator int
	Cluster   int
	Length    *int
}

func (v eightByteVector) parts(t *testing.T) idtype.EightByteParts {
	t.Helper()
	ms, err := v.UnixMs.Int64()
	if err != nil {
		t.Fatal(err)
	}
	return idtype.EightByteParts{
		Mode: v.Mode, UnixMs: ms, Sequence: v.Sequence,
		Generator: v.Generator, Cluster: v.Cluster,
	}
}

func TestEightByteVectors(t *testing.T) {
	kinds := map[string]int{}
	for _, v := range readVectors[eightByteVector](t, "eightbyte.jsonl", 300) {
		kinds[v.Kind]++
		kinds[v.Mode.String()]++
		t.Run(v.Hex, func(t *testing.T) { testEightByteVector(t, v, idtype.EightByteParts.ID) })
	}
	for _, kind := range []string{"boundary", "onebit", "onebit_clear", "genstep", "random", "SPREAD", "TIME_SEQUENTIAL"} {
		if kinds[kind] == 0 {
			t.Errorf("kinds of vectors: %v, want %s among them", kinds, kind)
		}
	}
}

func TestEightByteV1Vectors(t *testing.T) {
	for _, v := range readVectors[eightByteVector](t, "eightbyte_v1.jsonl", 40) {
		t.Run(v.Hex, func(t *testing.T) {
			testEightByteVector(t, v, idtype.EightByteParts.V1ID)
			testEightByteVector(t, v, idtype.EightByteParts.ID) // the same bytes
			raw, _ := hex.DecodeString(v.Hex)
			if err := idtype.EightByteID(raw).ValidateV1(); err != nil &&
				!errors.Is(err, idtype.ErrZero) {
				t.Errorf("ValidateV1: %v", err)
			}
		})
	}
}

// The vectors of each release of java-uniqueid are those of its layout: what it makes, and what it
// refuses.
func TestEightByteLayoutVectors(t *testing.T) {
	type layout struct {
		compose  func(idtype.EightByteParts) (idtype.EightByteID, error)
		validate func(idtype.EightByteID) error
	}
	v1 := layout{idtype.EightByteParts.V1ID, idtype.EightByteID.ValidateV1}
	v2 := layout{idtype.EightByteParts.V2ID, idtype.EightByteID.ValidateV2}
	v3 := layout{idtype.EightByteParts.V3ID, idtype.EightByteID.ValidateV3}
	releases := map[string][]layout{ // the first is the release's own, and the later ones hold the same IDs
		"1.13": {v1, v2, v3}, "1.14": {v2, v3}, "2.4": {v2, v3}, "2.5": {v3}, "3.1": {v3},
	}
	kinds := map[string]int{}
	for _, v := range readVectors[eightByteVector](t, "eightbyte_layouts.jsonl", 203) {
		kinds[v.Version+" "+v.Kind]++
		t.Run(v.Version+"/"+v.Hex, func(t *testing.T) {
			layouts := releases[v.Version]
			if len(layouts) == 0 {
				t.Fatalf("nobody knows java-uniqueid %q", v.Version)
			}
			if v.Error != "" {
				id, err := layouts[0].compose(v.parts(t))
				if name, _, _ := strings.Cut(v.Error, ":"); !id.IsZero() {
					t.Errorf("%v beside an error", id)
				} else {
					wantRangeError(t, err, "EightByteID", eightByteParts[name])
				}
				return
			}
			for _, l := range append(layouts, layout{idtype.EightByteParts.ID, idtype.EightByteID.Validate}) {
				testEightByteVector(t, v, l.compose)
				if err := l.validate(idtype.MustParseEightByteID(v.Hex)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for release := range releases {
		for _, kind := range []string{"boundary", "random", "invalid"} {
			if kinds[release+" "+kind] == 0 {
				t.Errorf("no %s vectors of java-uniqueid %s: %v", kind, release, kinds)
			}
		}
	}
}

func testEightByteVector(t *testing.T, v eightByteVector, compose func(idtype.EightByteParts) (idtype.EightByteID, error)) {
	t.Helper()
	parts := v.parts(t)
	id, err := compose(parts)
	if strings.Trim(v.Hex, "0") == "" {
		// The reference makes this ID too. Here zero is nobody's: it is composed of its parts by no
		// function, and read by none.
		if !errors.Is(err, idtype.ErrZero) || !id.IsZero() {
			t.Errorf("%+v = %v, %v, want ErrZero", parts, id, err)
		}
		if _, err := idtype.ParseEightByteID(v.Hex); !errors.Is(err, idtype.ErrZero) {
			t.Errorf("Parse(%q): %v, want ErrZero", v.Hex, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := id.String(); got != v.Hex {
		t.Errorf("%+v = %s, want %s", parts, got, v.Hex)
	}
	if got := hex.EncodeToString(id[:]); got != v.Hex {
		t.Errorf("bytes of %+v = %s, want %s", parts, got, v.Hex)
	}
	if got := strconv.FormatUint(id.Uint64(), 16); strings.Repeat("0", 16-len(got))+got != v.Hex {
		t.Errorf("number of %+v = %s, want %s", parts, got, v.Hex)
	}
	parsed, err := idtype.ParseEightByteID(v.Hex)
	if err != nil || parsed.Parts() != parts || parsed.Validate() != nil {
		t.Errorf("%s = %+v, %v, Validate %v, want %+v", v.Hex, parsed.Parts(), err,
			parsed.Validate(), parts)
	}
}

// eightByteParts are the names of the parts in the reference's errors.
var eightByteParts = map[string]string{
	"Invalid timestamp": "unix_ms", "Invalid sequence counter": "sequence", "Invalid generator-ID": "generator_id",
	"Invalid cluster-ID": "cluster_id",
}

func TestEightByteVectorsInvalid(t *testing.T) {
	for _, v := range readVectors[eightByteVector](t, "eightbyte_invalid.jsonl", 18) {
		t.Run(v.Error, func(t *testing.T) {
			switch v.Op {
			case "build":
				for _, mode := range []idtype.EightByteMode{spread, sequential} {
					v.Mode = mode
					id, err := v.parts(t).ID()
					if !id.IsZero() {
						t.Errorf("ID returns %v beside its error", id)
					}
					name, _, _ := strings.Cut(strings.TrimPrefix(v.Error, "java.lang.IllegalArgumentException: "), ":")
					wantRangeError(t, err, "EightByteID", eightByteParts[name])
				}
			case "parse": // of bytes
				var data []byte
				if v.Length != nil {
					data = slices.Repeat([]byte{1}, *v.Length)
				}
				id := idtype.EightByteFromUint64(77)
				wantInputError(t, id.UnmarshalBinary(data), "EightByteID", string(data), nil)
				if id != idtype.EightByteFromUint64(77) {
					t.Errorf("receiver is %v after an error, want it untouched", id)
				}
			default:
				t.Errorf("unknown op %q", v.Op)
			}
		})
	}
}

// TestEightBytePublished are the IDs that the reference's own tests show.
func TestEightBytePublished(t *testing.T) {
	for _, tt := range []struct {
		parts idtype.EightByteParts
		want  string
	}{
		{idtype.EightByteParts{UnixMs: 143062936275}, "cb54ecf284000000"},
		{idtype.EightByteParts{UnixMs: 0x3FFFFFFFD}, "bfffffffc0000000"},
		{idtype.EightByteParts{UnixMs: 1<<42 - 1, Sequence: 63, Generator: 2047, Cluster: 15}, "ffffffffffffefff"},
		{idtype.EightByteParts{Generator: 0x27}, "0000000000000270"},
		{idtype.EightByteParts{Mode: sequential}, "0000000000001000"},
		// The one above the type.
		{idtype.EightByteParts{sequential, 1573827159591, 33, 1161, 11}, "5b9bda2989e1989b"},
	} {
		id, err := tt.parts.ID()
		if err != nil || id.String() != tt.want || id.Parts() != tt.parts {
			t.Errorf("%+v = %v, %v, want %s", tt.parts, id, err, tt.want)
		}
	}
	if got := idtype.MustParseEightByteID("5b9bda2989e1989b").Time(); got != time.Date(2019, 11, 15, 14, 12, 39, 591e6, time.UTC) {
		t.Errorf("the ID above the type is of %v", got)
	}
}

// TestEightByteBounds states the layout's bounds as numbers, so that a changed constant is seen.
func TestEightByteBounds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		parts  idtype.EightByteParts
		want   string // the ID, or the part that is out of range
		wantV1 string // "" for the same
		wantV2 string
		wantV3 string
	}{
		{"largest", idtype.EightByteParts{sequential, 4398046511103, 63, 2047, 15}, "ffffffffffffffff", "mode", "mode", "generator_id"},
		{"largest of the first layout", idtype.EightByteParts{spread, 4398046511103, 63, 63, 15}, "ffffffffffff03ff", "", "", ""},
		{"largest of the second layout", idtype.EightByteParts{spread, 4398046511103, 63, 255, 15}, "ffffffffffff0fff", "generator_id", "", ""},
		{"largest of the third layout", idtype.EightByteParts{sequential, 4398046511103, 63, 255, 15}, "ffffffffffff1fff", "mode", "mode", ""},
		{"generator 256", idtype.EightByteParts{spread, 0, 0, 256, 0}, "0000000000002000", "generator_id", "generator_id", "generator_id"},
		{"smallest", idtype.EightByteParts{spread, 0, 0, 0, 1}, "0000000000000001", "", "", ""},
		{"generator 64", idtype.EightByteParts{spread, 0, 0, 64, 0}, "0000000000000400", "generator_id", "", ""},
		{"generator 2048", idtype.EightByteParts{spread, 0, 0, 2048, 0}, "generator_id", "", "", ""},
		{"generator -1", idtype.EightByteParts{spread, 0, 0, -1, 0}, "generator_id", "", "", ""},
		{"time above", idtype.EightByteParts{sequential, 4398046511104, 0, 0, 0}, "unix_ms", "mode", "mode", ""},
		{"time far above", idtype.EightByteParts{spread, math.MaxInt64, 0, 0, 0}, "unix_ms", "", "", ""},
		{"time below", idtype.EightByteParts{spread, -1, 0, 0, 0}, "unix_ms", "", "", ""},
		{"time far below", idtype.EightByteParts{spread, math.MinInt64, 0, 0, 0}, "unix_ms", "", "", ""},
		{"sequence 64", idtype.EightByteParts{spread, 0, 64, 0, 0}, "sequence", "", "", ""},
		{"sequence -1", idtype.EightByteParts{spread, 0, -1, 0, 0}, "sequence", "", "", ""},
		{"cluster 16", idtype.EightByteParts{spread, 0, 0, 0, 16}, "cluster_id", "", "", ""},
		{"cluster -1", idtype.EightByteParts{spread, 0, 0, 0, -1}, "cluster_id", "", "", ""},
		{"no mode", idtype.EightByteParts{2, 1, 0, 0, 0}, "mode", "", "", ""},
		{"negative mode", idtype.EightByteParts{-1, 1, 0, 0, 0}, "mode", "", "", ""},
		{"the first bad part is named", idtype.EightByteParts{spread, 1, 64, -1, -1}, "sequence", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(want string, id idtype.EightByteID, err error) {
				t.Helper()
				if len(want) != 16 {
					wantRangeError(t, err, "EightByteID", want)
				} else if err != nil || id.String() != want {
					t.Errorf("%+v = %v, %v, want %s", tt.parts, id, err, want)
				}
			}
			id, err := tt.parts.ID()
			check(tt.want, id, err)
			id, err = tt.parts.V1ID()
			check(cmp.Or(tt.wantV1, tt.want), id, err)
			id, err = tt.parts.V2ID()
			check(cmp.Or(tt.wantV2, tt.want), id, err)
			id, err = tt.parts.V3ID()
			check(cmp.Or(tt.wantV3, tt.want), id, err)
		})
	}
	if idtype.EightByteMaxUnixMs != 4398046511103 || idtype.EightByteMaxSequence != 63 ||
		idtype.EightByteMaxGenerator != 2047 ||
		idtype.EightByteMaxCluster != 15 {
		t.Error("the exported bounds are not those of the layout")
	}
	if got := time.UnixMilli(idtype.EightByteMaxUnixMs).UTC(); got != time.Date(2109, 5, 15, 7, 35, 11, 103e6, time.UTC) {
		t.Errorf("the last millisecond is %v", got)
	}
}

func TestEightByteMode(t *testing.T) {
	for mode, want := range map[idtype.EightByteMode]string{spread: "SPREAD", sequential: "TIME_SEQUENTIAL"} {
		text, err := mode.MarshalText()
		if mode.String() != want || string(text) != want || err != nil {
			t.Errorf("mode %d is %s, as text %s, %v, want %s", int(mode), mode, text, err, want)
		}
		got := idtype.EightByteMode(7)
		if err := got.UnmarshalText([]byte(want)); err != nil || got != mode {
			t.Errorf("%s is mode %d, %v", want, int(got), err)
		}
	}
	for _, bad := range []string{"", "spread", "SPREAD ", "TIME-SEQUENTIAL", "0", "1", "EightByteMode(0)", "EightByteMode(2)", strings.Repeat("S", 1<<20)} {
		got := sequential
		wantInputError(t, got.UnmarshalText([]byte(bad)), "EightByteMode", bad, nil)
		if got != sequential {
			t.Errorf("mode is %v after an error, want it untouched", got)
		}
	}
	for _, bad := range []idtype.EightByteMode{-1, 2} {
		text, err := bad.MarshalText()
		wantRangeError(t, err, "EightByteID", "mode")
		if text != nil || bad.String() != "EightByteMode("+strconv.Itoa(int(bad))+")" {
			t.Errorf("mode %d is %s, as text %q", int(bad), bad, text)
		}
	}
	b, err := json.Marshal(idtype.EightByteParts{sequential, 5, 4, 3, 2})
	const want = `{"mode":"TIME_SEQUENTIAL","unix_ms":5,"sequence":4,"generator_id":3,"cluster_id":2}`
	if err != nil || string(b) != want {
		t.Errorf("parts as JSON = %s, %v, want %s", b, err, want)
	}
}

func TestEightByteMinMax(t *testing.T) {
	ms := func(n int64) time.Time { return time.UnixMilli(n) }
	for _, tt := range []struct {
		name     string
		t        time.Time
		min, max string // "" for an error
	}{
		{"a time", ms(1573827159591), "5b9bda2989c01000", "5b9bda2989ffffff"},
		{"within its millisecond", ms(1573827159591).Add(999_999), "5b9bda2989c01000", "5b9bda2989ffffff"},
		{"in another zone", ms(1573827159591).In(time.FixedZone("", 3600)), "5b9bda2989c01000", "5b9bda2989ffffff"},
		{"first", ms(0), "0000000000001000", "00000000003fffff"},
		{"last", ms(4398046511103).Add(999_999), "ffffffffffc01000", "ffffffffffffffff"},
		{"after the last", ms(4398046511104), "", ""},
		{"a nanosecond before the first", ms(0).Add(-1), "", ""},
		{"zero", time.Time{}, "", ""},
		// UnixMilli wraps around here, to a valid time.
		{"so late that it wraps", time.Unix(math.MaxInt64/1000*2+2, 0), "", ""},
		{"so early that it wraps", time.Unix(math.MinInt64/1000*2, 0), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := idtype.MinEightByteID(tt.t)
			testBound(t, "EightByteID", tt.min, id, err)
			id, err = idtype.MaxEightByteID(tt.t)
			testBound(t, "EightByteID", tt.max, id, err)
		})
	}
	// The bounds of a time hold all of its IDs of the mode, and none of its neighbours.
	at := time.UnixMilli(1573827159591)
	least, _ := idtype.MinEightByteID(at)
	most, _ := idtype.MaxEightByteID(at)
	for _, delta := range []int64{-1, 0, 1} {
		for _, p := range []idtype.EightByteParts{
			{sequential, at.UnixMilli() + delta, 0, 0, 0},
			{sequential, at.UnixMilli() + delta, 63, 2047, 15},
			{sequential, at.UnixMilli() + delta, 0, 2047, 15},
			{sequential, at.UnixMilli() + delta, 63, 0, 0},
		} {
			id, err := p.ID()
			if within := id.Compare(least) >= 0 && id.Compare(most) <= 0; err != nil ||
				within != (delta == 0) {
				t.Errorf("%+v is within the bounds of its neighbour: %v, %v", p, within, err)
			}
		}
	}
	// What the doc warns of: a SPREAD ID of 2094 lies among those of 2019.
	other, err := idtype.EightByteParts{Mode: spread, UnixMs: 3923794188762, Sequence: 1}.ID()
	if err != nil || other.Compare(least) <= 0 || other.Compare(most) >= 0 ||
		other.Time().Year() != 2094 {
		t.Errorf("%v, %v of %v is not between %v and %v", other, err, other.Time(), least, most)
	}
}

// testBound checks the smallest or the largest ID of a time, "" for an error.
func testBound[T idtype.ID](t *testing.T, typ, want string, got T, err error) {
	t.Helper()
	if want == "" {
		wantRangeError(t, err, typ, "unix_ms")
		if !got.IsZero() {
			t.Errorf("%v beside an error", got)
		}
	} else if err != nil || got.String() != want {
		t.Errorf("bound is %v, %v, want %s", got, err, want)
	}
}

func TestEightByteValidate(t *testing.T) {
	for _, tt := range []struct {
		id     idtype.EightByteID
		v1Part string // that ValidateV1 refuses
		v2Part string
		v3Part string
	}{
		{idtype.MustParseEightByteID("ffffffffffff03ff"), "", "", ""},
		{idtype.MustParseEightByteID("0000000000000001"), "", "", ""},
		{idtype.MustParseEightByteID("0000000000000400"), "generator_id", "", ""},
		{idtype.MustParseEightByteID("0000000000008000"), "generator_id", "generator_id", "generator_id"},
		{idtype.MustParseEightByteID("0000000000002000"), "generator_id", "generator_id", "generator_id"},
		{idtype.MustParseEightByteID("0000000000001000"), "mode", "mode", ""},
		{idtype.MustParseEightByteID("ffffffffffffffff"), "mode", "mode", "generator_id"},
	} {
		if err := tt.id.Validate(); err != nil {
			t.Errorf("Validate of %v: %v", tt.id, err)
		}
		for part, err := range map[*string]error{&tt.v1Part: tt.id.ValidateV1(), &tt.v2Part: tt.id.ValidateV2(), &tt.v3Part: tt.id.ValidateV3()} {
			if *part != "" {
				wantRangeError(t, err, "EightByteID", *part)
			} else if err != nil {
				t.Errorf("a former layout of %v: %v", tt.id, err)
			}
		}
	}
	for _, err := range []error{idtype.EightByteID{}.Validate(), idtype.EightByteID{}.ValidateV1(), idtype.EightByteID{}.ValidateV2(), idtype.EightByteID{}.ValidateV3(), errOf(idtype.EightByteParts{}.ID())} {
		wantInputError(t, err, "EightByteID", "0000000000000000", idtype.ErrZero)
	}
}

func errOf[T any](_ T, err error) error { return err }
