package idtype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// A vectorFile is one of docs/design/vectors, which implementers of other languages read. Its README
// says what the fields mean. No function of package idtype made them: they come from the sources' own
// programs, and from slow arithmetic. So a fault of the package did not become a vector.
type vectorFile struct {
	Format  int
	Scheme  string
	Sources map[string]string

	Valid []struct {
		Source, Text, Number, Hex, UUID, Time string
		Parts                                 json.RawMessage
		Layouts                               []string
	}
	Older []struct { // in the domain, and not in the layout: Part is outside its range
		Source, Text, Number, Hex, Part string
	}
	Invalid      []struct{ Source, Text, Reason string }
	InvalidParts []struct {
		Source string
		Layout string // the former one by which they are refused
		Parts  json.RawMessage
		Part   string // "" where the ID would be zero
	} `json:"invalid_parts"`
	JSON []struct {
		JSON    string
		Text    *string // of the ID, null for none
		Written bool    // whether the ID is written so
	}
	InvalidJSON []string `json:"invalid_json"`
	Bounds      []struct {
		From, To int64 // both as Unix time in milliseconds
		Ranges   []rangeVector
		Error    string
	}
	Times []struct {
		Text   string
		Around int64 // Unix time in milliseconds
		Times  []string
	}
	Near []json.RawMessage // of elfo, for the decoder in JavaScript
}

type rangeVector struct{ Min, Max string }

// The layouts of these schemes hold all integers of the domain.
var wholeDomain = map[idtype.Scheme]bool{
	idtype.SchemeSequence: true, idtype.SchemeSnowflake: true,
}

// TestVectors: the models and the package do what the vectors say.
func TestVectors(t *testing.T) {
	const folder = "../docs/design/vectors"
	if files, err := filepath.Glob(folder + "/*.json"); err != nil || len(files) != len(models)+1 {
		t.Fatalf("%q, %v", files, err) // one is of package scramble
	}
	for scheme, m := range models {
		t.Run(scheme, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, scheme+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var f vectorFile
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			if err := d.Decode(&f); err != nil || f.Format != 1 || f.Scheme != scheme {
				t.Fatalf("format %d of %s: %v", f.Format, f.Scheme, err)
			}
			if len(f.Valid) < 100 || len(f.Invalid) < 25 || len(f.JSON) < 4 || len(f.InvalidJSON) < 11 ||
				(m.kind.form == asBigint || m.kind.size == 16) != (len(f.Older) > 0) && !wholeDomain[m.kind.scheme] {
				t.Error("there are few cases")
			}
			if timed := schemes.Of(m.kind.scheme).Unit > 0; timed && len(f.Bounds) < 11 {
				t.Error("there are few bounds")
			}
			m.conforms(t, f)
		})
	}
}

func (m model) conforms(t *testing.T, f vectorFile) {
	k := m.kind
	for i := range f.Valid {
		m.checkValid(t, f, i)
	}
	for _, v := range f.Older {
		raw, err := k.parse(v.Text)
		if err != nil || fmt.Sprintf("%x", raw) != v.Hex || f.Sources[v.Source] == "" {
			t.Errorf("%s is %x, %v, want %s", v.Text, raw, err, v.Hex)
			continue
		}
		wantRangeError(t, k.new(raw).Validate(), k.typ, v.Part)
	}
	for _, v := range f.Invalid {
		raw, err := k.parse(v.Text)
		if !errors.As(err, new(*idtype.InputError)) || k.read(v.Text) != nil || f.Sources[v.Source] == "" {
			t.Errorf("%q is %x, %v, want an error: %s", v.Text, raw, err, v.Reason)
		}
	}
	for _, v := range f.InvalidParts {
		wanted := unquoted(v.Parts)
		_, _, err := m.compose(wanted)
		if v.Layout != "" {
			_, err = composeFormer(int(v.Layout[1]-'0'), wanted)
		} else if bad := m.outside(m.parts(wanted)); bad != v.Part {
			t.Errorf("%s: %q is out of range by the model, want %q", wanted, bad, v.Part)
		}
		if v.Part != "" {
			wantRangeError(t, err, k.typ, v.Part)
		} else if !errors.Is(err, idtype.ErrZero) {
			t.Errorf("%s: %v, want ErrZero", wanted, err)
		}
	}
	for _, v := range f.JSON {
		id := k.new(k.before())
		err := json.Unmarshal([]byte(v.JSON), id)
		if err != nil || id.IsZero() != (v.Text == nil) || !id.IsZero() && id.String() != *v.Text {
			t.Errorf("JSON %s is %v, %v", v.JSON, id, err)
		}
		if wrote, err := json.Marshal(id); (string(wrote) == v.JSON) != v.Written || err != nil {
			t.Errorf("JSON %s is written %s, %v", v.JSON, wrote, err)
		}
	}
	for _, text := range f.InvalidJSON {
		if id := k.new(k.before()); json.Unmarshal([]byte(text), id) == nil {
			t.Errorf("JSON %s is %v", text, id)
		}
	}
	for _, v := range f.Bounds {
		ranges, err := m.bounds(time.UnixMilli(v.From), time.UnixMilli(v.To))
		reason := ""
		if span := (*idtype.InputError)(nil); errors.As(err, &span) && span.Type == k.typ {
			reason = map[bool]string{true: "inverted", false: "period"}[v.To < v.From]
		} else if err != nil {
			reason = "time"
		}
		if !slices.Equal(ranges, v.Ranges) || reason != v.Error {
			t.Errorf("from %d to %d: %v, %v, want %v %s", v.From, v.To, ranges, err, v.Ranges, v.Error)
		}
	}
	for _, v := range f.Times {
		last, next := idtype.MustParse[idtype.TraceID](v.Text).Times(time.UnixMilli(v.Around))
		got := []string{last.Format(time.RFC3339), next.Format(time.RFC3339)}
		if !slices.Equal(got, v.Times) {
			t.Errorf("%s around %d: %v, want %v", v.Text, v.Around, got, v.Times)
		}
	}
}

