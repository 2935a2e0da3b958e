// Package visible makes texts of others fit for a terminal and for a page. People see all that is
// in them.
package visible

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text makes a text visible. It is on one line. Nothing in it moves the cursor, changes the
// direction of writing or is not seen at all. What is not seen becomes the escape of a Go string,
// such as \x1b, \n, \u202e and \u3164. A byte that is no UTF-8 becomes \xff. A backslash stays as
// it is, because errors hold texts that are quoted already. So the result is for people to read. A
// text that is visible stays the same.
func Text(s string) string {
	return escaped(s, func(b []byte, _ rune, text string) []byte {
		quote := strconv.QuoteToASCII(text)
		return append(b, quote[1:len(quote)-1]...)
	})
}

// JSON writes what is not seen as JSON escapes it, which means the same. All of it is within
// strings: json.Marshal leaves no white space. A byte that is no UTF-8 becomes what encoding/json
// makes of it elsewhere, U+FFFD.
func JSON(data []byte) []byte {
	return escaped(data, func(b []byte, r rune, _ string) []byte {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		}
		return fmt.Appendf(b, `\u%04x`, r)
	})
}

// mostMarks is how many marks a letter may carry. Scripts that people write need fewer. A heap of
// them covers the lines above and below.
const mostMarks = 4

// escaped is a text whose runes that are not seen are written by escape: the rune, and its bytes.
func escaped[S string | []byte](text S, escape func([]byte, rune, string) []byte) S {
	var b []byte // nil while all is seen
	marks := 0   // in a row
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

// isSeen reports whether people see a rune, or a gap of about its width. The spaces are those that
// people type in French and in Japanese, beside the plain one.
func isSeen(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return ' ' <= r && r <= '~'
	case r == '\u00a0', r == '\u3000':
		return true
	case r == '\u2800': // of Braille, without a dot
		return false
	}
	return unicode.IsGraphic(r) && !unicode.In(r, unicode.Zs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}
