package idtype_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/quick"

	"github.com/idmint/idmint/idtype"
)

// TestFormat: under each verb and with each flag an ID is printed as its text, or as the integer or
// the bytes that it is.
func TestFormat(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		raw := k.before()
		id := reflect.ValueOf(k.new(raw)).Elem().Interface()
		text := any(k.write(raw))
		number := any(raw)
		if k.isInteger() {
			number = int64(binary.BigEndian.Uint64(raw))
		}
		none := reflect.ValueOf(k.orZero(raw)).Elem().Interface()
		for _, flags := range []string{
			"", "+", "#", " ", "-30", "30", "030", "016", ".3", "-3.2", "+#", "#040",
		} {
			for _, verb := range "vsqdxXobcUeEfFgGt" {
				format := "|%" + flags + string(verb) + "|"
				want := number
				if verb == 's' || verb == 'q' || verb == 'v' && !strings.Contains(flags, "#") {
					want = text
				}
				for _, v := range []any{id, none, &id, []any{id}} {
					got := fmt.Sprintf(format, v)
					expected := fmt.Sprintf(format, want)
					switch v := v.(type) {
					case []any:
						expected = fmt.Sprintf(format, []any{want})
					case *any:
						got = fmt.Sprintf(format, *v)
					}
					expected = strings.ReplaceAll(expected, "{[]uint8{", "{[]byte{") // of a list by %#v
					if got != expected {
						t.Errorf("%s of %T is %s, want %s", format, v, got, expected)
					}
				}
			}
		}
	})
	// As Google Reader writes the IDs of its items: a String alone gave 333434363931353631.
	if s := fmt.Sprintf("%016x", UserID(0x148b9369)); s != "00000000148b9369" {
		t.Error(s)
	}
	var missing *UserID
	if s := fmt.Sprintf("%v %d", missing, missing); s != "<nil> <nil>" {
		t.Error(s)
	}
}

// TestGenerate: what testing/quick draws follows the layout, and an OrZero is now and then none.
func TestGenerate(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		typ := reflect.TypeOf(k.new(k.zero())).Elem()
		different := map[string]bool{}
		valid := func(args []reflect.Value) []reflect.Value {
			id := args[0].Interface().(interface{ Validate() error })
			different[fmt.Sprint(id)] = true
			return []reflect.Value{reflect.ValueOf(id.Validate() == nil)}
		}
		property := reflect.FuncOf([]reflect.Type{typ}, []reflect.Type{reflect.TypeFor[bool]()}, false)
		err := quick.Check(reflect.MakeFunc(property, valid).Interface(), &quick.Config{MaxCount: 1000})
		if err != nil || len(different) < 990 {
			t.Errorf("%d different IDs, %v", len(different), err)
		}
	})
	none := 0
	err := quick.Check(func(o idtype.OrZero[UserID]) bool {
		if o.IsZero() {
			none++
			return true
		}
		return o.ID.Validate() == nil
	}, &quick.Config{MaxCount: 1000})
	if err != nil || none < 100 || none > 500 {
		t.Errorf("%d of 1000 are none, %v", none, err)
	}
}

// TestDecodeHook: a field of an ID is read from its text, and of nothing that a library has made of
// an unquoted word. Other fields are none of its business.
func TestDecodeHook(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, dst := range []any{k.new(k.before()), k.orZero(k.before())} {
			typ := reflect.TypeOf(dst).Elem()
			text := k.write(k.before())
			got, err := idtype.DecodeHook(reflect.TypeFor[string](), typ, text)
			if err != nil || fmt.Sprint(got) != text || reflect.TypeOf(got) != typ {
				t.Errorf("%v of %s is %v, %v", typ, text, got, err)
			}
			same := reflect.ValueOf(dst).Elem().Interface()
			if got, err := idtype.DecodeHook(typ, typ, same); err != nil || got != same {
				t.Errorf("%v of itself is %v, %v", typ, got, err)
			}
			for _, bad := range []any{8, int64(-1), true, 1.5, []byte(text), "+1", map[string]any{}} {
				got, err := idtype.DecodeHook(reflect.TypeOf(bad), typ, bad)
				if !errors.As(err, new(*idtype.InputError)) || got != nil {
					t.Errorf("%v of %#v is %v, %v", typ, bad, got, err)
				}
			}
		}
	})
	for _, other := range []any{8, "x", true} {
		typ := reflect.TypeOf(other)
		if got, err := idtype.DecodeHook(reflect.TypeFor[int](), typ, 8); err != nil || got != 8 {
			t.Errorf("%v: %v, %v", typ, got, err)
		}
	}
}
