package idtype_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// badTexts are no IDs in any decoder of text. Each is one that some number parser accepts.
var badTexts = []struct {
	name, text string
	reason     error // nil for any
}{
	{"empty", "", nil},
	{"word", "garbage", nil},
	{"zero", "0", idtype.ErrZero},
	{"zeros", "00", nil},
	{"plus", "+1", nil},
	{"minus", "-1", nil},
	{"minus zero", "-0", nil},
	{"sign alone", "-", nil},
	{"space before", " 1", nil},
	{"space after", "1 ", nil},
	{"space within", "14150009 200065", nil},
	{"newline after", "14150009200065\n", nil},
	{"leading zero", "01", nil},
	{"leading zeros to 19 digits", "0000014150009200065", nil},
	{"leading zeros to 20 digits", "00000014150009200065", nil},
	{"2^63", "9223372036854775808", nil},
	{"19 nines", "9999999999999999999", nil},
	{"2^64", "18446744073709551616", nil},
	{"2^64 and a valid ID", "18446758223718751681", nil},
	{"24 digits", "141500092000651415000920", nil},
	{"smallest negative", "-9223372036854775808", nil},
	{"fraction", "1.0", nil},
	{"exponent", "1e3", nil},
	{"underscore", "1_000", nil},
	{"comma", "1,000", nil},
	{"hexadecimal", "0x1f", nil},
	{"hexadecimal digits", "1415000920006f", nil},
	{"NUL", "\x00", nil},
	{"NUL after", "14150009200065\x00", nil},
	{"NUL within", "1415000\x009200065", nil},
	{"full-width digits", "１４１５", nil},
	{"Arabic digits", "١٤١٥", nil},
	{"not UTF-8", "1\xff5", nil},
	{"megabyte of digits", strings.Repeat("1", 1<<20), nil},
	{"megabyte of NULs", strings.Repeat("\x00", 1<<20), nil},
	{"true", "true", nil},
	{"null", "null", nil},
	{"quoted", `"1"`, nil},
}

// A textDecoder takes a text and a receiver. Each is listed once: what they accept is in the round trips.
type textDecoder struct {
	name   string
	decode func(dst key, text string) error
	accept []string // bad texts that are no error here
}

// ofNumbers take decimal digits, whatever the ID's text is.
var ofNumbers = []textDecoder{
	{"Scan string", func(dst key, text string) error { return dst.Scan(text) }, nil},
	{"Scan bytes", func(dst key, text string) error { return dst.Scan([]byte(text)) }, nil},
	{"UnmarshalJSON bare", func(dst key, text string) error { return dst.UnmarshalJSON([]byte(text)) }, []string{"null", `"1"`}},
}

// ofTexts take what String writes.
var ofTexts = []textDecoder{
	{"UnmarshalText", func(dst key, text string) error { return dst.UnmarshalText([]byte(text)) }, nil},
	{"UnmarshalJSON of a string", func(dst key, text string) error { return dst.UnmarshalJSON([]byte(`"` + text + `"`)) }, nil},
}

func testBadText(t *testing.T, k kind, decoders []textDecoder, text string, reason error) {
	for _, d := range decoders {
		if slices.Contains(d.accept, text) {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			id := k.new(before)
			err := d.decode(id, text)
			input := text
			if d.name == "UnmarshalJSON of a string" {
				input = `"` + text + `"`
			}
			wantInputError(t, err, k.name, input, reason)
			if got := number(id); got != before {
				t.Errorf("receiver is %d after an error, want it untouched", got)
			}
		})
	}
}

func testBadParse(t *testing.T, k kind, text string, reason error) {
	for name, parse := range map[string]func(string) (int64, error){"Parse": k.parse, "Parse of a typed key": k.parseTyped} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(text)
			wantInputError(t, err, k.name, text, reason)
		})
	}
}

