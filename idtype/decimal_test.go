package idtype_test

import (
	"math"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestBounds states the layout's bounds as numbers, so that a changed constant is seen.
func TestBounds(t *testing.T) {
	testPartBounds(t, "DecimalID", []partBound[idtype.DecimalParts, idtype.DecimalID]{
		{"smallest", idtype.DecimalParts{Counter: 1}, "10000000000"},
		{"smallest of production", idtype.DecimalParts{Counter: 1, Launch: 1}, "10000000001"},
		{"largest", idtype.DecimalParts{Counter: 922_337_202, Generator: 99_999, Launch: 99_999}, "9223372029999999999"},
		{"parts apart", idtype.DecimalParts{Counter: 100_000_001, Generator: 10_001, Launch: 10_001}, "1000000011000110001"},
		{"no counter", idtype.DecimalParts{Launch: 1}, "counter"},
		// It would fit an int64 with this generator and launch, but not with all.
		{"counter above", idtype.DecimalParts{Counter: 922_337_203}, "counter"},
		{"counter far above", idtype.DecimalParts{Counter: math.MaxInt}, "counter"},
		{"counter below", idtype.DecimalParts{Counter: math.MinInt}, "counter"},
		{"generator above", idtype.DecimalParts{Counter: 1, Generator: 100_000}, "generator_id"},
		{"generator below", idtype.DecimalParts{Counter: 1, Generator: -1}, "generator_id"},
		{"launch above", idtype.DecimalParts{Counter: 1, Launch: 100_000}, "launch_id"},
		{"launch below", idtype.DecimalParts{Counter: 1, Launch: -1}, "launch_id"},
		{"the first bad part is named", idtype.DecimalParts{Counter: 1, Generator: -1, Launch: -1}, "generator_id"},
	})
	if idtype.DecimalMaxCounter != 922_337_202 || idtype.DecimalMaxGenerator != 99_999 ||
		idtype.DecimalMaxLaunch != 99_999 {
		t.Error("the exported bounds are not those of the layout")
	}
	if idtype.MinDecimalID.String() != "10000000000" ||
		idtype.MaxDecimalID.String() != "9223372029999999999" {
		t.Errorf("IDs are said to be %d ..= %d", idtype.MinDecimalID, idtype.MaxDecimalID)
	}
	if next := idtype.DecimalID(published + idtype.DecimalStep); next != 14160009200065 {
		t.Errorf("a DecimalStep after the published ID is %d", next)
	}
}
