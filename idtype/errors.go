package idtype

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrZero is wrapped by every error about an ID that is zero, which means "not assigned".
	ErrZero = errors.New("zero means not assigned")

	// errUnset is ErrZero for methods that write an ID, and errUnsetColumn for a driver. Both name
	// the likely causes.
	errUnset = fmt.Errorf("%w: set the ID first, "+
		"or declare an optional one as OrZero or sqlid.Null", ErrZero)
	errUnsetColumn = fmt.Errorf("%w (in GORM, a rule of gormid sets a primary key, after db.Use)",
		errUnset)

	// errNone is ErrZero for Scan.
	errNone = fmt.Errorf("%w: scan a column where 0 means none into OrZero of this type", ErrZero)

	// ErrNull is wrapped by the error of Scan for NULL.
	ErrNull = errors.New("NULL: scan into sql.Null of this type, or into a pointer to it")

	errSyntax = errors.New("not a plain decimal number: " +
		"digits only, without sign, spaces or leading zeros")
	errOverflow = errors.New("above the largest ID, 9223372036854775807")
	errNegative = errors.New("IDs must be positive")
	errJSON     = errors.New("want digits only, as a string or an exact integer")
	errRounded  = errors.New("a number above 9007199254740991 may have been rounded on its way: " +
		"send the ID as a string (AsInt64 is for clients that do not round)")
	errAbsent = fmt.Errorf("%w: a field that is absent reads as 0: "+
		"declare it optional, and skip it if it is absent", ErrZero)
	errBinary = errors.New("want 8 bytes")
	errGoType = errors.New("want int64, uint64, string, []byte, or the ID's own type")

	errQuoted    = errors.New("the text is in double quotes: remove them")
	errSliceType = errors.New("want a JSON array as string or []byte")
)

// An InputError is returned by every decoder, and by Value, for an input that is not an ID.
type InputError struct {
	Type  string // the ID type, such as "DecimalID"
	Input string // the input, quoted, and cut if it is long
	Err   error  // the reason
}

func (e *InputError) Error() string {
	return "idtype: " + e.Input + " as " + e.Type + ": " + bare(e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// bare returns an error's text without the package name, which Error writes once, at the front.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "idtype: ") }

// A RangeError is returned if a part of an ID is outside its layout.
type RangeError struct {
	Type     string // the ID type, such as "DecimalID"
	Part     string // the name of the part, as in JSON
	Value    int64  // the value that was given
	Min, Max int64  // the limits of the layout, inclusive
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("idtype: %s: %s %d is outside %d..%d", e.Type, e.Part, e.Value, e.Min, e.Max)
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
