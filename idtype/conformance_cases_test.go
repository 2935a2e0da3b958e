package idtype_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/idmint/idmint/idtype"
)

// raw are the bytes of parts.
func (m model) raw(p parts) []byte {
	v, ok := new(big.Int).SetString(m.digits(p), m.base)
	if !ok {
		panic(m.digits(p))
	}
	return v.FillBytes(make([]byte, m.kind.size))
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
		for _, r := range m.ranges {
			if r.step > 1 { // a unit's parts are those of its start
				p[r.name] -= (p[r.name] - r.least) % r.step
			}
		}
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
