package idtype_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The vectors of docs/design/vectors are for implementers of other languages. No function of
// package idtype makes them: they come from the sources' own programs, and from the slow models of
// conformance_models_test.go. So a fault of the package does not become a vector.

const vectorFolder = "../docs/design/vectors"

var writeVectors = flag.Bool("vectors.write", false, "write the files of docs/design/vectors")

// A vectorFile is one of docs/design/vectors. Its README says what the fields mean.
type vectorFile struct {
	Format  int               `json:"format"`
	Scheme  string            `json:"scheme"`
	Sources map[string]string `json:"sources"`

	Valid        []validVector `json:"valid"`
	Older        []olderVector `json:"older"`
	Invalid      []badVector   `json:"invalid"`
	InvalidParts []partsVector `json:"invalid_parts"`
	JSON         []jsonVector  `json:"json"`
	InvalidJSON  []string      `json:"invalid_json"`
	Bounds       []spanVector  `json:"bounds"`
	Times        []timesVector `json:"times"`
	Near         []nearVector  `json:"near"`
}

type validVector struct {
	Source  string          `json:"source"`
	Text    string          `json:"text"`
	Number  string          `json:"number,omitempty"`
	Hex     string          `json:"hex"`
	UUID    string          `json:"uuid,omitempty"`
	Parts   json.RawMessage `json:"parts"`
	Time    string          `json:"time,omitempty"`
	Layouts []string        `json:"layouts,omitempty"`
}

// An olderVector is in the domain, and does not follow the layout: Part is outside its range.
type olderVector struct {
	Source string `json:"source"`
	Text   string `json:"text"`
	Number string `json:"number"`
	Hex    string `json:"hex"`
	Part   string `json:"part"`
}

type badVector struct {
	Source string `json:"source"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

type partsVector struct {
	Source string          `json:"source"`
	Layout string          `json:"layout,omitempty"` // the former one by which they are refused
	Parts  json.RawMessage `json:"parts"`
	Part   string          `json:"part"` // "" where the ID would be zero
}

// A jsonVector is a JSON value and the text of the ID that it is, null for none.
type jsonVector struct {
	JSON    string  `json:"json"`
	Text    *string `json:"text"`
	Written bool    `json:"written"` // whether the ID is written so
}

type spanVector struct {
	From   int64         `json:"from"` // both as Unix time in milliseconds
	To     int64         `json:"to"`
	Ranges []rangeVector `json:"ranges,omitempty"`
	Error  string        `json:"error,omitempty"`
}

type rangeVector struct {
	Min string `json:"min"`
	Max string `json:"max"`
}

type timesVector struct {
	Text   string   `json:"text"`
	Around int64    `json:"around"` // Unix time in milliseconds
	Times  []string `json:"times"`
}

type nearVector struct {
	Source       string  `json:"source"`
	Raw          string  `json:"raw"`
	AllowedSecs  *string `json:"allowed_secs"`
	AllowedNanos *int64  `json:"allowed_nanos"`
	NowUnix      int64   `json:"now_unix"`
	Verdict      string  `json:"verdict"`
}

// encode writes a file with a line for each case, so that a changed case is a changed line.
func (f vectorFile) encode(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	value := func(v any) string {
		var one bytes.Buffer
		e := json.NewEncoder(&one)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(one.String(), "\n")
	}
	fmt.Fprintf(&b, "{\n\"format\": %d,\n\"scheme\": %s,\n", f.Format, value(f.Scheme))
	section(&b, value, "valid", f.Valid)
	section(&b, value, "older", f.Older)
	section(&b, value, "invalid", f.Invalid)
	section(&b, value, "invalid_parts", f.InvalidParts)
	section(&b, value, "json", f.JSON)
	section(&b, value, "invalid_json", f.InvalidJSON)
	section(&b, value, "bounds", f.Bounds)
	section(&b, value, "times", f.Times)
	section(&b, value, "near", f.Near)
	fmt.Fprintf(&b, "\"sources\": %s\n}\n", value(f.Sources))
	return b.Bytes()
}

// section leaves out a list that is empty.
func section[V any](b *bytes.Buffer, value func(any) string, name string, cases []V) {
	if len(cases) == 0 {
		return
	}
	fmt.Fprintf(b, "%q: [\n", name)
	for i, c := range cases {
		comma := ","
		if i == len(cases)-1 {
			comma = ""
		}
		fmt.Fprintf(b, "  %s%s\n", value(c), comma)
	}
	b.WriteString("],\n")
}

// The committed vectors are those that the sources and the models make.
func TestVectorFiles(t *testing.T) {
	for scheme, m := range models {
		t.Run(scheme, func(t *testing.T) {
			name := filepath.Join(vectorFolder, scheme+".json")
			f := m.file(t)
			addSources(t, scheme, &f)
			want := f.encode(t)
			if *writeVectors {
				if err := os.WriteFile(name, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what its sources and models make: "+
					"go test ./idtype -run TestVectorFiles -vectors.write", name)
			}
		})
	}
}
