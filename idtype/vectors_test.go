package idtype_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// This package did not make the vectors. Those of decimal, trace and short IDs come from the
// formulas of docs/design/formats.md. Those of eightbyte IDs come from java-uniqueid, those of sno
// IDs from muyo/sno.

type decimalVector struct {
	Kind, Op, Raw, Reason, ID string

	Counter   int `json:"counter"`
	Generator int `json:"generator_id"`
	Launch    int `json:"launch_id"`
}

func (v decimalVector) parts() idtype.DecimalParts {
	return idtype.DecimalParts{Counter: v.Counter, Generator: v.Generator, Launch: v.Launch}
}

type traceVector struct {
	Kind, ID string

	Chunk   int `json:"chunk_no"`
	Counter int

	idtype.TraceParts
}

type shortVector struct {
	Kind, ID, Text string

	idtype.ShortParts
}

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

type snoVector struct {
	Kind, Hex, Text string

	UnixMs    int64  `json:"unix_ms"`
	Units     uint64 `json:"timestamp"` // of 4 ms since 2010
	TickTock  int    `json:"ticktock"`
	Meta      int
	Partition int
	Sequence  int
	Input     string `json:"input_unix_ns"` // the time that the ID was asked for
}

func (v snoVector) parts() idtype.SnoParts {
	return idtype.SnoParts{
		UnixMs: v.UnixMs, TickTock: v.TickTock, Meta: v.Meta,
		Partition: v.Partition, Sequence: v.Sequence,
	}
}

// eachVector runs a test for each line of a file, in which these kinds of lines must be.
func eachVector[V any](
	t *testing.T, file string, count int, kinds []string, kind func(V) string,
	test func(*testing.T, V),
) {
	t.Run(file, func(t *testing.T) {
		found := map[string]bool{}
		for i, v := range readVectors[V](t, file, count) {
			found[kind(v)] = true
			t.Run(strconv.Itoa(i+1), func(t *testing.T) { test(t, v) })
		}
		for _, k := range kinds {
			if !found[k] {
				t.Errorf("no vectors of kind %s: %v", k, found)
			}
		}
	})
}

func TestVectors(t *testing.T) {
	eachVector(t, "decimalid.jsonl", 120, []string{"published", "boundary"},
		func(v decimalVector) string { return v.Kind },
		func(t *testing.T, v decimalVector) {
			testVector(t, v.parts(), v.ID, v.ID, idtype.ParseDecimalID, idtype.DecimalID.Parts)
		})
	eachVector(t, "traceid.jsonl", 120, []string{"boundary", "onebit", "random"},
		func(v traceVector) string { return v.Kind },
		func(t *testing.T, v traceVector) {
			id := testVector(t, v.TraceParts, v.ID, v.ID, idtype.ParseTraceID, idtype.TraceID.Parts)
			if id.Chunk() != v.Chunk || id.Counter() != v.Counter {
				t.Errorf("chunk %d, counter %d, want %+v", id.Chunk(), id.Counter(), v)
			}
		})
	eachVector(t, "shortid.jsonl", 120, []string{"published", "boundary"},
		func(v shortVector) string { return v.Kind },
		func(t *testing.T, v shortVector) {
			testVector(t, v.ShortParts, v.Text, v.ID, idtype.ParseShortID, idtype.ShortID.Parts)
		})
	eachVector(t, "eightbyte.jsonl", 300, []string{
		"boundary SPREAD", "onebit SPREAD", "onebit_clear SPREAD", "genstep SPREAD",
		"random SPREAD", "random TIME_SEQUENTIAL",
	},
		func(v eightByteVector) string { return v.Kind + " " + v.Mode.String() },
		func(t *testing.T, v eightByteVector) {
			testEightByteVector(t, v, idtype.EightByteParts.ID)
		})
	eachVector(t, "sno.jsonl", 200, []string{
		"bytes 0", "bytes 1", "bytes_boundary 0", "bytes_boundary 1",
		"newwithtime 0", "newwithtime_boundary 0",
	},
		func(v snoVector) string { return v.Kind + " " + strconv.Itoa(v.TickTock) }, testSnoVector)
}

