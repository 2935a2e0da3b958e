package idtype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What the byte IDs share. An ID is two halves, and its text is two words of eight characters. A
// character has as many bits as a half has bytes. That is 4 in the hexadecimal text of EightByte,
// and 5 in the base 32 of Sno: see hexbase32.go. The functions take an ID as a slice of its bytes.
// Its length says which of the two it is.

// A byteScheme is what the byte schemes differ in beyond their length.
type byteScheme struct {
	typ      string
	size     int
	alphabet string // in the order of the values
	letters  string // the alphabet in words
}

const textLen = 16 // characters of a text

var errBytesJSON = errors.New("want the text of 16 characters as a string, or null")

// halves are the bytes of an ID as two numbers. They are read in the pieces in which the compiler
// copies an array. A load that spans two pieces would wait for both to reach the cache.
func halves(id []byte) (high, low uint64) {
	v := binary.BigEndian.Uint64(id)
	if len(id) == 8 {
		return v >> 32, v & (1<<32 - 1)
	}
	return v >> 24, v<<40>>24 | uint64(binary.BigEndian.Uint16(id[8:]))
}

// putHalves is the inverse of halves.
func putHalves(id []byte, high, low uint64) {
	if len(id) == 8 {
		binary.BigEndian.PutUint64(id, high<<32|low)
		return
	}
	binary.BigEndian.PutUint64(id, high<<24|low>>16)
	binary.BigEndian.PutUint16(id[8:], uint16(low))
}

// appendByteText appends the 16 characters of an ID.
func appendByteText(b, id []byte) []byte {
	high, low := halves(id)
	var first, second uint64
	if len(id) == 8 {
		first, second = spell(high, 4, &hexPairs), spell(low, 4, &hexPairs)
	} else {
		first, second = spell(high, 5, &base32Pairs), spell(low, 5, &base32Pairs)
	}
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, first), second)
}

// setWords sets the ID to what a text of two words says. It reports false, and leaves the ID, where
// that is no text of one, or zero's. The first character of a word is in its highest byte.
func setWords(id []byte, first, second uint64) bool {
	if len(id) == 8 {
		v, stray := unspell(first, '0')
		w, stray2 := unspell(second, '0')
		if (v|w)&(0xf0*ones)|(stray|stray2)&highBits != 0 {
			return false
		}
		first, second = join(v, 4), join(w, 4)
	} else {
		v, stray := unspell(first, '2')
		w, stray2 := unspell(second, '2')
		if (v|w)&(0xe0*ones)|(stray|stray2)&highBits != 0 {
			return false
		}
		first, second = join(v, 5), join(w, 5)
	}
	if first|second == 0 {
		return false
	}
	putHalves(id, first, second)
	return true
}

// setByteText is the exact inverse of appendByteText over all IDs but zero. It leaves the ID on an
// error.
func setByteText[S string | []byte](f *byteScheme, id []byte, s S) error {
	if len(s) == textLen && setWords(id, bigEndian8(s, 0), bigEndian8(s, 8)) {
		return nil
	}
	return textFailure(f, s)
}

// textFailure finds the reason that helps most.
func textFailure[S string | []byte](f *byteScheme, s S) error {
	if text, quoted := jsonString(s); quoted && setByteText(f, make([]byte, f.size), text) == nil {
		return errQuoted
	}
	if len(s) != textLen {
		return fmt.Errorf("%d bytes, want %d characters", len(s), textLen)
	}
	text := string(s)
	i := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(f.alphabet, r) })
	if i < 0 {
		return ErrZero
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	char := text[i : i+size]
	if strings.Contains(f.alphabet, strings.ToLower(char)) {
		return fmt.Errorf("%q at index %d is upper case, want lower case", char, i)
	}
	return fmt.Errorf("%q at index %d, want %s", char, i, f.letters)
}

// failure is a decoder's error for an input, or nil.
func failure[S string | []byte](f *byteScheme, input S, err error) error {
	if err == nil {
		return nil
	}
	return &InputError{Type: f.typ, Input: quote(input), Err: err}
}

// parse and unmarshalText are setByteText as well, without its call.
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

// validate says that zero is no ID; everything else follows the layouts, which leave no bit unused.
func (f *byteScheme) validate(id []byte) error {
	if isZeroBytes(id) {
		return failure(f, appendByteText(nil, id), ErrZero)
	}
	return nil
}

// appendByteJSON appends the text as a string, and null for zero.
func appendByteJSON(b, id []byte) []byte {
	if isZeroBytes(id) {
		return append(b, "null"...)
	}
	return append(appendByteText(append(b, '"'), id), '"')
}

// setJSON accepts what appendByteJSON writes. It takes no numbers: 16 digits would be a text or a
// number.
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

// setBytes takes the bytes of an ID as they are.
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
