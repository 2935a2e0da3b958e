package idtype_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// TestSnoBounds states the layout's bounds as numbers, so that a changed constant is seen.
func TestSnoBounds(t *testing.T) {
	const epoch, last = 1262304000000, 3461327255551
	type parts = idtype.SnoParts
	testPartBounds(t, "SnoID", []partBound[parts, idtype.SnoID]{
		{"above the type", parts{1703587783960, 1, 158, 34824, 56450}, "335f48168d9e8808dc82"},
		{"largest", parts{last, 1, 255, 65535, 65535}, "ffffffffffffffffffff"},
		{
			"largest, from the start of its unit",
			parts{last - 3, 1, 255, 65535, 65535},
			"ffffffffffffffffffff",
		},
		{"the unit before the last", parts{last - 4, 0, 0, 0, 0}, "fffffffffc0000000000"},
		{"smallest", parts{epoch, 0, 0, 0, 1}, "00000000000000000001"},
		{"tick-tock", parts{epoch, 1, 0, 0, 0}, "00000000010000000000"},
		{"meta", parts{epoch, 0, 1, 0, 0}, "00000000000100000000"},
		{"partition", parts{epoch, 0, 0, 1, 0}, "00000000000000010000"},
		{"the last millisecond of a unit", parts{epoch + 7, 0, 0, 0, 0}, "00000000020000000000"},
		{"the first of the next", parts{epoch + 8, 0, 0, 0, 0}, "00000000040000000000"},
		// The reference wraps around at both ends, and makes an ID of 2037 of the first of these,
		// one of 2010 of the second.
		{"time below", parts{epoch - 1, 0, 0, 0, 0}, "unix_ms"},
		{"time above", parts{last + 1, 0, 0, 0, 0}, "unix_ms"},
		{"time above by a unit", parts{last + 4, 0, 0, 0, 0}, "unix_ms"},
		{"1970", parts{0, 0, 0, 0, 0}, "unix_ms"},
		{"time far above", parts{math.MaxInt64, 0, 0, 0, 0}, "unix_ms"},
		{"time far below", parts{math.MinInt64, 0, 0, 0, 0}, "unix_ms"},
		{"tick-tock 2", parts{epoch, 2, 0, 0, 0}, "tick_tock"},
		{"tick-tock -1", parts{epoch, -1, 0, 0, 0}, "tick_tock"},
		{"meta 256", parts{epoch, 0, 256, 0, 0}, "meta"},
		{"meta -1", parts{epoch, 0, -1, 0, 0}, "meta"},
		{"partition 65536", parts{epoch, 0, 0, 65536, 0}, "partition"},
		{"partition -1", parts{epoch, 0, 0, -1, 0}, "partition"},
		{"sequence 65536", parts{epoch, 0, 0, 0, 65536}, "sequence"},
		{"sequence -1", parts{epoch, 0, 0, 0, -1}, "sequence"},
		{"the first bad part is named", parts{epoch, 0, 256, -1, -1}, "meta"},
	})
	if idtype.SnoEpoch != epoch || idtype.SnoMaxUnixMs != last || idtype.SnoTimeUnit != 4 ||
		idtype.SnoMaxMeta != 255 || idtype.SnoMaxPartition != 65535 ||
		idtype.SnoMaxSequence != 65535 {
		t.Error("the exported bounds are not those of the layout")
	}
	if got := time.UnixMilli(epoch).UTC(); got != time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC) {
		t.Errorf("the first time is %v", got)
	}
	got := time.UnixMilli(last).UTC()
	if got != time.Date(2079, 9, 7, 15, 47, 35, 551e6, time.UTC) {
		t.Errorf("the last time is %v", got)
	}
	for _, err := range []error{
		idtype.SnoID{}.Validate(), errOf(idtype.SnoParts{UnixMs: epoch}.ID()),
		errOf(idtype.SnoParts{UnixMs: epoch + 3}.ID()),
	} {
		wantInputError(t, err, "SnoID", "2222222222222222", idtype.ErrZero)
	}
	if err := idtype.MustParseSnoID("2222222222222223").Validate(); err != nil {
		t.Errorf("Validate of the smallest: %v", err)
	}
	got = idtype.MustParseSnoID("8fhmi7mfls62jp64").Time()
	if got != time.Date(2023, 12, 26, 10, 49, 43, 960e6, time.UTC) {
		t.Errorf("the ID above the type is of %v", got)
	}
	b, err := json.Marshal(idtype.SnoParts{5, 4, 3, 2, 1})
	if want := `{"unix_ms":5,"tick_tock":4,"meta":3,"partition":2,"sequence":1}`; err != nil ||
		string(b) != want {
		t.Errorf("parts as JSON = %s, %v, want %s", b, err, want)
	}
}
