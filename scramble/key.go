package scramble

import (
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Key selects one of the permutations of a kind and a domain. Every key is as good as any other, as
// long as others cannot guess it. Create one with [ParseKey]. Printing a key, or a struct that
// holds one, reveals nothing about it.
type Key struct {
	secret func() [16]byte // a func, because fmt prints fields but does not call them
}

const (
	keyDigits = 2 * 16
	hexDigits = "0123456789abcdef"
)

// ParseKey reads a key from 32 hexadecimal digits in lower case. It accepts nothing else: no
// prefix, no spaces, and no newline at the end. The error is a [*KeyError].
func ParseKey(s string) (Key, error) {
	if len(s) != keyDigits {
		return Key{}, &KeyError{fmt.Sprintf("has %d bytes", len(s))}
	}
	var secret [16]byte
	for i := range len(s) {
		digit := strings.IndexByte(hexDigits, s[i])
		if digit < 0 {
			return Key{}, &KeyError{fmt.Sprintf("has %q as byte %d", s[i:i+1], i+1)}
		}
		secret[i/2] = secret[i/2]<<4 | byte(digit)
	}
	return Key{func() [16]byte { return secret }}, nil
}

// A KeyError is returned by [ParseKey]. It does not quote the whole text, because errors are
// logged, and a mistyped key leads anyone who tries a few variants to the real one.
type KeyError struct {
	Reason string
}

func (e *KeyError) Error() string {
	const format = "scramble: key %s: want %d hexadecimal digits in lower case"
	return fmt.Sprintf(format, e.Reason, keyDigits)
}

// words derives the numbers of a permutation from its key. The hash rules out weak keys, and makes
// the permutations of one key in two domains, or of two kinds, unrelated.
func words(label string, d Domain, key Key) (w [sha512.Size / 8]uint64) {
	secret := key.secret()
	sum := sha512.Sum512(append(strconv.AppendInt([]byte(label), int64(d), 10), secret[:]...))
	for i := range w {
		w[i] = binary.BigEndian.Uint64(sum[8*i:])
	}
	return w
}

// check returns an error if the key or the domain cannot make a permutation.
func (k Key) check(d Domain) error {
	if k.secret == nil {
		return &KeyError{"is empty"}
	}
	return d.check()
}
