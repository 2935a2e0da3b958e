package idtype

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"
)

// This file holds what all 63-bit IDs have in common: a domain of 1 ..= 2^63−1, decimal text, and
// an integer column. The functions accept and return int64, and the methods of each type convert
// it.

const (
	maxDigits = 19 // digits of 2^63−1

	ascii0x8 = 0x3030_3030_3030_3030 // "00000000"
	e8       = 100_000_000
	e16      = e8 * e8
)

// appendInt63 appends the decimal digits of v. It computes eight digits at a time in one word,
// which takes half the time of [strconv.AppendInt]. A negative v is passed to strconv: it is not an
// ID, but may still be printed.
func appendInt63(b []byte, v int64) []byte {
	if v < e8 {
		return strconv.AppendInt(b, v, 10)
	}
	var buf [24]byte
	u := uint64(v)
	low, rest := u%e8, u/e8
	binary.LittleEndian.PutUint64(buf[16:], digits8(low)|ascii0x8)
	middle, top := rest%e8, rest/e8
	m := digits8(middle)
	binary.LittleEndian.PutUint64(buf[8:], m|ascii0x8)
	if top == 0 { // the middle is not zero
		return append(b, buf[8+bits.TrailingZeros64(m)/8:]...)
	}
	t := digits8(top)
	binary.LittleEndian.PutUint64(buf[:], t|ascii0x8)
	return append(b, buf[bits.TrailingZeros64(t)/8:]...)
}

// digits8 spreads the eight decimal digits of v < 10^8 over the bytes of a word, with the most
// significant digit in the lowest byte. Each step halves the groups: x/100 and x/10 are
// multiplications by a rounded-up reciprocal, exact in their range.
func digits8(v uint64) uint64 {
	v = v/10_000 | v%10_000<<32
	hundreds := v * 10_486 >> 20 & 0x0000_007f_0000_007f
	v = hundreds | (v-100*hundreds)<<16
	tens := v * 103 >> 10 & 0x000f_000f_000f_000f
	return tens | (v-10*tens)<<8
}

// parseInt63 is the exact inverse of appendInt63 over 1 ..= 2^63−1.
func parseInt63[S string | []byte](s S) (int64, error) {
	n := len(s)
	if n == 0 || n > maxDigits || s[0] == '0' {
		return 0, parseFailure(s)
	}
	var v uint64
	if n < 8 {
		for i := range n {
			d := s[i] - '0'
			if d > 9 {
				return 0, errSyntax
			}
			v = v*10 + uint64(d)
		}
		return int64(v), nil
	}
	// The digits that do not fill a word come first, shifted up after a padding of '0'.
	pad := uint(8-n%8) % 8 * 8
	word := load8(s, 0)<<pad | ascii0x8&(1<<pad-1)
	for i := n % 8; ; i += 8 {
		if i == 0 {
			i = 8
		}
		if !allDigits(word) {
			return 0, errSyntax
		}
		v = v*e8 + value8(word)
		if i == n {
			break
		}
		word = load8(s, i)
	}
	if v > math.MaxInt64 {
		return 0, errOverflow
	}
	return int64(v), nil
}

// parseFailure returns the most helpful reason.
func parseFailure[S string | []byte](s S) error {
	if len(s) == 1 && s[0] == '0' {
		return ErrZero
	}
	if len(s) == 0 || s[0] == '0' {
		return errSyntax
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return errSyntax
		}
	}
	return errOverflow
}

