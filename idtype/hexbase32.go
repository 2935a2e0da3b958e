package idtype

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// This file codes hexadecimal and base 32, eight characters at a time in one word. In both
// alphabets the letters begin with 'a' and come after the digits, the last of which is '9'.

const (
	ones     = 0x0101_0101_0101_0101
	highBits = 0x80 * ones
	toLetter = 'a' - '9' - 1 // from the character after '9' to 'a'
)

// A pairs holds every text of two characters, indexed by its value, with the first character in the
// lower byte. Hexadecimal uses only the first quarter.
type pairs [1 << 10]uint16

var hexPairs, base32Pairs = eightByteScheme.pairs(), snoScheme.pairs()

func (f *byteScheme) pairs() (all pairs) {
	n := len(f.alphabet)
	for i := range n * n {
		all[i] = uint16(f.alphabet[i/n]) | uint16(f.alphabet[i%n])<<8
	}
	return all
}

// spell writes half an ID into a word, with the first character in the lowest byte.
func spell(half uint64, width uint, all *pairs) uint64 {
	mask := uint64(1)<<(2*width) - 1
	return uint64(all[half>>(6*width)&mask]) | uint64(all[half>>(4*width)&mask])<<16 |
		uint64(all[half>>(2*width)&mask])<<32 | uint64(all[half&mask])<<48
}

// unspell is the first of two steps that read eight characters, with the first character in the
// highest byte. It returns the value of each character in its byte. The argument first is the
// character whose value is 0. In hexadecimal:
//
//	w       30 31 32 33 61 62 63 64   the text 0123abcd
//	values  00 01 02 03 0a 0b 0c 0d
//	stray   39 27 29 2b 00 00 00 00   no high bit is set
//
// If some bytes are not characters of the alphabet, then the lowest of them either has a value that
// is too wide, or its high bit is set in stray. The high bit is set for a byte from 'a' upward
// whose value is too small for a letter, and for a byte below 'a' with a letter's value: ':' has
// the value 0a, and d9 in stray. A carry may change the bytes above the lowest bad one, so their
// results mean nothing.
func unspell(w uint64, first byte) (values, stray uint64) {
	letters := w + (0x80-'a')*ones
	values = w - uint64(first)*ones - letters>>7&ones*toLetter
	return values, (values + uint64(first+0x7f-'9')*ones) ^ letters
}

// join is the second step. It packs eight values of width bits into one number, in three rounds
// that each double the size of the groups of bits. Each subtraction moves the upper group of two
// down to the lower one. With a width of 4:
//
//	00 01 02 03 0a 0b 0c 0d   the values, each in 8 bits
//	00 01 00 23 00 ab 00 cd   two of them in 16 bits: 0a·2⁸ + 0b − 0a·(2⁸ − 2⁴) = ab
//	00 00 01 23 00 00 ab cd   four of them in 32 bits
//	00 00 00 00 01 23 ab cd   all in 64 bits
func join(v uint64, width uint) uint64 {
	v -= v >> 8 & 0x00ff_00ff_00ff_00ff * (1<<8 - 1<<width)
	v -= v >> 16 & 0x0000_ffff_0000_ffff * (1<<16 - 1<<(2*width))
	return v - v>>32*(1<<32-1<<(4*width))
}

// bigEndian8 reads eight bytes of s; the compiler makes a single load of it.
func bigEndian8[S string | []byte](s S, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[7]) | uint64(s[6])<<8 | uint64(s[5])<<16 | uint64(s[4])<<24 |
		uint64(s[3])<<32 | uint64(s[2])<<40 | uint64(s[1])<<48 | uint64(s[0])<<56
}

// halves returns the bytes of an ID as two numbers. It loads the same pieces in which the compiler
// copies an array, because a load that spans two pieces would wait for both to reach the cache.
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

// setWords sets the ID from the two words of a text, with the first character in the highest byte.
// If the text does not belong to an ID, or belongs to zero, it reports false and leaves the ID
// unchanged.
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

// setByteText is the exact inverse of appendByteText for all IDs but zero. On error it leaves the
// ID unchanged.
func setByteText[S string | []byte](f *byteScheme, id []byte, s S) error {
	if len(s) == textLen && setWords(id, bigEndian8(s, 0), bigEndian8(s, 8)) {
		return nil
	}
	return textFailure(f, s)
}

// textFailure returns the most helpful reason.
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
