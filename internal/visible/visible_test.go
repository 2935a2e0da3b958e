package visible

import (
	"encoding/json"
	"testing"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"Ünïcode 漢字 – \\x":   "Ünïcode 漢字 – \\x",
		"a\nb\tc\x1b[31m":    `a\nb\tc\x1b[31m`,
		"left\u202eright":    `left\u202eright`,
		"zero\u200bwidth":    `zero\u200bwidth`,
		"no UTF-8 \xff here": `no UTF-8 \xff here`,
		"\ufffd":             "\ufffd",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The escapes of JSON mean what they stand for.
func TestJSON(t *testing.T) {
	const text = "a\u202eb\U000e0001c\u007f"
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	seen := JSON(data)
	if want := `"a\u202eb\udb40\udc01c\u007f"`; string(seen) != want {
		t.Errorf("%s, want %s", seen, want)
	}
	var back string
	if err := json.Unmarshal(seen, &back); err != nil || back != text {
		t.Errorf("%q, %v", back, err)
	}
}
