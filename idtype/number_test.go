package idtype_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestAsNumber: numbers up to the last that JavaScript tells from the next, strings above, and both
// are read. What a column holds is as without the tag.
func TestAsNumber(t *testing.T) {
	t.Run("decimal", testAsNumber[idtype.Decimal[idtype.AsNumber[User]]])
	t.Run("trace", testAsNumber[idtype.Trace[idtype.AsNumber[User]]])
	t.Run("sequence", testAsNumber[idtype.Sequence[idtype.AsNumber[User]]])
}

func testAsNumber[T interface {
	~int64
	idtype.ID
}](t *testing.T) {
	type document struct {
		ID       T
		Optional idtype.OrZero[T]
	}
	for id, want := range map[T]string{
		0: "0", 7: "7", 1<<53 - 1: "9007199254740991", 1 << 53: `"9007199254740992"`,
		math.MaxInt64: `"9223372036854775807"`,
	} {
		doc := document{id, idtype.OrZero[T]{ID: id}}
		text, err := json.Marshal(doc)
		if err != nil || string(text) != `{"ID":`+want+`,"Optional":`+want+`}` {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
		back := document{ID: 1, Optional: idtype.OrZero[T]{ID: 1}}
		if err := json.Unmarshal(text, &back); err != nil || back != doc {
			t.Errorf("%s came back as %+v, %v", text, back, err)
		}
	}
	for text, want := range map[string]T{
		`"7"`: 7, "null": 0, "9007199254740992": -1, `"0"`: -1, "-1": -1, "7.0": -1,
	} {
		id := T(-1)
		err := json.Unmarshal([]byte(text), &id)
		if id != want || errors.As(err, new(*idtype.InputError)) != (want < 0) {
			t.Errorf("%s is %d, %v", text, id, err)
		}
	}
	if v, err := (idtype.Slice[T]{7}).Value(); v != `["7"]` || err != nil {
		t.Errorf("a slice is %v, %v", v, err)
	}
	if v, err := (idtype.OrZero[T]{}).Value(); v != int64(0) || err != nil {
		t.Errorf("none is stored as %v, %v", v, err)
	}
}

// TestAsInt64: numbers of every size, both ways, as an int64 has them.
func TestAsInt64(t *testing.T) {
	t.Run("decimal", testAsInt64[idtype.Decimal[idtype.AsInt64[User]]])
	t.Run("trace", testAsInt64[idtype.Trace[idtype.AsInt64[User]]])
	t.Run("sequence", testAsInt64[idtype.Sequence[idtype.AsInt64[User]]])
	short := idtype.Short[idtype.AsInt64[User]](1)
	if err := json.Unmarshal([]byte("9007199254740992"), &short); err != nil || short != 1<<53 {
		t.Error(short, err)
	}
}

func testAsInt64[T interface {
	~int64
	idtype.ID
}](t *testing.T) {
	for _, n := range []int64{0, 7, 1<<53 - 1, 1 << 53, math.MaxInt64} {
		want, _ := json.Marshal(n)
		text, err := json.Marshal(T(n))
		var back idtype.OrZero[T]
		if err := errors.Join(err, json.Unmarshal(text, &back)); string(text) != string(want) ||
			back.ID != T(n) || err != nil {
			t.Errorf("%d is %s and %d, %v", n, text, back.ID, err)
		}
	}
	id := T(7)
	for _, bad := range []string{"-1", "9223372036854775808", "1e3"} {
		if err := json.Unmarshal([]byte(bad), &id); err == nil || id != 7 {
			t.Errorf("%s is %d, %v", bad, id, err)
		}
	}
}

// TestFromInt64: a number from elsewhere is taken as Scan takes one from a column.
func TestFromInt64(t *testing.T) {
	for _, n := range []int64{1, 5, published, math.MaxInt64} {
		var scanned UserID
		id, err := idtype.FromInt64[UserID](n)
		if err := errors.Join(err, scanned.Scan(n)); err != nil || id != scanned || id != UserID(n) {
			t.Errorf("%d is %d, %v", n, id, err)
		}
	}
	for n, reason := range map[int64]error{0: idtype.ErrZero, -1: nil, math.MinInt64: nil} {
		id, err := idtype.FromInt64[UserShortID](n)
		if id != 0 {
			t.Errorf("%d is %d", n, id)
		}
		wantInputError(t, err, "ShortID", strconv.FormatInt(n, 10), reason)
	}
}
