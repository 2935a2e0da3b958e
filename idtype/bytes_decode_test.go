package idtype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// badByteTexts are no text of an ID of either alphabet. Most are what some other parser accepts.
var badByteTexts = []struct {
	name, text string
	shows      string // of the reason
}{
	{"empty", "", "0 bytes"},
	{"word", "garbage", "7 bytes"},
	{"15 characters", "233333333333333", "15 bytes"},
	{"17 characters", "23333333333333333", "17 bytes"},
	{"32 characters", "23333333333333332333333333333333", "32 bytes"},
	{"0x before", "0x23333333333333", `at index`},
	{"upper case", "2333A33333333333", `"A" at index 4 is upper case`},
	{"upper case, all", "ABCDEFABCDEFABCD", `"A" at index 0 is upper case`},
	{"space before", " 233333333333333", `" " at index 0`},
	{"space after", "233333333333333 ", `" " at index 15`},
	{"newline", "233333333333333\n", `"\n" at index 15`},
	{"before 0", "233333/333333333", `"/" at index 6`},
	{"after 9", "23333333:3333333", `":" at index 8`},
	{"before a", "23333333`3333333", "\"`\" at index 8"},
	{"after x", "233333333333333y", `"y" at index 15`},
	{"minus", "-233333333333333", `"-" at index 0`},
	{"NUL", "2333333\x0033333333", `"\x00" at index 7`},
	{"not UTF-8", "23333333333333\xff3", `"\xff" at index 14`},
	{"high bits of valid characters", strings.Repeat("\xb2", 16), `"\xb2" at index 0`},
	{"16 bytes, fewer characters", "２3333333333３", `"２" at index 0`},
	{"a letter that is lower case here", "23333333333\u212a33", "at index 11"}, // the Kelvin sign
	{"a UUID", "32333333-3333-3333-3333-333333333333", "36 bytes"},
	{"null", "null", "4 bytes"},
	{"quoted", `"23333333333333"`, `"\"" at index 0`},
	{"megabyte", strings.Repeat("2", 1<<20), "1048576 bytes"},
}

// TestByteBadText: no decoder takes these, each says why, and none touches its receiver.
func TestByteBadText(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		for _, tt := range badByteTexts {
			check := func(what, input string, err error, id column) {
				t.Helper()
				wantInputError(t, err, k.typ, input, nil)
				if tt.shows != "" && !strings.Contains(err.Error(), tt.shows) && !strings.HasPrefix(what, "Scan") {
					t.Errorf("%s(%.40q): error is %q, want %q in it", what, tt.text, err, tt.shows)
				}
				if id != nil && !bytes.Equal(rawOf(id), k.before()) {
					t.Errorf("%s(%.40q): receiver is %x after an error, want it untouched", what, tt.text, rawOf(id))
				}
			}
			_, err := k.parse(tt.text)
			check("Parse", tt.text, err, nil)
			_, err = k.parseTyped(tt.text)
			check("Parse of the typed key", tt.text, err, nil)

			id := k.new(k.before())
			check("UnmarshalText", tt.text, id.UnmarshalText([]byte(tt.text)), id)
			quoted := `"` + tt.text + `"`
			check("UnmarshalJSON", quoted, id.UnmarshalJSON([]byte(quoted)), id)
			o := k.orZero(k.before())
			check("OrZero.UnmarshalJSON", quoted, o.UnmarshalJSON([]byte(quoted)), o)
			if k.form == idtype.StorageBigint && plainNumber.MatchString(strings.TrimPrefix(tt.text, "-")) ||
				k.form == idtype.StorageText && tt.text == "" || k.form == idtype.StorageUUID && tt.name == "a UUID" {
				continue // columns that may hold these
			}
			check("Scan", tt.text, id.Scan(tt.text), id)
			check("Scan of bytes", tt.text, id.Scan([]byte(tt.text)), id)
			check("Scan of OrZero", tt.text, o.Scan(tt.text), o)
		}
		// The characters that the one alphabet has and the other has not.
		if _, err := k.parse("0123456789abcdef"); (err == nil) != (k.size == 8) {
			t.Errorf("Parse of hexadecimal digits: %v", err)
		}
		if _, err := k.parse("23456789klmnvwxa"); (err == nil) != (k.size == 10) {
			t.Errorf("Parse of base 32: %v", err)
		}
		zero := strings.Repeat(k.alphabet[:1], 16)
		_, err := k.parse(zero)
		wantInputError(t, err, k.typ, zero, idtype.ErrZero)
	})
}

