package idtype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// A model is a scheme as docs/design/formats.md describes it. Its arithmetic is slow: an ID is a
// string of digits. It shares none with the package.
type model struct {
	kind   kind // for the reference of its text
	format      // what the package does with parts
	base   int  // of the digits
	ranges []partRanges
	digits func(p parts) string
	middle parts // those of a worked value
	bounds func(from, to time.Time) ([]rangeVector, error)
	// those of the layouts v1, v2 and v3 that hold an ID
	layouts func(p parts) []string
}

// parts are by their names in JSON. The mode of eightbyte IDs is its bit.
type parts map[string]int64

type partRanges struct {
	name        string
	least, most int64
	step        int64 // the unit of a time in milliseconds, 0 for other parts
	width       int   // of a part that is always the same
}

//idmint:parts formats map[idtype.Scheme]format: SCHEME: formatOf(idtype.Parse[idtype.TYPE], idtype.TYPE.Parts)

// models are made of what internal/schemes says, which the package does not know.
var models = func() map[string]model {
	all := map[string]model{}
	for _, s := range schemes.All() {
		all[string(s.Name())] = modelOf(s)
	}
	return all
}()

func modelOf(s schemes.Scheme) model {
	f := s.Known()
	k := kindsThat(func(k kind) bool { return k.scheme == f.Scheme })[0]
	m := model{kind: k, format: formats[f.Scheme], base: int(f.Base())}
	names := f.PartNames
	if f.Scheme == idtype.SchemeSequence { // its part is the ID
		names = []string{"number"}
		m.format = formatOf(idtype.Parse[idtype.SequenceID],
			func(id idtype.SequenceID) sequenceParts { return sequenceParts{int64(id)} })
	}
	for _, name := range names {
		least, most := f.Range(name)
		r := partRanges{name, least, most, 0, 0}
		if field, _ := f.Part(name); least == most {
			r.width = field.Width
		}
		if name == "unix_ms" {
			r.step = f.Unit.Milliseconds()
		}
		m.ranges = append(m.ranges, r)
	}
	m.digits = func(p parts) (all string) {
		widths, rest := map[string]int{}, map[string]string{}
		for _, field := range f.Fields {
			widths[field.Name] += field.Width
		}
		for name, width := range widths {
			v := p[name]
			if name == "unix_ms" {
				v = (v - f.Epoch) / f.Unit.Milliseconds()
			}
			text := strconv.FormatInt(v, m.base)
			rest[name] = strings.Repeat("0", width-len(text)) + text
		}
		if mode, ok := p["mode"]; ok && mode == 0 {
			rest["unix_ms"] = reversed(rest["unix_ms"])
		}
		for _, field := range f.Fields {
			all += rest[field.Name][:field.Width]
			rest[field.Name] = rest[field.Name][field.Width:]
		}
		return all
	}
	example, err := m.format.parse(f.Text.Example)
	if err != nil {
		panic(err)
	}
	m.middle = m.parts(example)
	m.bounds = func(from, to time.Time) (texts []rangeVector, err error) {
		form := map[bool]string{true: schemes.Number, false: schemes.Text}[k.isInteger()]
		ranges, err := s.Bounds(form, from, to)
		for _, r := range ranges {
			least, _ := s.Parse(form, r.Min)
			most, _ := s.Parse(form, r.Max)
			texts = append(texts, rangeVector{least.String(), most.String()})
		}
		return texts, err
	}
	if f.Scheme == idtype.SchemeEightByte {
		m.layouts = formerLayouts
	}
	return m
}

