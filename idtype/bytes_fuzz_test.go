package idtype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// Each decoder of each form: it never panics; a failure is an *InputError that leaves the receiver; what it accepts is not zero,
// and is written back the same.

// byteFuzzFailed reports whether err is set, after checking what must hold then.
func byteFuzzFailed(t *testing.T, k byteKind, err error, got column) bool {
	t.Helper()
	if err == nil {
		if got.IsZero() {
			t.Fatalf("%s: accepted as zero", k.name)
		}
		return false
	}
	if e := new(idtype.InputError); !errors.As(err, &e) {
		t.Fatalf("%s: error is %#v, want an *InputError", k.name, err)
	}
	if len(err.Error()) > 1000 {
		t.Fatalf("%s: error has %d bytes", k.name, len(err.Error()))
	}
	if !bytes.Equal(rawOf(got), k.before()) {
		t.Fatalf("%s: receiver is %x after an error, want it untouched", k.name, rawOf(got))
	}
	return true
}

func FuzzByteText(f *testing.F) {
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
		for _, k := range byteKinds {
			id := k.new(k.before())
			err := id.UnmarshalText([]byte(text))
			failed := byteFuzzFailed(t, k, err, id)
			parsed, parseErr := k.parse(text)
			typed, typedErr := k.parseTyped(text)
			if (parseErr != nil) != failed || (typedErr != nil) != failed {
				t.Fatalf("%s of %q: UnmarshalText %v, the scheme's Parse %v, Parse %v", k.name, text, err, parseErr, typedErr)
			}
			if want := k.refRaw(text); failed != (want == nil) {
				t.Fatalf("%s of %q: %v, want %x", k.name, text, err, want)
			}
			if failed {
				continue
			}
			if raw := rawOf(id); !bytes.Equal(parsed, raw) || !bytes.Equal(typed, raw) || id.String() != text {
				t.Fatalf("%s of %q: %x, %x, %x, written %s", k.name, text, raw, parsed, typed, id)
			}
		}
	})
}

func FuzzByteJSON(f *testing.F) {
	f.Add([]byte(`"5b9bda2989e1989b"`))      // what is written
	f.Add([]byte(`"8fhmi7mfls62jp64"`))      // what is written
	f.Add([]byte(`null`))                    // zero
	f.Add([]byte(`2333333333333333`))        // a number that looks like a text
	f.Add([]byte(`"`))                       // a quote that both begins and ends
	f.Add([]byte(`""`))                      //
	f.Add([]byte(`"2222222222222222"`))      // zero, or not
	f.Add([]byte(`"\u0035b9bda2989e1989b"`)) // JSON for a text, which is not what is written
	f.Add([]byte(`"\u00359da2989e1"`))       // the same, of the right length
	f.Fuzz(func(t *testing.T, data []byte) {
		input := bytes.Clone(data)
		for _, k := range byteKinds {
			id, o := k.new(k.before()), k.orZero(k.before())
			err, orZeroErr := id.UnmarshalJSON(data), o.UnmarshalJSON(data)
			if !bytes.Equal(data, input) {
				t.Fatalf("%s: the input was changed from %q to %q", k.name, input, data)
			}
			if !bytes.Equal(rawOf(id), rawOf(o)) || (err == nil) != (orZeroErr == nil) {
				t.Fatalf("%s of %q: %v, %v, in OrZero %x, %v", k.name, data, id, err, rawOf(o), orZeroErr)
			}
			if string(data) == "null" {
				if !id.IsZero() || err != nil {
					t.Fatalf("%s of null: %v, %v", k.name, id, err)
				}
				continue
			}
			if byteFuzzFailed(t, k, err, id) {
				continue
			}
			if out, err := json.Marshal(id); err != nil || !bytes.Equal(out, data) {
				t.Fatalf("%s: read %s, wrote %s, %v", k.name, data, out, err)
			}
		}
	})
}

func FuzzByteBinary(f *testing.F) {
	f.Add(eightRaw)
	f.Add(snoRaw)
	f.Add(make([]byte, 8))
	f.Add(make([]byte, 10))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"))         // the smallest of one
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01")) // of the other
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff"))     // a length between
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range byteKinds {
			id := k.new(k.before())
			if byteFuzzFailed(t, k, id.UnmarshalBinary(data), id) {
				continue
			}
			if out, err := id.MarshalBinary(); err != nil || !bytes.Equal(out, data) {
				t.Fatalf("%s: read %x, wrote %x, %v", k.name, data, out, err)
			}
		}
	})
}

