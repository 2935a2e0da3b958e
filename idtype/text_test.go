package idtype_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// A badText is no ID for the decoders of some kinds. There is one for each reason, and those that
// once were taken for IDs: TestParseAgainstReference has all that is refused.
type badText struct {
	name, text string
	shows      string // part of the reason
	reason     error  // nil for any
}

// badNumbers are no decimal digits of an ID. Each is one that some number parser accepts.
var badNumbers = []badText{
	{"empty", "", "digits only", nil},
	{"word", "garbage", "digits only", nil},
	{"zero", "0", "", idtype.ErrZero},
	{"plus", "+1", "sign", nil},
	{"minus", "-1", "sign", nil},
	{"space after", "1 ", "spaces", nil},
	{"leading zero", "01", "leading zeros", nil},
	{"leading zeros to 20 digits", "00000014150009200065", "leading zeros", nil},
	{"2^63", "9223372036854775808", "9223372036854775807", nil}, // how large it may be
	// also where it is longer than any ID
	{"2^64", "18446744073709551616", "9223372036854775807", nil},
	{"2^64 and a valid ID", "18446758223718751681", "9223372036854775807", nil},
	{"24 digits", "141500092000651415000920", "9223372036854775807", nil},
	{"not too large, but no number", "9999999999999999999x", "digits only", nil},
	{"fraction", "1.0", "digits only", nil},
	{"hexadecimal digits", "1415000920006f", "digits only", nil},
	{"NUL within", "1415000\x009200065", "digits only", nil},
	{"full-width digits", "１４１５", "digits only", nil},
	{"not UTF-8", "1\xff5", "digits only", nil},
	{"megabyte of digits", strings.Repeat("1", 1<<20), "9223372036854775807", nil},
	{"null", "null", "digits only", nil},
	{"quoted", `"1"`, "in double quotes", nil},
}

var badShortTexts = []badText{
	{"empty", "", "1 to 11 characters", nil},
	{"zero as it is shown", "(0)", "", idtype.ErrZero},
	{"the digit of zero", "A", "", idtype.ErrZero},
	{"zero in ten digits", "AAAAAAAAAA", "highest digit", nil},
	{"negative as it is shown", "(-5)", "A-Z", nil},
	{"published with a leading A before rotation", "xiAnaS8QBh", "highest digit", nil},
	{"leading A to 12 characters", "xiAAAnaS8QBh", "11 characters", nil},
	{"2^63", "AAIAAAAAAAA", "__H________", nil},
	{"2^64: the value wraps to zero", "AAQAAAAAAAA", "__H________", nil},
	{"2^64 and a valid ID", "xiQnaS8QBhA", "__H________", nil},
	{"too long", strings.Repeat("B", 12), "11 characters", nil},
	{"megabyte", strings.Repeat("B", 1<<20), "11 characters", nil},
	{"padded", "xinaS8QBh=", "A-Z", nil},
	{"standard alphabet, slash", "xi/aS8QBh", "A-Z", nil},
	{"NUL within", "xina\x008QBh", "A-Z", nil},
	{"not ASCII", "xinaS8QBé", "A-Z", nil},
	{"bad in front", "!inaS8QBh", "A-Z", nil},
	{"digits of the number", "11093174944930914", "11 characters", nil},
	{"quoted", `"B"`, "in double quotes", nil},
	{"quoted, but no text either", `"A"`, "A-Z", nil},
}

// badByteTexts are no text of an ID of either alphabet. Most are what some other parser accepts.
var badByteTexts = []badText{
	{"empty", "", "0 bytes", nil},
	{"15 characters", "233333333333333", "15 bytes", nil},
	{"17 characters", "23333333333333333", "17 bytes", nil},
	{"upper case", "2333A33333333333", `"A" at index 4 is upper case`, nil},
	{"upper case, all", "ABCDEFABCDEFABCD", `"A" at index 0 is upper case`, nil},
	{"after x", "233333333333333y", `"y" at index 15`, nil},
	{"NUL", "2333333\x0033333333", `"\x00" at index 7`, nil},
	{"not UTF-8", "23333333333333\xff3", `"\xff" at index 14`, nil},
	{"high bits of valid characters", strings.Repeat("\xb2", 16), `"\xb2" at index 0`, nil},
	{"16 bytes, fewer characters", "２3333333333３", `"２" at index 0`, nil},
	// the Kelvin sign
	{"a letter that is lower case here", "23333333333\u212a33", "at index 11", nil},
	{"a UUID", "32333333-3333-3333-3333-333333333333", "36 bytes", nil},
	{"quoted", `"23333333333333"`, `"\"" at index 0`, nil},
	{"megabyte", strings.Repeat("2", 1<<20), "1048576 bytes", nil},
}

// refuses: the decoders of a text say why they do not take it, and do not touch their receivers.
func (k kind) refuses(t *testing.T, bad badText) {
	t.Helper()
	id, byParam := k.new(k.before()), k.new(k.before())
	_, parse := k.parse(bad.text)
	for _, err := range []error{
		parse, id.UnmarshalText([]byte(bad.text)), byParam.UnmarshalParam(bad.text),
	} {
		wantInputError(t, err, k.typ, bad.text, bad.reason)
		if !strings.Contains(err.Error(), bad.shows) {
			t.Errorf("%.40q: error is %q, want %q in it", bad.text, err, bad.shows)
		}
	}
	k.wantUntouched(t, id)
	k.wantUntouched(t, byParam)
	k.refusesJSON(t, `"`+bad.text+`"`, bad.reason)
}

