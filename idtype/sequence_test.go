package idtype_test

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// TestSequenceIsTheNumber: nothing is added, taken or checked but the sign.
func TestSequenceIsTheNumber(t *testing.T) {
	for _, v := range append(domain(), 0, -1, math.MinInt64) {
		id := idtype.SequenceID(v)
		if id.String() != strconv.FormatInt(v, 10) {
			t.Errorf("%d is %s", v, id)
		}
		err := id.Validate()
		if v > 0 && err != nil {
			t.Errorf("Validate of %d: %v", v, err)
		}
		if v <= 0 {
			wantInputError(t, err, "SequenceID", strconv.FormatInt(v, 10), map[bool]error{true: idtype.ErrZero}[v == 0])
		}
	}
}

// TestIsSafeInteger: the reference counts the digits of the number in base 2, of which a float64
// holds 53.
func TestIsSafeInteger(t *testing.T) {
	for v, want := range map[int64]bool{
		1: true, 1<<53 - 2: true, 1<<53 - 1: true, 1 << 53: false, 1<<53 + 1: false, math.MaxInt64: false,
		0: false, -1: false, -1<<53 + 1: false, math.MinInt64: false,
		published: true, publishedShort: false, publishedTrace: false,
	} {
		for name, got := range map[string]bool{
			"decimal": idtype.IsSafeInteger(UserID(v)), "trace": idtype.IsSafeInteger(UserTraceID(v)),
			"short": idtype.IsSafeInteger(UserShortID(v)), "sequence": idtype.IsSafeInteger(UserSequenceID(v)),
			"int64": idtype.IsSafeInteger(v),
		} {
			if got != want {
				t.Errorf("%s: IsSafeInteger(%d) = %v", name, v, got)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := drawID(t)
		want := len(strconv.FormatInt(v, 2)) <= 53
		if got := idtype.IsSafeInteger(v); got != want {
			t.Fatalf("IsSafeInteger(%d) = %v, want %v", v, got, want)
		}
	})
	if idtype.MaxSafeInteger != 9007199254740991 {
		t.Error("MaxSafeInteger is not Number.MAX_SAFE_INTEGER")
	}
}
