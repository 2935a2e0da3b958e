package idtype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// Each decoder: it never panics; a failure is an *InputError that leaves the receiver; what it accepts is in the domain and
// is written back the same.

// fuzzFailed reports whether err is set, after checking what must hold then.
func fuzzFailed(t *testing.T, err error, got int64) bool {
	t.Helper()
	if err == nil {
		if got <= 0 {
			t.Fatalf("accepted as %d", got)
		}
		return false
	}
	if e := new(idtype.InputError); !errors.As(err, &e) {
		t.Fatalf("error is %#v, want an *InputError", err)
	}
	if len(err.Error()) > 1000 {
		t.Fatalf("error has %d bytes", len(err.Error()))
	}
	if got != before {
		t.Fatalf("receiver is %d after an error, want it untouched", got)
	}
	return true
}

// fuzzText holds all decoders of the kind's text against each other and its reference, and those of digits against each other.
func fuzzText(t *testing.T, k kind, text string) {
	fromText := k.new(before)
	err := fromText.UnmarshalText([]byte(text))
	failed := fuzzFailed(t, err, number(fromText))
	for name, parse := range map[string]func(string) (int64, error){"Parse": k.parse, "Parse of a typed key": k.parseTyped} {
		parsed, parseErr := parse(text)
		if (parseErr != nil) != failed || !failed && parsed != number(fromText) {
			t.Fatalf("%q: UnmarshalText %v, %v, %s %v, %v", text, fromText, err, name, parsed, parseErr)
		}
	}
	if want, ok := k.refParse(text); ok == failed || ok && number(fromText) != want {
		t.Fatalf("%q is %d, %v, by the reference %d, %v", text, number(fromText), err, want, ok)
	}
	if got := fromText.String(); !failed && got != text {
		t.Fatalf("read %q, wrote %q", text, got)
	}

	want, ok := refParseDigits(text)
	for _, src := range []any{text, []byte(text)} {
		for _, dst := range []column{k.new(before), k.orZero(before)} {
			err := dst.Scan(src)
			if text == "0" && err == nil && dst.IsZero() {
				continue // into an OrZero
			}
			if failed := fuzzFailed(t, err, number(dst)); failed == ok || ok && number(dst) != want {
				t.Fatalf("Scan(%T %q) = %d, %v, by the reference %d, %v", src, text, number(dst), err, want, ok)
			}
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("14150009200065")         // the published example: 14 digits, a word and 6
	f.Add("1")                      // the shortest
	f.Add("9223372036854775807")    // the largest: 19 digits, two words and 3
	f.Add("9223372036854775808")    // one above
	f.Add("1234567")                // the longest that is read digit by digit
	f.Add("12345678")               // one word exactly
	f.Add("1234567812345678")       // two words exactly
	f.Add("0")                      // the one number with a reason of its own
	f.Add("00000001")               // a word, with leading zeros
	f.Add("1234567:")               // ':' follows '9'
	f.Add("1234567/")               // '/' precedes '0'
	f.Add("1\xff\xff\xff\xff\xff5") // bytes that carry when 6 is added
	f.Add("-1")
	f.Add("１")
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range kinds {
			fuzzText(t, k, text)
		}
	})
}

func FuzzShortText(f *testing.F) {
	f.Add("xinaS8QBh")    // the published example
	f.Add("B")            // the smallest
	f.Add("__H________")  // the largest
	f.Add("AAIAAAAAAAA")  // one above
	f.Add("AAQAAAAAAAA")  // 2^64, which a word holds as zero
	f.Add("__________")   // the largest of the layout
	f.Add("P_")           // two characters: nothing moves
	f.Add("BA")           // 64, the smallest of two
	f.Add("AAB")          // 4096, the smallest of three
	f.Add("AABA")         // A in front, but not on top
	f.Add("xiAnaS8QBh")   // A on top, before the rotation
	f.Add("A")            // the digit of zero
	f.Add("(0)")          // zero as it is shown
	f.Add("1234567")      // digits are a text, and a number in Scan
	f.Add("null")         // a text too
	f.Add("xinaS8QBh=")   // padding
	f.Add("+/")           // the digits 62 and 63 of the standard alphabet
	f.Add("xi\xffaS8QBh") // not in the alphabet, and its top bit set
	f.Fuzz(func(t *testing.T, text string) {
		fuzzText(t, kinds[2], text)
		// As JSON it means the same.
		fromText, fromJSON := idtype.ShortID(before), idtype.ShortID(before)
		err, errJSON := fromText.UnmarshalText([]byte(text)), fromJSON.UnmarshalJSON([]byte(`"`+text+`"`))
		if (err == nil) != (errJSON == nil) || fromText != fromJSON {
			t.Fatalf("%q is %d, %v, in JSON %d, %v", text, fromText, err, fromJSON, errJSON)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`"14150009200065"`))      // what is written
	f.Add([]byte(`14150009200065`))        // an exact integer
	f.Add([]byte(`null`))                  // zero
	f.Add([]byte(`"9223372036854775808"`)) // too large
	f.Add([]byte(`"`))                     // a quote that both begins and ends
	f.Add([]byte(`""`))
	f.Add([]byte(`"0"`))
	f.Add([]byte(`"\u0031"`)) // JSON for "1", which is not what is written
	f.Add([]byte(`1.0`))
	f.Add([]byte(`1e3`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`"1""`))
	f.Add([]byte(`"xinaS8QBh"`)) // what a short ID is written as
	f.Add([]byte(`"null"`))      // a text of a short ID
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range kinds {
			fuzzJSON(t, k, data)
		}
	})
}

