package publicid

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrPrefix is wrapped if a text does not begin with the codec's prefix.
	ErrPrefix = errors.New("wrong prefix")

	// ErrCheck is wrapped if the text has the right form, but some characters are wrong.
	ErrCheck = errors.New("wrong character: the last two do not match the others")

	// ErrKey is wrapped if a text was not made with any of the codec's keys.
	ErrKey = errors.New("not made with a key of this codec")
)

// An InputError is returned for a text that is not a public ID of the codec, and for an ID without
// a public form: zero, which wraps [idtype.ErrZero], and negative numbers.
type InputError struct {
	Prefix string // the codec's prefix
	Input  string // the input, quoted, and cut if it is long
	Err    error  // the reason
}

func (e *InputError) Error() string {
	return "publicid: " + e.Input + " as " + e.Prefix + " ID: " + bare(e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// bare returns an error's text without the package name, if that is one of this module's packages.
func bare(err error) string {
	text := strings.TrimPrefix(err.Error(), "scramble: ")
	return strings.TrimPrefix(text, "idtype: ")
}

// A PrefixError is returned for a prefix that texts cannot have.
type PrefixError struct {
	Prefix string
}

func (e *PrefixError) Error() string {
	return fmt.Sprintf("publicid: prefix %s: must be 1 to %d characters of a-z, 0-9, and _, "+
		"begin with a letter, and not end with _", quote(e.Prefix), MaxPrefix)
}

// A KeyError is returned by [ParseKey], and for keys that cannot be used together. It does not
// quote the key, because errors are logged.
type KeyError struct {
	Reason string
}

func (e *KeyError) Error() string { return "publicid: key " + e.Reason }

// A SourceError is returned by an [ID] whose [Source] has no codec yet.
type SourceError struct {
	Source string // the Go type
}

func (e *SourceError) Error() string {
	return "publicid: " + e.Source + " has no codec: create it before writing or reading an ID"
}

// maxQuoted limits how much of the input an error quotes, because the input may be a megabyte long,
// or an attack on a log.
const maxQuoted = 64

func quote[S string | []byte](s S) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(string(s))
	}
	return fmt.Sprintf("%q… (%d bytes)", string(s[:maxQuoted]), len(s))
}
