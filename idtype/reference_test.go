package idtype_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// A reference is a slow twin of an ID's text. It shares no arithmetic with the package.
type reference struct {
	digits   bool   // whether the text is decimal digits
	alphabet string // of texts that are not
	write    func(raw []byte) string
	read     func(text string) []byte // nil for what is no ID
}

var (
	digits = reference{
		digits: true,
		write:  func(raw []byte) string { return refDigits(int64(binary.BigEndian.Uint64(raw))) },
		read:   ofNumber(refParseDigits),
	}
	shortTexts = reference{
		alphabet: refAlphabet,
		write: func(raw []byte) string {
			return refShortText(int64(binary.BigEndian.Uint64(raw)))
		},
		read: ofNumber(refShortParse),
	}
)

// uuids are 32 hexadecimal digits with hyphens.
var uuids = reference{
	alphabet: "0123456789abcdef",
	write:    func(raw []byte) string { return refUUID(string(raw)) },
	read: func(text string) []byte {
		v, ok := new(big.Int).SetString(strings.ReplaceAll(text, "-", ""), 16)
		if !ok || v.Sign() <= 0 || v.BitLen() > 128 {
			return nil
		}
		raw := v.FillBytes(make([]byte, 16))
		if refUUID(string(raw)) != text {
			return nil
		}
		return raw
	},
}

// filled is a text of one character of the alphabet, of IDs that are bytes.
func (k kind) filled(c byte) string {
	if k.size == 16 {
		return strings.ReplaceAll("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "x", string(c))
	}
	return strings.Repeat(string(c), 16)
}

// uuid is what a column of UUIDs holds.
func (k kind) uuid(raw []byte) string {
	if k.size == 16 {
		return k.write(raw)
	}
	return refUUID(k.write(raw))
}

// referenceOf is that of the texts of a scheme.
func referenceOf(f *schemes.Facts) reference {
	switch {
	case f.Text.Digits:
		return digits
	case f.Size == 16:
		return uuids
	case f.Size > 0:
		return ofBase(len(f.Text.Alphabet), f.Size, f.Text.Alphabet)
	}
	return shortTexts
}

func ofNumber(parse func(string) (int64, bool)) func(string) []byte {
	return func(text string) []byte {
		if v, ok := parse(text); ok {
			return bigEndian(v)
		}
		return nil
	}
}

// ofBase is texts of 16 characters: package big's digits, in the characters of the alphabet.
func ofBase(base, size int, alphabet string) reference {
	const usual = "0123456789abcdefghijklmnopqrstuv"
	translate := func(text, from, to string) string {
		return strings.Map(func(r rune) rune {
			if i := strings.IndexRune(from, r); i >= 0 {
				return rune(to[i])
			}
			return '?'
		}, text)
	}
	return reference{
		alphabet: alphabet,
		write: func(raw []byte) string {
			text := new(big.Int).SetBytes(raw).Text(base)
			return translate(strings.Repeat("0", 16-len(text))+text, usual, alphabet)
		},
		read: func(text string) []byte {
			v, ok := new(big.Int).SetString(translate(text, alphabet, usual), base)
			if !ok || len(text) != 16 || v.Sign() <= 0 {
				return nil
			}
			return v.FillBytes(make([]byte, size))
		},
	}
}

var plainNumber = regexp.MustCompile(`^[1-9][0-9]*$`)

// refParseDigits is the domain in one line: a plain number that an int64 holds.
func refParseDigits(s string) (int64, bool) {
	if len(s) > 100 || !plainNumber.MatchString(s) {
		return 0, false
	}
	n, ok := new(big.Int).SetString(s, 10)
	return n.Int64(), ok && n.IsInt64()
}

func refDigits(v int64) string { return strconv.FormatInt(v, 10) }

// refUUID is 16 characters as a UUID.
func refUUID(text string) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", text[:4], text[4:6], text[6:8], text[8:10], text[10:])
}

// refColumn is what a column of the kind's form holds.
func (k kind) refColumn(raw []byte) any {
	switch k.form {
	case asBytes:
		return raw
	case asText:
		return k.write(raw)
	case asUUID:
		return k.uuid(raw)
	case asBigint:
		return int64(binary.BigEndian.Uint64(raw))
	}
	panic(k.form)
}

// refBits is a layout's view of an ID: a string of bits.
func refBits(raw []byte) (bits string) {
	for _, b := range raw {
		bits += fmt.Sprintf("%08b", b)
	}
	return bits
}

