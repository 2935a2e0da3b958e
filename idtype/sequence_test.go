package idtype_test

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// TestIsSafeInteger: the reference counts the digits of the number in base 2, of which a float64
// holds 53.
func TestIsSafeInteger(t *testing.T) {
	for v, want := range map[int64]bool{
		1: true, 1<<53 - 2: true, 1<<53 - 1: true, 1 << 53: false, 1<<53 + 1: false,
		math.MaxInt64: false,
		0:             false, -1: false, -1<<53 + 1: false, math.MinInt64: false,
		published: true, publishedShort: false, publishedTrace: false,
	} {
		for name, got := range map[string]bool{
			"decimal":  idtype.IsSafeInteger(UserID(v)),
			"trace":    idtype.IsSafeInteger(UserTraceID(v)),
			"short":    idtype.IsSafeInteger(UserShortID(v)),
			"sequence": idtype.IsSafeInteger(UserSequenceID(v)),
			"int64":    idtype.IsSafeInteger(v),
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
