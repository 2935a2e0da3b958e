package visible

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"Ünïcode 漢字 – \\x":                "Ünïcode 漢字 – \\x",
		"a\nb\tc\x1b[31m":                 `a\nb\tc\x1b[31m`,
		"left\u202eright":                 `left\u202eright`,
		"zero\u200bwidth":                 `zero\u200bwidth`,
		"no UTF-8 \xff here":              `no UTF-8 \xff here`,
		"\ufffd":                          "\ufffd",
		"prix\u00a0: 5 €":                 "prix\u00a0: 5 €",
		"全角\u3000空白":                      "全角\u3000空白",
		"🚀\ufe0f":                         `🚀\ufe0f`,
		"e\u0301\u0308\u0323\u0304":       "e\u0301\u0308\u0323\u0304",
		"e\u0301\u0308\u0323\u0304\u0305": "e\u0301\u0308\u0323\u0304" + `\u0305`,
		"שָּׁ":                            "שָּׁ", // a letter with its vowel, its dot and its point
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Characters that leave a blank, or nothing, are shown by their code. They are letters, marks or
// symbols to Unicode, and so graphic.
func TestBlanks(t *testing.T) {
	blanks := []rune{
		0x3164, 0x115f, 0x1160, 0xffa0, 0x2800, 0x034f, 0x17b4, 0x180b, 0xfe00, 0xfe0f, 0xe0100,
		0xe01ef, 0x1680, 0x2000, 0x2003, 0x200a, 0x202f, 0x205f,
	}
	for _, r := range blanks {
		if !unicode.IsGraphic(r) {
			t.Errorf("%U is not graphic: it is no case of this test", r)
		}
		want := fmt.Sprintf(`shop\u%04xprod`, r)
		if r > 0xffff {
			want = fmt.Sprintf(`shop\U%08xprod`, r)
		}
		text := "shop" + string(r) + "prod"
		if got := Text(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		var back string
		data := JSON([]byte(`"` + text + `"`))
		if err := json.Unmarshal(data, &back); err != nil || back != text ||
			strings.ContainsRune(string(data), r) {
			t.Errorf("%U as JSON is %q, %v", r, data, err)
		}
	}
}

// A visible text stays as it is, and nobody's heap of marks covers other lines.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", "plain", `\`, `\\u202e`, `\u202e`, "\\\x1b", "\xff\ufffd", "a\u3164b\u00a0c", "\xe2\x80",
		"\xf0\x9f\x9a", "\U000e0041\U0010ffff",
		"z" + strings.Repeat("\u0335\u20dd", 40),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Text(text)
		if again := Text(got); again != got {
			t.Errorf("%q, which is visible, is shown as %q", got, again)
		}
		marks := 0
		for _, r := range got {
			if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
				marks = 0
			}
			if marks > 4 || !unicode.IsGraphic(r) {
				t.Errorf("%q is shown as %q", text, got)
				break
			}
		}
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		seen := JSON(data)
		var back string
		if err := json.Unmarshal(seen, &back); err != nil ||
			utf8.ValidString(text) && back != text {
			t.Errorf("%q as JSON is %q, %v", text, seen, err)
		}
		if Text(string(seen)) != string(seen) {
			t.Errorf("%q as JSON is %q", text, seen)
		}
	})
}
