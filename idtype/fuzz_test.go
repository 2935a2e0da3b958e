package idtype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// Each decoder of each kind never panics. A failure is an *InputError that leaves the receiver.
// What a decoder accepts is an ID, and is written back the same.

// fuzzFailed reports whether err is set, after checking what must hold then.
func fuzzFailed(t *testing.T, k kind, err error, got column) bool {
	t.Helper()
	if err == nil {
		if got.IsZero() || k.isInteger() && rawOf(got)[0] >= 0x80 {
			t.Fatalf("%s: accepted as %x", k.name, rawOf(got))
		}
		return false
	}
	if e := new(idtype.InputError); !errors.As(err, &e) {
		t.Fatalf("%s: error is %#v, want an *InputError", k.name, err)
	}
	if len(err.Error()) > 1000 {
		t.Fatalf("%s: error has %d bytes", k.name, len(err.Error()))
	}
	k.wantUntouched(t, got)
	return true
}

// FuzzText holds all decoders of a text against each other and the kind's reference.
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
	for _, s := range []string{"-1", "１"} {
		f.Add(s)
	}
	f.Add(`"14150009200065"`) // in double quotes
	f.Add(`"`)                // a quote that both begins and ends

	f.Add("xinaS8QBh")    // the published short ID
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
	f.Add("null")         // a text too
	f.Add("xinaS8QBh=")   // padding
	f.Add("+/")           // the digits 62 and 63 of the standard alphabet
	f.Add("xi\xffaS8QBh") // not in the alphabet, and its top bit set

	f.Add("5b9bda2989e1989b")                     // the ID above EightByte; a Sno has no 1
	f.Add("8fhmi7mfls62jp64")                     // the one above Sno
	f.Add("cb54ecf284000000")                     // published
	f.Add("0000000000000001")                     // the smallest of one
	f.Add("2222222222222223")                     // of the other; both of one
	f.Add("ffffffffffffffff")                     // the largest
	f.Add("xxxxxxxxxxxxxxxx")                     // the largest
	f.Add("0000000000000000")                     // zero
	f.Add("2222222222222222")                     // zero
	f.Add("5B9BDA2989E1989B")                     // upper case
	f.Add("22222222\xe122222\xff2")               // bytes that carry into the next
	f.Add("2222222\x0022222222")                  // bytes that borrow from the next
	f.Add("222222222222222:")                     // ':' follows '9'
	f.Add("`22222222222222y")                     // '`' precedes 'a', 'y' follows 'x'
	f.Add("38666865-6937-6d66-6c73-36326a703634") // a UUID
	f.Add("-9223372036854775808")                 // digits
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range kinds {
			checkParse(t, k, text)
			id, inJSON := k.new(k.before()), k.new(k.before())
			failed := fuzzFailed(t, k, id.UnmarshalText([]byte(text)), id)
			if !failed && id.String() != text {
				t.Fatalf("%s: read %q, wrote %q", k.name, text, id)
			}
			// As a string of JSON it means the same.
			err := inJSON.UnmarshalJSON([]byte(`"` + text + `"`))
			if fuzzFailed(t, k, err, inJSON) != failed || !bytes.Equal(rawOf(id), rawOf(inJSON)) {
				t.Fatalf("%s: %q is %v, in JSON %v, %v", k.name, text, id, inJSON, err)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`"14150009200065"`))      // what is written
	f.Add([]byte(`14150009200065`))        // an exact integer
	f.Add([]byte(`null`))                  // zero
	f.Add([]byte(`"9223372036854775808"`)) // too large
	f.Add([]byte(`"`))                     // a quote that both begins and ends
	f.Add([]byte(`"\u0031"`))              // JSON for "1", which is not what is written
	for _, s := range []string{`1.0`, `1e3`, `{}`, `"1""`, `""`, `"0"`} {
		f.Add([]byte(s))
	}
	f.Add([]byte(`"xinaS8QBh"`))             // what a short ID is written as
	f.Add([]byte(`"null"`))                  // a text of a short ID
	f.Add([]byte(`"5b9bda2989e1989b"`))      // what an eightbyte ID is written as
	f.Add([]byte(`"8fhmi7mfls62jp64"`))      // what a sno ID is written as
	f.Add([]byte(`2333333333333333`))        // a number that looks like a text
	f.Add([]byte(`"2222222222222222"`))      // zero, or not
	f.Add([]byte(`"\u0035b9bda2989e1989b"`)) // JSON for a text, which is not what is written
	f.Add([]byte(`"\u00359da2989e1"`))       // the same, of the right length
	f.Fuzz(func(t *testing.T, data []byte) {
		input := bytes.Clone(data)
		for _, k := range kinds {
			id, o := k.new(k.before()), k.orZero(k.before())
			err, orZeroErr := id.UnmarshalJSON(data), o.UnmarshalJSON(data)
			if !bytes.Equal(data, input) {
				t.Fatalf("%s: the input was changed from %q to %q", k.name, input, data)
			}
			if errors.Is(err, idtype.ErrZero) || string(data) == `""` { // it is none, and no ID
				if orZeroErr != nil || !isZero(rawOf(o)) {
					t.Fatalf("%s of %q in OrZero: %x, %v", k.name, data, rawOf(o), orZeroErr)
				}
				continue
			}
			if !bytes.Equal(rawOf(id), rawOf(o)) || (err == nil) != (orZeroErr == nil) {
				t.Fatalf("%s of %q: %v, %v, in OrZero %x, %v", k.name, data, id, err, rawOf(o),
					orZeroErr)
			}
			if string(data) == "null" {
				if !id.IsZero() || err != nil {
					t.Fatalf("%s of null: %v, %v", k.name, id, err)
				}
				continue
			}
			if fuzzFailed(t, k, err, id) {
				continue
			}
			out, err := json.Marshal(id)
			same := bytes.Equal(out, data) ||
				k.isInteger() && digits.write(rawOf(id)) == string(data)
			if err != nil || !same || !json.Valid(data) {
				t.Fatalf("%s: read %s, wrote %s, %v", k.name, data, out, err)
			}
		}
	})
}

