package idtype

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Scheme is the name of an ID scheme, as the command line and error messages use it.
type Scheme string

// ID is implemented by all ID types of this package, typed keys included, and by no other types.
type ID interface {
	comparable
	fmt.Stringer
	driver.Valuer
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.BinaryAppender
	encoding.BinaryMarshaler
	json.Marshaler

	// IsZero reports whether the ID is zero, which means "not assigned".
	IsZero() bool
	// Validate checks the value against the scheme's layout.
	Validate() error
	// Scheme returns the name of the scheme.
	Scheme() Scheme
	// Storage returns the form in which a column holds the ID.
	Storage() Storage

	// GormDataType returns the column's data type, as GORM names it.
	GormDataType() string

	// none returns the value that a column of [OrZero] holds for zero. Drivers return this value in
	// many forms, and isNone recognizes them all.
	none() driver.Value
	isNone(src any) bool
}

// pointer is the set of methods that set an ID of type T.
type pointer[T any] interface {
	*T
	sql.Scanner
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	UnmarshalParam(param string) error
}

// is compiles only for types that have all methods of an ID.
func is[T self[T], P pointer[T]]() {}

// self is the set of methods of an ID that involve its own type.
type self[T any] interface {
	ID
	parsed(text string) (T, error)
	compare(other T) int
}

// Parse reads an ID of any type from the text that its String method returns: Parse[UserID](s). It
// is strict, and rejects signs, spaces, leading zeros, upper case in place of lower case, and
// anything else that would not be written back the same. It accepts the whole domain; Validate
// checks the layout. The error is an [*InputError]. Code that is generic over IDs calls
// UnmarshalText instead.
func Parse[T self[T]](s string) (T, error) {
	var zero T
	return zero.parsed(s)
}

// MustParse is like [Parse] but panics if s is not an ID. It is meant for literals and tests.
func MustParse[T self[T]](s string) T { return must(Parse[T](s)) }

// AppendBytes appends the bytes of an ID. Unlike AppendBinary, it also accepts zero.
func AppendBytes[T ID](b []byte, id T) []byte {
	if out, err := id.AppendBinary(b); err == nil {
		return out
	}
	v := reflect.ValueOf(id)
	if v.CanInt() {
		return binary.BigEndian.AppendUint64(b, uint64(v.Int()))
	}
	return append(b, make([]byte, v.Len())...)
}

// FromBytes returns the ID that MarshalBinary encoded as b. It checks the length, and rejects zero
// and negative numbers. The error is an [*InputError].
func FromBytes[T ID](b []byte) (id T, err error) {
	err = any(&id).(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
	return id, err
}

// FromInt64 converts a number from a message, a file, or another library to an ID. An example is a
// field of Protocol Buffers, which reads as 0 if it is absent. FromInt64 accepts the same numbers
// as Scan: old rows that do not follow the layout are allowed, but zero and negative numbers are
// not. The error is an [*InputError].
func FromInt64[T interface {
	~int64
	ID
}](n int64) (T, error) {
	err := checkInt63(n)
	if err == nil {
		return T(n), nil
	}
	if err == ErrZero {
		err = errAbsent
	}
	input := strconv.Quote(strconv.FormatInt(n, 10))
	return 0, &InputError{Type: nameOf[T](), Input: input, Err: err}
}

// Compare orders IDs as a column of integers or bytes does: slices.SortFunc(ids, idtype.Compare).
// This is the order of time for schemes whose IDs ascend with time. For other columns see [AsText],
// [AsUUID], and [AsBigint].
func Compare[T self[T]](a, b T) int { return a.compare(b) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// set returns a function that stores a decoded value, unless decoding failed.
func set[T ~int64](dst *T) func(int64, error) error {
	return func(v int64, err error) error {
		if err == nil {
			*dst = T(v)
		}
		return err
	}
}
