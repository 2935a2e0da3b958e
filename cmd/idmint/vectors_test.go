package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
)

// A vector is a case of docs/design/vectors: an ID, and what inspect says of it.
type vector struct {
	Source, Text, Number, Hex, Layout string
	Parts                             json.RawMessage
}

func vectorsOf(t *testing.T, scheme string) (valid, invalidParts []vector) {
	t.Helper()
	var f struct {
		Valid        []vector
		InvalidParts []vector `json:"invalid_parts"`
	}
	text, err := os.ReadFile("../../docs/design/vectors/" + scheme + ".json")
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil || len(f.Valid) < 100 {
		t.Fatalf("%s: %d vectors, %v", scheme, len(f.Valid), err)
	}
	return f.Valid, f.InvalidParts
}

// exactFields decodes an object whose numbers stay as they are written.
func exactFields(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// vectorNames are what names an ID in JSON, by scheme.
var vectorNames = map[string]func(v vector) map[string]string{
	"decimal":   func(v vector) map[string]string { return map[string]string{"id": v.Text} },
	"trace":     func(v vector) map[string]string { return map[string]string{"id": v.Text} },
	"eightbyte": func(v vector) map[string]string { return map[string]string{"id": v.Text} },
	"short": func(v vector) map[string]string {
		return map[string]string{"id": v.Number, "text": v.Text}
	},
	"sno": func(v vector) map[string]string {
		return map[string]string{"id": v.Text, "hex": v.Hex}
	},
}

// Inspect finds in every vector's ID the fields of the vector, and no others; compose makes the ID
// of them, with its names or without.
func TestVectors(t *testing.T) {
	s := inside(t)
	for scheme, namesOf := range vectorNames {
		valid, _ := vectorsOf(t, scheme)
		var texts, parts []string
		var want []map[string]any
		for _, v := range valid {
			fields := exactFields(t, string(v.Parts))
			fields["scheme"] = scheme
			for name, text := range namesOf(v) {
				fields[name] = text
			}
			texts, parts = append(texts, v.Text), append(parts, string(v.Parts))
			want = append(want, fields)
		}
		all := strings.Join(texts, "\n") + "\n"
		inspected := s.feed(all, "inspect", "--scheme", scheme, "--json")
		if inspected.status != 0 || inspected.stderr != "" {
			t.Fatalf("%s: %v", scheme, inspected)
		}
		for i, line := range lines(inspected.stdout) {
			if got := exactFields(t, line); !reflect.DeepEqual(got, want[i]) {
				t.Errorf("inspect %s: %s\nwant %v", texts[i], line, want[i])
			}
		}
		for _, input := range []string{strings.Join(parts, "\n"), inspected.stdout} {
			got := s.feed(input, "compose", "--scheme", scheme)
			if got.stdout != all || got.status != 0 || got.stderr != "" {
				t.Errorf("compose of %s: %v", scheme, got)
			}
		}
	}
}

// randomTexts are IDs of a scheme, of all times and widths.
var randomTexts = map[string]func() (fmt.Stringer, error){
	"decimal": func() (fmt.Stringer, error) {
		return idtype.DecimalParts{
			Counter:   1 + rand.IntN(1+rand.IntN(formats.DecimalMaxCounter)),
			Generator: rand.IntN(1 + rand.IntN(formats.DecimalMaxGenerator+1)),
			Launch:    rand.IntN(1 + rand.IntN(formats.DecimalMaxLaunch+1)),
		}.ID()
	},
	"trace": func() (fmt.Stringer, error) {
		return idtype.TraceParts{
			Timestamp: rand.IntN(1 + rand.IntN(formats.TraceMaxTimestamp+1)),
			Node:      rand.IntN(formats.TraceMaxNode + 1),
			Bottom:    1 + rand.IntN(formats.TraceMaxBottom),
		}.ID()
	},
	"eightbyte": func() (fmt.Stringer,
		error,
	) {
		return idtype.EightByteFromUint64(1 + rand.Uint64()>>rand.IntN(64)), nil
	},
	"short": func() (fmt.Stringer,
		error,
	) {
		return idtype.ShortID(1 + rand.Int64N(1<<60-1)>>rand.IntN(60)), nil
	},
	"sno": func() (fmt.Stringer, error) {
		return idtype.SnoParts{
			UnixMs:   formats.SnoEpoch + rand.Int64N(formats.SnoMaxUnixMs-formats.SnoEpoch),
			TickTock: rand.IntN(2), Meta: rand.IntN(256),
			Partition: rand.IntN(65536), Sequence: 1 + rand.IntN(65535),
		}.ID()
	},
	"sequence": func() (fmt.Stringer,
		error,
	) {
		return idtype.SequenceID(1 + rand.Int64()>>rand.IntN(63)), nil
	},
}

// What inspect writes compose reads, for random IDs of every scheme.
func TestRoundTrip(t *testing.T) {
	s := inside(t)
	for scheme, random := range randomTexts {
		var ids strings.Builder
		for range 1000 {
			id, err := random()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&ids, id)
		}
		inspected := s.feed(ids.String(), "inspect", "--json", "--scheme", scheme)
		back := s.feed(inspected.stdout, "compose", "--scheme", scheme)
		if back.stdout != ids.String() || inspected.stderr+back.stderr != "" {
			t.Errorf("%s: what came back differs: %v, %v", scheme, inspected, back)
		}
	}
}
