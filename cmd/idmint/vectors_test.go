package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/internal/schemes"
)

// A vector is a case of docs/design/vectors: an ID, and what inspect says of it.
type vector struct {
	Text, Number, Hex string
	Parts             json.RawMessage
}

func vectorsOf(t *testing.T, scheme string) []vector {
	t.Helper()
	var f struct{ Valid []vector }
	text, err := os.ReadFile("../../docs/design/vectors/" + scheme + ".json")
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil || len(f.Valid) < 100 {
		t.Fatalf("%s: %d vectors, %v", scheme, len(f.Valid), err)
	}
	return f.Valid
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

// Inspect finds in every vector's ID the fields of the vector, and no others; compose makes the ID
// of them, with its names or without.
func TestVectors(t *testing.T) {
	s := inside(t)
	for _, k := range kinds {
		scheme, names := string(k.Name()), k.Known().Names
		if names == nil { // it has no parts
			continue
		}
		var texts, parts []string
		var want []map[string]any
		for _, v := range vectorsOf(t, scheme) {
			fields := exactFields(t, string(v.Parts))
			fields["scheme"] = scheme
			forms := map[string]string{
				schemes.Text: v.Text, schemes.Number: v.Number, schemes.Hex: v.Hex,
			}
			for _, n := range names {
				fields[n.Field] = forms[n.Form]
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