func fuzzJSON(t *testing.T, k kind, data []byte) {
	input := bytes.Clone(data)
	got, none := k.new(before), k.orZero(before)
	err, noneErr := got.UnmarshalJSON(data), none.UnmarshalJSON(data)
	if !bytes.Equal(data, input) {
		t.Fatalf("the input was changed from %q to %q", input, data)
	}
	if number(got) != number(none) || (err == nil) != (noneErr == nil) {
		t.Fatalf("%q is %d, %v, in OrZero %d, %v", data, number(got), err, number(none), noneErr)
	}
	if string(data) == "null" {
		if !got.IsZero() || err != nil {
			t.Fatalf("null is %d, %v", number(got), err)
		}
		return
	}
	if fuzzFailed(t, err, number(got)) {
		return
	}
	if !json.Valid(data) {
		t.Fatalf("%q is no JSON, and is accepted", data)
	}
	out, err := got.MarshalJSON()
	if digits := refDigits(number(got)); err != nil || !bytes.Equal(out, data) && digits != string(data) {
		t.Fatalf("read %s, wrote %s, %v", data, out, err)
	}
}

func FuzzBinary(f *testing.F) {
	f.Add([]byte("\x00\x00\x0c\xde\x91\xff\x2b\x41"))     // an ordinary ID
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"))     // the smallest
	f.Add([]byte("\x7f\xff\xff\xff\xff\xff\xff\xff"))     // the largest
	f.Add([]byte("\x80\x00\x00\x00\x00\x00\x00\x00"))     // negative
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00"))     // zero
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00"))         // too short
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01")) // too long
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range kinds {
			got := k.new(before)
			err := got.UnmarshalBinary(data)
			if fuzzFailed(t, err, number(got)) {
				continue
			}
			if out, err := got.MarshalBinary(); err != nil || !bytes.Equal(out, data) {
				t.Fatalf("read %x, wrote %x, %v", data, out, err)
			}
		}
	})
}

// FuzzScanInteger has the two integer types that drivers hand over; their texts are in FuzzText.
func FuzzScanInteger(f *testing.F) {
	f.Add(uint64(published))
	f.Add(uint64(0))
	f.Add(uint64(1<<63 - 1)) // the largest
	f.Add(uint64(1 << 63))   // negative as an int64
	f.Add(^uint64(0))        // minus one as an int64
	f.Fuzz(func(t *testing.T, v uint64) {
		for _, k := range kinds {
			signed, unsigned := k.new(before), k.new(before)
			err := signed.Scan(int64(v))
			signedFailed := fuzzFailed(t, err, number(signed))
			err = unsigned.Scan(v)
			unsignedFailed := fuzzFailed(t, err, number(unsigned))
			if signedFailed != unsignedFailed || number(signed) != number(unsigned) {
				t.Fatalf("%d is %d, as uint64 %d", int64(v), number(signed), number(unsigned))
			}
			if signedFailed {
				continue
			}
			if out, err := signed.Value(); err != nil || out != int64(v) {
				t.Fatalf("read %d, wrote %v, %v", v, out, err)
			}
		}
	})
}

func FuzzSliceScan(f *testing.F) {
	f.Add(`["14150009200065","1"]`) // what is written
	f.Add(`[ 1, 9223372036854775807 ]`)
	f.Add(`[]`)
	f.Add(`null`)       // no array
	f.Add(`["1",null]`) // what encoding/json hands to an element as zero
	f.Add(`[0]`)
	f.Add(`[["1"]]`)
	f.Add(`{"1":"1"}`)
	f.Add(`["\u0031"]`)
	f.Fuzz(func(t *testing.T, data string) {
		got := idtype.Slice[idtype.DecimalID]{before}
		if err := got.Scan(data); err != nil {
			if len(got) != 1 {
				t.Fatalf("slice is %v after an error", got)
			}
			fuzzFailed(t, err, int64(got[0]))
			return
		}
		for _, id := range got {
			fuzzFailed(t, nil, int64(id))
		}
		out, err := got.Value()
		if err != nil {
			t.Fatalf("read %q, cannot write it: %v", data, err)
		}
		var again idtype.Slice[idtype.DecimalID]
		if err := again.Scan([]byte(out.(string))); err != nil || !slices.Equal(again, got) {
			t.Fatalf("read %q as %v, wrote %s, read %v, %v", data, got, out, again, err)
		}
	})
}
