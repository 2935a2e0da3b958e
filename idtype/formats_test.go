package idtype_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// A format is what the test of docs/design/formats.md does with a section's values. Parts are JSON.
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
	return idtype.ParseSequenceID(strconv.FormatInt(p.Number, 10))
}

var formats = map[string]format{
	"decimal":   formatOf(idtype.ParseDecimalID, idtype.DecimalID.Parts),
	"trace":     formatOf(idtype.ParseTraceID, idtype.TraceID.Parts),
	"short":     formatOf(idtype.ParseShortID, idtype.ShortID.Parts),
	"eightbyte": formatOf(idtype.ParseEightByteID, idtype.EightByteID.Parts),
	"sno":       formatOf(idtype.ParseSnoID, idtype.SnoID.Parts),
	"sequence": formatOf(idtype.ParseSequenceID, func(id idtype.SequenceID) sequenceParts {
		return sequenceParts{int64(id)}
	}),
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
	for name, f := range formats {
		t.Run(name, func(t *testing.T) {
			values := workedValue.FindAllStringSubmatch(sections[name], -1)
			ranges := partRange.FindAllStringSubmatch(sections[name], -1)
			if len(values) == 0 || len(ranges) == 0 {
				t.Fatalf("%d worked values and %d ranges", len(values), len(ranges))
			}
			for _, v := range values {
				f.holds(t, v[1], v[2], v[3])
			}
			for _, r := range ranges {
				f.ends(t, values[0][3], r[1], r[2], r[3])
			}
			places := partPlaces.FindAllStringSubmatch(sections[name], -1)
			if len(places) != len(models[name].ranges) {
				t.Errorf("%d parts have places", len(places))
			}
			for _, p := range places {
				if got := models[name].places(p[1]); got != p[2] {
					t.Errorf("%s is at %s, not at %s", p[1], got, p[2])
				}
			}
			if drawn := drawnBits.FindString(sections[name]); drawn != "" {
				if got := bitsOf(t, values[0][2]); got != strings.ReplaceAll(drawn, " ", "") {
					t.Errorf("%s has the bits %s, not %s", values[0][1], got, drawn)
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

// ends tries the ends of a part's range in parts that are valid, and what is beyond them.
func (f format) ends(t *testing.T, parts, name, least, most string) {
	with := func(value string) error {
		_, _, err := f.compose(
			regexp.MustCompile(`("`+name+`":)-?\d+`).ReplaceAllString(parts, "${1}"+value),
		)
		return err
	}
	for _, value := range []string{least, most} {
		if err := with(value); err != nil {
			t.Errorf("%s %s: %v", name, value, err)
		}
	}
	for value, step := range map[string]int64{least: -1, most: 1} {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		beyond := strconv.FormatUint(uint64(n)+uint64(step), 10)
		if n == 0 {
			beyond = "-1"
		}
		err = with(beyond)
		if e := (*idtype.RangeError)(nil); err == nil || errors.As(err, &e) && e.Part != name {
			t.Errorf("%s %s: %v, want an error about it", name, beyond, err)
		}
	}
}

// bitsOf returns the bits of a stored number, or of stored bytes. Those have a letter among their
// digits.
func bitsOf(t *testing.T, stored string) string {
	if n, err := strconv.ParseInt(stored, 10, 64); err == nil {
		return fmt.Sprintf("%064b", n)
	}
	var bits strings.Builder
	for i := 0; i < len(stored); i += 2 {
		b, err := strconv.ParseUint(stored[i:i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&bits, "%08b", b)
	}
	return bits.String()
}

// places are the bits or decimal places that a part changes, as the page has them.
func (m model) places(name string) string {
	rest := maps.Clone(m.middle)
	if name == "mode" {
		rest["unix_ms"] = 0 // whose bits are the same in both orders
	}
	base := m.digits(rest)
	changed := make([]bool, len(base))
	for _, p := range m.cases() {
		for other, value := range rest {
			if other != name {
				p[other] = value
			}
		}
		for i, digit := range m.digits(p) {
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