func (k kind) refusesJSON(t *testing.T, data string, reason error) {
	t.Helper()
	for _, dst := range []column{k.new(k.before()), k.orZero(k.before())} {
		err := dst.UnmarshalJSON([]byte(data))
		if _, isID := dst.(key); !isID && (reason == idtype.ErrZero || data == `""`) { // none
			if err != nil || !isZero(rawOf(dst)) {
				t.Errorf("%s in OrZero is %x, %v, want none", data, rawOf(dst), err)
			}
			continue
		}
		wantInputError(t, err, k.typ, data, reason)
		k.wantUntouched(t, dst)
	}
}

func TestBadText(t *testing.T) {
	for _, k := range integers {
		for _, bad := range badNumbers {
			t.Run(k.name+"/"+bad.name, func(t *testing.T) {
				testScan(t, k, bad.text, map[bool]string{true: none}[bad.reason != nil])
				err := k.new(k.before()).Scan(bad.text)
				if !strings.Contains(err.Error(), bad.shows) {
					t.Errorf("Scan: error is %q, want %q in it", err, bad.shows)
				}
				if k.digits {
					k.refuses(t, bad)
				}
				if bad.name != "null" && bad.name != "quoted" { // in JSON without quotes
					k.refusesJSON(t, bad.text, bad.reason)
				}
			})
		}
	}
	for _, bad := range badShortTexts {
		t.Run(short.name+"/"+bad.name, func(t *testing.T) { short.refuses(t, bad) })
	}
	for _, k := range ofChars {
		zero := strings.Repeat(k.alphabet[:1], 16)
		quoted := `"` + k.write(k.before()) + `"`
		for _, bad := range append(badByteTexts, []badText{
			{"zero", zero, "", idtype.ErrZero},
			{"quoted, and right without", quoted, "in double quotes", nil},
			{"quoted twice", `"` + quoted + `"`, "20 bytes", nil},
		}...) {
			t.Run(k.name+"/"+bad.name, func(t *testing.T) {
				k.refuses(t, bad)
				number := plainNumber.MatchString(strings.TrimPrefix(bad.text, "-"))
				if k.form == asBigint && (number || bad.reason != nil) ||
					k.form == asText && bad.text == "" ||
					k.form == asUUID && bad.name == "a UUID" {
					return // columns that may hold these
				}
				testScan(t, k, bad.text, map[bool]string{true: none}[bad.reason != nil])
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
		all := []string{
			"", "true", "{}", "[1]", `["` + text + `"]`, "1.0", "1e3", "1415000920006.5e1", "-1", "+1",
			"01", "0.0", `""`, `"null"`, "NULL", `"\u0031"`, `"1\/2"`, `"\u0032` + text[1:] + `"`,
			`"\u0032` + text[6:] + `"`, `"` + text, text + `"`, `"`, `""` + text + `""`,
			`'` + text + `'`, `" ` + text + `"`, `"1.0"`, "9223372036854775808",
			`"9223372036854775808"`, "1 2", `"1""2"`, `"` + strings.Repeat("1", 1<<20) + `"`,
		}
		if !k.isInteger() { // 16 digits would be a text or a number
			all = append(all, text, "14150009200065", "2333333333333333", "0")
		} else {
			k.refusesJSON(t, "0", idtype.ErrZero)
		}
		if k.scheme != idtype.SchemeShort {
			k.refusesJSON(t, `"`+k.write(k.zero())+`"`, idtype.ErrZero)
		}
		err := k.new(k.before()).UnmarshalJSON([]byte("true"))
		if k.isInteger() && !strings.Contains(err.Error(), "exact integer") {
			t.Errorf("%v, want the forms that are read", err)
		}
		for _, bad := range all {
			if bad == `"null"` && k.scheme == idtype.SchemeShort {
				continue // a text of a short ID
			}
			k.refusesJSON(t, bad, nil)
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
			if number := digits.write(raw); k.isInteger() && binary.BigEndian.Uint64(raw) < 1<<53 {
				forms = append(forms, number) // as other writers send it
			} else if k.isInteger() { // they have most likely rounded it
				for _, dst := range []column{k.new(k.before()), k.orZero(k.before())} {
					wantInputError(t, dst.UnmarshalJSON([]byte(number)), k.typ, number, nil)
					k.wantUntouched(t, dst)
				}
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

func TestBytes(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, raw := range k.domain() {
			if got := k.bytes(raw); string(got) != ">"+string(raw) {
				t.Fatalf("%x as bytes = %q", raw, got)
			}
			if back, err := k.fromBytes(raw); err != nil || !bytes.Equal(back, raw) {
				t.Fatalf("%x came back as %x, %v", raw, back, err)
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
			id, err := k.fromBytes(data)
			wantInputError(t, err, k.typ, string(data), reason)
			if !isZero(id) {
				t.Errorf("an ID beside an error: %x", id)
			}
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

func TestMustParse(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		text := k.write(k.before())
		if got := k.must(text); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
		defer func() {
			err, _ := recover().(error)
			if err == nil || !strings.Contains(err.Error(), "no sense") {
				t.Errorf("panics with %v, want the parse error", err)
			}
		}()
		k.must("no sense")
	})
}