func TestBadNumber(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, tt := range badTexts {
			t.Run(tt.name, func(t *testing.T) {
				testBadText(t, k, ofNumbers, tt.text, tt.reason)
				if k.digits {
					testBadText(t, k, ofTexts, tt.text, tt.reason)
					testBadParse(t, k, tt.text, tt.reason)
				}
				if tt.text == "0" {
					return
				}
				for _, src := range []any{tt.text, []byte(tt.text)} {
					o := k.orZero(before)
					wantInputError(t, o.Scan(src), k.name, tt.text, tt.reason)
					if got := number(o); got != before {
						t.Errorf("OrZero is %d after an error, want it untouched", got)
					}
				}
			})
		}
	})
}

// TestReasons: which of several things is wrong with a number is what a person debugging it needs.
func TestReasons(t *testing.T) {
	for _, tt := range []struct{ text, reason string }{
		{"9223372036854775808", "9223372036854775807"},  // how large it may be
		{"99999999999999999999", "9223372036854775807"}, // also where it is longer than any ID
		{"01", "leading zeros"},
		{"+1", "sign"},
		{" 1", "spaces"},
		{"9999999999999999999x", "digits only"}, // not too large: no number at all
	} {
		for _, k := range kinds {
			if err := k.new(before).Scan(tt.text); err == nil || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("%s: error for %q is %v, want %q in it", k.name, tt.text, err, tt.reason)
			}
		}
	}
	// As an int64 it would be negative, which is not what is wrong with it.
	for _, k := range kinds {
		if err := k.new(before).Scan(uint64(1 << 63)); err == nil || !strings.Contains(err.Error(), "9223372036854775807") {
			t.Errorf("%s: error for uint64 2^63 is %v, want the largest ID in it", k.name, err)
		}
	}
}

func TestBadJSON(t *testing.T) {
	all := []struct {
		name, data string
		reason     error
	}{
		{"nothing", "", nil},
		{"true", "true", nil},
		{"object", "{}", nil},
		{"array", "[1]", nil},
		{"fraction of nothing", "1.0", nil},
		{"exponent", "1e3", nil},
		{"exponent up to an ID", "1415000920006.5e1", nil},
		{"minus", "-1", nil},
		{"plus", "+1", nil},
		{"leading zero", "01", nil},
		{"zero", "0", idtype.ErrZero},
		{"zero as a string", `"0"`, idtype.ErrZero},
		{"zero as a fraction", "0.0", nil},
		{"empty string", `""`, nil},
		{"null as a string", `"null"`, nil},
		{"null in capitals", "NULL", nil},
		{"escaped digit", `"\u0031"`, nil},
		{"escaped slash", `"1\/2"`, nil},
		{"unterminated", `"12`, nil},
		{"never begun", `1"`, nil},
		{"a quote alone", `"`, nil},
		{"quotes twice", `""1""`, nil},
		{"single quotes", `'1'`, nil},
		{"space in the string", `" 1"`, nil},
		{"fraction in a string", `"1.0"`, nil},
		{"2^63", "9223372036854775808", nil},
		{"2^63 as a string", `"9223372036854775808"`, nil},
		{"two values", `1 2`, nil},
		{"two strings", `"1""2"`, nil},
		{"megabyte", `"` + strings.Repeat("1", 1<<20) + `"`, nil},
	}
	eachKind(t, func(t *testing.T, k kind) {
		for _, tt := range all {
			reason := tt.reason
			if text, isString := strings.CutPrefix(tt.data, `"`); isString && !k.digits {
				if _, isText := refShortParse(strings.TrimSuffix(text, `"`)); isText && strings.HasSuffix(text, `"`) {
					continue // such as "null"
				}
				reason = nil
			}
			t.Run(tt.name, func(t *testing.T) {
				for name, dst := range map[string]column{"ID": k.new(before), "OrZero": k.orZero(before)} {
					wantInputError(t, dst.UnmarshalJSON([]byte(tt.data)), k.name, tt.data, reason)
					if got := number(dst); got != before {
						t.Errorf("%s is %d after an error, want it untouched", name, got)
					}
				}
			})
		}
	})
}