func FuzzBytes(f *testing.F) {
	f.Add([]byte("\x00\x00\x0c\xde\x91\xff\x2b\x41"))         // an ordinary number
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"))         // the smallest
	f.Add([]byte("\x7f\xff\xff\xff\xff\xff\xff\xff"))         // the largest number
	f.Add([]byte("\x80\x00\x00\x00\x00\x00\x00\x00"))         // negative
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00"))         // zero
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00"))             // too short
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01"))     // a length between
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff"))     // a length between
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01")) // the smallest of ten bytes
	f.Add(make([]byte, 10))                                   // zero
	f.Add(eightRaw)
	f.Add(snoRaw)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range kinds {
			raw, err := k.fromBytes(data)
			if fuzzFailed(t, k, err, k.new(k.before())) {
				continue
			}
			if out := k.bytes(raw); string(out) != ">"+string(data) {
				t.Fatalf("%s: read %x, wrote %q", k.name, data, out)
			}
		}
	})
}

// FuzzScan has the texts and bytes that drivers hand over.
func FuzzScan(f *testing.F) {
	f.Add("14150009200065")      // digits
	f.Add("9223372036854775808") // 2^63
	for _, s := range []string{"0", "01"} {
		f.Add(s)
	}
	f.Add(string(eightRaw))       // raw bytes
	f.Add(string(snoRaw))         // raw bytes
	f.Add(eightText)              // a text
	f.Add(snoText)                // a text, and the raw bytes of a UUID
	f.Add("2333333333333333")     // a text of either, and a number
	f.Add("12345678")             // raw bytes, and a number
	f.Add("18446744073709551615") // 2^64−1
	f.Add("-9223372036854775808") // −2^63
	f.Add("-0")
	f.Add("")                                     // none in a column of texts
	f.Add("                ")                     // the same in a CHAR(16)
	f.Add(string(make([]byte, 16)))               // the same in a FixedString(16); the nil UUID
	f.Add(nilUUID)                                //
	f.Add(snoUUID)                                //
	f.Add(`\x335f48168d9e8808dc82`)               // PostgreSQL's text of bytes
	f.Add(`\x00000000000000000000000000001000`)   // the same, of a UUID
	f.Add(`\x5B9b`)                               // the same, too short and in upper case
	f.Add("38666865-6937-6d66-6c73-36326a70-634") // a dash where a digit belongs
	f.Fuzz(func(t *testing.T, column string) {
		for _, k := range kinds {
			fuzzScan(t, k, column)
		}
	})
}