// load8 reads eight bytes of s as one little-endian word; the compiler makes a single load of it.
func load8[S string | []byte](s S, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// allDigits reports whether each byte of w is an ASCII digit. The high nibble of a digit is 3, and
// it remains 3 when 6 is added.
func allDigits(w uint64) bool {
	const high = 0xf0f0_f0f0_f0f0_f0f0
	return w&high|(w+0x0606_0606_0606_0606)&high>>4 == 0x3333_3333_3333_3333
}

// value8 returns the number that eight ASCII digits spell, with the first digit in the lowest byte.
// It joins pairs first, then fours, then eights.
func value8(w uint64) uint64 {
	w = w & 0x0f0f_0f0f_0f0f_0f0f * (10<<8 + 1) >> 8
	w = w & 0x00ff_00ff_00ff_00ff * (100<<16 + 1) >> 16
	return w & 0x0000_ffff_0000_ffff * (10_000<<32 + 1) >> 32
}

// checkInt63 returns an error unless v is in the domain.
func checkInt63(v int64) error {
	switch {
	case v > 0:
		return nil
	case v == 0:
		return ErrZero
	default:
		return errNegative
	}
}

func decodeText[S string | []byte](typ string, s S) (int64, error) {
	v, err := parseInt63(s)
	if err != nil {
		return 0, &InputError{Type: typ, Input: quote(s), Err: orQuoted(s, parseInt63, err)}
	}
	return v, nil
}

// orQuoted replaces err if the text would be valid without the quotes around it.
func orQuoted[S string | []byte](s S, parse func(S) (int64, error), err error) error {
	if text, quoted := jsonString(s); quoted {
		if _, inner := parse(text); inner == nil {
			return errQuoted
		}
	}
	return err
}

// appendJSON writes a string, so that readers whose numbers are floats lose no digits. An ID whose
// entity is tagged with [AsNumber] is written as a number if such readers lose none.
func appendJSON[E any](b []byte, v int64) []byte {
	if v >= 0 && v <= numbersOf[E]() {
		return appendInt63(b, v)
	}
	if v == 0 {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = appendInt63(b, v)
	return append(b, '"')
}

// jsonString removes the quotes of a JSON string, and reports whether there were any. The text of
// an ID never needs an escape.
func jsonString[S string | []byte](data S) (S, bool) {
	if n := len(data); n >= 2 && data[0] == '"' && data[n-1] == '"' {
		return data[1 : n-1], true
	}
	return data, false
}

// decodeJSON accepts the output of appendJSON, and integers that no reader rounds.
func decodeJSON[E any](typ string, data []byte) (int64, error) {
	if string(data) == "null" || string(data) == "0" && numbersOf[E]() > 0 {
		return 0, nil
	}
	digits, quoted := jsonString(data)
	v, err := parseInt63(digits)
	if err == nil && !quoted {
		err = checkNumber[E](v)
	}
	if err != nil {
		if err == errSyntax {
			err = errJSON
		}
		return 0, &InputError{Type: typ, Input: quote(data), Err: err}
	}
	return v, nil
}

func decodeBytes(typ string, data []byte) (int64, error) {
	err := errBinary
	if len(data) == 8 {
		v := int64(binary.BigEndian.Uint64(data))
		if err = checkInt63(v); err == nil {
			return v, nil
		}
	}
	return 0, &InputError{Type: typ, Input: quote(data), Err: err}
}

// A part is a number within an ID, with the limits that the layout sets.
type part[N int | int64] struct {
	name            string
	value, min, max N
}

// checkParts returns a [*RangeError] for the first part that is outside its range.
func checkParts[N int | int64](typ string, parts []part[N]) error {
	for _, p := range parts {
		if p.value < p.min || p.value > p.max {
			return &RangeError{typ, p.name, int64(p.value), int64(p.min), int64(p.max)}
		}
	}
	return nil
}

func inDomain(typ string, v int64) error {
	if err := checkInt63(v); err != nil {
		return &InputError{Type: typ, Input: strconv.Quote(strconv.FormatInt(v, 10)), Err: err}
	}
	return nil
}

// valueInt63 returns v together with an error. GORM drops the error when it builds conditions, and
// would treat nil as NULL.
func valueInt63(typ string, v int64) (driver.Value, error) {
	if v == 0 {
		return v, &InputError{Type: typ, Input: `"0"`, Err: errUnsetColumn}
	}
	return v, inDomain(typ, v)
}

// unset returns the error for writing the text or the binary form of a value that is not an ID.
func unset(typ string, v int64) error {
	if v == 0 {
		return &InputError{Type: typ, Input: `"0"`, Err: errUnset}
	}
	return inDomain(typ, v)
}

// scanInt63 accepts every form in which drivers return an integer column, and the ID's own type.
func scanInt63[T ~int64](typ string, src any) (int64, error) {
	var v int64
	var err error
	switch src := src.(type) {
	case int64:
		v, err = src, checkInt63(src)
	case uint64: // ClickHouse
		v = int64(src)
		if err = checkInt63(v); src > math.MaxInt64 {
			err = errOverflow
		}
	case string:
		return scanText(typ, src)
	case []byte:
		return scanText(typ, src)
	default:
		id, ownErr := own[T](src)
		v, err = int64(id), ownErr
		if err == nil {
			err = checkInt63(v)
		}
	}
	if err != nil {
		return 0, &InputError{Type: typ, Input: describe(src), Err: orNone(err)}
	}
	return v, nil
}

func scanText[S string | []byte](typ string, s S) (int64, error) {
	if len(s) == 1 && s[0] == '0' {
		return 0, &InputError{Type: typ, Input: quote(s), Err: errNone}
	}
	return decodeText(typ, s)
}

// orNone returns the error of Scan for err, because a column may hold zeros that mean "none".
func orNone(err error) error {
	if err == ErrZero {
		return errNone
	}
	return err
}

// own accepts an ID by value or by pointer. ORMs pass IDs to Scan like this, because Scan is the
// only way they know to set a value.
func own[T any](src any) (id T, err error) {
	switch src := src.(type) {
	case T:
		return src, nil
	case *T:
		if src != nil {
			return *src, nil
		}
		return id, ErrNull
	case nil:
		return id, ErrNull
	}
	return id, errGoType
}

// describe quotes the value that Scan was given.
func describe(src any) string {
	switch src := src.(type) {
	case nil:
		return "NULL"
	case string:
		return quote(src)
	case []byte:
		return quote(src)
	}
	if v := reflect.ValueOf(src); v.Kind() == reflect.Pointer && v.IsNil() {
		return "NULL" // calling its String would panic
	}
	return fmt.Sprintf("%T %s", src, quote(fmt.Sprint(src)))
}

func isZeroInt63(src any) bool {
	switch src := src.(type) {
	case int64:
		return src == 0
	case uint64:
		return src == 0
	case string:
		return src == "0"
	case []byte:
		return string(src) == "0"
	}
	return false
}