func TestBadBinary(t *testing.T) {
	all := []struct {
		name   string
		data   []byte
		reason error
	}{
		{"nil", nil, nil},
		{"7 bytes", []byte{1, 2, 3, 4, 5, 6, 7}, nil},
		{"9 bytes", []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, nil},
		{"16 bytes", make([]byte, 16), nil},
		{"zero", make([]byte, 8), idtype.ErrZero},
		{"minus one", []byte("\xff\xff\xff\xff\xff\xff\xff\xff"), nil},
		{"2^63", []byte("\x80\x00\x00\x00\x00\x00\x00\x00"), nil},
		{"the text", []byte("14150009200065"), nil},
		{"megabyte", make([]byte, 1<<20), nil},
	}
	eachKind(t, func(t *testing.T, k kind) {
		for _, tt := range all {
			t.Run(tt.name, func(t *testing.T) {
				id := k.new(before)
				wantInputError(t, id.UnmarshalBinary(tt.data), k.name, string(tt.data), tt.reason)
				if got := number(id); got != before {
					t.Errorf("receiver is %d after an error, want it untouched", got)
				}
			})
		}
	})
}

// TestBadScan has the values that a driver may hand over and that are no text.
func TestBadScan(t *testing.T) {
	all := []struct {
		name   string
		src    any
		shows  string
		reason error
	}{
		{"NULL", nil, "NULL", idtype.ErrNull},
		{"zero", int64(0), `"0"`, idtype.ErrZero},
		{"unsigned zero", uint64(0), `"0"`, idtype.ErrZero},
		{"minus one", int64(-1), `"-1"`, nil},
		{"smallest", int64(math.MinInt64), `"-9223372036854775808"`, nil},
		{"2^63", uint64(1 << 63), `"9223372036854775808"`, nil},
		{"2^64-1", uint64(math.MaxUint64), `"18446744073709551615"`, nil},
		{"float", 1.5, `float64 "1.5"`, nil},
		{"whole float", float64(1000), `float64 "1000"`, nil},
		{"NaN", math.NaN(), `float64 "NaN"`, nil},
		{"bool", true, `bool "true"`, nil},
		{"time", time.Unix(1, 0).UTC(), `time.Time "1970-01-01 00:00:01`, nil},
		{"no bytes", []byte(nil), `""`, nil},
		{"struct", struct{ A string }{strings.Repeat("x", 1<<20)}, "bytes)", nil},
	}
	eachKind(t, func(t *testing.T, k kind) {
		for _, tt := range all {
			t.Run(tt.name, func(t *testing.T) {
				for name, dst := range map[string]column{"ID": k.new(before), "OrZero": k.orZero(before)} {
					err := dst.Scan(tt.src)
					if name == "OrZero" && tt.reason == idtype.ErrZero { // the one difference
						if err != nil || !dst.IsZero() {
							t.Errorf("OrZero.Scan of 0 = %v, %v, want none", dst, err)
						}
						continue
					}
					wantInputError(t, err, k.name, "", tt.reason)
					if !strings.Contains(err.Error(), tt.shows) {
						t.Errorf("%s: error is %q, want %q in it", name, err, tt.shows)
					}
					if got := number(dst); got != before {
						t.Errorf("%s is %d after an error, want it untouched", name, got)
					}
				}
			})
		}
	})
}

// TestGoodScan: every form of one number is the same ID.
func TestGoodScan(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, v := range domain() {
			text := strconv.FormatInt(v, 10)
			for _, src := range []any{v, uint64(v), text, []byte(text)} {
				for name, dst := range map[string]column{"ID": k.new(0), "OrZero": k.orZero(0)} {
					if err := dst.Scan(src); err != nil || number(dst) != v {
						t.Errorf("Scan of %T %s into %s = %d, %v", src, text, name, number(dst), err)
					}
				}
			}
		}
		for _, src := range []any{int64(0), uint64(0), "0", []byte("0")} {
			o := k.orZero(5)
			if err := o.Scan(src); err != nil || !o.IsZero() {
				t.Errorf("OrZero.Scan(%T 0) = %d, %v, want none", src, number(o), err)
			}
		}
	})
}
