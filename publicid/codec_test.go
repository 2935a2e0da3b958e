package publicid_test

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/publicid"
)

type (
	User    struct{}
	UserID  = idtype.Decimal[User]
	EventID = idtype.Sno[User]
)

const key0 = "0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func key(t testing.TB, s string) publicid.Key {
	t.Helper()
	k, err := publicid.ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// codecs are one of each form.
func codecs(t testing.TB) map[string]*publicid.Codec[UserID] {
	return map[string]*publicid.Codec[UserID]{
		"scrambled": must(publicid.NewScrambled[UserID]("user", key(t, key0))),
		"encrypted": must(publicid.NewEncrypted[UserID]("user", key(t, key0))),
	}
}

func ofVector[T idtype.ID](t *testing.T, v vector, c *publicid.Codec[T], id T) {
	t.Helper()
	text, err := c.Format(id)
	if text != v.Text || err != nil {
		t.Errorf("%s %s: %s, %v, want %s", v.Form, v.ID, text, err, v.Text)
	}
	if back, err := c.Parse(v.Text); back != id || err != nil {
		t.Errorf("%s: %v, %v, want %v", v.Text, back, err, id)
	}
	if id.String() != v.ID {
		t.Errorf("%s is written as %s", v.ID, id)
	}
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		k := key(t, v.Key)
		switch v.Scheme {
		case "sequence":
			id := idtype.MustParse[idtype.SequenceID](v.ID)
			c := must(publicid.NewEncrypted[idtype.SequenceID](v.Prefix, k))
			if v.Form == "scrambled" {
				c = must(publicid.NewScrambled[idtype.SequenceID](v.Prefix, k))
			}
			ofVector(t, v, c, id)
		case "eightbyte":
			c := must(publicid.NewEncrypted[idtype.EightByteID](v.Prefix, k))
			ofVector(t, v, c, idtype.MustParse[idtype.EightByteID](v.ID))
		case "sno":
			c := must(publicid.NewEncrypted[idtype.SnoID](v.Prefix, k))
			ofVector(t, v, c, idtype.MustParse[idtype.SnoID](v.ID))
		default:
			t.Errorf("scheme %s", v.Scheme)
		}
	}
}

