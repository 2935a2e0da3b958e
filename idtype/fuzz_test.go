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
func fuzzFailed(t *testing.T, err error, got idtype.DecimalID) bool {
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
		fromText, fromString, fromBytes, fromOrZero := before, before, before, before
		err := fromText.UnmarshalText([]byte(text))
		failed := fuzzFailed(t, err, fromText)
		fuzzFailed(t, fromString.Scan(text), fromString)
		fuzzFailed(t, fromBytes.Scan([]byte(text)), fromBytes)
		if fromText != fromString || fromText != fromBytes {
			t.Fatalf("%q is %d as text, %d and %d in Scan", text, fromText, fromString, fromBytes)
		}
		if text != "0" {
			fuzzFailed(t, scanOrZero(&fromOrZero, text), fromOrZero)
			if fromOrZero != fromText {
				t.Fatalf("%q is %d as text, %d in OrZero", text, fromText, fromOrZero)
			}
		}
		parsed, parseErr := idtype.ParseDecimalID(text)
		typed, typedErr := idtype.Parse[UserID](text)
		if (parseErr != nil) != failed || (typedErr != nil) != failed {
			t.Fatalf("%q: UnmarshalText %v, ParseDecimalID %v, Parse %v", text, err, parseErr, typedErr)
		}
		if failed {
			return
		}
		if parsed != fromText || int64(typed) != int64(fromText) {
			t.Fatalf("%q is %d, %d, %d", text, fromText, parsed, typed)
		}
		if got := fromText.String(); got != text {
			t.Fatalf("read %q, wrote %q", text, got)
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
	f.Fuzz(func(t *testing.T, data []byte) {
		input := bytes.Clone(data)
		got, none := before, idtype.OrZero[idtype.DecimalID]{ID: before}
		err, noneErr := got.UnmarshalJSON(data), none.UnmarshalJSON(data)
		if !bytes.Equal(data, input) {
			t.Fatalf("the input was changed from %q to %q", input, data)
		}
		if got != none.ID || (err == nil) != (noneErr == nil) {
			t.Fatalf("%q is %d, %v, in OrZero %d, %v", data, got, err, none.ID, noneErr)
		}
		if string(data) == "null" {
			if got != 0 || err != nil {
				t.Fatalf("null is %d, %v", got, err)
			}
			return
		}
		if fuzzFailed(t, err, got) {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON, and is accepted", data)
		}
		out, err := got.MarshalJSON()
		if bare := bytes.Trim(out, `"`); err != nil || !bytes.Equal(out, data) && !bytes.Equal(bare, data) {
			t.Fatalf("read %s, wrote %s, %v", data, out, err)
		}
	})
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
		got := before
		if fuzzFailed(t, got.UnmarshalBinary(data), got) {
			return
		}
		if out, err := got.MarshalBinary(); err != nil || !bytes.Equal(out, data) {
			t.Fatalf("read %x, wrote %x, %v", data, out, err)
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
		signed, unsigned := before, before
		signedFailed := fuzzFailed(t, signed.Scan(int64(v)), signed)
		unsignedFailed := fuzzFailed(t, unsigned.Scan(v), unsigned)
		if signedFailed != unsignedFailed || signed != unsigned {
			t.Fatalf("%d is %d, as uint64 %d", int64(v), signed, unsigned)
		}
		if signedFailed {
			return
		}
		if out, err := signed.Value(); err != nil || out != int64(v) {
			t.Fatalf("read %d, wrote %v, %v", v, out, err)
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
			fuzzFailed(t, err, got[0])
			return
		}
		for _, id := range got {
			fuzzFailed(t, nil, id)
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
