package idtype_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// A decoder under test takes a text into a receiver, or into none.
type textDecoder struct {
	name   string
	input  string
	dst    column // nil for a function that returns its ID
	decode func() error
}

// ofText are the decoders of a text.
func (k kind) ofText(text string) []textDecoder {
	id, byParam := k.new(k.before()), k.new(k.before())
	byJSON, orZero := k.new(k.before()), k.orZero(k.before())
	quoted := `"` + text + `"`
	return []textDecoder{
		{"Parse", text, nil, func() error { _, err := k.parse(text); return err }},
		{
			"Parse of a typed key", text, nil,
			func() error { _, err := k.parseTyped(text); return err },
		},
		{"UnmarshalText", text, id, func() error { return id.UnmarshalText([]byte(text)) }},
		{"UnmarshalParam", text, byParam, func() error { return byParam.UnmarshalParam(text) }},
		{
			"UnmarshalJSON", quoted, byJSON,
			func() error { return byJSON.UnmarshalJSON([]byte(quoted)) },
		},
		{
			"OrZero.UnmarshalJSON", quoted, orZero,
			func() error { return orZero.UnmarshalJSON([]byte(quoted)) },
		},
	}
}

// ofColumn are the decoders of what a column holds.
func (k kind) ofColumn(text string) []textDecoder {
	id, byBytes, orZero := k.new(k.before()), k.new(k.before()), k.orZero(k.before())
	return []textDecoder{
		{"Scan", text, id, func() error { return id.Scan(text) }},
		{"Scan of bytes", text, byBytes, func() error { return byBytes.Scan([]byte(text)) }},
		{"OrZero.Scan", text, orZero, func() error { return orZero.Scan(text) }},
	}
}

// testBad: the decoders say why they do not take the text, and do not touch their receivers.
func testBad(t *testing.T, k kind, decoders []textDecoder, bad badText) {
	t.Helper()
	for _, d := range decoders {
		err := d.decode()
		if d.name == "OrZero.Scan" && bad.reason == idtype.ErrZero { // which it takes for none
			if err != nil || !d.dst.IsZero() {
				t.Errorf("%s of %q = %v, %v, want none", d.name, bad.text, d.dst, err)
			}
			continue
		}
		wantInputError(t, err, k.typ, d.input, bad.reason)
		if !strings.Contains(err.Error(), bad.shows) && !strings.Contains(d.name, "Scan") &&
			!strings.Contains(d.name, "JSON") {
			t.Errorf("%s(%.40q): error is %q, want %q in it", d.name, bad.text, err, bad.shows)
		}
		if d.dst != nil {
			k.wantUntouched(t, d.dst)
		}
	}
}

func TestBadText(t *testing.T) {
	for _, k := range integers {
		for _, bad := range badNumbers {
			t.Run(k.name+"/"+bad.name, func(t *testing.T) {
				testBad(t, k, k.ofColumn(bad.text), bad)
				err := k.new(k.before()).Scan(bad.text)
				if !strings.Contains(err.Error(), bad.shows) {
					t.Errorf("Scan: error is %q, want %q in it", err, bad.shows)
				}
				if k.digits {
					testBad(t, k, k.ofText(bad.text), bad)
				}
				if bad.name != "null" && bad.name != "quoted" { // in JSON without quotes
					id := k.new(k.before())
					wantInputError(
						t, id.UnmarshalJSON([]byte(bad.text)), k.typ, bad.text, bad.reason,
					)
					k.wantUntouched(t, id)
				}
			})
		}
	}
	for _, bad := range badShortTexts {
		t.Run(
			short.name+"/"+bad.name,
			func(t *testing.T) { testBad(t, short, short.ofText(bad.text), bad) },
		)
	}
	for _, k := range byteKinds {
		zero := strings.Repeat(k.alphabet[:1], 16)
		quoted := `"` + k.write(k.before()) + `"`
		for _, bad := range append(badByteTexts, []badText{
			{"zero", zero, "", idtype.ErrZero},
			{"quoted, and right without", quoted, "in double quotes", nil},
			{"quoted twice", `"` + quoted + `"`, "20 bytes", nil},
		}...) {
			t.Run(k.name+"/"+bad.name, func(t *testing.T) {
				testBad(t, k, k.ofText(bad.text), bad)
				number := plainNumber.MatchString(strings.TrimPrefix(bad.text, "-"))
				if k.form == asBigint && (number || bad.reason != nil) ||
					k.form == asText && bad.text == "" ||
					k.form == asUUID && bad.name == "a UUID" {
					return // columns that may hold these
				}
				testBad(t, k, k.ofColumn(bad.text), bad)
			})
		}
		// The characters that the one alphabet has and the other has not.
		if _, err := k.parse("0123456789abcdef"); (err == nil) != (k.size == 8) {
			t.Errorf("Parse of hexadecimal digits: %v", err)
		}
		if _, err := k.parse("23456789klmnvwxa"); (err == nil) != (k.size == 10) {
			t.Errorf("Parse of base 32: %v", err)
		}
	}
}