func (m model) checkValid(t *testing.T, f vectorFile, i int) {
	t.Helper()
	k, v := m.kind, f.Valid[i]
	encoded := unquoted(v.Parts)
	p := m.parts(encoded)
	raw := m.raw(p)
	if fmt.Sprintf("%x", raw) != v.Hex || k.write(raw) != v.Text || m.outside(p) != "" || f.Sources[v.Source] == "" {
		t.Fatalf("%s is %x, %s by the model, want %+v", encoded, raw, k.write(raw), v)
	}
	id := k.new(raw)
	if got, err := k.parse(v.Text); err != nil || !bytes.Equal(got, raw) || id.Validate() != nil {
		t.Errorf("%s is %x, %v, Validate %v, want %s", v.Text, got, err, id.Validate(), v.Hex)
	}
	if got, err := m.format.parse(v.Text); err != nil || got != encoded {
		t.Errorf("the parts of %s are %s, %v, want %s", v.Text, got, err, encoded)
	}
	if text, _, err := m.compose(encoded); err != nil || text != v.Text {
		t.Errorf("%s make %s, %v, want %s", encoded, text, err, v.Text)
	}
	for form, want := range map[idtype.Storage]string{asBigint: v.Number, asUUID: v.UUID} {
		if want == "" {
			continue
		}
		k := kindsThat(func(other kind) bool { return other.scheme == k.scheme && other.form == form })[0]
		if got, err := k.new(raw).Value(); fmt.Sprint(got) != want || err != nil {
			t.Errorf("%s is stored as %v, %v, want %s", v.Text, got, err, want)
		}
	}
	if timed, is := any(id).(interface{ Time() time.Time }); is && v.Time != "" {
		at := timed.Time()
		if at.Format("2006-01-02T15:04:05.000Z") != v.Time || at.Location() != time.UTC {
			t.Errorf("the time of %s is %v, want %s", v.Text, at, v.Time)
		}
	}
	if m.layouts != nil {
		checkFormer(t, v.Text, v.Layouts, encoded, v.Source == "formats")
	}
}

// checkFormer holds an ID against the former layouts. If these are not all that hold it, it is one
// that a source's program made by its own.
func checkFormer(t failing, text string, layouts []string, parts string, all bool) {
	t.Helper()
	for n := 1; n <= 3; n++ {
		held := slices.Contains(layouts, fmt.Sprintf("v%d", n))
		composed, err := composeFormer(n, parts)
		validated := idtype.MustParse[idtype.EightByteID](text).ValidateFormer(n)
		switch {
		case held && (err != nil || composed.String() != text || validated != nil):
			t.Fatalf("by layout %d, %s make %v, %v; Validate %v", n, parts, composed, err, validated)
		case !held && all && (err == nil || validated == nil || !composed.IsZero()):
			t.Fatalf("%s is of layout %d: %v, %v", text, n, err, validated)
		}
	}
}

func composeFormer(layout int, parts string) (id idtype.EightByteID, err error) {
	var p idtype.EightByteParts
	if err := json.Unmarshal([]byte(parts), &p); err != nil {
		return id, err
	}
	return p.FormerID(layout)
}

// unquoted are parts whose integers have no quotes, as those beyond 2^53−1 have in the vectors.
func unquoted(parts json.RawMessage) string {
	return regexp.MustCompile(`"(-?\d+)"`).ReplaceAllString(string(parts), "$1")
}