func fuzzScan(t *testing.T, k kind, column string) {
	id, fromBytes, o := k.new(k.before()), k.new(k.before()), k.orZero(k.before())
	err, bytesErr, orZeroErr := id.Scan(column), fromBytes.Scan([]byte(column)), o.Scan(column)
	failed := fuzzFailed(t, k, err, id)
	if k.refusesRaw(column) {
		return
	}
	if fuzzFailed(t, k, bytesErr, fromBytes) != failed ||
		!bytes.Equal(rawOf(id), rawOf(fromBytes)) {
		t.Fatalf("%s of %q: %v, %v, of bytes %v, %v", k.name, column, id, err, fromBytes, bytesErr)
	}
	if k.isInteger() {
		if want := digits.read(column); failed != (want == nil) ||
			!failed && !bytes.Equal(rawOf(id), want) {
			t.Fatalf("%s of %q: %v, %v, by the reference %x", k.name, column, id, err, want)
		}
	}
	if errors.Is(err, idtype.ErrZero) {
		if orZeroErr != nil || !o.IsZero() {
			t.Fatalf("%s of %q: %v, in OrZero %x, %v", k.name, column, err, rawOf(o), orZeroErr)
		}
		return
	}
	if fuzzFailed(t, k, orZeroErr, o) != failed || !bytes.Equal(rawOf(id), rawOf(o)) {
		t.Fatalf("%s of %q: %v, %v, in OrZero %x, %v", k.name, column, id, err, rawOf(o), orZeroErr)
	}
	if failed {
		return
	}
	// What was read is the ID's value, or its text, or the same in another of the forms of a number
	// and of a UUID.
	value, err := id.Value()
	if err != nil {
		t.Fatalf("%s: read %q, cannot write it: %v", k.name, column, err)
	}
	same := column == id.String()
	for _, form := range forms(value) {
		switch form := form.(type) {
		case string:
			same = same || form == column
		case []byte:
			same = same || string(form) == column
		}
	}
	if !same {
		t.Fatalf("%s: read %q, wrote %v", k.name, column, value)
	}
}

func FuzzSliceScan(f *testing.F) {
	f.Add(`["14150009200065","1"]`) // what is written
	for _, s := range []string{`[ 1, 9223372036854775807 ]`, `[]`} {
		f.Add(s)
	}
	f.Add(`null`)       // no array
	f.Add(`["1",null]`) // what encoding/json hands to an element as zero
	for _, s := range []string{`[0]`, `[["1"]]`, `{"1":"1"}`, `["\u0031"]`} {
		f.Add(s)
	}
	f.Add(`["5b9bda2989e1989b"]`)     // bytes of an EightByte
	f.Add(`["335F48168D9E8808DC82"]`) // bytes of a Sno, in SQLite's digits
	for _, s := range []string{`["8fhmi7mfls62jp64","2333333333333333"]`, `["3866686d-6937-6d66-6c73-36326a703634"]`, `["-1","18446744073709551615"]`, `[-1]`} {
		f.Add(s)
	}
	f.Add(`["5b9bda2989e1989"]`) // half a byte
	f.Add(`{1,2}`)               // PostgreSQL's
	f.Fuzz(func(t *testing.T, data string) {
		for _, k := range kinds {
			raws, err := k.scanSlice(data, k.before())
			if err != nil {
				if e := new(idtype.InputError); !errors.As(err, &e) || len(raws) != 1 {
					t.Fatalf("%s of %q: %x after %v", k.name, data, raws, err)
				}
				k.wantUntouched(t, k.new(raws[0]))
				continue
			}
			for _, raw := range raws {
				fuzzFailed(t, k, nil, k.new(raw))
			}
			out, err := k.slice(raws...)
			if err != nil || !json.Valid([]byte(out.(string))) {
				t.Fatalf("%s: read %q, wrote %v, %v", k.name, data, out, err)
			}
			again, err := k.scanSlice([]byte(out.(string)), k.before())
			if err != nil || len(again) != len(raws) ||
				!bytes.Equal(bytes.Join(again, nil), bytes.Join(raws, nil)) {
				t.Fatalf("%s: read %q as %x, wrote %v, read %x, %v", k.name, data, raws, out,
					again, err)
			}
		}
	})
}