func TestByteBadJSON(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		text := k.refText(k.before())
		for _, tt := range []struct {
			name, data string
			reason     error
		}{
			{"nothing", "", nil},
			{"the text without quotes", text, nil},
			{"number", "14150009200065", nil},
			{"number of 16 digits", "2333333333333333", nil},
			{"zero", "0", nil},
			{"true", "true", nil},
			{"object", "{}", nil},
			{"array", `["` + text + `"]`, nil},
			{"empty string", `""`, nil},
			{"a quote alone", `"`, nil},
			{"unterminated", `"` + text, nil},
			{"never begun", text + `"`, nil},
			{"single quotes", `'` + text + `'`, nil},
			{"escape", `"\u0032` + text[1:] + `"`, nil},
			{"escape within the length", `"\u0032` + text[6:] + `"`, nil},
			{"null as a string", `"null"`, nil},
			{"null in capitals", "NULL", nil},
			{"zero as a text", `"` + strings.Repeat(k.alphabet[:1], 16) + `"`, idtype.ErrZero},
		} {
			id, o := k.new(k.before()), k.orZero(k.before())
			for what, id := range map[string]column{"ID": id, "OrZero": o} {
				wantInputError(t, id.UnmarshalJSON([]byte(tt.data)), k.typ, tt.data, tt.reason)
				if !bytes.Equal(rawOf(id), k.before()) {
					t.Errorf("%s: %s is %x after an error, want it untouched", tt.name, what, rawOf(id))
				}
			}
		}
	})
}

func TestByteJSON(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		for _, raw := range k.domain() {
			want := `"` + k.refText(raw) + `"`
			for _, id := range []column{k.new(raw), k.orZero(raw)} {
				got, err := json.Marshal(id)
				if string(got) != want || err != nil {
					t.Fatalf("%x as JSON = %s, %v, want %s", raw, got, err, want)
				}
			}
			for _, id := range []column{k.new(k.before()), k.orZero(k.before())} {
				if err := json.Unmarshal([]byte(want), id); err != nil || !bytes.Equal(rawOf(id), raw) {
					t.Fatalf("%s = %x, %v", want, rawOf(id), err)
				}
			}
		}
		for _, id := range []column{k.new(k.zero()), k.orZero(k.zero())} {
			if got, err := json.Marshal(id); string(got) != "null" || err != nil {
				t.Errorf("zero as JSON = %s, %v, want null", got, err)
			}
		}
		for _, id := range []column{k.new(k.before()), k.orZero(k.before())} {
			if err := json.Unmarshal([]byte("null"), id); err != nil || !id.IsZero() {
				t.Errorf("null = %x, %v, want zero", rawOf(id), err)
			}
		}
	})
}

func TestByteBinary(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		for _, raw := range k.domain() {
			id := k.new(raw)
			got, err := id.MarshalBinary()
			appended, appendErr := id.AppendBinary([]byte(">"))
			if err != nil || appendErr != nil || !bytes.Equal(got, raw) || string(appended) != ">"+string(raw) {
				t.Fatalf("%x as binary = %x, %v, appended %x, %v", raw, got, err, appended, appendErr)
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
		for _, tt := range []struct {
			name   string
			data   []byte
			reason error
		}{
			{"nil", nil, nil},
			{"too short", k.before()[1:], nil},
			{"too long", append(k.before(), 1), nil},
			{"the text", []byte(k.refText(k.before())), nil},
			{"zero", k.zero(), idtype.ErrZero},
			{"megabyte", make([]byte, 1<<20), nil},
		} {
			id := k.new(k.before())
			wantInputError(t, id.UnmarshalBinary(tt.data), k.typ, string(tt.data), tt.reason)
			if !bytes.Equal(rawOf(id), k.before()) {
				t.Errorf("%s: receiver is %x after an error, want it untouched", tt.name, rawOf(id))
			}
		}
	})
}

