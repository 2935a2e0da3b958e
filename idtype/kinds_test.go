package idtype_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// The typed keys of these tests, in the one line each that the package doc promises.
type (
	User  struct{ ID UserID }
	Order struct{ ID OrderID }
	Event struct {
		ID   EventUUIDID // a key that its own entity is a parameter of
		Blob [1 << 20]byte
	}

	UserID  = idtype.Decimal[User]
	OrderID = idtype.Decimal[Order]

	UserTraceID    = idtype.Trace[User]
	UserShortID    = idtype.Short[User]
	UserSequenceID = idtype.Sequence[User]

	EventEightID  = idtype.EightByte[Event]
	EventBigintID = idtype.EightByte[idtype.AsBigint[Event]]
	EventSnoID    = idtype.Sno[Event]
	EventTextID   = idtype.Sno[idtype.AsText[Event]]
	EventUUIDID   = idtype.Sno[idtype.AsUUID[Event]]
)

// Worked values of docs/design/formats.md.
const (
	published      = 14150009200065      // counter 1415, generator 92, launch 65
	publishedShort = 11093174944930914   // xinaS8QBh
	publishedTrace = 4646428214845635103 // timestamp 16903607, node 24528, bottom 3799583

	eightText   = "5b9bda2989e1989b" // TIME_SEQUENTIAL, 2019
	eightNum    = 0x5b9bda2989e1989b
	eightDigits = "6601109550783371419" // of eightNum
	snoText     = "8fhmi7mfls62jp64"
	snoUUID     = "3866686d-6937-6d66-6c73-36326a703634" // "8fhm" is 38 66 68 6d
	nilUUID     = "00000000-0000-0000-0000-000000000000"

	spread     = idtype.EightByteSpread
	sequential = idtype.EightByteTimeSequential
)

var (
	eightRaw = []byte("\x5b\x9b\xda\x29\x89\xe1\x98\x9b")
	snoRaw   = []byte("\x33\x5f\x48\x16\x8d\x9e\x88\x08\xdc\x82")
)

// A kind is an ID type seen through its bytes, so that one table of inputs serves all types. The
// types are typed keys. A plain ID is the same type with another parameter.
type kind struct {
	name   string // of subtests
	typ    string // in errors
	scheme idtype.Scheme
	form   idtype.Storage
	size   int // in bytes
	reference

	new        func(raw []byte) key    // a pointer to an ID
	orZero     func(raw []byte) column // a pointer to an OrZero of the ID
	bytes      func(raw []byte) []byte // its AppendBytes
	fromBytes  func(b []byte) ([]byte, error)
	parse      func(text string) ([]byte, error)
	must       func(text string) string
	compare    func(a, b []byte) int
	slice      func(raws ...[]byte) (driver.Value, error)              // the Value of a Slice
	scanSlice  func(src any, before []byte) (raws [][]byte, err error) // its Scan
	inDocument func(t *testing.T, raw []byte)                          // testDocument
	ownType    func(t *testing.T)                                      // testScanOwnType
}

// decoder is the set of methods that write an ID.
type decoder interface {
	encoding.TextUnmarshaler
	json.Unmarshaler
	sql.Scanner
	UnmarshalParam(param string) error
}

// writable is a pointer to an ID, as a caller's own generic code would name it.
type writable[T any] interface {
	*T
	decoder
}

// key is what pointers to all IDs have.
type key interface {
	decoder
	fmt.Stringer
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.BinaryMarshaler
	Validate() error
	Scheme() idtype.Scheme
	Storage() idtype.Storage
	column
}

// column is what pointers to all IDs, and to OrZero of one, have.
type column interface {
	driver.Valuer
	sql.Scanner
	json.Marshaler
	json.Unmarshaler
	IsZero() bool
	GormDataType() string
}

const (
	asBigint = idtype.StorageBigint
	asBytes  = idtype.StorageBytes
	asText   = idtype.StorageText
	asUUID   = idtype.StorageUUID
)

