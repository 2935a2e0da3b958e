package idtype_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
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
	parse      func(text string) ([]byte, error)
	parseTyped func(text string) ([]byte, error)
	compare    func(a, b []byte) int
	slice      func(raws ...[]byte) (driver.Value, error)              // the Value of a Slice
	scanSlice  func(src any, before []byte) (raws [][]byte, err error) // its Scan
	// testDocument, of typed and plain ID
	inDocument func(t *testing.T, text string)
	ownType    func(t *testing.T) // testScanOwnType
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
	Storage() idtype.Storage
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

const (
	asBigint = idtype.StorageBigint
	asBytes  = idtype.StorageBytes
	asText   = idtype.StorageText
	asUUID   = idtype.StorageUUID
)

var kinds = []kind{
	kindOf[UserID]("DecimalID", idtype.SchemeDecimal, asBigint, digits, idtype.ParseDecimalID),
	kindOf[UserTraceID]("TraceID", idtype.SchemeTrace, asBigint, digits, idtype.ParseTraceID),
	kindOf[UserShortID]("ShortID", idtype.SchemeShort, asBigint, shortTexts, idtype.ParseShortID),
	kindOf[UserSequenceID](
		"SequenceID", idtype.SchemeSequence, asBigint, digits, idtype.ParseSequenceID,
	),
	kindOf[EventEightID](
		"EightByteID", idtype.SchemeEightByte, asBytes, base16, idtype.ParseEightByteID,
	),
	kindOf[EventBigintID](
		"EightByteID", idtype.SchemeEightByte, asBigint, base16, idtype.ParseEightByteID,
	),
	kindOf[EventSnoID]("SnoID", idtype.SchemeSno, asBytes, base32, idtype.ParseSnoID),
	kindOf[EventTextID]("SnoID", idtype.SchemeSno, asText, base32, idtype.ParseSnoID),
	kindOf[EventUUIDID]("SnoID", idtype.SchemeSno, asUUID, base32, idtype.ParseSnoID),
}

var (
	short     = kindNamed("ShortID as bigint")
	integers  = kindsThat(kind.isInteger) // IDs of 63 bits
	byteKinds = kindsThat(func(k kind) bool { return !k.isInteger() })
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

type ordered[T any] interface {
	idtype.ID
	Compare(T) int
}

// kindOf is the kind of a typed key T. P is a pointer to it, and S the plain ID of its scheme.
func kindOf[T ordered[T], P writable[T], S ordered[S], Q writable[S]](
	typ string, scheme idtype.Scheme, form idtype.Storage, ref reference,
	parse func(string) (S, error),
) kind {
	size := len(rawOf(*new(T)))
	return kind{
		name: typ + " as " + string(form), typ: typ, scheme: scheme, form: form, size: size,
		reference: ref,
		new: func(raw []byte) key {
			id := P(new(T))
			*id = of[T](raw)
			return any(id).(key)
		},
		orZero:     func(raw []byte) column { return &idtype.OrZero[T]{ID: of[T](raw)} },
		parse:      plain(parse),
		parseTyped: plain(idtype.Parse[T, P]),
		compare:    func(a, b []byte) int { return of[T](a).Compare(of[T](b)) },
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
		inDocument: func(t *testing.T, text string) {
			t.Run("typed", func(t *testing.T) { testDocument[T, P](t, text) })
			t.Run("plain", func(t *testing.T) { testDocument[S, Q](t, text) })
		},
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

// plain fails what a caller who ignores the error would use.
func plain[T idtype.ID](parse func(string) (T, error)) func(string) ([]byte, error) {
	return func(text string) ([]byte, error) {
		id, err := parse(text)
		if err != nil && !id.IsZero() {
			panic("an ID beside an error")
		}
		return rawOf(id), err
	}
}

// eachKind runs a test of what all types share.
func eachKind(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

func (k kind) zero() []byte { return make([]byte, k.size) }

// isInteger tells the IDs of 63 bits, of which negative numbers are none.
func (k kind) isInteger() bool {
	return k.scheme != idtype.SchemeEightByte && k.scheme != idtype.SchemeSno
}

// before is what a receiver holds when a decoder is about to fail: not zero, so that a decoder that
// clears is seen.
func (k kind) before() []byte {
	if k.isInteger() {
		return bytes.Repeat([]byte{0x37}, k.size)
	}
	return bytes.Repeat([]byte{0xb7}, k.size)
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
		all = append(all, k.read(strings.Repeat(string(c), 16)))
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