// testVector holds an ID's parts, its text and its number, or bytes, against each other.
func testVector[P composed[T], T idtype.ID](
	t *testing.T, parts P, text, stored string, parse func(string) (T, error), partsOf func(T) P,
) T {
	t.Helper()
	id, err := parts.ID()
	parsed, parseErr := parse(text)
	if strings.Trim(stored, "0") == "" {
		// The references make this ID too. Here zero is nobody's: it is composed of its parts by no
		// function, and read by none.
		for _, err := range []error{err, parseErr} {
			if !errors.Is(err, idtype.ErrZero) || !id.IsZero() || !parsed.IsZero() {
				t.Errorf("%+v = %v, %s is %v, %v, want ErrZero", parts, id, text, parsed, err)
			}
		}
		return id
	}
	if err != nil || id.String() != text || storedText(id) != stored || id.Validate() != nil {
		t.Fatalf("%+v = %s, %s, %v, Validate %v, want %s, %s", parts, storedText(id), id, err,
			id.Validate(), stored, text)
	}
	if parseErr != nil || any(parsed) != any(id) || partsOf(parsed) != parts {
		t.Errorf("%s = %+v, %v, want %+v", text, partsOf(parsed), parseErr, parts)
	}
	return id
}

// storedText is an ID's number, or its bytes in hexadecimal digits.
func storedText(id any) string {
	if v := reflect.ValueOf(id); v.Kind() == reflect.Int64 {
		return strconv.FormatInt(v.Int(), 10)
	}
	return hex.EncodeToString(rawOf(id))
}

func testSnoVector(t *testing.T, v snoVector) {
	id := testVector(t, v.parts(), v.Text, v.Hex, idtype.ParseSnoID, idtype.SnoID.Parts)
	if units := uint64(v.UnixMs-1262304000000) / 4; units != v.Units {
		t.Errorf("%d units since 2010, want %d", units, v.Units)
	}
	if v.Input == "" {
		return
	}
	ns, err := strconv.ParseInt(v.Input, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	// Milliseconds within a unit of 4 are rounded down as the reference does.
	asked := v.parts()
	asked.UnixMs = time.Unix(0, ns).UnixMilli()
	if got, err := asked.ID(); err != nil || got != id {
		t.Errorf("at %d ms: %v, %v, want %v", asked.UnixMs, got, err, id)
	}
}

type formerLayout struct {
	compose  func(idtype.EightByteParts) (idtype.EightByteID, error)
	validate func(idtype.EightByteID) error
}

// formerLayouts are those of eightbyte IDs, the first release's first.
var formerLayouts = []formerLayout{
	{idtype.EightByteParts.V1ID, idtype.EightByteID.ValidateV1},
	{idtype.EightByteParts.V2ID, idtype.EightByteID.ValidateV2},
	{idtype.EightByteParts.V3ID, idtype.EightByteID.ValidateV3},
}

// TestEightByteLayoutVectors: each release of java-uniqueid makes and refuses what its layout says.
func TestEightByteLayoutVectors(t *testing.T) {
	kind := func(v eightByteVector) string { return v.Version + " " + v.Kind }
	// The first layout is the release's own, and the later ones hold the same IDs.
	first := map[string]int{"": 0, "1.13": 0, "1.14": 1, "2.4": 1, "2.5": 2, "3.1": 2}
	test := func(t *testing.T, v eightByteVector) {
		own, known := first[v.Version]
		if !known {
			t.Fatalf("nobody knows java-uniqueid %q", v.Version)
		}
		layouts := formerLayouts[own:]
		if v.Error != "" {
			wantRefusedParts(t, v, layouts[0].compose)
			return
		}
		testEightByteVector(t, v, idtype.EightByteParts.ID)
		for _, l := range layouts {
			testEightByteVector(t, v, l.compose)
			raw, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatal(err)
			}
			err = l.validate(idtype.EightByteID(raw))
			if err != nil && !(isZero(raw) && errors.Is(err, idtype.ErrZero)) {
				t.Error(err)
			}
		}
	}
	eachVector(t, "eightbyte_v1.jsonl", 40, nil, kind, test)
	var kinds []string
	for release := range first {
		if release != "" {
			kinds = append(kinds, release+" boundary", release+" random", release+" invalid")
		}
	}
	eachVector(t, "eightbyte_layouts.jsonl", 203, kinds, kind, test)
}

