package idtype_test

import (
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
)

// The reference is the layout as document 002 words it, three numbers side by side in 9, 5 and 5 decimal places, done with
// strings. It shares no arithmetic with the package.

func refText(p idtype.DecimalParts) string {
	return strings.TrimLeft(fmt.Sprintf("%09d%05d%05d", p.Counter, p.Generator, p.Launch), "0")
}

func refParts(text string) (p idtype.DecimalParts) {
	places := strings.Repeat("0", 19-len(text)) + text
	p.Counter, _ = strconv.Atoi(places[:9])
	p.Generator, _ = strconv.Atoi(places[9:14])
	p.Launch, _ = strconv.Atoi(places[14:])
	return p
}

var plainNumber = regexp.MustCompile(`^[1-9][0-9]*$`)

// refParseDigits is the domain in one line: a plain number that an int64 holds.
func refParseDigits(s string) (int64, bool) {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok || !plainNumber.MatchString(s) || !n.IsInt64() {
		return 0, false
	}
	return n.Int64(), true
}

func refDigits(v int64) string { return strconv.FormatInt(v, 10) }

// drawID draws over all lengths of text alike: drawn as numbers, almost all would have 19 digits, or one.
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

func TestLayoutAgainstReference(t *testing.T) {
	t.Run("parts to ID", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.DecimalParts{
			Counter:   rapid.IntRange(1, 922_337_202).Draw(t, "counter"),
			Generator: rapid.IntRange(0, 99_999).Draw(t, "generator"),
			Launch:    rapid.IntRange(0, 99_999).Draw(t, "launch"),
		}
		id, err := p.ID()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strconv.FormatInt(int64(id), 10), refText(p); got != want {
			t.Fatalf("%+v = %s, want %s", p, got, want)
		}
		if got := id.Parts(); got != p {
			t.Fatalf("parts came back as %+v, want %+v", got, p)
		}
		if err := id.Validate(); err != nil {
			t.Fatal(err)
		}
	}))

	t.Run("ID to parts", rapid.MakeCheck(func(t *rapid.T) {
		v := drawID(t)
		id, want := idtype.DecimalID(v), refParts(strconv.FormatInt(v, 10))
		if got := id.Parts(); got != want {
			t.Fatalf("parts of %d = %+v, want %+v", v, got, want)
		}
		if id.Counter() != want.Counter || id.Generator() != want.Generator || id.Launch() != want.Launch {
			t.Fatalf("%d = %d, %d, %d, want %+v", v, id.Counter(), id.Generator(), id.Launch(), want)
		}
		if got, want := id.Validate() == nil, 1 <= want.Counter && want.Counter <= 922_337_202; got != want {
			t.Fatalf("Validate of %d: %v", v, id.Validate())
		}
		if got, want := id.IsTest(), strings.HasSuffix(fmt.Sprintf("%05d", v), "00000"); got != want {
			t.Fatalf("IsTest of %d = %v", v, got)
		}
	}))

	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.DecimalParts{
			Counter: rapid.Int().Draw(t, "counter"), Generator: rapid.Int().Draw(t, "generator"),
			Launch: rapid.Int().Draw(t, "launch"),
		}
		id, err := p.ID()
		// Whatever is accepted is what was asked for: nothing wraps around or spills into the next part.
		if err == nil && id.Parts() != p {
			t.Fatalf("%+v gives %d, which is %+v", p, id, id.Parts())
		}
		if e := new(idtype.RangeError); err != nil && !errors.As(err, &e) {
			t.Fatalf("error is %v, want a *RangeError", err)
		}
	}))
}

func TestOrder(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := drawID(t), drawID(t)
			if got, want := k.compare(a, b), big.NewInt(a).Cmp(big.NewInt(b)); got != want {
				t.Fatalf("Compare(%d, %d) = %d, want %d", a, b, got, want)
			}
		})
	})
}

// failing is what a test and a property have in common.
type failing interface {
	Helper()
	Fatalf(string, ...any)
}

