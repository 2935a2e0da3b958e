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

// MaxPrefix is how many characters a prefix may have.
const MaxPrefix = 32

// maxLen is how long a text may be.
const maxLen = MaxPrefix + 1 + 1 + encryptedChars + checkChars

var prefixes = regexp.MustCompile(`^[a-z]([a-z0-9_]*[a-z0-9])?$`)

// Codec writes and reads the public form of IDs of type T. It is immutable, and safe for use by
// many goroutines. The zero value has no key, and takes nothing.
type Codec[T idtype.ID] struct {
	head   string // the prefix and the _ behind it
	prefix check  // the check's sums over the prefix
	chars  int    // how many spell the number
	first  int    // the number of the key that formats
	forms  [MaxKeyNumber + 1]form[T]
}

// NewScrambled makes the codec of an entity's integer IDs: decimal, sequence, trace or short ones.
// Its texts have 16 characters behind the prefix. IDs of bytes do not compile.
//
// The prefix has 1 to MaxPrefix characters: letters in lower case and digits, and _ between them.
// It begins with a letter. Give each entity one of its own. Texts are made with the first key, and
// read with all. The error is a [*PrefixError] or a [*KeyError].
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

// NewEncrypted makes the codec of an entity's IDs, of any type. Its texts have 29 characters behind
// the prefix. Prefix, keys and errors are those of [NewScrambled].
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

// A SchemeError is returned by [NewEncrypted] for IDs of 16 bytes. They fill the block that is
// encrypted, so nothing in it would tell a text from one that somebody made up.
type SchemeError struct{ Scheme idtype.Scheme }

func (e *SchemeError) Error() string {
	return fmt.Sprintf("publicid: %s IDs have 16 bytes, which leave no room for a check: "+
		"show them as they are, or take another key", e.Scheme)
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
			return nil, &KeyError{"is empty: ParseKey makes one"}
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

// Prefix is the prefix of all texts, without the _ behind it.
func (c *Codec[T]) Prefix() string { return strings.TrimSuffix(c.head, "_") }

// Len is the length of every text.
func (c *Codec[T]) Len() int { return len(c.head) + 1 + c.chars + checkChars }

// Pattern is a regular expression for the texts, as OpenAPI and JavaScript read it.
func (c *Codec[T]) Pattern() string {
	return fmt.Sprintf("^%s[0-9a-hjkmnp-tv-z]{%d}$", c.head, c.Len()-len(c.head))
}

// Format is the public text of an ID. Zero and negative numbers have none. The error is an
// [*InputError].
func (c *Codec[T]) Format(id T) (string, error) {
	var buf [maxLen]byte
	b, err := c.AppendText(buf[:0], id)
	return string(b), err
}

// AppendText appends the text of Format. On an error it returns b as it was.
func (c *Codec[T]) AppendText(b []byte, id T) ([]byte, error) {
	if id.IsZero() {
		return b, c.refuse(quote(id.String()), idtype.ErrZero)
	}
	f := c.forms[c.first]
	if f == nil {
		return b, &KeyError{"is missing: NewScrambled and NewEncrypted make codecs"}
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

// Parse is the ID that Format made the text of. It takes nothing else. The error is an
// [*InputError]. It wraps [ErrPrefix], [ErrCheck] or [ErrKey] where the text is at least of the
// right length and alphabet behind its prefix.
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

// open returns the ID, or the reason that helps most. Each ID has one text under each key. It is so
// because the first character has two bits to spare, which must be zero.
func open[T idtype.ID, S string | []byte](c *Codec[T], s S) (id T, err error) {
	if len(s) < len(c.head) || string(s[:len(c.head)]) != c.head {
		return id, fmt.Errorf("%w: want %s", ErrPrefix, c.head)
	}
	if len(s) != c.Len() {
		const reason = "%d bytes behind the prefix, want %d characters"
		return id, fmt.Errorf(reason, len(s)-len(c.head), c.Len()-len(c.head))
	}
	text := s[len(c.head):]
	sums, w, fits := c.prefix, wide{}, true
	for i := range len(text) {
		x := values[text[i]]
		if x == none {
			char, _ := utf8.DecodeRuneInString(string(text[i:]))
			return id, fmt.Errorf("%q at index %d, want 0-9 or a-z without i, l, o and u",
				string(char), len(c.head)+i)
		}
		sums.add(x)
		if i > 0 && i <= c.chars { // none but the last one can be too much
			w, fits = w.with(x)
		}
	}
	if !sums.holds() {
		return id, ErrCheck
	}
	number := values[text[0]]
	f := c.forms[number]
	if f == nil {
		return id, fmt.Errorf("%w: its key is number %d", ErrKey, number)
	}
	if fits {
		if id, ok := f.open(w); ok {
			return id, nil
		}
	}
	return id, fmt.Errorf("%w: key %d opens it to no ID", ErrKey, number)
}
