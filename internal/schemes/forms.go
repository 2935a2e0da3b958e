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

// A Form is a way to write an ID that people meet. Read is strict: it takes what Write writes, and
// what databases show.
type Form[T any] struct {
	Name     string
	Read     func(string) (T, error)
	Write    func(T) string
	Unsorted bool // the order is not that of time
}

// digits are the forms of an ID whose text is its number.
func digits[T idtype.ID](parse func(string) (T, error)) []Form[T] {
	return []Form[T]{
		{Name: Text, Read: parse, Write: T.String},
		{Name: Number, Read: parse, Write: T.String},
	}
}

// readNumber reads the number of an ID whose text is another.
func readNumber[T any, P interface {
	*T
	Scan(src any) error
}](text string) (id T, err error) {
	err = P(&id).Scan(text)
	return id, err
}

var errHex = errors.New(
	"want hexadecimal digits, in lower or upper case, alone or behind \\x or 0x")

// hexReader reads the bytes of an ID as databases show them: \x5b9b… in PostgreSQL, 0x5B9B… in
// MySQL, 5B9B… by a function hex.
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

// Quoted is an input as errors name it, and bounded.
func Quoted(input string) string {
	text := Shorten(input)
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// Shorten bounds what is repeated of an input.
func Shorten(s string) string {
	const most = 256
	if len(s) <= most {
		return s
	}
	return Beginning(s, most) + "…"
}

// Beginning is the first bytes of a text, at most n, and no part of a rune.
func Beginning(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for cut := n; cut > n-utf8.UTFMax && cut >= 0; cut-- {
		if utf8.RuneStart(s[cut]) {
			return s[:cut]
		}
	}
	return s[:n] // within bytes that are no UTF-8
}
