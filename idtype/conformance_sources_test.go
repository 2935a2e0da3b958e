package idtype_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What the sources and their programs made goes into the vectors as it is in testdata. Only the
// names of fields are ours.

const (
	pattern   = "Pattern: ID Generation"
	shortRule = "Unique ID Generator Design"
	javaID    = "java-uniqueid"
	muyo      = "muyo/sno 1.2.1"
	elfo      = "elfo"
)

var sourceWords = map[string]string{
	pattern:         "the document's DecimalId: its own example, and its formula's results",
	shortRule:       "the document: its own example, and its rule's results",
	javaID + " 4.7": "LableOrg's program: its IDBuilder and Blueprint made and refused these",
	muyo:            "the program: it generated or decoded these",
	elfo:            "the actor system: its layout, and its validator's verdicts",
}

// addSources appends the cases of a scheme's sources, and says what they are.
func addSources(t *testing.T, scheme string, f *vectorFile) {
	t.Helper()
	switch scheme {
	case "decimal":
		addDecimals(t, f)
	case "trace":
		addTraces(t, f)
	case "short":
		for _, v := range readVectors[shortVector](t, "shortid.jsonl", 120) {
			p := parts{
				"unix_ms": v.UnixMs, "sequence": int64(v.Sequence), "random": int64(v.Random),
			}
			f.Valid = append(f.Valid, validVector{
				Source: shortRule, Text: v.Text, Number: v.ID, Hex: hexOfDigits(t, v.ID),
				Parts: models[scheme].encode(p),
			})
		}
	case "eightbyte":
		addEightBytes(t, f)
	case "sno":
		addSnos(t, f)
	}
	named := func(source string) {
		if words, known := sourceWords[source]; known {
			f.Sources[source] = words
		} else if release, is := strings.CutPrefix(source, javaID+" "); is {
			f.Sources[source] = "release " + release + " of the program, by its layout"
		} else if source != "formats" {
			t.Errorf("nobody knows the source %q", source)
		}
	}
	for _, v := range f.Valid {
		named(v.Source)
	}
	for _, v := range f.Older {
		named(v.Source)
	}
	for _, v := range f.Invalid {
		named(v.Source)
	}
	for _, v := range f.InvalidParts {
		named(v.Source)
	}
	for _, v := range f.Near {
		named(v.Source)
	}
}

// hexOfDigits is a number's eight bytes in hexadecimal digits.
func hexOfDigits(t *testing.T, digits string) string {
	t.Helper()
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%016x", n)
}

func addDecimals(t *testing.T, f *vectorFile) {
	t.Helper()
	m := models["decimal"]
	of := func(v decimalVector) parts {
		return parts{
			"counter": int64(v.Counter), "generator_id": int64(v.Generator),
			"launch_id": int64(v.Launch),
		}
	}
	for _, v := range readVectors[decimalVector](t, "decimalid.jsonl", 120) {
		f.Valid = append(f.Valid, validVector{
			Source: pattern, Text: v.ID, Number: v.ID, Hex: hexOfDigits(t, v.ID),
			Parts: m.encode(of(v)),
		})
	}
	for _, v := range readVectors[decimalVector](t, "decimalid_invalid.jsonl", 29) {
		part, _, _ := strings.Cut(v.Reason, " ")
		switch {
		case v.Op == "build":
			f.InvalidParts = append(f.InvalidParts,
				partsVector{Source: pattern, Parts: m.encode(of(v)), Part: part})
		case part == "counter" && !strings.Contains(v.Reason, "above int64"):
			f.Older = append(f.Older,
				olderVector{pattern, v.Raw, v.Raw, hexOfDigits(t, v.Raw), part})
		default:
			f.Invalid = append(f.Invalid, badVector{pattern, v.Raw, v.Reason})
		}
	}
}