func TestBadJSON(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		text := k.write(k.before())
		zero := strings.Repeat(cmp.Or(k.alphabet, "0")[:1], 16)
		all := []badText{
			{"nothing", "", "", nil},
			{"true", "true", "", nil},
			{"object", "{}", "", nil},
			{"array", "[1]", "", nil},
			{"array of a text", `["` + text + `"]`, "", nil},
			{"fraction of nothing", "1.0", "", nil},
			{"exponent", "1e3", "", nil},
			{"exponent up to an ID", "1415000920006.5e1", "", nil},
			{"minus", "-1", "", nil},
			{"plus", "+1", "", nil},
			{"leading zero", "01", "", nil},
			{"zero as a fraction", "0.0", "", nil},
			{"empty string", `""`, "", nil},
			{"null as a string", `"null"`, "", nil},
			{"null in capitals", "NULL", "", nil},
			{"escaped digit", `"\u0031"`, "", nil},
			{"escaped slash", `"1\/2"`, "", nil},
			{"escape", `"\u0032` + text[1:] + `"`, "", nil},
			{"escape within the length", `"\u0032` + text[6:] + `"`, "", nil},
			{"unterminated", `"` + text, "", nil},
			{"never begun", text + `"`, "", nil},
			{"a quote alone", `"`, "", nil},
			{"quotes twice", `""` + text + `""`, "", nil},
			{"single quotes", `'` + text + `'`, "", nil},
			{"space in the string", `" ` + text + `"`, "", nil},
			{"fraction in a string", `"1.0"`, "", nil},
			{"2^63", "9223372036854775808", "", nil},
			{"2^63 as a string", `"9223372036854775808"`, "", nil},
			{"two values", `1 2`, "", nil},
			{"two strings", `"1""2"`, "", nil},
			{"megabyte", `"` + strings.Repeat("1", 1<<20) + `"`, "", nil},
		}
		switch {
		case k.isInteger():
			all = append(all, badText{"zero", "0", "", idtype.ErrZero})
			if k.digits {
				all = append(all, badText{"zero as a string", `"0"`, "", idtype.ErrZero})
			}
		default:
			all = append(all, []badText{
				{"the text without quotes", text, "", nil},
				{"number", "14150009200065", "", nil},
				{"number of 16 digits", "2333333333333333", "", nil},
				{"zero", "0", "", nil},
				{"zero as a text", `"` + zero + `"`, "", idtype.ErrZero},
			}...)
		}
		for _, bad := range all {
			if inner, ok := strings.CutPrefix(bad.text, `"`); ok &&
				k.read(strings.TrimSuffix(inner, `"`)) != nil &&
				strings.HasSuffix(inner, `"`) {
				continue // a text of a short ID, such as "null"
			}
			for _, dst := range []column{k.new(k.before()), k.orZero(k.before())} {
				err := dst.UnmarshalJSON([]byte(bad.text))
				wantInputError(t, err, k.typ, bad.text, bad.reason)
				k.wantUntouched(t, dst)
				if bad.name == "true" && k.isInteger() &&
					!strings.Contains(err.Error(), "exact integer") {
					t.Errorf("%v, want the forms that are read", err)
				}
			}
		}
	})
}

func TestJSON(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		none, some := k.orZero(k.zero()), k.orZero(k.before())
		for _, id := range []column{k.new(k.zero()), none} {
			if got, err := json.Marshal(id); string(got) != "null" || err != nil {
				t.Errorf("zero as JSON = %s, %v, want null", got, err)
			}
		}
		for _, id := range []column{k.new(k.before()), some} {
			if err := json.Unmarshal([]byte("null"), id); err != nil || !id.IsZero() {
				t.Errorf("null = %x, %v, want zero", rawOf(id), err)
			}
		}
		for _, raw := range k.domain() {
			want := `"` + k.write(raw) + `"`
			for _, id := range []column{k.new(raw), k.orZero(raw)} {
				got, err := json.Marshal(id)
				if string(got) != want || err != nil {
					t.Fatalf("%x as JSON = %s, %v, want %s", raw, got, err, want)
				}
			}
			forms := []string{want, " \n" + want + "\t"}
			if k.isInteger() { // as other writers send it
				forms = append(forms, digits.write(raw))
			}
			for _, data := range forms {
				for _, id := range []column{k.new(k.before()), k.orZero(k.before())} {
					if err := json.Unmarshal([]byte(data), id); err != nil ||
						!bytes.Equal(rawOf(id), raw) {
						t.Fatalf("%s = %x, %v", data, rawOf(id), err)
					}
				}
			}
		}
	})
}