// TestByteZero: zero is none, wherever it comes from, and can be printed.
func TestByteZero(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		zero, one := k.new(k.zero()), k.new(k.domain()[1])
		if !zero.IsZero() || one.IsZero() || !k.orZero(k.zero()).IsZero() || k.orZero(k.before()).IsZero() {
			t.Error("IsZero is wrong")
		}
		text := strings.Repeat(k.alphabet[:1], 16)
		if zero.String() != text {
			t.Errorf("String of zero = %q, want %q", zero, text)
		}
		wantInputError(t, zero.Validate(), k.typ, text, idtype.ErrZero)
		if err := one.Validate(); err != nil {
			t.Errorf("Validate of %v: %v", one, err)
		}
		v, err := zero.Value()
		wantInputError(t, err, k.typ, text, idtype.ErrZero)
		if v != int64(0) { // nil would be NULL to whoever drops the error, and bytes a list of numbers
			t.Errorf("Value of zero = %v beside its error", v)
		}
		if _, err := k.slice(k.before(), k.zero()); !errors.Is(err, idtype.ErrZero) || !strings.Contains(err.Error(), "index 1") {
			t.Errorf("Value of a slice with zero: %v", err)
		}
		if zero.Scheme() != k.scheme || k.storage() != k.form {
			t.Errorf("scheme %s, storage %s", zero.Scheme(), k.storage())
		}
	})
}

// TestByteReceivers: GORM, pgx and clickhouse-go ask a value, not a pointer, whether it is a Valuer; and a method set that
// differs between value and pointer would encode one and not the other.
func TestByteReceivers(t *testing.T) {
	writes := []string{"UnmarshalText", "UnmarshalJSON", "UnmarshalBinary", "Scan"}
	eachByteKind(t, func(t *testing.T, k byteKind) {
		typ := reflect.TypeOf(k.new(k.zero()))
		for i := range typ.NumMethod() {
			name := typ.Method(i).Name
			if _, onValue := typ.Elem().MethodByName(name); onValue == slices.Contains(writes, name) {
				t.Errorf("%v.%s: on the value %v", typ, name, onValue)
			}
		}
		// A peer of the int64 IDs has all of their methods.
		decimal := reflect.TypeFor[*UserID]()
		for i := range decimal.NumMethod() {
			switch name := decimal.Method(i).Name; name {
			case "Counter", "Generator", "Launch", "IsTest":
			default:
				if _, ok := typ.MethodByName(name); !ok {
					t.Errorf("%v has no method %s", typ, name)
				}
			}
		}
	})
}

func TestByteMust(t *testing.T) {
	if got := idtype.MustParseSnoID("8fhmi7mfls62jp64").Sequence(); got != 56450 {
		t.Errorf("sequence %d", got)
	}
	if got := idtype.MustParse[EventBigintID]("5b9bda2989e1989b").Sequence(); got != 33 {
		t.Errorf("sequence %d", got)
	}
	for name, call := range map[string]func(){
		"MustParseSnoID":       func() { idtype.MustParseSnoID("nonsense") },
		"MustParseEightByteID": func() { idtype.MustParseEightByteID("nonsense") },
		"MustParse":            func() { idtype.MustParse[EventUUIDID]("nonsense") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				err, _ := recover().(error)
				if err == nil || !strings.Contains(err.Error(), "nonsense") {
					t.Errorf("panics with %v, want the parse error", err)
				}
			}()
			call()
		})
	}
}
