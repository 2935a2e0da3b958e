package publicid

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

const (
	// MaxKeyNumber is the largest number of a key, which one character of a text holds.
	MaxKeyNumber = 31

	secretDigits = 2 * 32
	hexDigits    = "0123456789abcdef"
)

// A Key is a secret of 32 bytes with a number, 0 ..= MaxKeyNumber. Create one with [ParseKey]. Only
// the number is ever printed.
type Key struct {
	number int
	secret func() [32]byte // a func, because fmt prints fields but does not call them
}

// ParseKey reads a number and a secret: decimal digits without leading zeros, a hyphen, and 64
// hexadecimal digits in lower case. It accepts nothing else, not even a newline at the end. The
// error is a [*KeyError].
func ParseKey(s string) (Key, error) {
	head, digits, found := strings.Cut(s, "-")
	if !found {
		return Key{}, &KeyError{"has no number: want NUMBER-DIGITS, as in 0-9f86…"}
	}
	number, err := strconv.Atoi(head)
	if err != nil || number < 0 || number > MaxKeyNumber || strconv.Itoa(number) != head {
		// The text before the hyphen is not quoted, because it may be a secret.
		return Key{}, &KeyError{fmt.Sprintf("must begin with a number in 0..%d", MaxKeyNumber)}
	}
	k := Key{number: number}
	var secret [32]byte
	if len(digits) != secretDigits {
		return Key{}, k.refuse("has %d bytes after the hyphen", len(digits))
	}
	for i := range len(digits) {
		digit := strings.IndexByte(hexDigits, digits[i])
		if digit < 0 {
			return Key{}, k.refuse("has %q as digit %d", digits[i:i+1], i+1)
		}
		secret[i/2] = secret[i/2]<<4 | byte(digit)
	}
	k.secret = func() [32]byte { return secret }
	return k, nil
}

func (k Key) refuse(format string, args ...any) error {
	const want = "%d %s: want %d hexadecimal digits in lower case"
	return &KeyError{fmt.Sprintf(want, k.number, fmt.Sprintf(format, args...), secretDigits)}
}

// Number returns the number by which texts name the key.
func (k Key) Number() int { return k.number }

// String returns the key's number. No verb of fmt prints the secret.
func (k Key) String() string { return fmt.Sprintf("publicid key %d", k.number) }

// Format prints only the key's number, for every verb.
func (k Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// derive returns the secret for a form and a prefix. None of these secrets reveals anything about
// another.
func (k Key) derive(label, prefix string) [sha256.Size]byte {
	secret := k.secret()
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte(label + prefix))
	return [sha256.Size]byte(mac.Sum(nil))
}
