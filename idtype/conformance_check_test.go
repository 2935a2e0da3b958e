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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// The package does what the vectors say. The files are read as an implementer of another language
// reads them.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectorFolder, "*.json"))
	if err != nil || len(files) != len(models)+1 { // and the one of package scramble
		t.Fatalf("%q, %v", files, err)
	}
	for scheme, m := range models {
		t.Run(scheme, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(vectorFolder, scheme+".json"))
			if err != nil {
				t.Fatal(err)
			}
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			var f vectorFile
			if err := d.Decode(&f); err != nil || f.Format != 1 || f.Scheme != scheme {
				t.Fatalf("format %d of %s: %v", f.Format, f.Scheme, err)
			}
			if len(f.Valid) < 100 || len(f.Invalid) < 20 || len(f.JSON) < 4 {
				t.Errorf("only %d, %d and %d cases", len(f.Valid), len(f.Invalid), len(f.JSON))
			}
			conforms(t, m.kind, f)
		})
	}
}

func conforms(t *testing.T, k kind, f vectorFile) {
	for _, v := range f.Valid {
		checkValid(t, k, v)
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
		checkInvalidParts(t, k, v)
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
		if got := boundsOf(t, k.scheme, v); got != fmt.Sprint(v.Ranges)+v.Error {
			t.Errorf("from %d to %d: %s, want %v %s", v.From, v.To, got, v.Ranges, v.Error)
		}
	}
	for _, v := range f.Times {
		last, next := idtype.MustParseTraceID(v.Text).Times(time.UnixMilli(v.Around))
		got := []string{last.Format(time.RFC3339), next.Format(time.RFC3339)}
		if fmt.Sprint(got) != fmt.Sprint(v.Times) {
			t.Errorf("%s around %d: %v, want %v", v.Text, v.Around, got, v.Times)
		}
	}
	for _, v := range f.Near {
		if got := verdict(t, v); got != v.Verdict {
			t.Errorf("%+v: %s", v, got)
		}
	}
}

func checkValid(t *testing.T, k kind, v validVector) {
	t.Helper()
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
		if got := timed.Time().Format("2006-01-02T15:04:05.000Z"); got != v.Time {
			t.Errorf("the time of %s is %s, want %s", v.Text, got, v.Time)
		}
	}
	scheme := formats[string(k.scheme)]
	wanted := unquoted(v.Parts)
	if got, err := scheme.parse(v.Text); err != nil || got != wanted {
		t.Errorf("the parts of %s are %s, %v, want %s", v.Text, got, err, wanted)
	}
	if text, _, err := scheme.compose(wanted); err != nil || text != v.Text {
		t.Errorf("%s make %s, %v, want %s", wanted, text, err, v.Text)
	}
	if k.scheme == idtype.SchemeEightByte {
		checkFormer(t, v, wanted)
	}
}

// checkFormer holds an ID against the former layouts. A source's program knows its own.
func checkFormer(t *testing.T, v validVector, parts string) {
	t.Helper()
	for i, name := range []string{"v1", "v2", "v3"} {
		held := slices.Contains(v.Layouts, name)
		composed, err := composeFormer(t, name, parts)
		switch {
		case held && (err != nil || composed.String() != v.Text):
			t.Errorf("by %s, %s make %v, %v", name, parts, composed, err)
		case held:
			err = formerLayouts[i].validate(composed)
		case v.Source == "formats" && err == nil:
			err = errors.New("it is none of the vector's layouts")
		default:
			err = nil
		}
		if err != nil {
			t.Errorf("%s by %s: %v", v.Text, name, err)
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

func composeFormer(t *testing.T, name, parts string) (idtype.EightByteID, error) {
	t.Helper()
	var p idtype.EightByteParts
	if err := json.Unmarshal([]byte(parts), &p); err != nil {
		t.Fatal(err)
	}
	return formerLayouts[name[1]-'1'].compose(p)
}

func checkInvalidParts(t *testing.T, k kind, v partsVector) {
	t.Helper()
	wanted := unquoted(v.Parts)
	var err error
	if v.Layout != "" {
		_, err = composeFormer(t, v.Layout, wanted)
	} else {
		_, _, err = formats[string(k.scheme)].compose(wanted)
	}
	if v.Part == "" {
		if !errors.Is(err, idtype.ErrZero) {
			t.Errorf("%s: %v, want ErrZero", wanted, err)
		}
		return
	}
	wantRangeError(t, err, k.typ, v.Part)
}

// boundsOf is what the package says of a span, as the vector has it.
func boundsOf(t *testing.T, scheme idtype.Scheme, v spanVector) string {
	t.Helper()
	from, to := time.UnixMilli(v.From), time.UnixMilli(v.To)
	if scheme == idtype.SchemeTrace {
		found, err := idtype.TraceBounds(from, to)
		var ranges []rangeVector
		for _, r := range found {
			ranges = append(ranges, rangeVector{r.Min.String(), r.Max.String()})
		}
		switch {
		case errors.Is(err, idtype.ErrSpanInverted):
			return fmt.Sprint(ranges) + "inverted"
		case errors.Is(err, idtype.ErrSpanPeriod):
			return fmt.Sprint(ranges) + "period"
		}
		return fmt.Sprint(ranges)
	}
	if v.To < v.From { // the caller gives two moments, and the package does not see the span
		return fmt.Sprint([]rangeVector(nil)) + "inverted"
	}
	var first, last fmt.Stringer
	var err, err2 error
	switch scheme {
	case idtype.SchemeShort:
		first, err = idtype.MinShortID(from)
		last, err2 = idtype.MaxShortID(to)
	case idtype.SchemeEightByte:
		first, err = idtype.MinEightByteID(from)
		last, err2 = idtype.MaxEightByteID(to)
	case idtype.SchemeSno:
		first, err = idtype.MinSnoID(from)
		last, err2 = idtype.MaxSnoID(to)
	}
	if e := new(idtype.RangeError); errors.As(errors.Join(err, err2), &e) && e.Part == "unix_ms" {
		return fmt.Sprint([]rangeVector(nil)) + "time"
	}
	return fmt.Sprint([]rangeVector{{first.String(), last.String()}})
}

// verdict is elfo's word for what the package says of an ID that comes from outside.
func verdict(t *testing.T, v nearVector) string {
	t.Helper()
	raw, err := strconv.ParseUint(v.Raw, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	allowed := idtype.TracePeriod // any
	if v.AllowedSecs != nil {
		seconds, err := strconv.ParseInt(*v.AllowedSecs, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		allowed = time.Duration(seconds)*time.Second + time.Duration(*v.AllowedNanos)
	}
	err = idtype.TraceID(raw).ValidateAt(time.Unix(v.NowUnix, 0), allowed)
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, idtype.ErrZero):
		return "cannot be zero"
	case errors.Is(err, idtype.ErrTraceTime):
		return "invalid timestamp"
	case strings.Contains(err.Error(), "positive"):
		return "highest bit must be zero"
	}
	return err.Error()
}
