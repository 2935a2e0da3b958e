package sqlid_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

func ExampleArray() {
	fmt.Println(sqlid.Array[UserID]{10000000001, 20000000001}.Value())
	sno := idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")
	fmt.Println(sqlid.Array[idtype.SnoID]{sno}.Value())
	// Output:
	// {10000000001,20000000001} <nil>
	// {"\\x335f48168d9e8808dc82"} <nil>
}

// What Value writes Scan reads, in all forms of storage.
func TestArray(t *testing.T) {
	sno := idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")
	testArray(t, "{10000000001,20000000001}", UserID(10000000001), 20000000001)
	testArray(t, `{"\\x335f48168d9e8808dc82"}`, sno)
	testArray(t, `{8fhmi7mfls62jp64}`, idtype.Sno[idtype.AsText[User]](sno))
	testArray(t, `{3866686d-6937-6d66-6c73-36326a703634}`, idtype.Sno[idtype.AsUUID[User]](sno))
	testArray[UserID](t, `{}`)
	if got, err := sqlid.Array[UserID](nil).Value(); got != nil || err != nil {
		t.Errorf("nil: %v, %v", got, err)
	}
}

func testArray[T interface {
	idtype.ID
	comparable
}](t *testing.T, want string, ids ...T) {
	t.Helper()
	in := append(sqlid.Array[T]{}, ids...)
	got, err := in.Value()
	if got != driver.Value(want) || err != nil {
		t.Errorf("%v: %v, %v, want %s", ids, got, err, want)
	}
	var out sqlid.Array[T]
	if err := out.Scan([]byte(want)); err != nil || !slices.Equal(out, in) {
		t.Errorf("%s: %v, %v", want, out, err)
	}
}

func TestArrayErrors(t *testing.T) {
	got, err := sqlid.Array[UserID]{10000000001, 0}.Value()
	var element *sqlid.ArrayError
	if got != nil || !errors.As(err, &element) || element.Index != 1 ||
		!errors.Is(err, idtype.ErrZero) {
		t.Errorf("zero: %v, %v", got, err)
	}
	kept := sqlid.Array[UserID]{10000000001}
	for _, bad := range []any{nil, "{1,NULL}", "{1,x}", "{{1},{2}}", "1", 5} {
		var input *idtype.InputError
		if err := kept.Scan(bad); !errors.As(err, &input) ||
			!slices.Equal(kept, sqlid.Array[UserID]{10000000001}) {
			t.Errorf("Scan(%v): %v, and the list is %v", bad, err, kept)
		}
	}
}
