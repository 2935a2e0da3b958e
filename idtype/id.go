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

// ID is what all ID types of this package have in common, typed keys included. Only types of this
// package satisfy it.
type ID interface {
	comparable
	fmt.Stringer
	driver.Valuer
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.BinaryAppender
	encoding.BinaryMarshaler
	json.Marshaler

	// IsZero reports whether no ID was assigned.
	IsZero() bool
	// Validate checks the value against the scheme's layout.
	Validate() error
	// Scheme is the name of the scheme.
	Scheme() Scheme
	// Storage is the form in which a column holds the ID.
	Storage() Storage

	// GormDataType is the type of the column in GORM's words.
	GormDataType() string

	// none is what a column of [OrZero] holds for zero. It has many forms: isNone knows each that a
	// driver gives.
	none() driver.Value
	isNone(src any) bool
}

// pointer is the set of methods through which an ID of type T is written.
type pointer[T any] interface {
	*T
	sql.Scanner
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	UnmarshalParam(param string) error
}

// is compiles for the types that have all that an ID has.
func is[T self[T], P pointer[T]]() {}

// self is what an ID does with its own type.
type self[T any] interface {
	ID
	parsed(text string) (T, error)
	compare(other T) int
}

// Parse reads an ID of any type from the text that its String writes, and nothing else:
// Parse[UserID](s). It refuses signs, spaces, leading zeros, upper case where the text is lower, and
// whatever else would not be written back the same. It takes the whole domain: Validate checks the
// layout. The error is an [*InputError]. Code that is generic over IDs calls UnmarshalText.
func Parse[T self[T]](s string) (T, error) {
	var zero T
	return zero.parsed(s)
}

// MustParse is [Parse] for literals and tests: it panics on an error.
func MustParse[T self[T]](s string) T { return must(Parse[T](s)) }

// AppendBytes appends the bytes of an ID, and of zero as well. For an ID they are those of its
// AppendBinary.
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

// FromBytes is the ID of the bytes that MarshalBinary wrote. It checks their number, and refuses
// zero and negative numbers. The error is an [*InputError].
func FromBytes[T ID](b []byte) (id T, err error) {
	err = any(&id).(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
	return id, err
}

// FromInt64 is the ID of a number that a message, a file or another library holds, such as a field of
// Protocol Buffers, where one that is absent reads as 0. It takes what Scan takes: old rows that do
// not follow the layout, and neither zero nor negative numbers. The error is an [*InputError].
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
	return 0, &InputError{Type: nameOf[T](), Input: strconv.Quote(strconv.FormatInt(n, 10)), Err: err}
}

// Compare orders IDs as a column does that holds them as integers or bytes: slices.SortFunc(ids,
// idtype.Compare). That is by time, for schemes whose IDs ascend with it. For other columns see
// [AsText], [AsUUID] and [AsBigint].
func Compare[T self[T]](a, b T) int { return a.compare(b) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// set stores a decoded value unless decoding failed.
func set[T ~int64](dst *T) func(int64, error) error {
	return func(v int64, err error) error {
		if err == nil {
			*dst = T(v)
		}
		return err
	}
}
