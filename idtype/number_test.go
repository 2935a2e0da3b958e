package idtype_test

import (
	"encoding/json"
	"errors"
	"math"
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
		`"7"`: 7, "null": 0, "9007199254740993": 1<<53 + 1, `"0"`: -1, "-1": -1, "7.0": -1,
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
