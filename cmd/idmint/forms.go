package main

import (
	"encoding"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/idmint/idmint/idtype"
)

// The forms.
const (
	formText   = "text"
	formNumber = "number"
	formHex    = "hex"
	formUUID   = "uuid"
)

// A form is a way to write an ID that people meet. Read is strict: it takes what write writes, and
// what databases show.
type form[T any] struct {
	name     string
	read     func(string) (T, error)
	write    func(T) string
	unsorted bool // the order is not that of time
}

// digits are the forms of an ID whose text is its number.
func digits[T idtype.ID](parse func(string) (T, error)) []form[T] {
	return []form[T]{
		{name: formText, read: parse, write: T.String},
		{name: formNumber, read: parse, write: T.String},
	}
}

var errHex = errors.New(
	"want hexadecimal digits, in lower or upper case, alone or behind \\x or 0x")

// hexReader reads the bytes of an ID as databases show them: \x5b9b… in PostgreSQL, 0x5B9B… in
// MySQL, 5B9B… by a function hex.
func hexReader[T any, P interface {
	*T
	encoding.BinaryUnmarshaler
}](typ string) func(string) (T, error) {
	return func(text string) (id T, err error) {
		digits, ok := strings.CutPrefix(text, `\x`)
		if !ok {
			digits = strings.TrimPrefix(text, "0x")
		}
		raw, err := hex.DecodeString(digits)
		if err != nil || digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) {
			return id, &idtype.InputError{Type: typ, Input: quoted(text), Err: errHex}
		}
		err = P(&id).UnmarshalBinary(raw)
		if wrong := (*idtype.InputError)(nil); errors.As(err, &wrong) {
			wrong.Input = quoted(text)
		}
		return id, err
	}
}

// hasForm says whether a scheme has a form, or that it has not.
func hasForm(s scheme, form string) error {
	if !slices.Contains(s.formNames(), form) {
		return usage("--form %q: want one of the forms of %s IDs, %s", form, s.name(),
			strings.Join(s.formNames(), ", "))
	}
	return nil
}
