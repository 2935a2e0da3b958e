package scramble

import (
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Key selects one of the permutations of a kind and a domain. Every key is as good as any other,
// except that others might guess it. [ParseKey] makes one. What prints a key, or a struct that holds
// one, shows nothing of it.
type Key struct {
	secret func() [16]byte // fmt, which prints what structs hold, does not call it
}

const (
	keyDigits = 2 * 16
	hexDigits = "0123456789abcdef"
)

// ParseKey reads a key from 32 hexadecimal digits in lower case, and nothing else. It takes no
// prefix, no spaces, no line end. Its error is a [*KeyError].
func ParseKey(s string) (Key, error) {
	if len(s) != keyDigits {
		return Key{}, &KeyError{fmt.Sprintf("has %d bytes", len(s))}
	}
	var secret [16]byte
	for i := range len(s) {
		digit := strings.IndexByte(hexDigits, s[i])
		if digit < 0 {
			return Key{}, &KeyError{fmt.Sprintf("has %q as its byte %d", s[i:i+1], i+1)}
		}
		secret[i/2] = secret[i/2]<<4 | byte(digit)
	}
	return Key{func() [16]byte { return secret }}, nil
}

// A KeyError is returned by [ParseKey]. It does not quote all of the text. Errors are logged, and a
// mistyped key is a key to whoever tries a few.
type KeyError struct {
	Reason string
}

func (e *KeyError) Error() string {
	const format = "scramble: key %s: want %d hexadecimal digits in lower case"
	return fmt.Sprintf(format, e.Reason, keyDigits)
}

// words derives the numbers of a permutation from its key. A hash leaves no weak keys to think of.
// It makes the permutations of one key in two domains, or of two kinds, unrelated.
func words(label string, d Domain, key Key) (w [sha512.Size / 8]uint64) {
	secret := key.secret()
	sum := sha512.Sum512(append(strconv.AppendInt([]byte(label), int64(d), 10), secret[:]...))
	for i := range w {
		w[i] = binary.BigEndian.Uint64(sum[8*i:])
	}
	return w
}

// check returns an error where no permutation of a domain can be made by the key.
func (k Key) check(d Domain) error {
	if k.secret == nil {
		return &KeyError{"is empty"}
	}
	return d.check()
}
