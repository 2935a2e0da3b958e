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

// refParse is the domain in one line: a plain number that an int64 holds.
func refParse(s string) (int64, bool) {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok || !plainNumber.MatchString(s) || !n.IsInt64() {
		return 0, false
	}
	return n.Int64(), true
}

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
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawID(t), drawID(t)
		if got, want := idtype.DecimalID(a).Compare(idtype.DecimalID(b)), big.NewInt(a).Cmp(big.NewInt(b)); got != want {
			t.Fatalf("Compare(%d, %d) = %d, want %d", a, b, got, want)
		}
	})
}

// checkText holds all text functions of v against strconv.
func checkText(t interface {
	Helper()
	Fatalf(string, ...any)
}, v int64,
) {
	t.Helper()
	id, want := idtype.DecimalID(v), strconv.FormatInt(v, 10)
	if got := id.String(); got != want {
		t.Fatalf("String of %s = %s", want, got)
	}
	if got, err := id.MarshalText(); string(got) != want || err != nil {
		t.Fatalf("MarshalText of %s = %s, %v", want, got, err)
	}
	// Appending keeps what is there, be there room behind it or not.
	for _, room := range []int{0, 1, 64} {
		b := append(make([]byte, 0, 2+room), "x="...)
		if got, err := id.AppendText(b); string(got) != "x="+want || err != nil {
			t.Fatalf("AppendText of %s after %q, with room for %d = %q, %v", want, b, room, got, err)
		}
	}
	if v <= 0 { // printable, but no ID
		return
	}
	if got, err := idtype.ParseDecimalID(want); int64(got) != v || err != nil {
		t.Fatalf("ParseDecimalID(%s) = %d, %v", want, got, err)
	}
	var got idtype.DecimalID
	if err := got.UnmarshalText([]byte(want)); int64(got) != v || err != nil {
		t.Fatalf("UnmarshalText(%s) = %d, %v", want, got, err)
	}
}

func TestTextAgainstStrconv(t *testing.T) {
	t.Run("special values", func(t *testing.T) {
		for _, v := range append(domain(), 0, -1, -9, -10, -published, math.MinInt64) {
			checkText(t, v)
		}
	})
	t.Run("repeated digits", func(t *testing.T) { // of every length, so that each place holds each digit
		for d := '1'; d <= '9'; d++ {
			for n := 1; n <= 18; n++ {
				v, _ := strconv.ParseInt(strings.Repeat(string(d), n), 10, 64)
				checkText(t, v)
			}
		}
	})
	// The codec works on words of eight digits, each in two halves: all halves, in each of the words, and the same
	// with the words around them empty, which is where digits get lost.
	t.Run("every half word", func(t *testing.T) {
		for half := range int64(10_000) {
			word := half*10_000 + half
			for _, v := range []int64{word, word + 1e8, word * 1e8, word*1e8 + 1e16, half%922*1e16 + word, half % 922 * 1e16} {
				checkText(t, v)
			}
		}
	})
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		for range 50 {
			checkText(t, drawID(t))
		}
	}))
}

// TestParseAgainstReference damages numbers in one place: that is where a parser that reads eight bytes at a time could
// mistake a neighbour of '0' and '9', a byte with its top bit set, or a carry between bytes.
func TestParseAgainstReference(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, s string) {
		want, ok := refParse(s)
		got, err := idtype.ParseDecimalID(s)
		if ok != (err == nil) || int64(got) != want {
			t.Fatalf("ParseDecimalID(%q) = %d, %v, want %d, %v", s, got, err, want, ok)
		}
		var id idtype.DecimalID
		if err := id.UnmarshalText([]byte(s)); ok != (err == nil) || int64(id) != want {
			t.Fatalf("UnmarshalText(%q) = %d, %v, want %d, %v", s, id, err, want, ok)
		}
	}
	t.Run("every byte in every place", func(t *testing.T) {
		const digits = "9123456789012345678"
		for n := 1; n <= len(digits); n++ {
			for i := range n {
				for c := range 256 {
					b := []byte(digits[:n])
					b[i] = byte(c)
					check(t, string(b))
				}
			}
		}
	})
	t.Run("two bytes changed", rapid.MakeCheck(func(t *rapid.T) {
		for range 50 {
			b := []byte(strconv.FormatInt(drawID(t), 10))
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
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) { check(t, rapid.String().Draw(t, "text")) }))
}