func formerLayouts(p parts) (held []string) {
	if p["mode"] == 0 && p["generator_id"] <= 63 {
		held = append(held, "v1")
	}
	if p["mode"] == 0 && p["generator_id"] <= 255 {
		held = append(held, "v2")
	}
	if p["generator_id"] <= 255 {
		held = append(held, "v3")
	}
	return held
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// TestLayouts holds parts and IDs against the models.
func TestLayouts(t *testing.T) {
	for _, m := range models {
		t.Run(m.kind.typ, func(t *testing.T) {
			t.Run("parts to ID", rapid.MakeCheck(m.composes))
			t.Run("ID to parts", rapid.MakeCheck(m.takesApart))
			t.Run("parts out of range", rapid.MakeCheck(m.refusesParts))
		})
	}
}

func (m model) composes(t *rapid.T) {
	p := parts{}
	for _, r := range m.ranges {
		p[r.name] = rapid.Int64Range(r.least, r.most).Draw(t, r.name)
	}
	m.align(p)
	encoded := m.encode(p)
	text, _, err := m.compose(encoded)
	raw := m.raw(p)
	if isZero(raw) {
		if !errors.Is(err, idtype.ErrZero) {
			t.Fatalf("%s make %s, %v, want ErrZero", encoded, text, err)
		}
		return
	}
	if err != nil || text != m.kind.write(raw) || m.kind.new(raw).Validate() != nil {
		t.Fatalf("%s make %s, %v, want %x", encoded, text, err, raw)
	}
	if got, err := m.format.parse(text); err != nil || got != encoded {
		t.Fatalf("%s came back as %s, %v", encoded, got, err)
	}
	if m.layouts != nil {
		checkFormer(t, text, m.layouts(p), encoded, true)
	}
}

func (m model) takesApart(t *rapid.T) {
	raw := m.kind.draw(t, "id")
	encoded, err := m.format.parse(m.kind.write(raw))
	if err != nil {
		t.Fatal(err)
	}
	p := m.parts(encoded)
	if got := m.raw(p); !bytes.Equal(got, raw) {
		t.Fatalf("%x is %s, which is %x", raw, encoded, got)
	}
	bad := m.outside(p)
	if err := m.kind.new(raw).Validate(); bad != "" {
		wantRangeError(t, err, m.kind.typ, bad)
	} else if err != nil {
		t.Fatalf("%x, %s: %v", raw, encoded, err)
	}
}

// refusesParts: the error is about the first part that is outside.
func (m model) refusesParts(t *rapid.T) {
	if m.kind.scheme == idtype.SchemeSequence { // its part is the ID
		return
	}
	p := parts{}
	for _, r := range m.ranges {
		all := []*rapid.Generator[int64]{rapid.Int64Range(r.least, r.most)}
		if r.name != "mode" { // it is a name
			all = append(all, rapid.Int64Range(r.least-1, r.most+1), rapid.Int64(),
				rapid.SampledFrom([]int64{math.MinInt64, r.least - 1, r.most + 1, math.MaxInt64}))
		}
		p[r.name] = rapid.OneOf(all...).Draw(t, r.name)
	}
	encoded := m.encode(p)
	text, _, err := m.compose(encoded)
	if m.outside(p) == "" {
		if err != nil && !errors.Is(err, idtype.ErrZero) {
			t.Fatalf("%s make %s, %v", encoded, text, err)
		}
	} else {
		wantRangeError(t, err, m.kind.typ, m.outside(p))
	}
}

// raw are the bytes of parts.
func (m model) raw(p parts) []byte {
	v, ok := new(big.Int).SetString(m.digits(p), m.base)
	if !ok {
		panic(m.digits(p))
	}
	return v.FillBytes(make([]byte, m.kind.size))
}

// align makes a time the start of its unit, which is all that an ID carries of it.
func (m model) align(p parts) {
	for _, r := range m.ranges {
		if r.step > 1 {
			p[r.name] -= (p[r.name] - r.least) % r.step
		}
	}
}

// outside is the first part that is out of its range, or "".
func (m model) outside(p parts) string {
	for _, r := range m.ranges {
		if p[r.name] < r.least || p[r.name] > r.most {
			return r.name
		}
	}
	return ""
}

var modes = []string{`"SPREAD"`, `"TIME_SEQUENTIAL"`}

// encode is parts as JSON, in the order of the layout.
func (m model) encode(p parts) string {
	var members []string
	for _, r := range m.ranges {
		value := strconv.FormatInt(p[r.name], 10)
		if r.name == "mode" {
			value = modes[p["mode"]]
		}
		members = append(members, fmt.Sprintf("%q:%s", r.name, value))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// parts is the inverse of encode.
func (m model) parts(encoded string) parts {
	for bit, mode := range modes {
		encoded = strings.Replace(encoded, mode, strconv.Itoa(bit), 1)
	}
	var p parts
	if err := json.Unmarshal([]byte(encoded), &p); err != nil {
		panic(err)
	}
	return p
}

// Zero follows no layout, and negative numbers none either. Its own bits make an ID a test's.
func TestValidate(t *testing.T) {
	for _, k := range integers {
		for _, v := range []int64{-1, -published, math.MinInt64} {
			wantInputError(t, k.new(bigEndian(v)).Validate(), k.typ, strconv.FormatInt(v, 10), nil)
		}
	}
	for id, test := range map[idtype.DecimalID]bool{0: false, published: false, 14150009200000: true} {
		if id.IsTest() != test {
			t.Errorf("%d is a test ID: %v", id, !test)
		}
	}
	for _, mode := range []string{"spread", "SPREAD ", "0", strings.Repeat("S", 1<<20)} {
		p := idtype.EightByteParts{Mode: idtype.EightByteMode(mode), UnixMs: 1}
		_, err := p.ID()
		wantInputError(t, err, "EightByteMode", mode, nil)
	}
	for _, mode := range []idtype.EightByteMode{"", spread, sequential} {
		id, err := idtype.EightByteParts{Mode: mode, UnixMs: 1}.ID()
		if got := id.Parts().Mode; err != nil || got != mode && mode+got != spread {
			t.Errorf("mode %q became %q, %v", mode, got, err)
		}
	}
	for _, layout := range []int{-1, 0, 4} {
		_, err := idtype.EightByteParts{UnixMs: 1}.FormerID(layout)
		wantRangeError(t, err, "EightByteID", "layout")
		wantRangeError(t, idtype.EightByteID{1}.ValidateFormer(layout), "EightByteID", "layout")
	}
	if err := (idtype.EightByteID{}).ValidateFormer(1); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("zero in a former layout: %v", err)
	}
}

// A format is what the package makes of parts and texts. Parts are JSON.
type format struct {
	compose func(parts string) (text, stored string, err error)
	parse   func(text string) (parts string, err error)
}

func formatOf[T idtype.ID, P interface{ ID() (T, error) }](
	parse func(string) (T, error), parts func(T) P,
) format {
	return format{
		compose: func(text string) (string, string, error) {
			var p P
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				return "", "", err
			}
			id, err := p.ID()
			if err != nil {
				return "", "", err
			}
			stored, err := id.Value()
			if b, ok := stored.([]byte); ok {
				stored = fmt.Sprintf("%x", b)
			}
			return id.String(), fmt.Sprint(stored), err
		},
		parse: func(text string) (string, error) {
			id, err := parse(text)
			if err != nil {
				return "", err
			}
			p, err := json.Marshal(parts(id))
			return string(p), err
		},
	}
}

// sequenceParts: the type has none of its own.
type sequenceParts struct {
	Number int64 `json:"number"`
}

func (p sequenceParts) ID() (idtype.SequenceID, error) {
	return idtype.Parse[idtype.SequenceID](strconv.FormatInt(p.Number, 10))
}

var (
	workedValue = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| `(\\{[^`]+\\})` \\|$")
	partRange   = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]+ \\| (\\d+) ..= (\\d+) \\|$")
	partPlaces  = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([0-9][0-9a-z ]*) \\| .* \\|$")
	drawnBits   = regexp.MustCompile(`(?m)^[01]+( [01]+)+$`)
)

// What docs/design/formats.md says of values, ranges and bits is so.
func TestFormatsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/design/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range strings.Split(string(page), "\n## ") {
		name, text, _ := strings.Cut(s, "\n")
		sections[name] = text
	}
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			values := workedValue.FindAllStringSubmatch(sections[name], -1)
			ranges := partRange.FindAllStringSubmatch(sections[name], -1)
			if len(values) == 0 || len(ranges) == 0 {
				t.Fatalf("%d worked values and %d ranges", len(values), len(ranges))
			}
			for _, v := range values {
				m.holds(t, v[1], v[2], v[3])
			}
			for _, r := range ranges {
				if !slices.ContainsFunc(m.ranges, func(of partRanges) bool {
					return slices.Equal(r[1:], []string{of.name, fmt.Sprint(of.least), fmt.Sprint(of.most)})
				}) {
					t.Errorf("%s is not %s ..= %s", r[1], r[2], r[3])
				}
			}
			places := partPlaces.FindAllStringSubmatch(sections[name], -1)
			if len(places) != len(m.ranges) {
				t.Errorf("%d parts have places", len(places))
			}
			for _, p := range places {
				if got := m.places(p[1]); got != p[2] {
					t.Errorf("%s is at %s, not at %s", p[1], got, p[2])
				}
			}
			if drawn := drawnBits.FindString(sections[name]); drawn != "" {
				raw, _ := m.kind.parse(values[0][1])
				source, err := os.ReadFile(name + ".go")
				if got := refBits(raw); got != strings.ReplaceAll(drawn, " ", "") || err != nil {
					t.Errorf("%s has the bits %s, not %s, %v", values[0][1], got, drawn, err)
				}
				if !strings.Contains(string(source), "//\t"+drawn+"\n") {
					t.Errorf("%s.go does not draw %s", name, drawn)
				}
			}
		})
	}
}

// holds checks a worked value in both directions.
func (f format) holds(t *testing.T, text, stored, parts string) {
	gotText, gotStored, err := f.compose(parts)
	if err != nil || gotText != text || gotStored != stored {
		t.Errorf(
			"%s make %s, stored %s, %v; the page has %s, %s", parts, gotText, gotStored, err, text,
			stored,
		)
	}
	if got, err := f.parse(text); err != nil || got != parts {
		t.Errorf("%s has the parts %s, %v; the page has %s", text, got, err, parts)
	}
}

// places are the bits or decimal places that a part changes, as the page has them.
func (m model) places(name string) string {
	rest := maps.Clone(m.middle)
	if name == "mode" {
		rest["unix_ms"] = 0 // whose bits are the same in both orders
	}
	base := m.digits(rest)
	changed := make([]bool, len(base))
	r := m.ranges[slices.IndexFunc(m.ranges, func(r partRanges) bool { return r.name == name })]
	values := []int64{r.least, r.most}
	for step := int64(1); step <= r.most-r.least && step > 0; step *= int64(m.base) {
		values = append(values, r.least+step)
	}
	for i := range r.width {
		values = append(values, 0, 1<<i)
	}
	for _, rest[name] = range values {
		for i, digit := range m.digits(rest) {
			changed[i] = changed[i] || digit != rune(base[i])
		}
	}
	var ranges []string
	for i := 0; i < len(changed); i++ {
		first := i
		for i < len(changed) && changed[i] {
			i++
		}
		switch high, low := len(base)-1-first, len(base)-i; {
		case i == first+1:
			ranges = append(ranges, strconv.Itoa(high))
		case i > first:
			ranges = append(ranges, fmt.Sprintf("%d to %d", high, low))
		}
	}
	return strings.Join(ranges, " and ")
}