func testEightByteVector(
	t *testing.T, v eightByteVector,
	compose func(idtype.EightByteParts) (idtype.EightByteID, error),
) {
	t.Helper()
	id := testVector(t, v.parts(t), v.Hex, v.Hex, idtype.ParseEightByteID, idtype.EightByteID.Parts)
	if got := fmt.Sprintf("%016x", id.Uint64()); got != v.Hex {
		t.Errorf("number of %v is %s, want %s", id, got, v.Hex)
	}
	if got, err := compose(v.parts(t)); got != id || (err == nil) == id.IsZero() {
		t.Errorf("%+v in this layout = %v, %v, want %v", v.parts(t), got, err, id)
	}
}

// wantRefusedParts fails unless the part is refused that the reference refuses.
func wantRefusedParts(
	t *testing.T, v eightByteVector,
	compose func(idtype.EightByteParts) (idtype.EightByteID, error),
) {
	t.Helper()
	names := map[string]string{
		"Invalid timestamp": "unix_ms", "Invalid sequence counter": "sequence",
		"Invalid generator-ID": "generator_id", "Invalid cluster-ID": "cluster_id",
	}
	id, err := compose(v.parts(t))
	if !id.IsZero() {
		t.Errorf("%v beside an error", id)
	}
	name, _, _ := strings.Cut(
		strings.TrimPrefix(v.Error, "java.lang.IllegalArgumentException: "), ":",
	)
	wantRangeError(t, err, "EightByteID", names[name])
}

func TestEightByteVectorsInvalid(t *testing.T) {
	test := func(t *testing.T, v eightByteVector) {
		switch v.Op {
		case "build":
			for _, v.Mode = range []idtype.EightByteMode{spread, sequential} {
				wantRefusedParts(t, v, idtype.EightByteParts.ID)
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
		}
	}
	eachVector(t, "eightbyte_invalid.jsonl", 18, []string{"build", "parse"},
		func(v eightByteVector) string { return v.Op }, test)
}

func TestVectorsInvalid(t *testing.T) {
	test := func(t *testing.T, v decimalVector) {
		if v.Op == "parse" {
			testInvalidParse(t, v)
		} else {
			testInvalidBuild(t, v)
		}
	}
	eachVector(t, "decimalid_invalid.jsonl", 29, []string{"parse", "build"},
		func(v decimalVector) string { return v.Op }, test)
}

func testInvalidParse(t *testing.T, v decimalVector) {
	id, err := idtype.ParseDecimalID(v.Raw)
	if v.Reason == "zero" || v.Reason == "negative" || strings.Contains(v.Reason, "above int64") {
		var reason error
		if v.Reason == "zero" {
			reason = idtype.ErrZero
		}
		wantInputError(t, err, "DecimalID", v.Raw, reason)
		if id != 0 {
			t.Errorf("Parse returns %d beside its error", id)
		}
		return
	}
	// The rest may be rows that are older than the scheme: they are read, and Validate tells.
	if err != nil {
		t.Fatalf("Parse: %v, want only Validate to refuse (%s)", err, v.Reason)
	}
	if id.String() != v.Raw {
		t.Errorf("read %s, wrote %s", v.Raw, id)
	}
	wantRangeError(t, id.Validate(), "DecimalID", "counter")
}

func testInvalidBuild(t *testing.T, v decimalVector) {
	id, err := v.parts().ID()
	if id != 0 {
		t.Errorf("ID returns %d beside its error", id)
	}
	part, _, _ := strings.Cut(v.Reason, " ")
	e := wantRangeError(t, err, "DecimalID", part)
	want := map[string]int{
		"counter": v.Counter, "generator_id": v.Generator, "launch_id": v.Launch,
	}[part]
	if e.Value != int64(want) {
		t.Errorf("error is about the value %d, want %d", e.Value, want)
	}
}
