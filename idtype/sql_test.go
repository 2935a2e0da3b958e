package idtype_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// TestValue: what Value writes is what the reference says, and one of the drivers' own types, which
// are not asked to know ours. Scan reads it back in every form.
func TestValue(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, raw := range k.domain() {
			checkValue(t, k, raw)
		}
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) { checkValue(t, k, k.draw(t, "id")) }))
		zero, err := k.orZero(k.zero()).Value()
		if err != nil || !driver.IsValue(zero) {
			t.Errorf("Value of OrZero of none = %#v, %v", zero, err)
		}
		for _, src := range forms(zero) {
			o := k.orZero(k.before())
			if err := o.Scan(src); err != nil || !o.IsZero() {
				t.Errorf("OrZero.Scan(%T %v) = %x, %v, want none", src, src, rawOf(o), err)
			}
		}
	})
	for _, k := range integers {
		for _, v := range []int64{-1, math.MinInt64} {
			for _, valuer := range []driver.Valuer{k.new(bigEndian(v)), k.orZero(bigEndian(v))} {
				got, err := valuer.Value()
				wantInputError(t, err, k.typ, strconv.FormatInt(v, 10), nil)
				if got != v { // nil would be NULL to whoever drops the error
					t.Errorf("Value of %d = %v beside its error", v, got)
				}
			}
		}
	}
}

func checkValue(t failing, k kind, raw []byte) {
	t.Helper()
	want, id := k.refColumn(raw), k.new(raw)
	for _, valuer := range []driver.Valuer{
		id,
		reflect.ValueOf(id).Elem().Interface().(driver.Valuer),
		k.orZero(raw),
		sql.Null[driver.Valuer]{V: id, Valid: true},
	} {
		got, err := valuer.Value()
		if err != nil || !reflect.DeepEqual(got, want) || !driver.IsValue(got) {
			t.Fatalf("Value of %T %x = %#v, %v, want %#v", valuer, raw, got, err, want)
		}
	}
	for _, src := range forms(want) {
		for _, dst := range []column{k.new(k.before()), k.orZero(k.before())} {
			if err := dst.Scan(src); err != nil || !bytes.Equal(rawOf(dst), raw) {
				t.Fatalf("%T.Scan(%T %v) = %x, %v, want %x", dst, src, src, rawOf(dst), err, raw)
			}
		}
	}
	value, err := k.slice(raw, k.before(), raw)
	if err != nil {
		t.Fatalf("Value of a slice: %v", err)
	}
	back, err := k.scanSlice(value, k.before())
	if err != nil || !slices.EqualFunc(back, [][]byte{raw, k.before(), raw}, bytes.Equal) {
		t.Fatalf("%v came back as %x, %v, want %x twice", value, back, err, raw)
	}
}

// TestReceivers: a method that encodes is on the value too, because GORM, pgx and clickhouse-go ask
// a value whether it is a Valuer. A method that decodes is on the pointer alone.
func TestReceivers(t *testing.T) {
	writes := []string{
		"UnmarshalText", "UnmarshalParam", "UnmarshalJSON", "UnmarshalBinary", "Scan",
	}
	types := []reflect.Type{
		reflect.TypeFor[*idtype.OrZero[UserID]](), reflect.TypeFor[*idtype.Slice[UserID]](),
	}
	decimal := reflect.TypeFor[*UserID]()
	for _, k := range kinds {
		typ := reflect.TypeOf(k.new(k.zero()))
		types = append(types, typ)
		for i := range decimal.NumMethod() { // all schemes have what is not about a layout
			switch name := decimal.Method(i).Name; name {
			case "Counter", "Generator", "Launch", "IsTest", "Parts":
			default:
				if _, ok := typ.MethodByName(name); !ok {
					t.Errorf("%v has no method %s", typ, name)
				}
			}
		}
	}
	for _, typ := range types {
		for i := range typ.NumMethod() {
			name := typ.Method(i).Name
			_, onValue := typ.Elem().MethodByName(name)
			if onValue == slices.Contains(writes, name) {
				t.Errorf("%v.%s: on the value %v", typ, name, onValue)
			}
		}
	}
}

// TestScanOwnType: ORMs hand an ID that they were given to Scan, by value and by pointer.
func TestScanOwnType(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) { k.ownType(t) })
}

func testScanOwnType[T idtype.ID](t *testing.T, typ string, id, before T) {
	var zero T
	type another struct{ T T }
	for _, tt := range []struct {
		src  any
		want error
	}{
		{id, nil},
		{&id, nil},
		{zero, idtype.ErrZero},
		{new(T), idtype.ErrZero},
		{(*T)(nil), idtype.ErrNull},
		{another{id}, errors.ErrUnsupported}, // any other error
	} {
		got := before
		err := any(&got).(sql.Scanner).Scan(tt.src)
		switch {
		case tt.want == nil:
			if err != nil || got != id {
				t.Errorf("Scan(%T %v) = %v, %v", tt.src, tt.src, got, err)
			}
		case tt.want == errors.ErrUnsupported:
			wantInputError(t, err, typ, "", nil)
		default:
			wantInputError(t, err, typ, "", tt.want)
		}
		if tt.want != nil && got != before {
			t.Errorf("Scan(%T): receiver is %v after an error", tt.src, got)
		}
	}

	want := idtype.OrZero[T]{ID: id}
	for _, src := range []any{want, &want, id, &id} {
		got := idtype.OrZero[T]{ID: before}
		if err := got.Scan(src); err != nil || got != want {
			t.Errorf("OrZero.Scan(%T) = %v, %v", src, got, err)
		}
	}
	got := want
	if err := got.Scan(idtype.OrZero[T]{}); err != nil || !got.IsZero() {
		t.Errorf("OrZero.Scan of none = %v, %v", got, err)
	}
}
