package publicid_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
)

type (
	User    struct{}
	UserID  = idtype.Decimal[User]
	EventID = idtype.Sno[User]
)

const key0 = "0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func key(s string) publicid.Key { return must(publicid.ParseKey(s)) }

// codecs are one of each form.
func codecs() map[string]*publicid.Codec[UserID] { return codecsOf(key(key0)) }

func codecsOf(k publicid.Key) map[string]*publicid.Codec[UserID] {
	return map[string]*publicid.Codec[UserID]{
		"scrambled": must(publicid.NewScrambled[UserID]("user", k)),
		"encrypted": must(publicid.NewEncrypted[UserID]("user", k)),
	}
}

// crockford is the alphabet.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// A vector is a line of testdata/vectors.json, which a slow reference made once; publicid.mjs beside
// it makes them too. ID is the ID's own text.
type vector struct {
	Form, Prefix, Key, Scheme, Bytes, ID, Text string
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) != 48 { // a file that was cut short would pass
		t.Fatalf("%d vectors: %v", len(all), err)
	}
	return all
}

func ofVector[T idtype.ID](t *testing.T, v vector, c *publicid.Codec[T], id T) {
	t.Helper()
	text, err := c.Format(id)
	back, err2 := c.Parse(v.Text)
	if err := errors.Join(err, err2); text != v.Text || back != id || err != nil {
		t.Errorf("%s %s: %s, and %v, %v, want %s", v.Form, v.ID, text, back, err, v.Text)
	}
	if len(text) != c.Len() || !regexp.MustCompile(c.Pattern()).MatchString(text) {
		t.Errorf("%s, want %d characters of %s", text, c.Len(), c.Pattern())
	}
}

// A type that stores an ID otherwise has the same texts.
func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		k := key(v.Key)
		switch v.Scheme + " " + v.Form {
		case "sequence scrambled":
			c := must(publicid.NewScrambled[idtype.SequenceID](v.Prefix, k))
			ofVector(t, v, c, idtype.MustParse[idtype.SequenceID](v.ID))
		case "sequence encrypted":
			c := must(publicid.NewEncrypted[idtype.SequenceID](v.Prefix, k))
			ofVector(t, v, c, idtype.MustParse[idtype.SequenceID](v.ID))
		case "eightbyte encrypted":
			id := idtype.MustParse[idtype.EightByteID](v.ID)
			ofVector(t, v, must(publicid.NewEncrypted[idtype.EightByteID](v.Prefix, k)), id)
			type bigint = idtype.EightByte[idtype.AsBigint[User]]
			ofVector(t, v, must(publicid.NewEncrypted[bigint](v.Prefix, k)), bigint(id))
		case "sno encrypted":
			id := idtype.MustParse[idtype.SnoID](v.ID)
			ofVector(t, v, must(publicid.NewEncrypted[idtype.SnoID](v.Prefix, k)), id)
			type text = idtype.Sno[idtype.AsText[User]]
			ofVector(t, v, must(publicid.NewEncrypted[text](v.Prefix, k)), text(id))
		default:
			t.Errorf("%s of %s", v.Form, v.Scheme)
		}
	}
}

// Every wrong character, and every pair of them, so every two that changed places. The check alone
// finds them: what stands behind the text is not looked at.
func TestCheckFindsErrors(t *testing.T) {
	for name, c := range codecs() {
		text, begins, count := must(c.Format(14150009200065)), len("user_"), 0
		changes := func(text string, from int, try func(changed string, at int)) {
			for i := from; i < len(text); i++ {
				for _, x := range crockford {
					if byte(x) != text[i] {
						try(text[:i]+string(x)+text[i+1:], i)
					}
				}
			}
		}
		refused := func(changed string, _ int) {
			count++
			if _, err := c.Parse(changed); !errors.Is(err, publicid.ErrCheck) {
				t.Fatalf("%s: %s for %s: %v", name, changed, text, err)
			}
		}
		changes(text, begins, func(changed string, i int) {
			refused(changed, i)
			changes(changed, i+1, refused)
		})
		if n := len(text) - begins; count != n*31+n*(n-1)/2*31*31 {
			t.Errorf("%s: %d texts", name, count)
		}
	}
}

// A text under a prefix with one other letter is refused by the check, without any key.
func TestCheckCoversThePrefix(t *testing.T) {
	text := must(codecs()["scrambled"].Format(57))
	for i := range "user" {
		for x := byte('a'); x <= 'z'; x++ {
			prefix := []byte("user")
			if prefix[i] == x {
				continue
			}
			prefix[i] = x
			other := must(publicid.NewScrambled[UserID](string(prefix), key(key0)))
			_, err := other.Parse(string(prefix) + text[4:])
			if !errors.Is(err, publicid.ErrCheck) {
				t.Errorf("%s%s: %v", prefix, text[4:], err)
			}
		}
	}
}

