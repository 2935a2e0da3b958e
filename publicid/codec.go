package publicid

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/scramble"
)

// MaxPrefix is the largest number of characters in a prefix.
const MaxPrefix = 32

// maxLen is the largest length of a text.
const maxLen = MaxPrefix + 1 + 1 + encryptedChars + checkChars

var prefixes = regexp.MustCompile(`^[a-z]([a-z0-9_]*[a-z0-9])?$`)

// Codec writes and reads the public form of IDs of type T. It is immutable, and safe for concurrent
// use by multiple goroutines. The zero value has no key, and its methods return errors.
type Codec[T idtype.ID] struct {
	head   string // the prefix, followed by _
	prefix check  // the check's sums for the prefix
	chars  int    // characters that spell the number
	first  int    // the number of the key that Format uses
	forms  [MaxKeyNumber + 1]form[T]
}

// NewScrambled returns the codec for an entity's integer IDs: decimal, sequence, trace, short, or
// snowflake IDs. Its texts have 16 characters after the prefix. Types of byte IDs do not compile.
//
// The prefix consists of 1 to MaxPrefix lower-case letters, digits, and _; it begins with a letter,
// and does not end with _. Give each entity its own prefix. Texts are formatted with key, and
// parsed with key and all older keys. The error is a [*PrefixError] or a [*KeyError].
func NewScrambled[T interface {
	~int64
	idtype.ID
}](prefix string, key Key, older ...Key) (*Codec[T], error) {
	return newCodec(prefix, scrambledChars, func(k Key) (form[T], error) {
		secret := k.derive(scrambledLabel, prefix)
		own, err := scramble.ParseKey(hex.EncodeToString(secret[:16]))
		if err != nil {
			return nil, err
		}
		network, err := scramble.NewNetwork(scramble.Int63, own)
		return scrambled[T]{network}, err
	}, key, older)
}

// NewEncrypted returns the codec for an entity's IDs, of any type but [idtype.UUID7]. Its texts
// have 29 characters after the prefix. The prefix, the keys, and the errors are the same as for
// [NewScrambled]; the error for a UUID7 is a [*SchemeError].
func NewEncrypted[T idtype.ID](prefix string, key Key, older ...Key) (*Codec[T], error) {
	var zero T
	size := len(idtype.AppendBytes(nil, zero))
	if size == aes.BlockSize {
		return nil, &SchemeError{zero.Scheme()}
	}
	return newCodec(prefix, encryptedChars, func(k Key) (form[T], error) {
		secret := k.derive(encryptedLabel, prefix)
		block, err := aes.NewCipher(secret[:])
		return encrypted[T]{func() cipher.Block { return block }, size}, err
	}, key, older)
}

// A SchemeError is returned by [NewEncrypted] for IDs of 16 bytes. These fill the encrypted block,
// so that nothing would distinguish a genuine text from a made-up one.
type SchemeError struct{ Scheme idtype.Scheme }

func (e *SchemeError) Error() string {
	return fmt.Sprintf("publicid: %s IDs have 16 bytes, which leave no room for a check: "+
		"show them as they are, or use a key of another scheme", e.Scheme)
}

func newCodec[T idtype.ID](
	prefix string, chars int, form func(Key) (form[T], error), key Key, older []Key,
) (*Codec[T], error) {
	if len(prefix) > MaxPrefix || !prefixes.MatchString(prefix) {
		return nil, &PrefixError{prefix}
	}
	c := &Codec[T]{head: prefix + "_", chars: chars, first: key.number}
	c.prefix.addPrefix(prefix)
	secrets := map[[32]byte]bool{}
	for _, k := range append([]Key{key}, older...) {
		if k.secret == nil {
			return nil, &KeyError{"is empty: create it with ParseKey"}
		}
		switch {
		case c.forms[k.number] != nil:
			return nil, &KeyError{fmt.Sprintf("%d is given twice", k.number)}
		case secrets[k.secret()]:
			return nil, &KeyError{fmt.Sprintf("%d has the secret of another number", k.number)}
		}
		secrets[k.secret()] = true
		f, err := form(k)
		if err != nil {
			return nil, fmt.Errorf("publicid: key %d: %w", k.number, err)
		}
		c.forms[k.number] = f
	}
	return c, nil
}