func addTraces(t *testing.T, f *vectorFile) {
	t.Helper()
	for _, v := range readVectors[traceVector](t, "traceid.jsonl", 120) {
		f.Valid = append(f.Valid, validVector{
			Source: elfo, Text: v.ID, Number: v.ID, Hex: hexOfDigits(t, v.ID),
			Parts: models["trace"].encode(parts{
				"timestamp": int64(v.Timestamp), "node_no": int64(v.Node), "bottom": int64(v.Bottom),
			}),
		})
	}
	for _, v := range readVectors[json.RawMessage](t, "traceid_validator.jsonl", 80) {
		near := nearVector{Source: elfo}
		if err := json.Unmarshal(v, &near); err != nil {
			t.Fatal(err)
		}
		f.Near = append(f.Near, near)
	}
}

// eightByteLayouts are the former layouts in which a release's IDs are valid: its own, and later
// ones.
var eightByteLayouts = map[string][]string{
	"1.13": {"v1", "v2", "v3"}, "1.14": {"v2", "v3"}, "2.4": {"v2", "v3"}, "2.5": {"v3"},
	"3.1": {"v3"},
}

func addEightBytes(t *testing.T, f *vectorFile) {
	t.Helper()
	m := models["eightbyte"]
	all := slices.Concat(
		readVectors[eightByteVector](t, "eightbyte.jsonl", 300),
		readVectors[eightByteVector](t, "eightbyte_v1.jsonl", 40),
		readVectors[eightByteVector](t, "eightbyte_layouts.jsonl", 203),
		readVectors[eightByteVector](t, "eightbyte_invalid.jsonl", 18),
	)
	for _, v := range all {
		source, layouts := javaID+" 4.7", []string(nil)
		if v.Version != "" {
			source, layouts = javaID+" "+v.Version, eightByteLayouts[v.Version]
		}
		if v.Op == "parse" { // of bytes, which have no text here
			continue
		}
		ms, err := v.UnixMs.Int64()
		if err != nil {
			t.Fatal(err)
		}
		p := parts{
			"mode": int64(v.Mode), "unix_ms": ms, "sequence": int64(v.Sequence),
			"generator_id": int64(v.Generator), "cluster_id": int64(v.Cluster),
		}
		switch {
		case v.Error != "":
			bad := partsVector{Source: source, Parts: m.encode(p), Part: refusedPart(t, v.Error)}
			if len(layouts) > 0 {
				bad.Layout = layouts[0]
			}
			f.InvalidParts = append(f.InvalidParts, bad)
		case strings.Trim(v.Hex, "0") == "":
			f.Invalid = append(f.Invalid, zeroOf(source, v.Hex))
		default:
			f.Valid = append(f.Valid, validVector{
				Source: source, Text: v.Hex, Hex: v.Hex, Parts: m.encode(p), Layouts: layouts,
			})
		}
	}
}

func refusedPart(t *testing.T, message string) string {
	t.Helper()
	for theirs, ours := range map[string]string{
		"timestamp": "unix_ms", "sequence counter": "sequence", "generator-ID": "generator_id",
		"cluster-ID": "cluster_id",
	} {
		if strings.Contains(message, "Invalid "+theirs+":") {
			return ours
		}
	}
	t.Fatalf("what is refused by %q?", message)
	return ""
}

// zeroOf is the ID that the programs make too, and that is nobody's here.
func zeroOf(source, text string) badVector {
	return badVector{source, text, "zero, which the source takes for an ID"}
}

func addSnos(t *testing.T, f *vectorFile) {
	t.Helper()
	for _, v := range readVectors[snoVector](t, "sno.jsonl", 200) {
		if strings.Trim(v.Hex, "0") == "" {
			f.Invalid = append(f.Invalid, zeroOf(muyo, v.Text))
			continue
		}
		f.Valid = append(f.Valid, validVector{
			Source: muyo, Text: v.Text, Hex: v.Hex, Parts: models["sno"].encode(parts{
				"unix_ms": v.UnixMs, "tick_tock": int64(v.TickTock), "meta": int64(v.Meta),
				"partition": int64(v.Partition), "sequence": int64(v.Sequence),
			}),
		})
	}
}