func TestBinary(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, raw := range k.domain() {
			id := k.new(raw)
			got, err := id.MarshalBinary()
			appended, appendErr := id.AppendBinary([]byte(">"))
			if err != nil || appendErr != nil || !bytes.Equal(got, raw) ||
				string(appended) != ">"+string(raw) {
				t.Fatalf("%x as binary = %x, %v, appended %x, %v", raw, got, err, appended,
					appendErr)
			}
			back := k.new(k.before())
			if err := back.UnmarshalBinary(raw); err != nil || !bytes.Equal(rawOf(back), raw) {
				t.Fatalf("%x came back as %x, %v", raw, rawOf(back), err)
			}
			// The ID has the bytes to itself.
			got[0]++
			if !bytes.Equal(rawOf(id), raw) {
				t.Fatalf("a change of MarshalBinary's result changes the ID")
			}
		}
		for name, data := range map[string][]byte{
			"nil": nil, "too short": k.before()[1:], "too long": append(k.before(), 1),
			"the text": append([]byte(k.write(k.before())), 0), "zero": k.zero(),
			"16 zeros": make([]byte, 16), "megabyte": make([]byte, 1<<20),
			"minus one": bytes.Repeat([]byte{0xff}, 8),
			"2^63":      append([]byte{0x80}, make([]byte, 7)...),
		} {
			if len(data) == k.size && !isZero(data) && !k.isInteger() {
				continue // an eightbyte ID
			}
			var reason error
			if name == "zero" {
				reason = idtype.ErrZero
			}
			id := k.new(k.before())
			wantInputError(t, id.UnmarshalBinary(data), k.typ, string(data), reason)
			k.wantUntouched(t, id)
		}
	})
}

// TestZero: zero is none, wherever it comes from, and can be printed.
func TestZero(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		zero, some := k.new(k.zero()), k.new(k.before())
		if !zero.IsZero() || some.IsZero() || !k.orZero(k.zero()).IsZero() ||
			k.orZero(k.before()).IsZero() {
			t.Error("IsZero is wrong")
		}
		text := k.write(k.zero())
		if zero.String() != text {
			t.Errorf("String of zero = %q, want %q", zero, text)
		}
		if k.isInteger() {
			text = "0"
		}
		wantInputError(t, zero.Validate(), k.typ, text, idtype.ErrZero)
		v, err := zero.Value()
		wantInputError(t, err, k.typ, text, idtype.ErrZero)
		// nil would be NULL to whoever drops the error, and bytes a list of numbers.
		if v != int64(0) {
			t.Errorf("Value of zero = %v beside its error", v)
		}
		_, err = k.slice(k.before(), k.zero())
		wantInputError(t, err, k.typ, text, idtype.ErrZero)
		if !strings.Contains(err.Error(), "index 1") {
			t.Errorf("Value of a slice with zero: %v", err)
		}
		if zero.Scheme() != k.scheme || zero.Storage() != k.form {
			t.Errorf("scheme %s, storage %s", zero.Scheme(), zero.Storage())
		}
	})
}

func TestMust(t *testing.T) {
	const number = "14150009200065"
	for _, tt := range []struct {
		name, text string
		must       func(text string) string
	}{
		{"MustParseDecimalID", number, printed(idtype.MustParseDecimalID)},
		{"MustParseTraceID", number, printed(idtype.MustParseTraceID)},
		{"MustParseShortID", "xinaS8QBh", printed(idtype.MustParseShortID)},
		{"MustParseSequenceID", number, printed(idtype.MustParseSequenceID)},
		{"MustParseEightByteID", eightText, printed(idtype.MustParseEightByteID)},
		{"MustParseSnoID", snoText, printed(idtype.MustParseSnoID)},
		{"MustParse of a typed key", number, printed(idtype.MustParse[UserID])},
		{"MustParse of a short key", "xinaS8QBh", printed(idtype.MustParse[UserShortID])},
		{"MustParse of bytes", eightText, printed(idtype.MustParse[EventBigintID])},
		{"MustParse of a UUID", snoText, printed(idtype.MustParse[EventUUIDID])},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.must(tt.text); got != tt.text {
				t.Errorf("got %s, want %s", got, tt.text)
			}
			defer func() {
				err, _ := recover().(error)
				if err == nil || !strings.Contains(err.Error(), "no sense") {
					t.Errorf("panics with %v, want the parse error", err)
				}
			}()
			tt.must("no sense")
		})
	}
}

func printed[T idtype.ID](must func(string) T) func(string) string {
	return func(text string) string { return must(text).String() }
}