// domain are the numbers at which a codec could change its mind. They are every number of digits
// and of bits, and the words of eight digits that the codec works in. They are the limits of floats
// and of int64, too.
func domain() []int64 {
	values := []int64{published, publishedShort, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	for bit := range int64(63) {
		values = append(values, int64(1)<<bit, max(1, int64(1)<<bit-1))
	}
	for p := int64(1); ; p *= 10 {
		values = append(values, p, p+1, max(1, p-1))
		if p > math.MaxInt64/10 {
			return values
		}
	}
}

// drawID draws over all lengths of text alike. Drawn as numbers, almost all would have 19 digits,
// or one.
func drawID(t *rapid.T) int64 {
	if rapid.Bool().Draw(t, "special") {
		return rapid.SampledFrom(domain()).Draw(t, "id")
	}
	digits := rapid.IntRange(1, 19).Draw(t, "digits")
	low := int64(math.Pow10(digits - 1))
	high := int64(math.MaxInt64)
	if digits < 19 {
		high = low*10 - 1
	}
	return rapid.Int64Range(low, high).Draw(t, "id")
}

// TestOrder: Compare has the order of the bytes. Texts and UUIDs of byte IDs have it too.
func TestOrder(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := k.draw(t, "a"), k.draw(t, "b")
			if !k.isInteger() && rapid.Bool().Draw(t, "with a common start") {
				length := rapid.IntRange(0, k.size-1).Draw(t, "length")
				b = append(bytes.Clone(a[:length]), b...)[:k.size]
				b[k.size-1] |= 1 // not zero
			}
			want := cmp.Compare(refBits(a), refBits(b))
			orders := map[string]int{"Compare": k.compare(a, b)}
			if !k.isInteger() {
				orders["texts"] = cmp.Compare(k.new(a).String(), k.new(b).String())
				orders["UUIDs"] = cmp.Compare(k.uuid(a), k.uuid(b))
			}
			for name, got := range orders {
				if got != want {
					t.Fatalf("%s of %x, %x: %d, want %d", name, a, b, got, want)
				}
			}
		})
		if k.isInteger() && k.compare(bigEndian(-1), bigEndian(1)) != -1 {
			t.Error("a negative number is above a positive one")
		}
	})
}

// checkText holds all text functions of an ID against the kind's reference.
func checkText(t failing, k kind, raw []byte) {
	t.Helper()
	id, want := k.new(raw), k.write(raw)
	if got := id.String(); got != want {
		t.Fatalf("String of %x = %s, want %s", raw, got, want)
	}
	// What is not an ID is shown, and never written where somebody would read it back.
	unset := isZero(raw) || k.isInteger() && raw[0] >= 0x80
	refused := func(name string, got []byte, err error) {
		t.Helper()
		var e *idtype.InputError
		if !errors.As(err, &e) || e.Type != k.typ || isZero(raw) != errors.Is(err, idtype.ErrZero) {
			t.Fatalf("%s of %x = %q, %v, want an *InputError", name, raw, got, err)
		}
	}
	if got, err := id.MarshalText(); unset {
		refused("MarshalText", got, err)
	} else if string(got) != want || err != nil {
		t.Fatalf("MarshalText of %x = %s, %v, want %s", raw, got, err, want)
	}
	if got, err := id.MarshalBinary(); unset {
		refused("MarshalBinary", got, err)
	} else if !bytes.Equal(got, raw) || err != nil {
		t.Fatalf("MarshalBinary of %x = %x, %v", raw, got, err)
	}
	// Appending keeps what is there, be there room behind it or not.
	for _, room := range []int{0, 1, 8, 15, 16, 64} {
		b := append(make([]byte, 0, 2+room), "x="...)
		if got, err := id.AppendText(b); unset {
			if refused("AppendText", got, err); string(got) != "x=" {
				t.Fatalf("AppendText of %x wrote %q beside an error", raw, got)
			}
		} else if string(got) != "x="+want || err != nil {
			t.Fatalf("AppendText of %x after %q, with room for %d = %q, %v", raw, b, room, got, err)
		}
	}
	checkParse(t, k, want)
}

// checkParse holds all functions that read a text against what the reference makes of it.
func checkParse(t failing, k kind, text string) {
	t.Helper()
	want := k.read(text)
	agree := func(name string, got []byte, err error) {
		t.Helper()
		if (err == nil) != (want != nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%s(%q) = %x, %v, want %x", name, text, got, err, want)
		}
	}
	got, err := k.parse(text)
	agree("Parse", got, err)
	for name, decode := range map[string]func(key) error{
		"UnmarshalText":  func(id key) error { return id.UnmarshalText([]byte(text)) },
		"UnmarshalParam": func(id key) error { return id.UnmarshalParam(text) },
	} {
		id := k.new(k.before())
		err := decode(id)
		agree(name, rawOf(id), err)
		if err != nil {
			k.wantUntouched(t, id)
		}
	}
}

func TestTextAgainstReference(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind) {
		t.Run("special values", func(t *testing.T) {
			for _, raw := range append(k.domain(), k.zero()) { // zero is printable, but no ID
				checkText(t, k, raw)
			}
			if k.isInteger() {
				for _, v := range []int64{-1, -9, -10, -published, math.MinInt64} {
					checkText(t, k, bigEndian(v))
				}
			}
		})
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
			for range 20 {
				checkText(t, k, k.draw(t, "id"))
			}
		}))
	})
	for _, k := range byteKinds {
		for place := range k.filled('0') {
			for _, c := range k.alphabet { // every character in every place
				text := []byte(k.filled(k.alphabet[0]))
				text[len(text)-1] = k.alphabet[1] // not zero
				text[place] = byte(c)
				if raw := k.read(string(text)); raw != nil {
					checkText(t, k, raw)
				}
			}
		}
	}
}

