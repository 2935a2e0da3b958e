package idtype_test

import (
	"database/sql"
	"errors"
	"reflect"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestScanOwnType: ORMs hand an ID that they were given to Scan, by value and by pointer.
func TestScanOwnType(t *testing.T) {
	t.Run("Decimal", func(t *testing.T) { testScanOwnType(t, UserID(published), UserID(before)) })
	t.Run("Trace", func(t *testing.T) { testScanOwnType(t, UserTraceID(published), UserTraceID(before)) })
	t.Run("Short", func(t *testing.T) { testScanOwnType(t, UserShortID(published), UserShortID(before)) })
	t.Run("Sequence", func(t *testing.T) { testScanOwnType(t, UserSequenceID(published), UserSequenceID(before)) })
	eight, other := [8]byte{7: 6}, [8]byte{5: 1}
	t.Run("EightByte", func(t *testing.T) { testScanOwnType(t, EventEightID(eight), EventEightID(other)) })
	t.Run("EightByte as bigint", func(t *testing.T) { testScanOwnType(t, EventBigintID(eight), EventBigintID(other)) })
	ten, otherTen := [10]byte{9: 6}, [10]byte{5: 1}
	t.Run("Sno", func(t *testing.T) { testScanOwnType(t, EventSnoID(ten), EventSnoID(otherTen)) })
	t.Run("Sno as text", func(t *testing.T) { testScanOwnType(t, EventTextID(ten), EventTextID(otherTen)) })
	t.Run("Sno as UUID", func(t *testing.T) { testScanOwnType(t, EventUUIDID(ten), EventUUIDID(otherTen)) })
}

func testScanOwnType[T idtype.ID](t *testing.T, id, before T) {
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
			wantInputError(t, err, typeName(id), "", nil)
		default:
			wantInputError(t, err, typeName(id), "", tt.want)
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

// typeName is the type as errors name it.
func typeName[T idtype.ID](id T) string {
	return map[idtype.Scheme]string{
		idtype.SchemeDecimal: "DecimalID", idtype.SchemeTrace: "TraceID", idtype.SchemeShort: "ShortID",
		idtype.SchemeSequence: "SequenceID", idtype.SchemeEightByte: "EightByteID", idtype.SchemeSno: "SnoID",
	}[id.Scheme()]
}

// A negative number is no ID, and no NULL either.
func TestValueOfNegative(t *testing.T) {
	got, err := UserID(-5).Value()
	if err == nil || reflect.TypeOf(got) != reflect.TypeFor[int64]() {
		t.Errorf("Value = %#v, %v", got, err)
	}
}
