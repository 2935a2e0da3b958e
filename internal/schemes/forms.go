package schemes

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idmint/idmint/idtype"
)

// The forms.
const (
	Text   = "text"
	Number = "number"
	Hex    = "hex"
	UUID   = "uuid"
)

// A Form is a way to write an ID that people see. Read is strict: it accepts only what Write
// produces, and what databases show.
type Form[T any] struct {
	Name     string
	Read     func(string) (T, error)
	Write    func(T) string
	Unsorted bool // not ordered by time
}

// digits returns the forms of an ID whose text is its number.
func digits[T idtype.ID](parse func(string) (T, error)) []Form[T] {
	return []Form[T]{
		{Name: Text, Read: parse, Write: T.String},
		{Name: Number, Read: parse, Write: T.String},
	}
}

// readNumber parses the number of an ID whose text is not its number.
func readNumber[T any, P interface {
	*T
	Scan(src any) error
}](text string) (id T, err error) {
	err = P(&id).Scan(text)
	return id, err
}

var errHex = errors.New(
	"want hexadecimal digits, in lower or upper case, optionally after \\x or 0x")

// hexReader parses the bytes of an ID as databases show them: \x5b9b… in PostgreSQL, 0x5B9B… in
// MySQL, and 5B9B… with a function hex.
func hexReader[T idtype.ID](typ string) func(string) (T, error) {
	return func(text string) (id T, err error) {
		digits, ok := strings.CutPrefix(text, `\x`)
		if !ok {
			digits = strings.TrimPrefix(text, "0x")
		}
		raw, err := hex.DecodeString(digits)
		if err != nil || digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) {
			return id, &idtype.InputError{Type: typ, Input: Quoted(text), Err: errHex}
		}
		id, err = idtype.FromBytes[T](raw)
		if wrong := (*idtype.InputError)(nil); errors.As(err, &wrong) {
			wrong.Input = Quoted(text)
		}
		return id, err
	}
}

// Quoted returns an input as errors quote it, with a limited length.
func Quoted(input string) string {
	text := Shorten(input)
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// Shorten limits how much of an input is repeated.
func Shorten(s string) string {
	const most = 256
	if len(s) <= most {
		return s
	}
	return Beginning(s, most) + "…"
}

// Beginning returns at most the first n bytes of a text, without splitting a rune.
func Beginning(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for cut := n; cut > n-utf8.UTFMax && cut >= 0; cut-- {
		if utf8.RuneStart(s[cut]) {
			return s[:cut]
		}
	}
	return s[:n] // within bytes that are not UTF-8
}