// checkText holds all text functions of v against the kind's reference.
func checkText(t failing, k kind, v int64) {
	t.Helper()
	id, want := k.new(v), k.text(v)
	if got := id.String(); got != want {
		t.Fatalf("String of %d = %s, want %s", v, got, want)
	}
	if got, err := id.MarshalText(); string(got) != want || err != nil {
		t.Fatalf("MarshalText of %d = %s, %v, want %s", v, got, err, want)
	}
	// Appending keeps what is there, be there room behind it or not.
	for _, room := range []int{0, 1, 64} {
		b := append(make([]byte, 0, 2+room), "x="...)
		if got, err := id.AppendText(b); string(got) != "x="+want || err != nil {
			t.Fatalf("AppendText of %d after %q, with room for %d = %q, %v, want %s", v, b, room, got, err, want)
		}
	}
	checkParse(t, k, want, v, v > 0) // the rest is printable, but no ID
}

// checkParse holds all parse functions against what a reference makes of the text.
func checkParse(t failing, k kind, text string, want int64, ok bool) {
	t.Helper()
	if !ok {
		want = 0
	}
	for name, parse := range map[string]func(string) (int64, error){"Parse": k.parse, "Parse of a typed key": k.parseTyped} {
		if got, err := parse(text); got != want || ok != (err == nil) {
			t.Fatalf("%s(%q) = %d, %v, want %d, %v", name, text, got, err, want, ok)
		}
	}
	id := k.new(0)
	if err := id.UnmarshalText([]byte(text)); number(id) != want || ok != (err == nil) {
		t.Fatalf("UnmarshalText(%q) = %d, %v, want %d, %v", text, number(id), err, want, ok)
	}
}

func TestTextAgainstReference(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		t.Run("special values", func(t *testing.T) {
			for _, v := range append(domain(), 0, -1, -9, -10, -published, math.MinInt64) {
				checkText(t, k, v)
			}
		})
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
			for range 50 {
				checkText(t, k, drawID(t))
			}
		}))
		t.Run("any text", rapid.MakeCheck(func(t *rapid.T) {
			text := rapid.String().Draw(t, "text")
			want, ok := k.refParse(text)
			checkParse(t, k, text, want, ok)
		}))
	})
}

// The codec of digits works on words of eight, each in two halves.
func TestDigitsAgainstStrconv(t *testing.T) {
	k := kinds[0]                                 // the others share its codec
	t.Run("repeated digits", func(t *testing.T) { // of every length, so that each place holds each digit
		for d := '1'; d <= '9'; d++ {
			for n := 1; n <= 18; n++ {
				v, _ := strconv.ParseInt(strings.Repeat(string(d), n), 10, 64)
				checkText(t, k, v)
			}
		}
	})
	// All halves, in each of the words, and the same with the words around them empty, which is where digits get lost.
	t.Run("every half word", func(t *testing.T) {
		for half := range int64(10_000) {
			word := half*10_000 + half
			for _, v := range []int64{word, word + 1e8, word * 1e8, word*1e8 + 1e16, half%922*1e16 + word, half % 922 * 1e16} {
				checkText(t, k, v)
			}
		}
	})
}

// TestParseAgainstReference damages texts in one place: that is where a parser that reads eight bytes at a time could
// mistake a neighbour of '0' and '9', a byte with its top bit set, or a carry between bytes.
func TestParseAgainstReference(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		check := func(t failing, text string) {
			want, ok := k.refParse(text)
			checkParse(t, k, text, want, ok)
		}
		t.Run("every byte in every place", func(t *testing.T) {
			whole := map[bool]string{true: "9123456789012345678", false: "H_A0z9-aZb1"}[k.digits]
			for n := 1; n <= len(whole); n++ {
				for i := range n {
					for c := range 256 {
						b := []byte(whole[:n])
						b[i] = byte(c)
						check(t, string(b))
					}
				}
			}
		})
		t.Run("two bytes changed", rapid.MakeCheck(func(t *rapid.T) {
			for range 50 {
				b := []byte(k.text(drawID(t)))
				for range 2 {
					b[rapid.IntRange(0, len(b)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
				}
				check(t, string(b))
			}
		}))
		t.Run("around the top", func(t *testing.T) {
			for _, top := range []*big.Int{new(big.Int).Lsh(big.NewInt(1), 63), new(big.Int).Lsh(big.NewInt(1), 64)} {
				for d := int64(-1000); d <= 1000; d++ {
					check(t, new(big.Int).Add(top, big.NewInt(d)).String())
				}
			}
			for n := 18; n <= 24; n++ {
				check(t, strings.Repeat("9", n))
			}
		})
	})
}
