package publicid

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrPrefix is wrapped where a text does not begin with the codec's prefix.
	ErrPrefix = errors.New("another prefix")

	// ErrCheck is wrapped where the text is of the right form, but some characters are wrong.
	ErrCheck = errors.New("a wrong character: the last two do not fit the others")

	// ErrKey is wrapped where a text was not made with any of the codec's keys.
	ErrKey = errors.New("not made with a key of this codec")
)

// An InputError is returned for a text that is no public ID of the codec. It is also returned for
// an ID that has no public form: zero, which wraps [idtype.ErrZero], and negative numbers.
type InputError struct {
	Prefix string // the codec's prefix
	Input  string // the input, quoted, and cut where it is long
	Err    error  // the reason
}

func (e *InputError) Error() string {
	return "publicid: " + e.Input + " as " + e.Prefix + " ID: " + bare(e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// bare returns an error's text without the name of a package of this module.
func bare(err error) string {
	text := strings.TrimPrefix(err.Error(), "scramble: ")
	return strings.TrimPrefix(text, "idtype: ")
}

// A PrefixError is returned for a prefix that cannot stand in a text.
type PrefixError struct {
	Prefix string
}

func (e *PrefixError) Error() string {
	return fmt.Sprintf("publicid: prefix %s: want 1 to %d of a-z, 0-9 and _ between them, and a "+
		"letter in front", quote(e.Prefix), MaxPrefix)
}

// A KeyError is returned by [ParseKey], and for keys that cannot stand together. It does not quote
// the key: errors are logged.
type KeyError struct {
	Reason string
}

func (e *KeyError) Error() string { return "publicid: key " + e.Reason }

// A SourceError is returned by an [ID] whose [Source] has no codec yet.
type SourceError struct {
	Source string // the Go type
}

func (e *SourceError) Error() string {
	return "publicid: " + e.Source + " has no codec: make it before an ID is written or read"
}

// maxQuoted bounds the input in an error: the input may be a megabyte, or an attack on a log.
const maxQuoted = 64

func quote[S string | []byte](s S) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(string(s))
	}
	return fmt.Sprintf("%q… (%d bytes)", string(s[:maxQuoted]), len(s))
}
