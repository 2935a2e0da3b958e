// Package visible makes untrusted texts safe to show in a terminal and on a page, so that people
// see everything in them.
package visible

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text makes a text visible, on one line. Nothing in the result moves the cursor, changes the
// direction of writing, or is invisible. Invisible characters become the escapes of a Go string,
// such as \x1b, \n, \u202e and \u3164, and a byte that is not UTF-8 becomes \xff. A backslash stays
// as it is, because errors contain texts that are already quoted. The result is therefore meant for
// people, and not for parsing. A text that is already visible is unchanged.
func Text(s string) string {
	return escaped(s, func(b []byte, _ rune, text string) []byte {
		quote := strconv.QuoteToASCII(text)
		return append(b, quote[1:len(quote)-1]...)
	})
}

// JSON escapes invisible characters as JSON does, which does not change the meaning. All of them
// are within strings, because json.Marshal produces no white space. A byte that is not UTF-8
// becomes U+FFFD, as in encoding/json.
func JSON(data []byte) []byte {
	return escaped(data, func(b []byte, r rune, _ string) []byte {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		}
		return fmt.Appendf(b, `\u%04x`, r)
	})
}

// mostMarks is how many combining marks a letter may have. Real scripts need fewer, and a stack of
// them would cover the lines above and below.
const mostMarks = 4

// escaped returns a text in which escape replaces invisible runes, given the rune and its bytes.
func escaped[S string | []byte](text S, escape func([]byte, rune, string) []byte) S {
	var b []byte // nil while everything is visible
	marks := 0   // consecutive ones
	for i, n := 0, 0; i < len(text); i += n {
		r := rune(text[i])
		if n = 1; r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		}
		if marks++; r < utf8.RuneSelf || !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		seen := isSeen(r) && marks <= mostMarks && (r != utf8.RuneError || n > 1)
		if !seen && b == nil {
			b = append(make([]byte, 0, len(text)+16), text[:i]...)
		}
		switch {
		case !seen:
			b = escape(b, r, string(text[i:i+n]))
		case b != nil:
			b = append(b, text[i:i+n]...)
		}
	}
	if b == nil {
		return text
	}
	return S(b)
}

// isSeen reports whether people see a rune, or a gap of about its width. In addition to the plain
// space it accepts those that people type in French and in Japanese.
func isSeen(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return ' ' <= r && r <= '~'
	case r == '\u00a0', r == '\u3000':
		return true
	case r == '\u2800': // the blank Braille pattern
		return false
	}
	return unicode.IsGraphic(r) && !unicode.In(r, unicode.Zs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}
