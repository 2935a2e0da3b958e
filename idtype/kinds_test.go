package idtype_test

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// A kind is an ID type of 63 bits, seen through its number, so that one table of inputs serves all of these types. The types
// are typed keys; a plain ID is the same type with another parameter.
type kind struct {
	name   string // in errors
	digits bool   // whether its text is decimal digits

	// Slow references of String and of Parse.
	text     func(v int64) string
	refParse func(text string) (int64, bool)

	new        func(v int64) key    // a pointer to an ID
	orZero     func(v int64) column // a pointer to an OrZero of the ID
	parse      func(text string) (int64, error)
	parseTyped func(text string) (int64, error)
	compare    func(a, b int64) int
}

// key is what pointers to all IDs have.
type key interface {
	decoder
	fmt.Stringer
	AppendText(b []byte) ([]byte, error)
	MarshalText() ([]byte, error)
	AppendBinary(b []byte) ([]byte, error)
	MarshalBinary() ([]byte, error)
	Validate() error
	Scheme() idtype.Scheme
	column
}

// column is what pointers to all IDs, and to OrZero of one, have.
type column interface {
	driver.Valuer
	sql.Scanner
	MarshalJSON() ([]byte, error)
	UnmarshalJSON(data []byte) error
	IsZero() bool
	GormDataType() string
}

var kinds = []kind{
	kindOf[UserID]("DecimalID", plain(idtype.ParseDecimalID), refDigits, refParseDigits),
	kindOf[UserTraceID]("TraceID", plain(idtype.ParseTraceID), refDigits, refParseDigits),
	kindOf[UserShortID]("ShortID", plain(idtype.ParseShortID), refShortText, refShortParse),
	kindOf[UserSequenceID]("SequenceID", plain(idtype.ParseSequenceID), refDigits, refParseDigits),
}

type int63[T any] interface {
	~int64
	idtype.ID
	Compare(T) int
}

func kindOf[T int63[T], P writable[T]](
	name string, parse func(string) (int64, error), text func(int64) string, refParse func(string) (int64, bool),
) kind {
	return kind{
		name: name, digits: text(1) == "1", text: text, refParse: refParse,
		new: func(v int64) key {
			id := P(new(T))
			*id = T(v)
			return any(id).(key)
		},
		orZero:     func(v int64) column { return &idtype.OrZero[T]{ID: T(v)} },
		parse:      parse,
		parseTyped: plain(idtype.Parse[T, P]),
		compare:    func(a, b int64) int { return T(a).Compare(T(b)) },
	}
}

// plain fails what a caller who ignores the error would use.
func plain[T ~int64](parse func(string) (T, error)) func(string) (int64, error) {
	return func(text string) (int64, error) {
		id, err := parse(text)
		if err != nil && id != 0 {
			panic("an ID beside an error")
		}
		return int64(id), err
	}
}

// number is that of the ID behind the pointer, or of the one in an OrZero.
func number(id column) int64 {
	v := reflect.ValueOf(id).Elem()
	if v.Kind() == reflect.Struct {
		v = v.Field(0)
	}
	return v.Int()
}

// eachKind runs a test of what all types share.
func eachKind(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}