// Prefix returns the prefix of all texts, without the _ after it.
func (c *Codec[T]) Prefix() string { return strings.TrimSuffix(c.head, "_") }

// Len returns the length of every text.
func (c *Codec[T]) Len() int { return len(c.head) + 1 + c.chars + checkChars }

// Pattern returns a regular expression that matches the texts, in the syntax of OpenAPI and
// JavaScript.
func (c *Codec[T]) Pattern() string {
	return fmt.Sprintf("^%s[0-9a-hjkmnp-tv-z]{%d}$", c.head, c.Len()-len(c.head))
}

// Format returns the public text of an ID. Zero and negative numbers have none; for these the error
// is an [*InputError].
func (c *Codec[T]) Format(id T) (string, error) {
	var buf [maxLen]byte
	b, err := c.AppendText(buf[:0], id)
	return string(b), err
}

// AppendText appends the text of Format to b. On error it returns b unchanged.
func (c *Codec[T]) AppendText(b []byte, id T) ([]byte, error) {
	if id.IsZero() {
		return b, c.refuse(quote(id.String()), idtype.ErrZero)
	}
	f := c.forms[c.first]
	if f == nil {
		return b, &KeyError{"is missing: create the codec with NewScrambled or NewEncrypted"}
	}
	w, err := f.seal(id)
	if err != nil {
		return b, c.refuse(quote(id.String()), err)
	}
	sums := c.prefix
	sums.add(byte(c.first))
	b = append(append(b, c.head...), alphabet[c.first])
	start := len(b)
	b = slices.Grow(b, c.chars+checkChars)[:start+c.chars]
	for i := len(b) - 1; i >= start; i-- {
		w, b[i] = w.last()
	}
	for i, x := range b[start:] {
		sums.add(x)
		b[start+i] = alphabet[x]
	}
	u, v := sums.end()
	return append(b, alphabet[u], alphabet[v]), nil
}

// Parse returns the ID from which Format made the text, and accepts nothing else. The error is an
// [*InputError]. It wraps [ErrPrefix] for a wrong prefix, and [ErrCheck] or [ErrKey] if the text
// after the prefix has the right length and alphabet.
func (c *Codec[T]) Parse(s string) (T, error) { return parse(c, s) }

func parse[T idtype.ID, S string | []byte](c *Codec[T], s S) (T, error) {
	id, err := open(c, s)
	if err != nil {
		return id, c.refuse(quote(s), err)
	}
	return id, nil
}

func (c *Codec[T]) refuse(input string, err error) error {
	return &InputError{c.Prefix(), input, err}
}

// open returns the ID, or the most helpful reason. Each ID has exactly one text under each key,
// because the two spare bits of the first character must be zero.
func open[T idtype.ID, S string | []byte](c *Codec[T], s S) (id T, err error) {
	if len(s) < len(c.head) || string(s[:len(c.head)]) != c.head {
		return id, fmt.Errorf("%w: want %s", ErrPrefix, c.head)
	}
	if len(s) != c.Len() {
		const reason = "%d bytes after the prefix, want %d characters"
		return id, fmt.Errorf(reason, len(s)-len(c.head), c.Len()-len(c.head))
	}
	text := s[len(c.head):]
	sums, w, fits := c.prefix, wide{}, true
	for i := range len(text) {
		x := values[text[i]]
		if x == none {
			char, _ := utf8.DecodeRuneInString(string(text[i:]))
			return id, fmt.Errorf("%q at index %d, want 0-9 or a-z without i, l, o, and u",
				string(char), len(c.head)+i)
		}
		sums.add(x)
		if i > 0 && i <= c.chars { // only the last character can overflow
			w, fits = w.with(x)
		}
	}
	if !sums.holds() {
		return id, ErrCheck
	}
	number := values[text[0]]
	f := c.forms[number]
	if f == nil {
		return id, fmt.Errorf("%w: it names key %d", ErrKey, number)
	}
	if fits {
		if id, ok := f.open(w); ok {
			return id, nil
		}
	}
	return id, fmt.Errorf("%w: it does not decode to an ID with key %d", ErrKey, number)
}
