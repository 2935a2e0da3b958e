package idtype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/idmint/idmint/idtype"
)

// The vectors of docs/design/vectors are for implementers of other languages. No function of
// package idtype makes them: they come from the sources' own programs, and from the slow models of
// models_test.go. So a fault of the package does not become a vector.

const vectorFolder = "../docs/design/vectors"

var writeVectors = flag.Bool("vectors.write", false, "write the files of docs/design/vectors")

// A vectorFile is one of docs/design/vectors. Its README says what the fields mean.
type vectorFile struct {
	Format  int               `json:"format"`
	Scheme  string            `json:"scheme"`
	Sources map[string]string `json:"sources"`

	Valid        []validVector     `json:"valid"`
	Older        []olderVector     `json:"older"`
	Invalid      []badVector       `json:"invalid"`
	InvalidParts []partsVector     `json:"invalid_parts"`
	JSON         []jsonVector      `json:"json"`
	InvalidJSON  []string          `json:"invalid_json"`
	Bounds       []spanVector      `json:"bounds"`
	Times        []timesVector     `json:"times"`
	Near         []json.RawMessage `json:"near"` // of elfo, for the decoder in JavaScript
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

// fromSources are how many cases of each scheme programs and documents of others made: a file that
// was cut short would pass.
var fromSources = map[string]int{
	"decimal": 149, "sequence": 0, "trace": 120, "short": 120, "eightbyte": 555, "sno": 200,
}

// TestVectorFiles: the committed cases of "formats" are those that the models make. The others are
// kept: nothing here can make them.
func TestVectorFiles(t *testing.T) {
	for scheme, m := range models {
		t.Run(scheme, func(t *testing.T) {
			name := filepath.Join(vectorFolder, scheme+".json")
			got, committed := readVectors(t, name)
			f, kept := m.file(t), 0
			f.Valid = append(f.Valid, others(&kept, committed.Valid)...)
			f.Older = append(f.Older, others(&kept, committed.Older)...)
			f.Invalid = append(f.Invalid, others(&kept, committed.Invalid)...)
			f.InvalidParts = append(f.InvalidParts, others(&kept, committed.InvalidParts)...)
			if kept != fromSources[scheme] {
				t.Fatalf("%d cases of sources, want %d", kept, fromSources[scheme])
			}
			maps.Copy(committed.Sources, f.Sources)
			f.Sources, f.Near = committed.Sources, committed.Near
			want := f.encode(t)
			if *writeVectors {
				if err := os.WriteFile(name, want, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s is not what its models make: "+
					"go test ./idtype -run TestVectorFiles -vectors.write", name)
			}
		})
	}
}

// others are the cases of other sources than the models.
func others[V any](count *int, all []V) (kept []V) {
	for _, v := range all {
		if reflect.ValueOf(v).FieldByName("Source").String() != "formats" {
			kept = append(kept, v)
		}
	}
	*count += len(kept)
	return kept
}

func readVectors(t *testing.T, name string) (text []byte, f vectorFile) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil || f.Format != 1 {
		t.Fatalf("%s: format %d, %v", name, f.Format, err)
	}
	return text, f
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

func (m model) file(t *testing.T) vectorFile {
	t.Helper()
	f := vectorFile{
		Format: 1, Scheme: string(m.kind.scheme),
		Sources: map[string]string{
			"formats": "computed from docs/design/formats.md by slow arithmetic on strings of " +
				"digits; no code of idmint's packages",
		},
	}
	for _, p := range m.cases() {
		if raw := m.raw(p); !isZero(raw) {
			f.Valid = append(f.Valid, m.valid("formats", p))
		}
	}
	for _, n := range slices.Sorted(maps.Keys(m.older)) {
		f.Older = append(f.Older, m.olderVector("formats", n, m.older[n]))
	}
	for _, b := range m.bad {
		if utf8.ValidString(b.text) && len(b.text) < 100 { // others are no JSON, or no small file
			f.Invalid = append(f.Invalid, m.badVector(t, "formats", b.text, b.name))
		}
	}
	zeros := m.kind.write(m.kind.zero())
	f.Invalid = append(f.Invalid, m.badVector(t, "formats", zeros, "zero means not assigned"))
	f.InvalidParts = m.outside()
	f.JSON, f.InvalidJSON = m.json(f.Valid)
	for _, s := range m.spans {
		f.Bounds = append(f.Bounds, m.span(s[0], s[1]))
	}
	if m.kind.scheme == idtype.SchemeTrace {
		f.Times = traceTimes()
	}
	return f
}

// cases are the parts of valid IDs. They begin with a worked value, and with all parts at their
// ends. Then each part is at its ends, and has each bit or power of ten alone. The last ones are
// drawn at random, always the same.
func (m model) cases() (all []parts) {
	seen := map[string]bool{}
	add := func(p parts) {
		m.align(p)
		if digits := m.digits(p); !seen[digits] {
			seen[digits] = true
			all = append(all, p)
		}
	}
	with := func(name string, value int64) {
		p := maps.Clone(m.middle)
		p[name] = value
		add(p)
		if m.layouts != nil { // in both modes
			p = maps.Clone(p)
			p["mode"] = 1 - p["mode"]
			add(p)
		}
	}
	add(maps.Clone(m.middle))
	least, most := parts{}, parts{}
	for _, r := range m.ranges {
		least[r.name], most[r.name] = r.least, r.most
	}
	add(least)
	add(most)
	for _, r := range m.ranges {
		with(r.name, r.least)
		with(r.name, r.most)
		for _, base := range []int64{2, 10} {
			for v := int64(1); v <= r.most-r.least; v *= base {
				if base == 2 || m.base == 10 || m.kind.digits {
					with(r.name, r.least+v)
				}
				if v > math.MaxInt64/base {
					break
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(14, 92))
	for range 40 {
		p := parts{}
		for _, r := range m.ranges {
			p[r.name] = r.least + rng.Int64N(r.most-r.least+1)
		}
		add(p)
	}
	return all
}

func (m model) valid(source string, p parts) validVector {
	raw := m.raw(p)
	v := validVector{
		Source: source, Text: m.kind.write(raw), Hex: fmt.Sprintf("%x", raw), Parts: m.encode(p),
	}
	if len(raw) == 8 { // an integer column's: signed
		v.Number = strconv.FormatInt(new(big.Int).SetBytes(raw).Int64(), 10)
		if raw[0] > 127 {
			n := new(big.Int).SetBytes(raw)
			v.Number = n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 64)).String()
		}
	} else {
		v.UUID = refUUID(v.Text)
	}
	if ms, timed := p["unix_ms"]; timed {
		v.Time = time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if m.layouts != nil {
		v.Layouts = m.layouts(p)
	}
	return v
}

// encode is parts in the order of the layout. An integer beyond 2^53−1 is a string.
func (m model) encode(p parts) json.RawMessage {
	var members []string
	for _, r := range m.ranges {
		value := strconv.FormatInt(p[r.name], 10)
		switch {
		case r.name == "mode" && (p["mode"] == 0 || p["mode"] == 1):
			value = []string{`"SPREAD"`, `"TIME_SEQUENTIAL"`}[p["mode"]]
		case p[r.name] > 1<<53-1 || p[r.name] < -1<<53+1 || m.kind.scheme == idtype.SchemeSequence:
			value = `"` + value + `"`
		}
		members = append(members, fmt.Sprintf("%q:%s", r.name, value))
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

func (m model) olderVector(source string, n int64, part string) olderVector {
	raw := bigEndian(n)
	return olderVector{
		source, m.kind.write(raw), strconv.FormatInt(n, 10), fmt.Sprintf("%x", raw), part,
	}
}

func (m model) badVector(t *testing.T, source, text, reason string) badVector {
	t.Helper()
	if m.kind.read(text) != nil {
		t.Fatalf("the model reads %q", text)
	}
	return badVector{source, text, reason}
}

// outside are parts just beyond their ranges, and those that would make zero.
func (m model) outside() (all []partsVector) {
	if m.kind.scheme == idtype.SchemeSequence { // its part is the ID
		return nil
	}
	zero := parts{}
	for _, r := range m.ranges {
		zero[r.name] = r.least
		for _, v := range []int64{r.least - 1, r.most + 1} {
			if r.name == "mode" { // it is a name
				continue
			}
			p := maps.Clone(m.middle)
			p[r.name] = v
			all = append(all, partsVector{Source: "formats", Parts: m.encode(p), Part: r.name})
		}
	}
	if strings.Trim(m.digits(zero), "0") == "" {
		all = append(all, partsVector{Source: "formats", Parts: m.encode(zero)})
	}
	return all
}

// json are values that are read, and values that are refused.
func (m model) json(valid []validVector) (read []jsonVector, refused []string) {
	read = append(read, jsonVector{JSON: "null", Written: true})
	for _, v := range valid[:min(3, len(valid))] {
		read = append(read, jsonVector{JSON: strconv.Quote(v.Text), Text: &v.Text, Written: true})
		if m.jsonNumbers {
			read = append(read, jsonVector{JSON: v.Number, Text: &v.Text})
		} else if v.Number != "" {
			refused = append(refused, v.Number)
		}
	}
	if !m.jsonNumbers {
		refused = append(refused, "1234567890123456")
	}
	return read, append(refused, "0", "-1", "1.5", "1e3", "true", "false", "[]", "{}", `""`, `" "`,
		strconv.Quote(m.kind.write(m.kind.zero())))
}

// span is the IDs of the times from one to the other.
func (m model) span(from, to int64) spanVector {
	s := spanVector{From: from, To: to}
	if m.kind.scheme == idtype.SchemeTrace {
		return m.traceSpan(s)
	}
	at := m.ranges[0]
	least, most := parts{}, parts{}
	for _, r := range m.ranges {
		least[r.name], most[r.name] = r.least, r.most
		if r.step != 0 {
			at = r
		}
	}
	switch {
	case to < from:
		s.Error = "inverted"
		return s
	case from < at.least || to > at.most:
		s.Error = "time"
		return s
	}
	least["unix_ms"], most["unix_ms"] = from, to
	if _, has := least["mode"]; has {
		least["mode"] = 1 // TIME_SEQUENTIAL
	}
	first := m.raw(least)
	if isZero(first) { // which is no ID: the next one
		first[len(first)-1] = 1
	}
	s.Ranges = []rangeVector{{m.kind.write(first), m.kind.write(m.raw(most))}}
	return s
}

// traceSpan counts the seconds of a span one after the other by what they are on the circle.
func (m model) traceSpan(s spanVector) spanVector {
	const period = 1 << 25
	second := func(ms int64) int64 { return (ms - (ms%1000+1000)%1000) / 1000 }
	first, last := second(s.From), second(s.To)
	switch {
	case s.To < s.From:
		s.Error = "inverted"
		return s
	case last-first >= period:
		s.Error = "period"
		return s
	}
	ids := func(from, to int64) rangeVector {
		return rangeVector{
			m.kind.write(m.raw(parts{"timestamp": from, "bottom": 1})),
			m.kind.write(m.raw(parts{"timestamp": to, "node_no": 65_535, "bottom": 4_194_303})),
		}
	}
	circle := func(second int64) int64 { return (second%period + period) % period }
	if from, to := circle(first), circle(last); from <= to {
		s.Ranges = []rangeVector{ids(from, to)}
	} else {
		// The smallest of all is number 1 of the first second, of node 0.
		s.Ranges = []rangeVector{ids(from, period-1), ids(0, to)}
	}
	return s
}

// traceTimes are the two times of a timestamp that are nearest to another time.
func traceTimes() (all []timesVector) {
	const period = 1 << 25
	for _, around := range []int64{0, -1, 999, 1_700_000_000_000, 1<<25*1000 - 1, 1 << 25 * 1000} {
		for _, timestamp := range []int64{0, 1, 22_278_400, 22_278_401, period - 1} {
			// The last time is found by going through the periods up to it.
			at := timestamp - 2*period
			for (at+period)*1000 <= around {
				at += period
			}
			stamp := func(s int64) string { return time.Unix(s, 0).UTC().Format(time.RFC3339) }
			all = append(all, timesVector{
				strconv.FormatInt(timestamp<<38|1, 10), around, []string{stamp(at), stamp(at + period)},
			})
		}
	}
	return all
}

// The package does what the vectors say. The files are read as an implementer of another language
// reads them.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectorFolder, "*.json"))
	if err != nil || len(files) != len(models)+1 { // and the one of package scramble
		t.Fatalf("%q, %v", files, err)
	}
	for scheme, m := range models {
		t.Run(scheme, func(t *testing.T) {
			_, f := readVectors(t, filepath.Join(vectorFolder, scheme+".json"))
			if len(f.Valid) < 100 || len(f.Invalid) < 20 || len(f.JSON) < 4 {
				t.Errorf("only %d, %d and %d cases", len(f.Valid), len(f.Invalid), len(f.JSON))
			}
			conforms(t, m, f)
		})
	}
}

func conforms(t *testing.T, m model, f vectorFile) {
	k := m.kind
	for _, v := range f.Valid {
		m.checkValid(t, v)
	}
	for _, v := range f.Older {
		raw, err := k.parse(v.Text)
		if err != nil || fmt.Sprintf("%x", raw) != v.Hex {
			t.Errorf("%s is %x, %v, want %s", v.Text, raw, err, v.Hex)
			continue
		}
		wantRangeError(t, k.new(raw).Validate(), k.typ, v.Part)
	}
	for _, v := range f.Invalid {
		if raw, err := k.parse(v.Text); !errors.As(err, new(*idtype.InputError)) {
			t.Errorf("%q is %x, %v, want an error: %s", v.Text, raw, err, v.Reason)
		}
	}
	for _, v := range f.InvalidParts {
		m.checkInvalidParts(t, v)
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
		if got := boundsOf(k.scheme, v); got != fmt.Sprint(v.Ranges)+v.Error {
			t.Errorf("from %d to %d: %s, want %v %s", v.From, v.To, got, v.Ranges, v.Error)
		}
	}
	for _, v := range f.Times {
		last, next := idtype.MustParse[idtype.TraceID](v.Text).Times(time.UnixMilli(v.Around))
		got := []string{last.Format(time.RFC3339), next.Format(time.RFC3339)}
		if fmt.Sprint(got) != fmt.Sprint(v.Times) {
			t.Errorf("%s around %d: %v, want %v", v.Text, v.Around, got, v.Times)
		}
	}
}

func (m model) checkValid(t *testing.T, v validVector) {
	t.Helper()
	k := m.kind
	raw, err := k.parse(v.Text)
	if err != nil || fmt.Sprintf("%x", raw) != v.Hex {
		t.Errorf("%s is %x, %v, want %s", v.Text, raw, err, v.Hex)
		return
	}
	id := k.new(raw)
	if err := id.Validate(); err != nil || id.String() != v.Text {
		t.Errorf("%s is written %s, Validate %v", v.Text, id, err)
	}
	if v.Number != "" {
		stored, err := k.inForm(asBigint, raw).Value()
		if fmt.Sprint(stored) != v.Number || err != nil {
			t.Errorf("the number of %s is %v, %v, want %s", v.Text, stored, err, v.Number)
		}
	}
	if v.UUID != "" {
		if stored, err := k.inForm(asUUID, raw).Value(); stored != v.UUID || err != nil {
			t.Errorf("the UUID of %s is %v, %v, want %s", v.Text, stored, err, v.UUID)
		}
	}
	if timed, is := any(id).(interface{ Time() time.Time }); is && v.Time != "" {
		at := timed.Time()
		if at.Format("2006-01-02T15:04:05.000Z") != v.Time || at.Location() != time.UTC {
			t.Errorf("the time of %s is %v, want %s", v.Text, at, v.Time)
		}
	}
	wanted := unquoted(v.Parts)
	if got, err := m.format.parse(v.Text); err != nil || got != wanted {
		t.Errorf("the parts of %s are %s, %v, want %s", v.Text, got, err, wanted)
	}
	if text, _, err := m.compose(wanted); err != nil || text != v.Text {
		t.Errorf("%s make %s, %v, want %s", wanted, text, err, v.Text)
	}
	if k.scheme == idtype.SchemeEightByte {
		checkFormer(t, v.Text, v.Layouts, wanted, v.Source == "formats")
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

// inForm is an ID of the same scheme that is stored in another form.
func (k kind) inForm(form idtype.Storage, raw []byte) key {
	for _, other := range kinds {
		if other.scheme == k.scheme && other.form == form {
			return other.new(raw)
		}
	}
	panic(form)
}

// unquoted are parts whose integers have no quotes.
func unquoted(parts json.RawMessage) string {
	return regexp.MustCompile(`"(-?\d+)"`).ReplaceAllString(string(parts), "$1")
}

func composeFormer(layout int, parts string) (id idtype.EightByteID, err error) {
	var p idtype.EightByteParts
	if err := json.Unmarshal([]byte(parts), &p); err != nil {
		return id, err
	}
	return p.FormerID(layout)
}

func (m model) checkInvalidParts(t *testing.T, v partsVector) {
	t.Helper()
	wanted := unquoted(v.Parts)
	var err error
	if v.Layout != "" {
		_, err = composeFormer(int(v.Layout[1]-'0'), wanted)
	} else {
		_, _, err = m.compose(wanted)
	}
	if v.Part == "" {
		if !errors.Is(err, idtype.ErrZero) {
			t.Errorf("%s: %v, want ErrZero", wanted, err)
		}
		return
	}
	wantRangeError(t, err, m.kind.typ, v.Part)
}

// boundsOf is what the package says of a span, as the vector has it.
func boundsOf(scheme idtype.Scheme, v spanVector) string {
	from, to := time.UnixMilli(v.From), time.UnixMilli(v.To)
	ranges, err := map[idtype.Scheme]func(from, to time.Time) ([]rangeVector, error){
		idtype.SchemeTrace:     inTexts(idtype.Bounds[idtype.TraceID]),
		idtype.SchemeShort:     inTexts(idtype.Bounds[idtype.ShortID]),
		idtype.SchemeEightByte: inTexts(idtype.Bounds[idtype.EightByteID]),
		idtype.SchemeSno:       inTexts(idtype.Bounds[idtype.SnoID]),
	}[scheme](from, to)
	reason := ""
	if span := (*idtype.SpanError)(nil); errors.As(err, &span) {
		reason = map[bool]string{true: "inverted", false: "period"}[v.To < v.From]
	} else if err != nil {
		reason = "time"
	}
	return fmt.Sprint(ranges) + reason
}

// inTexts are bounds whose IDs are texts.
func inTexts[T idtype.ID](
	bounds func(from, to time.Time) ([]idtype.Range[T], error),
) func(from, to time.Time) ([]rangeVector, error) {
	return func(from, to time.Time) (texts []rangeVector, err error) {
		ranges, err := bounds(from, to)
		for _, r := range ranges {
			texts = append(texts, rangeVector{r.Min.String(), r.Max.String()})
		}
		return texts, err
	}
}