//idmint:keys kinds []kind: kindOf(idtype.Parse[KEY[User]], idtype.MustParse[KEY[User]], idtype.Compare[KEY[User]])
var (
	short     = kindNamed("ShortID as bigint")
	integers  = kindsThat(kind.isInteger) // IDs of 63 bits
	byteKinds = kindsThat(func(k kind) bool { return !k.isInteger() })
	ofChars   = kindsThat(func(k kind) bool { return !k.isInteger() && k.size < 16 }) // 16 of them
)

func kindsThat(are func(kind) bool) (those []kind) {
	for _, k := range kinds {
		if are(k) {
			those = append(those, k)
		}
	}
	return those
}

func kindNamed(name string) kind {
	return kindsThat(func(k kind) bool { return k.name == name })[0]
}

// kindOf is the kind of a typed key T. P is a pointer to it.
func kindOf[T idtype.ID, P writable[T]](
	parse func(string) (T, error), must func(string) T, compare func(a, b T) int,
) kind {
	var zero T
	size, facts := len(rawOf(zero)), schemes.Of(zero.Scheme())
	typ, form := facts.Text.Name, zero.Storage()
	return kind{
		name: typ + " as " + string(form), typ: typ, form: form, size: size,
		scheme: zero.Scheme(), reference: referenceOf(facts),
		new: func(raw []byte) key {
			id := P(new(T))
			*id = of[T](raw)
			return any(id).(key)
		},
		orZero: func(raw []byte) column { return &idtype.OrZero[T]{ID: of[T](raw)} },
		bytes: func(raw []byte) []byte {
			return idtype.AppendBytes([]byte(">"), of[T](raw))
		},
		fromBytes: func(b []byte) ([]byte, error) {
			id, err := idtype.FromBytes[T](b)
			return rawOf(id), err
		},
		parse: func(text string) ([]byte, error) {
			id, err := parse(text)
			if err != nil && !id.IsZero() { // which a caller who ignores the error would use
				panic("an ID beside an error")
			}
			return rawOf(id), err
		},
		must:    func(text string) string { return must(text).String() },
		compare: func(a, b []byte) int { return compare(of[T](a), of[T](b)) },
		slice: func(raws ...[]byte) (driver.Value, error) {
			var s idtype.Slice[T]
			for _, raw := range raws {
				s = append(s, of[T](raw))
			}
			return s.Value()
		},
		scanSlice: func(src any, before []byte) (raws [][]byte, err error) {
			s := idtype.Slice[T]{of[T](before)}
			err = s.Scan(src)
			for _, id := range s {
				raws = append(raws, rawOf(id))
			}
			return raws, err
		},
		inDocument: func(t *testing.T, raw []byte) { testDocument(t, of[T](raw)) },
		ownType: func(t *testing.T) {
			id, before := make([]byte, size), make([]byte, size)
			id[size-1], before[5] = 6, 1
			testScanOwnType(t, typ, of[T](id), of[T](before))
		},
	}
}

// of is the ID of bytes, without the help of its methods.
func of[T any](raw []byte) (id T) {
	v := reflect.ValueOf(&id).Elem()
	switch {
	case v.Kind() == reflect.Int64:
		v.SetInt(int64(binary.BigEndian.Uint64(raw)))
	case reflect.Copy(v, reflect.ValueOf(raw)) != v.Len():
		panic(fmt.Sprintf("%T of %d bytes", id, len(raw)))
	}
	return id
}

// rawOf is the inverse of of. It takes an OrZero of an ID, and a pointer to either, too.
func rawOf(id any) []byte {
	v := reflect.ValueOf(id)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		v = v.Field(0)
	}
	if v.Kind() == reflect.Int64 {
		return bigEndian(v.Int())
	}
	raw := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(raw), v)
	return raw
}

