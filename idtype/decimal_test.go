package idtype_test

import (
	"math"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestBounds states the layout's bounds as numbers, so that a changed constant is seen.
func TestBounds(t *testing.T) {
	type parts = idtype.DecimalParts
	testPartBounds(t, "DecimalID", []partBound[parts, idtype.DecimalID]{
		{"smallest", parts{Counter: 1}, "10000000000"},
		{"smallest of production", parts{Counter: 1, Launch: 1}, "10000000001"},
		{
			"largest",
			parts{Counter: 922_337_202, Generator: 99_999, Launch: 99_999},
			"9223372029999999999",
		},
		{
			"parts apart",
			parts{Counter: 100_000_001, Generator: 10_001, Launch: 10_001},
			"1000000011000110001",
		},
		{"no counter", parts{Launch: 1}, "counter"},
		// It would fit an int64 with this generator and launch, but not with all.
		{"counter above", parts{Counter: 922_337_203}, "counter"},
		{"counter far above", parts{Counter: math.MaxInt}, "counter"},
		{"counter below", parts{Counter: math.MinInt}, "counter"},
		{"generator above", parts{Counter: 1, Generator: 100_000}, "generator_id"},
		{"generator below", parts{Counter: 1, Generator: -1}, "generator_id"},
		{"launch above", parts{Counter: 1, Launch: 100_000}, "launch_id"},
		{"launch below", parts{Counter: 1, Launch: -1}, "launch_id"},
		{
			"the first bad part is named",
			parts{Counter: 1, Generator: -1, Launch: -1},
			"generator_id",
		},
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