func FuzzStorageScan(f *testing.F) {
	f.Add(string(eightRaw))                       // raw bytes
	f.Add(string(snoRaw))                         // raw bytes
	f.Add(eightText)                              // a text
	f.Add(snoText)                                // a text, and the raw bytes of a UUID
	f.Add("2333333333333333")                     // a text of either, and a number
	f.Add("12345678")                             // raw bytes, and a number
	f.Add("18446744073709551615")                 // 2^64−1
	f.Add("-9223372036854775808")                 // −2^63
	f.Add("-0")                                   //
	f.Add("")                                     // none in a column of texts
	f.Add("                ")                     // the same in a CHAR(16)
	f.Add(string(make([]byte, 16)))               // the same in a FixedString(16); the nil UUID
	f.Add(nilUUID)                                //
	f.Add(snoUUID)                                //
	f.Add("38666865-6937-6d66-6c73-36326a70-634") // a dash where a digit belongs
	f.Fuzz(func(t *testing.T, column string) {
		for _, k := range byteKinds {
			id, fromBytes, o := k.new(k.before()), k.new(k.before()), k.orZero(k.before())
			err, bytesErr, orZeroErr := id.Scan(column), fromBytes.Scan([]byte(column)), o.Scan(column)
			failed := byteFuzzFailed(t, k, err, id)
			if byteFuzzFailed(t, k, bytesErr, fromBytes) != failed || !bytes.Equal(rawOf(id), rawOf(fromBytes)) {
				t.Fatalf("%s of %q: %v, %v, of bytes %v, %v", k.name, column, id, err, fromBytes, bytesErr)
			}
			if errors.Is(err, idtype.ErrZero) {
				if orZeroErr != nil || !o.IsZero() {
					t.Fatalf("%s of %q: %v, in OrZero %x, %v", k.name, column, err, rawOf(o), orZeroErr)
				}
				continue
			}
			if byteFuzzFailed(t, k, orZeroErr, o) != failed || !bytes.Equal(rawOf(id), rawOf(o)) {
				t.Fatalf("%s of %q: %v, %v, in OrZero %x, %v", k.name, column, id, err, rawOf(o), orZeroErr)
			}
			if failed {
				continue
			}
			// What was read is the ID's value, or its text, or the same in another of the forms of a number and of a UUID.
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
	})
}

// FuzzStorageScanInteger has the two integer types that drivers hand over.
func FuzzStorageScanInteger(f *testing.F) {
	f.Add(uint64(eightNum))
	f.Add(uint64(0))
	f.Add(uint64(1))
	f.Add(uint64(1 << 63)) // negative as an int64
	f.Add(^uint64(0))
	f.Fuzz(func(t *testing.T, v uint64) {
		for _, k := range byteKinds {
			signed, unsigned := k.new(k.before()), k.new(k.before())
			failed := byteFuzzFailed(t, k, signed.Scan(int64(v)), signed)
			if byteFuzzFailed(t, k, unsigned.Scan(v), unsigned) != failed || !bytes.Equal(rawOf(signed), rawOf(unsigned)) {
				t.Fatalf("%s: %d is %v, as uint64 %v", k.name, int64(v), signed, unsigned)
			}
			if failed == (k.form == idtype.StorageBigint && v != 0) {
				t.Fatalf("%s: %d is an ID: %v", k.name, v, !failed)
			}
			if failed {
				continue
			}
			if out, err := signed.Value(); err != nil || out != int64(v) {
				t.Fatalf("%s: read %d, wrote %v, %v", k.name, int64(v), out, err)
			}
		}
	})
}

func FuzzStorageSlice(f *testing.F) {
	f.Add(`["5b9bda2989e1989b"]`)     // bytes of an EightByte
	f.Add(`["335F48168D9E8808DC82"]`) // bytes of a Sno, in SQLite's digits
	f.Add(`["8fhmi7mfls62jp64","2333333333333333"]`)
	f.Add(`["3866686d-6937-6d66-6c73-36326a703634"]`)
	f.Add(`["-1","18446744073709551615"]`)
	f.Add(`[-1]`)
	f.Add(`[]`)
	f.Add(`null`)
	f.Add(`["1",null]`)
	f.Add(`["5b9bda2989e1989"]`) // half a byte
	f.Add(`[["1"]]`)
	f.Fuzz(func(t *testing.T, data string) {
		for _, k := range byteKinds {
			raws, err := k.scanSlice(data, k.before())
			if err != nil {
				if e := new(idtype.InputError); !errors.As(err, &e) || len(raws) != 1 || !bytes.Equal(raws[0], k.before()) {
					t.Fatalf("%s of %q: %x after %v", k.name, data, raws, err)
				}
				continue
			}
			for _, raw := range raws {
				if isZero(raw) {
					t.Fatalf("%s of %q: %x", k.name, data, raws)
				}
			}
			out, err := k.slice(raws...)
			if err != nil || !json.Valid([]byte(out.(string))) {
				t.Fatalf("%s: read %q, wrote %v, %v", k.name, data, out, err)
			}
			again, err := k.scanSlice([]byte(out.(string)), k.before())
			if err != nil || len(again) != len(raws) || !bytes.Equal(bytes.Join(again, nil), bytes.Join(raws, nil)) {
				t.Fatalf("%s: read %q as %x, wrote %v, read %x, %v", k.name, data, raws, out, again, err)
			}
		}
	})
}
