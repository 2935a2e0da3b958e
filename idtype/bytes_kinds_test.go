package idtype_test

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// The typed keys of the byte IDs, in each form that a column can hold them in.
type (
	Event struct {
		ID   EventUUIDID // a key that its own entity is a parameter of
		Blob [1 << 20]byte
	}

	EventEightID  = idtype.EightByte[Event]
	EventBigintID = idtype.EightByte[idtype.AsBigint[Event]]
	EventSnoID    = idtype.Sno[Event]
	EventTextID   = idtype.Sno[idtype.AsText[Event]]
	EventUUIDID   = idtype.Sno[idtype.AsUUID[Event]]
)

// A byteKind is a type of byte IDs, seen through its bytes, so that one table of inputs serves them all.
type byteKind struct {
	name     string // of the Go type
	typ      string // in errors
	scheme   idtype.Scheme
	size     int
	alphabet string
	form     idtype.Storage

	new        func(raw []byte) key    // a pointer to an ID
	orZero     func(raw []byte) column // a pointer to an OrZero of the ID
	parse      func(text string) ([]byte, error)
	parseTyped func(text string) ([]byte, error)
	compare    func(a, b []byte) int
	storage    func() idtype.Storage
	slice      func(raws ...[]byte) (driver.Value, error)              // the Value of a Slice
	scanSlice  func(src any, before []byte) (raws [][]byte, err error) // its Scan
}

const (
	hexAlphabet = "0123456789abcdef"
	snoAlphabet = "23456789abcdefghijklmnopqrstuvwx"
)

var byteKinds = []byteKind{
	byteKindOf[EventEightID]("EightByteID", idtype.SchemeEightByte, hexAlphabet, idtype.StorageBytes, plainBytes(idtype.ParseEightByteID)),
	byteKindOf[EventBigintID]("EightByteID", idtype.SchemeEightByte, hexAlphabet, idtype.StorageBigint, plainBytes(idtype.ParseEightByteID)),
	byteKindOf[EventSnoID]("SnoID", idtype.SchemeSno, snoAlphabet, idtype.StorageBytes, plainBytes(idtype.ParseSnoID)),
	byteKindOf[EventTextID]("SnoID", idtype.SchemeSno, snoAlphabet, idtype.StorageText, plainBytes(idtype.ParseSnoID)),
	byteKindOf[EventUUIDID]("SnoID", idtype.SchemeSno, snoAlphabet, idtype.StorageUUID, plainBytes(idtype.ParseSnoID)),
}

type byteID[T any] interface {
	idtype.ID
	Compare(T) int
}

func byteKindOf[T byteID[T], P writable[T]](
	typ string, scheme idtype.Scheme, alphabet string, form idtype.Storage, parse func(string) ([]byte, error),
) byteKind {
	of := func(raw []byte) (id T) {
		if reflect.Copy(reflect.ValueOf(&id).Elem(), reflect.ValueOf(raw)) != reflect.TypeFor[T]().Len() {
			panic(fmt.Sprintf("%T of %d bytes", id, len(raw)))
		}
		return id
	}
	return byteKind{
		name: strings.TrimPrefix(reflect.TypeFor[T]().String(), "idtype."), typ: typ, scheme: scheme,
		size: reflect.TypeFor[T]().Len(), alphabet: alphabet, form: form,
		new: func(raw []byte) key {
			id := P(new(T))
			*id = of(raw)
			return any(id).(key)
		},
		orZero:     func(raw []byte) column { return &idtype.OrZero[T]{ID: of(raw)} },
		parse:      parse,
		parseTyped: plainBytes(idtype.Parse[T, P]),
		compare:    func(a, b []byte) int { return of(a).Compare(of(b)) },
		storage:    func() idtype.Storage { return of(make([]byte, reflect.TypeFor[T]().Len())).Storage() },
		slice: func(raws ...[]byte) (driver.Value, error) {
			var s idtype.Slice[T]
			for _, raw := range raws {
				s = append(s, of(raw))
			}
			return s.Value()
		},
		scanSlice: func(src any, before []byte) (raws [][]byte, err error) {
			s := idtype.Slice[T]{of(before)}
			err = s.Scan(src)
			for _, id := range s {
				raws = append(raws, rawOf(id))
			}
			return raws, err
		},
	}
}