// What is refused, and what is said about it.
func TestParseRefuses(t *testing.T) {
	c := codecs()["scrambled"]
	text := must(c.Format(14150009200065))
	newer := codecsOf(key("1-" + strings.Repeat("ab", 32)))["scrambled"]
	for _, tt := range []struct {
		text, want string
		is         error
	}{
		{"", `publicid: "" as user ID: wrong prefix: want user_`, publicid.ErrPrefix},
		{text[5:], `wrong prefix: want user_`, publicid.ErrPrefix},
		{"order" + text[4:], `wrong prefix: want user_`, publicid.ErrPrefix},
		{"USER" + text[4:], `wrong prefix: want user_`, publicid.ErrPrefix},
		{"user_", `0 bytes after the prefix, want 16 characters`, nil},
		{text + "0", `17 bytes after the prefix, want 16 characters`, nil},
		{"user_" + strings.Repeat("0", 99), `(104 bytes) as user ID: 99 bytes after`, nil},
		{text[:5] + strings.ToUpper(text[5:]), `at index 7, want 0-9 or a-z`, nil},
		{text[:20] + "l", `"l" at index 20, want 0-9 or a-z without i, l, o, and u`, nil},
		{text[:19] + "é", `"é" at index 19, want`, nil},
		{"user_0000000000000000", "the last two do not match the others", publicid.ErrCheck},
		{must(newer.Format(57)), "not made with a key of this codec: it names key 1", publicid.ErrKey},
		{`"` + text + `"`, `wrong prefix`, publicid.ErrPrefix},
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
	for name, c := range codecs() {
		for id, want := range map[UserID]string{
			0:             `publicid: "0" as user ID: zero means not assigned`,
			-5:            `publicid: "-5" as user ID: `,
			math.MinInt64: `publicid: "-9223372036854775808" as user ID: `,
		} {
			text, err := c.Format(id)
			var input *publicid.InputError
			b, _ := c.AppendText([]byte("x"), id)
			if text != "" || string(b) != "x" || !errors.As(err, &input) ||
				!strings.Contains(err.Error(), want) || id == 0 != errors.Is(err, idtype.ErrZero) {
				t.Errorf("%s: %d: %q, %q, %v", name, id, text, b, err)
			}
		}
	}
}

// valid puts a fitting check behind a text without one.
func valid(c *publicid.Codec[UserID], body string) string {
	for i := range 32 * 32 {
		text := "user_" + body + crockford[i/32:i/32+1] + crockford[i%32:i%32+1]
		if _, err := c.Parse(text); !errors.Is(err, publicid.ErrCheck) {
			return text
		}
	}
	panic("no check fits")
}

// Each ID has one text: of numbers that no ID becomes, none is read.
func TestOneText(t *testing.T) {
	all := codecs()
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
			text := valid(all[name], body)
			if id, err := all[name].Parse(text); !errors.Is(err, publicid.ErrKey) {
				t.Errorf("%s: %s is %d, %v", name, text, id, err)
			}
		}
	}
}

// Of texts that another key made, the scrambled form reads all, as other IDs, and the encrypted one
// none. Neither shows the order of IDs.
func TestGuesses(t *testing.T) {
	others := codecsOf(key("0-" + strings.Repeat("5a", 32)))
	for name, c := range codecs() {
		read, ascents, before := 0, 0, ""
		for id := UserID(1); id <= 1000; id++ {
			text := must(others[name].Format(id))
			got, err := c.Parse(text)
			if err == nil {
				read++
			}
			if text > before {
				ascents++
			}
			if before = text; got == id {
				t.Errorf("%s: %d without its key", name, id)
			}
		}
		if read != map[string]int{"scrambled": 1000}[name] || ascents < 430 || ascents > 570 {
			t.Errorf("%s: %d guesses are read, %d texts ascend", name, read, ascents)
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

// Parse never panics. What it takes is written back the same. Everything else is an *InputError of
// bounded length.
func FuzzParse(f *testing.F) {
	all := codecs()
	f.Add("user_")
	f.Add("user_0000000000000000")                      // the check does not fit
	f.Add("USER_0000000000000000")                      // upper case
	f.Add("order_000000000000000")                      // another prefix, of the right length
	f.Add("user_zzzzzzzzzzzzzzzz")                      // more than 64 bits
	f.Add("user_0000000000000l00")                      // not in the alphabet
	f.Add("user_00000000000000é")                       // not ASCII
	f.Add(valid(all["scrambled"], "0z"+crockford[:12])) // the check fits, and no ID stands behind it
	f.Add(valid(all["encrypted"], "7"+crockford[:26]))
	for _, c := range all {
		for _, id := range []UserID{1, 14150009200065, 1<<63 - 1} {
			f.Add(must(c.Format(id)))
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, c := range all {
			id, err := c.Parse(s)
			if err != nil {
				var input *publicid.InputError
				if !errors.As(err, &input) || id != 0 || len(err.Error()) > 1000 {
					t.Fatalf("%s: %q: %d, %v", name, s, id, err)
				}
				continue
			}
			back, err := c.Format(id)
			if back != s || err != nil || id <= 0 {
				t.Fatalf("%s: %q is %d, which is %q, %v", name, s, id, back, err)
			}
		}
	})
}