// Every integer type has both forms, and a type that stores an ID otherwise has the same texts.
func TestEveryScheme(t *testing.T) {
	integer(t, idtype.MustParse[idtype.DecimalID]("14150009200065"))
	integer(t, idtype.MustParse[idtype.TraceID]("14150009200065"))
	integer(t, idtype.MustParse[idtype.ShortID]("xinaS8QBh"))
	integer(t, idtype.MustParse[idtype.SequenceID]("57"))
	sno := idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")
	asText := idtype.Sno[idtype.AsText[User]](sno)
	if a, b := both(t, publicid.NewEncrypted, sno), both(t, publicid.NewEncrypted, asText); a != b {
		t.Errorf("%s and %s", a, b)
	}
	negative := idtype.MustParse[idtype.EightByteID]("cb54ecf284000000") // as an integer
	asBigint := idtype.EightByte[idtype.AsBigint[User]](negative)
	a, b := both(t, publicid.NewEncrypted, negative), both(t, publicid.NewEncrypted, asBigint)
	if a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func integer[T interface {
	~int64
	idtype.ID
}](t *testing.T, id T) {
	t.Helper()
	both(t, publicid.NewScrambled, id)
	both(t, publicid.NewEncrypted, id)
}

// both writes an ID and reads it back.
func both[T idtype.ID](
	t *testing.T,
	make func(string, publicid.Key, ...publicid.Key) (*publicid.Codec[T], error), id T,
) string {
	t.Helper()
	c := must(make("x", key(t, key0)))
	text, err := c.Format(id)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := c.Parse(text); back != id || err != nil {
		t.Errorf("%v is %v, %v", id, back, err)
	}
	if len(text) != c.Len() || !regexp.MustCompile(c.Pattern()).MatchString(text) {
		t.Errorf("%s, want %d characters of %s", text, c.Len(), c.Pattern())
	}
	return text
}

// Every wrong character, every two that changed places, and every pair of wrong characters. The
// check alone finds them: what stands behind the text is not looked at.
func TestCheckFindsErrors(t *testing.T) {
	for name, c := range codecs(t) {
		text := must(c.Format(14150009200065))
		begins := len("user_")
		count := 0
		refused := func(changed []byte) {
			count++
			if _, err := c.Parse(string(changed)); !errors.Is(err, publicid.ErrCheck) {
				t.Fatalf("%s: %s for %s: %v", name, changed, text, err)
			}
		}
		for i := begins; i < len(text); i++ {
			for _, x := range []byte(crockford) {
				if x == text[i] {
					continue
				}
				changed := []byte(text)
				changed[i] = x
				refused(changed)
				for j := i + 1; j < len(text); j++ {
					for _, y := range []byte(crockford) {
						if y != text[j] {
							changed[j] = y
							refused(changed)
						}
					}
					changed[j] = text[j]
				}
			}
		}
		n := len(text) - begins
		if want := n*31 + n*(n-1)/2*31*31; count != want {
			t.Errorf("%s: %d texts, want %d", name, count, want)
		}
	}
}

// The same for many IDs: single characters, of all bytes, and all that can change places.
func TestCheckOfManyIDs(t *testing.T) {
	for name, c := range codecs(t) {
		for id := UserID(1); id < math.MaxInt64/3; id = id*3 + 1 {
			text := must(c.Format(id))
			for i := range len(text) {
				for x := range 256 {
					changed := []byte(text)
					changed[i] = byte(x)
					if got, err := c.Parse(string(changed)); err == nil && byte(x) != text[i] {
						t.Fatalf("%s: %q of %s is %v", name, changed, text, got)
					}
				}
				for j := range i {
					changed := []byte(text)
					changed[i], changed[j] = changed[j], changed[i]
					if got, err := c.Parse(string(changed)); err == nil && text[i] != text[j] {
						t.Fatalf("%s: %q of %s is %v", name, changed, text, got)
					}
				}
			}
		}
	}
}

// A text under a prefix with one other letter is refused by the check, without any key.
func TestCheckCoversThePrefix(t *testing.T) {
	text := must(codecs(t)["scrambled"].Format(57))
	for i := range "user" {
		for x := byte('a'); x <= 'z'; x++ {
			prefix := []byte("user")
			if prefix[i] == x {
				continue
			}
			prefix[i] = x
			other := must(publicid.NewScrambled[UserID](string(prefix), key(t, key0)))
			_, err := other.Parse(string(prefix) + text[4:])
			if !errors.Is(err, publicid.ErrCheck) {
				t.Errorf("%s%s: %v", prefix, text[4:], err)
			}
		}
	}
}

// What is refused, and what is said about it.
func TestParseRefuses(t *testing.T) {
	c := codecs(t)["scrambled"]
	text := must(c.Format(14150009200065))
	newer := must(publicid.NewScrambled[UserID]("user",
		key(t, "1-"+strings.Repeat("ab", 32)), key(t, key0)))
	for _, tt := range []struct {
		text, want string
		is         error
	}{
		{"", `publicid: "" as user ID: another prefix: none, want user_`, publicid.ErrPrefix},
		{text[5:], `another prefix: none, want user_`, publicid.ErrPrefix},
		{"order" + text[4:], `another prefix: "order_", want user_`, publicid.ErrPrefix},
		{"USER" + text[4:], `another prefix: upper case, want user_`, publicid.ErrPrefix},
		{"user_", `0 bytes behind the prefix, want 16 characters`, nil},
		{text[:20], `15 bytes behind the prefix, want 16 characters`, nil},
		{text + "0", `17 bytes behind the prefix, want 16 characters`, nil},
		{"user_" + strings.Repeat("0", 99), `(104 bytes) as user ID: 99 bytes behind`, nil},
		{" " + text, `another prefix: " user_", want user_`, publicid.ErrPrefix},
		{text[:5] + strings.ToUpper(text[5:]), `is upper case, want lower case`, nil},
		{text[:20] + "l", `"l" at index 20, want 0-9 or a-z without i, l, o and u`, nil},
		{text[:19] + "é", `"é" at index 19, want`, nil},
		{"user_0000000000000000", "the last two do not fit the others", publicid.ErrCheck},
		{
			must(newer.Format(57)), "not made with a key of this codec: its key is number 1",
			publicid.ErrKey,
		},
		{`"` + text + `"`, `another prefix`, publicid.ErrPrefix},
	} {
		_, err := c.Parse(tt.text)
		var input *publicid.InputError
		if !errors.As(err, &input) || input.Prefix != "user" ||
			!strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// What has no public form.
func TestFormatRefuses(t *testing.T) {
	for name, c := range codecs(t) {
		for id, want := range map[UserID]string{
			0:             `publicid: "0" as user ID: zero means not assigned`,
			-5:            `publicid: "-5" as user ID: `,
			math.MinInt64: `publicid: "-9223372036854775808" as user ID: `,
		} {
			text, err := c.Format(id)
			var input *publicid.InputError
			if text != "" || !errors.As(err, &input) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %d: %q, %v", name, id, text, err)
			}
			if id == 0 != errors.Is(err, idtype.ErrZero) {
				t.Errorf("%s: %d: %v", name, id, err)
			}
			if b, _ := c.AppendText([]byte("x"), id); string(b) != "x" {
				t.Errorf("%s: %d: %q", name, id, b)
			}
		}
	}
}

// valid puts a fitting check behind a text without one.
func valid(prefix, body string) string {
	for i := range 32 * 32 {
		text := body + crockford[i/32:i/32+1] + crockford[i%32:i%32+1]
		if sum, power := referenceCheck(prefix, text); sum == 0 && power == 0 {
			return prefix + "_" + text
		}
	}
	panic("no check fits")
}

// Each ID has one text: of numbers that no ID becomes, none is read.
func TestOneText(t *testing.T) {
	all := codecs(t)
	for name, bodies := range map[string][]string{
		"scrambled": {
			"0" + strings.Repeat("0", 13),                  // 0
			"08" + strings.Repeat("0", 12),                 // 2^63
			"0" + strings.Repeat("z", 13),                  // 2^65-1
			"0g" + must(all["scrambled"].Format(57))[7:19], // an ID plus 2^64
		},
		"encrypted": {
			"0" + strings.Repeat("0", 26),
			"08" + must(all["encrypted"].Format(57))[7:32], // other bits on top
			"0" + strings.Repeat("z", 26),
		},
	} {
		for _, body := range bodies {
			text := valid("user", body)
			if id, err := all[name].Parse(text); !errors.Is(err, publicid.ErrKey) {
				t.Errorf("%s: %s is %d, %v", name, text, id, err)
			}
		}
	}
}

// Guesses: of texts that another key made, the scrambled form reads all, as other IDs, and the
// encrypted one none.
func TestGuesses(t *testing.T) {
	for name, c := range codecs(t) {
		k := key(t, "0-"+strings.Repeat("5a", 32))
		other := must(publicid.NewEncrypted[UserID]("user", k))
		if name == "scrambled" {
			other = must(publicid.NewScrambled[UserID]("user", k))
		}
		read := 0
		for id := UserID(1); id <= 1000; id++ {
			if got, err := c.Parse(must(other.Format(id))); err == nil {
				read++
				if got == id {
					t.Errorf("%s: %d without its key", name, id)
				}
			}
		}
		if name == "encrypted" && read != 0 || name == "scrambled" && read != 1000 {
			t.Errorf("%s: %d guesses are read", name, read)
		}
	}
}

// The order of IDs and that of texts have nothing to do with each other, and no character stands
// still but the key's.
func TestOrderIsNotVisible(t *testing.T) {
	for name, c := range codecs(t) {
		const n = 2000
		ascents, before := 0, ""
		seen := make([]map[byte]bool, c.Len())
		for i := range n {
			text := must(c.Format(UserID(14150009200065 + i*formats.DecimalStep)))
			if text > before {
				ascents++
			}
			before = text
			for at := range text {
				if seen[at] == nil {
					seen[at] = map[byte]bool{}
				}
				seen[at][text[at]] = true
			}
		}
		if ascents < n/2-100 || ascents > n/2+100 {
			t.Errorf("%s: %d ascents of %d", name, ascents, n)
		}
		for at := len("user_0"); at < c.Len(); at++ {
			want := 32
			if at == len("user_0") {
				want = 8 // 3 bits of an ID, or of a block
			}
			if len(seen[at]) != want {
				t.Errorf("%s: %d characters at index %d, want %d", name, len(seen[at]), at, want)
			}
		}
	}
}

// A codec that no constructor made has no key.
func TestZeroCodec(t *testing.T) {
	var c publicid.Codec[UserID]
	var typed *publicid.KeyError
	if text, err := c.Format(57); text != "" || !errors.As(err, &typed) {
		t.Errorf("%q, %v", text, err)
	}
	for _, text := range []string{"", "_", "000", "user_04tj6jeh7nggw1ak"} {
		if id, err := c.Parse(text); err == nil {
			t.Errorf("%q is %d", text, id)
		}
	}
}

// Texts of all of a codec's IDs are different.
func TestNoTwoTexts(t *testing.T) {
	for name, c := range codecs(t) {
		var texts []string
		for id := UserID(1); id <= 5000; id++ {
			texts = append(texts, must(c.Format(id)))
		}
		slices.Sort(texts)
		if n := len(slices.Compact(texts)); n != 5000 {
			t.Errorf("%s: %d texts", name, n)
		}
	}
}
