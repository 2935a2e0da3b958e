package publicid_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/publicid"
)

// Keys and prefixes all give other texts.
func TestKeysAndPrefixes(t *testing.T) {
	seen := map[string]string{}
	for _, k := range []string{key0, "1" + key0[1:], "0-" + strings.Repeat("5a", 32)} {
		for _, prefix := range []string{"user", "users", "order", "u", "u2", "u_2"} {
			for form, c := range map[string]*publicid.Codec[UserID]{
				"s": must(publicid.NewScrambled[UserID](prefix, key(k))),
				"e": must(publicid.NewEncrypted[UserID](prefix, key(k))),
			} {
				body := must(c.Format(57))[len(prefix)+2 : len(prefix)+15]
				what := fmt.Sprint(form, prefix, k[2:])
				if seen[body] != "" && seen[body] != what || c.Prefix() != prefix {
					t.Errorf("%s and %s have %s, of %s", seen[body], what, body, c.Prefix())
				}
				seen[body] = what
			}
		}
	}
}

func TestConstructors(t *testing.T) {
	good := key(key0)
	for _, prefix := range []string{
		"", "User", "2fa", "_user", "user_", "us er", "user\n", strings.Repeat("a", 33),
	} {
		_, err := publicid.NewScrambled[UserID](prefix, good)
		var typed *publicid.PrefixError
		if !errors.As(err, &typed) || typed.Prefix != prefix {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	longest := must(publicid.NewEncrypted[UserID](strings.Repeat("a", 32), good))
	text := must(longest.Format(57))
	if len(text) != longest.Len() || must(longest.Parse(text)) != 57 {
		t.Error(text)
	}
	for want, keys := range map[string][]publicid.Key{
		"publicid: key is empty":          {{}},
		"key 0 is given twice":            {good, key("0-" + strings.Repeat("5a", 32))},
		"key 1 has the secret of another": {good, key("1" + key0[1:])},
	} {
		_, err := publicid.NewEncrypted[UserID]("user", keys[0], keys[1:]...)
		var typed *publicid.KeyError
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestParseKey(t *testing.T) {
	secret := strings.Repeat("5a", 32)
	for s, want := range map[string]string{
		"":                             "has no number",
		secret:                         "has no number",
		"32-" + secret:                 "must begin with a number in 0..31",
		"01-" + secret:                 "must begin with a number in 0..31",
		secret + "-0":                  "must begin with a number in 0..31",
		"3-" + secret[1:]:              "3 has 63 bytes after the hyphen: want 64 hexadecimal digits",
		"3-" + secret + "\n":           "3 has 65 bytes",
		"3-" + strings.ToUpper(secret): `3 has "A" as digit 2`,
	} {
		_, err := publicid.ParseKey(s)
		var typed *publicid.KeyError
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), "publicid: key "+want) ||
			strings.Contains(err.Error(), "5a5a") {
			t.Errorf("%q: %v", s, err)
		}
	}
	k := key("31-" + secret)
	if k.Number() != publicid.MaxKeyNumber {
		t.Error(k.Number())
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		for _, value := range []any{
			k, &k, []publicid.Key{k}, struct{ K publicid.Key }{k}, struct{ k publicid.Key }{k},
		} {
			got := fmt.Sprintf(verb, value)
			if strings.Contains(got, "5a5a") || strings.Contains(got, "90 90") {
				t.Errorf("%s of %T: %s", verb, value, got)
			}
		}
	}
}