// plainBytes fails what a caller who ignores the error would use.
func plainBytes[T idtype.ID](parse func(string) (T, error)) func(string) ([]byte, error) {
	return func(text string) ([]byte, error) {
		id, err := parse(text)
		if err != nil && !id.IsZero() {
			panic("an ID beside an error")
		}
		return rawOf(id), err
	}
}

// rawOf are the bytes of an ID, of an OrZero of one, or of a pointer to either, without the help of its methods.
func rawOf(id any) []byte {
	v := reflect.ValueOf(id)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		v = v.Field(0)
	}
	raw := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(raw), v)
	return raw
}

// eachByteKind runs a test of what all byte IDs share.
func eachByteKind(t *testing.T, test func(t *testing.T, k byteKind)) {
	for _, k := range byteKinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

// before is what a receiver holds when a decoder is about to fail.
func (k byteKind) before() []byte { return bytes.Repeat([]byte{0xb7}, k.size) }

func (k byteKind) zero() []byte { return make([]byte, k.size) }

// domain are the bytes at which a codec could change its mind: each bit alone, and alone missing; each value of a character in
// all places; the ends.
func (k byteKind) domain() (all [][]byte) {
	bits := k.size * 8
	ones := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
	add := func(v *big.Int) { all = append(all, v.FillBytes(make([]byte, k.size))) }
	add(ones)
	for i := range bits {
		bit := new(big.Int).Lsh(big.NewInt(1), uint(i))
		add(bit)
		add(new(big.Int).Xor(ones, bit))
	}
	for _, c := range k.alphabet[1:] {
		all = append(all, k.refRaw(strings.Repeat(string(c), 16)))
	}
	return all
}

// draw draws an ID: any, or a special one.
func (k byteKind) draw(t *rapid.T, label string) []byte {
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

// The reference of the texts is done with strings of bits, and shares no arithmetic with the package.

func refBits(raw []byte) (bits string) {
	for _, b := range raw {
		bits += fmt.Sprintf("%08b", b)
	}
	return bits
}

func refNumber(bits string) int {
	v, err := strconv.ParseUint(bits, 2, 63)
	if err != nil {
		panic(err)
	}
	return int(v)
}

func (k byteKind) refText(raw []byte) (text string) {
	width := k.size / 2 // 16 characters of 2 bits per byte
	for bits := refBits(raw); bits != ""; bits = bits[width:] {
		text += string(k.alphabet[refNumber(bits[:width])])
	}
	return text
}

// refRaw is the bytes of a text, or nil.
func (k byteKind) refRaw(text string) []byte {
	bits := ""
	for i := range len(text) {
		v := strings.IndexByte(k.alphabet, text[i])
		if v < 0 {
			return nil
		}
		bits += fmt.Sprintf("%0*b", k.size/2, v)
	}
	if len(bits) != k.size*8 {
		return nil
	}
	raw := make([]byte, 0, k.size)
	for ; bits != ""; bits = bits[8:] {
		raw = append(raw, byte(refNumber(bits[:8])))
	}
	if isZero(raw) {
		return nil
	}
	return raw
}

// refUUID is 16 characters as a UUID.
func refUUID(text string) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", text[:4], text[4:6], text[6:8], text[8:10], text[10:])
}

// refColumn is what a column of the kind's form holds.
func (k byteKind) refColumn(raw []byte) any {
	switch k.form {
	case idtype.StorageBytes:
		return raw
	case idtype.StorageText:
		return k.refText(raw)
	case idtype.StorageUUID:
		return refUUID(k.refText(raw))
	case idtype.StorageBigint:
		v := new(big.Int).SetBytes(raw)
		if v.Bit(63) == 1 { // two's complement
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), 64))
		}
		return v.Int64()
	}
	panic(k.form)
}