func bigEndian(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// eachKind runs a test of what all types share.
func eachKind(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

func (k kind) zero() []byte { return make([]byte, k.size) }

// isInteger tells the IDs of 63 bits, of which negative numbers are none.
func (k kind) isInteger() bool { return schemes.Of(k.scheme).Size == 0 }

// before is what a receiver holds when a decoder is about to fail: not zero, so that a decoder that
// clears is seen.
func (k kind) before() []byte {
	if k.isInteger() {
		return bytes.Repeat([]byte{0x37}, k.size)
	}
	return bytes.Repeat([]byte{0xb7}, k.size)
}

// failing is what a test and a property have in common.
type failing interface {
	Helper()
	Fatalf(string, ...any)
}

// wantUntouched fails unless the receiver of a decoder that failed is as it was.
func (k kind) wantUntouched(t failing, id any) {
	t.Helper()
	if !bytes.Equal(rawOf(id), k.before()) {
		t.Fatalf("%s: receiver %T is %x after an error, want it untouched", k.name, id, rawOf(id))
	}
}

// domain are the bytes at which a codec could change its mind. Those of integers are the numbers of
// domain. Those of others are each bit alone, and alone missing; each value of a character in all
// places; the ends.
func (k kind) domain() (all [][]byte) {
	if k.isInteger() {
		for _, v := range domain() {
			all = append(all, bigEndian(v))
		}
		return all
	}
	bits := k.size * 8
	ones := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
	add := func(v *big.Int) { all = append(all, v.FillBytes(k.zero())) }
	add(ones)
	for i := range bits {
		bit := new(big.Int).Lsh(big.NewInt(1), uint(i))
		add(bit)
		add(new(big.Int).Xor(ones, bit))
	}
	for _, c := range k.alphabet[1:] {
		all = append(all, k.read(k.filled(byte(c))))
	}
	return all
}

// draw draws an ID: any, or a special one.
func (k kind) draw(t *rapid.T, label string) []byte {
	if k.isInteger() {
		return bigEndian(drawID(t))
	}
	if rapid.Bool().Draw(t, label+" special") {
		return rapid.SampledFrom(k.domain()).Draw(t, label)
	}
	raw := rapid.SliceOfN(rapid.Byte(), k.size, k.size).Draw(t, label)
	if isZero(raw) {
		raw[0] = 1
	}
	return raw
}

func isZero(raw []byte) bool { return len(bytes.Trim(raw, "\x00")) == 0 }

// wantInputError fails unless err is an *InputError of the type typ that shows the input, quoted,
// and wraps reason, if there is one. An empty input is not looked for.
func wantInputError(t *testing.T, err error, typ, input string, reason error) {
	t.Helper()
	var e *idtype.InputError
	if !errors.As(err, &e) {
		t.Fatalf("error is %#v, want an *InputError", err)
	}
	if e.Type != typ || e.Err == nil {
		t.Errorf("error is of %q, %v, want one of %q", e.Type, e.Err, typ)
	}
	if reason != nil && !errors.Is(err, reason) {
		t.Errorf("error is %q, want one that wraps %q", err, reason)
	}
	msg := err.Error()
	if !strings.HasPrefix(msg, "idtype: ") || strings.Count(msg, "idtype: ") != 1 {
		t.Errorf("error is %q, want the package's name in front, once", msg)
	}
	// It is quoted, so that spaces and control characters are seen. Of a long one there is the size.
	quoted := strconv.Quote(input)
	if len(input) > 64 {
		quoted = "(" + strconv.Itoa(len(input)) + " bytes)"
	}
	if !strings.Contains(msg, typ) || input != "" && !strings.Contains(msg, quoted) {
		t.Errorf("error is %q, want %q and %s in it", msg, typ, quoted)
	}
	if len(msg) > 1000 { // an error is logged: a megabyte of input must not be
		t.Errorf("error has %d bytes: %.100s", len(msg), msg)
	}
}

// wantRangeError fails unless err is a *RangeError about the part, with a value that is outside the
// bounds it states.
func wantRangeError(t failing, err error, typ, part string) {
	t.Helper()
	var e *idtype.RangeError
	if !errors.As(err, &e) || e.Part != part || e.Type != typ || e.Min <= e.Value && e.Value <= e.Max {
		t.Fatalf("error is %v, want a *RangeError of %s of %s", err, part, typ)
	}
	want := fmt.Sprintf("idtype: %s: %s %d is outside %d..%d", typ, part, e.Value, e.Min, e.Max)
	if err.Error() != want {
		t.Fatalf("error is %q, want %q", err, want)
	}
}
