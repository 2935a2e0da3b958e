package scramble_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/scramble"
)

func TestParseKey(t *testing.T) {
	for _, k := range keys(10) {
		text := hex.EncodeToString(k.Bytes())
		if got, err := scramble.ParseKey(text); err != nil || !bytes.Equal(got.Bytes(), k.Bytes()) {
			t.Errorf("ParseKey(%q): %v", text, err)
		}
	}
	const good = "000102030405060708090a0b0c0d0e0f"
	for _, tt := range []struct{ text, reason string }{
		{"", "has 0 bytes"},
		{good[1:], "has 31 bytes"},
		{"0x" + good, "has 34 bytes"},
		{strings.ToUpper(good), `has "A" as byte 22`},
		{" " + good[1:], `has " " as byte 1`},
		{good[:31] + "g", `has "g" as byte 32`},
		{good[:31] + "\xff", `has "\xff" as byte 32`},
	} {
		k, err := scramble.ParseKey(tt.text)
		var e *scramble.KeyError
		if !errors.As(err, &e) || e.Reason != tt.reason || !k.Empty() {
			t.Errorf("ParseKey(%q) = %v, %v, want an error that it %s", tt.text, k, err, tt.reason)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("000102030405060708090a0b0c0d0e0f")
	f.Add("ffffffffffffffffffffffffffffffff\n")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := scramble.ParseKey(text)
		if err == nil {
			if got := hex.EncodeToString(k.Bytes()); got != text {
				t.Fatalf("read %q, wrote %q", text, got)
			}
			return
		}
		if e := new(scramble.KeyError); !errors.As(err, &e) || !k.Empty() {
			t.Fatalf("ParseKey(%q) = %v, %#v", text, k, err)
		}
		if len(text) > 8 && strings.Contains(err.Error(), text) {
			t.Fatalf("the error shows the key: %v", err)
		}
	})
}
