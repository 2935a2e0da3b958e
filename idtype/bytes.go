package idtype

import (
	"errors"
	"fmt"
)

// This file holds what the byte IDs have in common. An ID consists of two halves, and its text of
// two words of eight characters. A character has as many bits as a half has bytes: 4 in the
// hexadecimal text of EightByte, and 5 in the base 32 of Sno (see hexbase32.go). The functions
// accept an ID as a slice of its bytes, whose length tells which of the two it is.

// A byteScheme holds the differences between the byte schemes, other than their length.
type byteScheme struct {
	typ      string
	size     int
	alphabet string // ordered by value
	letters  string // the alphabet in words
}

const textLen = 16 // characters in the text of an ID

var errBytesJSON = errors.New("want the text of 16 characters as a string, or null")

// failure returns a decoder's error for an input, or nil.
func failure[S string | []byte](f *byteScheme, input S, err error) error {
	if err == nil {
		return nil
	}
	return &InputError{Type: f.typ, Input: quote(input), Err: err}
}

// parse and unmarshalText repeat the fast path of setByteText, which saves a call.
func (f *byteScheme) parse(id []byte, s string) error {
	if len(s) == textLen && setWords(id, bigEndian8(s, 0), bigEndian8(s, 8)) {
		return nil
	}
	return failure(f, s, textFailure(f, s))
}

func (f *byteScheme) unmarshalText(id, text []byte) error {
	if len(text) == textLen && setWords(id, bigEndian8(text, 0), bigEndian8(text, 8)) {
		return nil
	}
	return failure(f, text, textFailure(f, text))
}

func (f *byteScheme) unmarshalJSON(id, data []byte) error {
	return failure(f, data, f.setJSON(id, data))
}

func (f *byteScheme) fromBytes(id, data []byte) error {
	return failure(f, data, setBytes(id, data))
}

// validate rejects only zero, because the layouts leave no bit unused.
func (f *byteScheme) validate(id []byte) error {
	if isZeroBytes(id) {
		return failure(f, appendByteText(nil, id), ErrZero)
	}
	return nil
}

// appendByteJSON appends the text as a string, or null for zero.
func appendByteJSON(b, id []byte) []byte {
	if isZeroBytes(id) {
		return append(b, "null"...)
	}
	return append(appendByteText(append(b, '"'), id), '"')
}

// setJSON accepts the output of appendByteJSON. It rejects numbers, because 16 digits could be
// either a text or a number.
func (f *byteScheme) setJSON(id, data []byte) error {
	if string(data) == "null" {
		clear(id)
		return nil
	}
	text, quoted := jsonString(data)
	if !quoted {
		return errBytesJSON
	}
	return setByteText(f, id, text)
}

// setBytes sets an ID to the given bytes.
func setBytes[S string | []byte](id []byte, s S) error {
	if len(s) != len(id) {
		return fmt.Errorf("%d bytes, want %d", len(s), len(id))
	}
	if isZeroBytes(s) {
		return ErrZero
	}
	copy(id, s)
	return nil
}

func isZeroBytes[S string | []byte](s S) bool {
	var set byte
	for i := range len(s) {
		set |= s[i]
	}
	return set == 0
}