// The codec of digits works on words of eight, each in two halves.
func TestDigitsAgainstStrconv(t *testing.T) {
	t.Parallel()
	k := kinds[0] // the others share its codec
	// Of every length, so that each place holds each digit.
	for d := '1'; d <= '9'; d++ {
		for n := 1; n <= 18; n++ {
			v, _ := strconv.ParseInt(strings.Repeat(string(d), n), 10, 64)
			checkText(t, k, bigEndian(v))
		}
	}
	// All halves, in each of the words, and the same with the words around them empty, which is
	// where digits get lost.
	for half := range int64(10_000) {
		word, top := half*10_000+half, half%922*1e16
		for _, v := range []int64{word, word + 1e8, word * 1e8, word*1e8 + 1e16, top + word, top} {
			checkText(t, k, bigEndian(v))
		}
	}
}

// damaged are texts in which every byte is tried in every place.
func (k kind) damaged() (whole []string) {
	switch {
	case k.digits, k.scheme == idtype.SchemeShort:
		text := map[bool]string{true: "9123456789012345678", false: "H_A0z9-aZb1"}[k.digits]
		for n := 1; n <= len(text); n++ {
			whole = append(whole, text[:n])
		}
	default:
		for _, c := range []byte{
			k.alphabet[0], '9', 'a', k.alphabet[min(k.size, 10)], k.alphabet[len(k.alphabet)-1],
		} {
			whole = append(whole, k.filled(c))
		}
	}
	return whole
}

// TestParseAgainstReference damages texts. A parser reads eight bytes at a time. It could mistake a
// neighbour of the alphabet, or a byte with its top bit set. It could mistake what such a byte
// carries or borrows over to the next.
func TestParseAgainstReference(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind) {
		t.Run("every byte in every place", func(t *testing.T) {
			for _, whole := range k.damaged() {
				for place := range len(whole) {
					for c := range 256 {
						text := []byte(whole)
						text[place] = byte(c)
						checkParse(t, k, string(text))
					}
				}
			}
		})
		t.Run("some bytes changed", rapid.MakeCheck(func(t *rapid.T) {
			for range 20 {
				text := []byte(k.write(k.draw(t, "id")))
				for range rapid.IntRange(1, 4).Draw(t, "changes") {
					place := rapid.IntRange(0, len(text)-1).Draw(t, "place")
					text[place] = rapid.Byte().Draw(t, "byte")
				}
				checkParse(t, k, string(text))
			}
		}))
	})
	for _, k := range integers {
		for _, bits := range []uint{63, 64} { // around the top
			top := new(big.Int).Lsh(big.NewInt(1), bits)
			for d := int64(-1000); d <= 1000; d++ {
				checkParse(t, k, new(big.Int).Add(top, big.NewInt(d)).String())
			}
		}
		for n := 18; n <= 24; n++ {
			checkParse(t, k, strings.Repeat("9", n))
		}
	}
	for _, k := range byteKinds {
		if k.form != asBytes { // it takes long, and a text is read the same in all forms
			continue
		}
		for _, place := range []int{3, 7} { // every pair of bytes, within a word, and across two
			for pair := range 1 << 16 {
				text := []byte(k.filled('5'))
				binary.BigEndian.PutUint16(text[place:], uint16(pair))
				want := k.read(string(text))
				got, err := k.parse(string(text))
				if (err == nil) != (want != nil) || err == nil && !bytes.Equal(got, want) {
					t.Fatalf("Parse(%q) = %x, %v, want %x", text, got, err, want)
				}
			}
		}
	}
}

// The reference writes the text from a string of bits, six bits at a time.

const refAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func refShortText(v int64) string {
	if v <= 0 {
		return fmt.Sprintf("(%d)", v)
	}
	bits, base64 := fmt.Sprintf("%066b", v), ""
	for ; bits != ""; bits = bits[6:] {
		digit, _ := strconv.ParseInt(bits[:6], 2, 64)
		base64 += refAlphabet[digit : digit+1]
	}
	base64 = strings.TrimLeft(base64, "A")
	end := max(0, len(base64)-2)
	return base64[end:] + base64[:end]
}

// refShortParse takes what refShortText writes, which is the definition of strict.
func refShortParse(text string) (int64, bool) {
	if len(text) > 20 {
		return 0, false
	}
	front := min(2, len(text))
	n := new(big.Int)
	for _, c := range []byte(text[front:] + text[:front]) {
		digit := strings.IndexByte(refAlphabet, c)
		if digit < 0 {
			return 0, false
		}
		n.Add(n.Lsh(n, 6), big.NewInt(int64(digit)))
	}
	return n.Int64(), n.Sign() > 0 && n.IsInt64() && refShortText(n.Int64()) == text
}
