package idtype_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// Drivers are not asked to know our types: what reaches them must be one of their own.
func TestValue(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, v := range domain() {
			for _, valuer := range []driver.Valuer{
				k.new(v),
				reflect.ValueOf(k.new(v)).Elem().Interface().(driver.Valuer),
				k.orZero(v),
				sql.Null[driver.Valuer]{V: k.new(v), Valid: true},
			} {
				got, err := valuer.Value()
				if err != nil || got != v || !driver.IsValue(got) {
					t.Errorf("Value of %T %d = %T %v, %v, want that as an int64", valuer, v, got, got, err)
				}
			}
		}
		for _, v := range []int64{-1, math.MinInt64} {
			for _, valuer := range []driver.Valuer{k.new(v), k.orZero(v)} {
				got, err := valuer.Value()
				wantInputError(t, err, k.name, strconv.FormatInt(v, 10), nil)
				if got != v { // nil would be NULL to whoever drops the error
					t.Errorf("Value of %d = %v beside its error", v, got)
				}
			}
		}
		got, err := k.new(0).Value()
		wantInputError(t, err, k.name, "0", idtype.ErrZero)
		if got != int64(0) {
			t.Errorf("Value of zero = %v beside its error", got)
		}
		if got, err := k.orZero(0).Value(); got != int64(0) || err != nil {
			t.Errorf("Value of OrZero of none = %v, %v, want an int64 0", got, err)
		}
	})
}

func TestValueOfNone(t *testing.T) {
	for _, tt := range []struct {
		name   string
		valuer driver.Valuer
		want   driver.Value
		err    error
	}{
		{"zero", UserID(0), int64(0), idtype.ErrZero},
		{"zero in a valid Null", sql.Null[UserID]{Valid: true}, int64(0), idtype.ErrZero},
		{"pointer to zero", new(UserID), int64(0), idtype.ErrZero},
		{"invalid Null", sql.Null[UserID]{V: 5}, nil, nil},
		{"OrZero", idtype.OrZero[UserID]{}, int64(0), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.valuer.Value()
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("Value = %#v, %v, want %#v, %v", got, err, tt.want, tt.err)
			}
			if err != nil {
				wantInputError(t, err, "DecimalID", "", tt.err)
			}
		})
	}
}

// TestScanNull: the message is what the person who forgot about NULL reads.
func TestScanNull(t *testing.T) {
	id := UserID(before)
	err := id.Scan(nil)
	if !errors.Is(err, idtype.ErrNull) || errors.Is(err, idtype.ErrZero) || !strings.Contains(err.Error(), "sql.Null") {
		t.Errorf("error is %v, want ErrNull, naming sql.Null", err)
	}

	n := sql.Null[UserID]{V: 5, Valid: true}
	if err := n.Scan(nil); err != nil || n.Valid || n.V != 0 {
		t.Errorf("sql.Null of NULL = %+v, %v", n, err)
	}
	if err := n.Scan(int64(published)); err != nil || !n.Valid || n.V != published {
		t.Errorf("sql.Null of an ID = %+v, %v", n, err)
	}
	if err := n.Scan(int64(0)); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("sql.Null of 0: error is %v, want ErrZero", err)
	}
}

// TestReceivers: GORM, pgx and clickhouse-go ask a value, not a pointer, whether it is a Valuer; and a method set that
// differs between value and pointer would encode one and not the other.
func TestReceivers(t *testing.T) {
	writes := map[string]bool{"UnmarshalText": true, "UnmarshalJSON": true, "UnmarshalBinary": true, "Scan": true}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*UserID](), reflect.TypeFor[*UserTraceID](), reflect.TypeFor[*UserShortID](),
		reflect.TypeFor[*UserSequenceID](), reflect.TypeFor[*idtype.OrZero[UserID]](), reflect.TypeFor[*idtype.Slice[UserID]](),
	} {
		for i := range typ.NumMethod() {
			name := typ.Method(i).Name
			if _, onValue := typ.Elem().MethodByName(name); onValue == writes[name] {
				t.Errorf("%v.%s: on the value %v", typ, name, onValue)
			}
		}
	}
}

func TestOrZero(t *testing.T) {
	none, some := idtype.OrZero[UserID]{}, idtype.OrZero[UserID]{ID: published}
	if !none.IsZero() || some.IsZero() {
		t.Errorf("IsZero = %v, %v", none.IsZero(), some.IsZero())
	}
	if none.String() != "0" || some.String() != "14150009200065" {
		t.Errorf("String = %s, %s", none, some)
	}
	if none.GormDataType() != UserID(0).GormDataType() {
		t.Errorf("the column is a %s, the ID's a %s", none.GormDataType(), UserID(0).GormDataType())
	}
	if none == some || some != (idtype.OrZero[UserID]{ID: published}) {
		t.Error("OrZero does not compare as its ID does")
	}
	got := some
	if err := got.UnmarshalJSON([]byte("null")); err != nil || got != none {
		t.Errorf("null = %v, %v, want none", got, err)
	}
}
