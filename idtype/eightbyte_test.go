package idtype_test

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

const (
	spread     = idtype.EightByteSpread
	sequential = idtype.EightByteTimeSequential
)

// TestEightByteBounds states the layout's bounds as numbers, so that a changed constant is seen.
func TestEightByteBounds(t *testing.T) {
	type parts = idtype.EightByteParts
	const last = 4398046511103
	for _, tt := range []struct {
		name   string
		parts  parts
		want   string    // the ID, or the part that is out of range
		former [3]string // by the former layouts; "" for the same
	}{
		{
			"largest",
			parts{sequential, last, 63, 2047, 15},
			"ffffffffffffffff",
			[3]string{"mode", "mode", "generator_id"},
		},
		{
			"largest of the first layout",
			parts{spread, last, 63, 63, 15},
			"ffffffffffff03ff",
			[3]string{},
		},
		{
			"largest of the second layout",
			parts{spread, last, 63, 255, 15},
			"ffffffffffff0fff",
			[3]string{"generator_id", "", ""},
		},
		{
			"largest of the third layout",
			parts{sequential, last, 63, 255, 15},
			"ffffffffffff1fff",
			[3]string{"mode", "mode", ""},
		},
		{
			"generator 256",
			parts{spread, 0, 0, 256, 0},
			"0000000000002000",
			[3]string{"generator_id", "generator_id", "generator_id"},
		},
		{"smallest", parts{spread, 0, 0, 0, 1}, "0000000000000001", [3]string{}},
		{
			"generator 64",
			parts{spread, 0, 0, 64, 0},
			"0000000000000400",
			[3]string{"generator_id", "", ""},
		},
		{"generator 2048", parts{spread, 0, 0, 2048, 0}, "generator_id", [3]string{}},
		{"generator -1", parts{spread, 0, 0, -1, 0}, "generator_id", [3]string{}},
		{
			"time above",
			parts{sequential, last + 1, 0, 0, 0},
			"unix_ms",
			[3]string{"mode", "mode", ""},
		},
		{"time far above", parts{spread, math.MaxInt64, 0, 0, 0}, "unix_ms", [3]string{}},
		{"time below", parts{spread, -1, 0, 0, 0}, "unix_ms", [3]string{}},
		{"time far below", parts{spread, math.MinInt64, 0, 0, 0}, "unix_ms", [3]string{}},
		{"sequence 64", parts{spread, 0, 64, 0, 0}, "sequence", [3]string{}},
		{"sequence -1", parts{spread, 0, -1, 0, 0}, "sequence", [3]string{}},
		{"cluster 16", parts{spread, 0, 0, 0, 16}, "cluster_id", [3]string{}},
		{"cluster -1", parts{spread, 0, 0, 0, -1}, "cluster_id", [3]string{}},
		{"no mode", parts{2, 1, 0, 0, 0}, "mode", [3]string{}},
		{"negative mode", parts{-1, 1, 0, 0, 0}, "mode", [3]string{}},
		{"the first bad part is named", parts{spread, 1, 64, -1, -1}, "sequence", [3]string{}},
		{
			"generator 512",
			parts{spread, 0, 0, 512, 0},
			"0000000000004000",
			[3]string{"generator_id", "generator_id", "generator_id"},
		},
		{
			"mode alone",
			parts{sequential, 0, 0, 0, 0},
			"0000000000001000",
			[3]string{"mode", "mode", ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(want string, id idtype.EightByteID, err error) {
				t.Helper()
				if len(want) != 16 {
					wantRangeError(t, err, "EightByteID", want)
				} else if err != nil || id.String() != want {
					t.Errorf("%+v = %v, %v, want %s", tt.parts, id, err, want)
				}
			}
			id, err := tt.parts.ID()
			check(tt.want, id, err)
			for i, l := range formerLayouts {
				want := cmp.Or(tt.former[i], tt.want)
				former, err := l.compose(tt.parts)
				check(want, former, err)
				if !id.IsZero() { // the same of an ID that was read
					check(want, id, l.validate(id))
				}
			}
		})
	}
	for _, l := range formerLayouts {
		for _, err := range []error{l.validate(idtype.EightByteID{}), errOf(l.compose(parts{}))} {
			wantInputError(t, err, "EightByteID", "0000000000000000", idtype.ErrZero)
		}
	}
	if idtype.EightByteMaxUnixMs != 4398046511103 || idtype.EightByteMaxSequence != 63 ||
		idtype.EightByteMaxGenerator != 2047 ||
		idtype.EightByteMaxCluster != 15 {
		t.Error("the exported bounds are not those of the layout")
	}
	got := time.UnixMilli(idtype.EightByteMaxUnixMs).UTC()
	if got != time.Date(2109, 5, 15, 7, 35, 11, 103e6, time.UTC) {
		t.Errorf("the last millisecond is %v", got)
	}
}

func TestEightByteMode(t *testing.T) {
	for mode, want := range map[idtype.EightByteMode]string{
		spread: "SPREAD", sequential: "TIME_SEQUENTIAL",
	} {
		text, err := mode.MarshalText()
		if mode.String() != want || string(text) != want || err != nil {
			t.Errorf("mode %d is %s, as text %s, %v, want %s", int(mode), mode, text, err, want)
		}
		got := idtype.EightByteMode(7)
		if err := got.UnmarshalText([]byte(want)); err != nil || got != mode {
			t.Errorf("%s is mode %d, %v", want, int(got), err)
		}
	}
	for _, bad := range []string{
		"", "spread", "SPREAD ", "TIME-SEQUENTIAL", "0", "1", "EightByteMode(0)",
		"EightByteMode(2)", strings.Repeat("S", 1<<20),
	} {
		got := sequential
		wantInputError(t, got.UnmarshalText([]byte(bad)), "EightByteMode", bad, nil)
		if got != sequential {
			t.Errorf("mode is %v after an error, want it untouched", got)
		}
	}
	for _, bad := range []idtype.EightByteMode{-1, 2} {
		text, err := bad.MarshalText()
		wantRangeError(t, err, "EightByteID", "mode")
		if text != nil || bad.String() != "EightByteMode("+strconv.Itoa(int(bad))+")" {
			t.Errorf("mode %d is %s, as text %q", int(bad), bad, text)
		}
	}
	b, err := json.Marshal(idtype.EightByteParts{sequential, 5, 4, 3, 2})
	const want = `{"mode":"TIME_SEQUENTIAL","unix_ms":5,"sequence":4,"generator_id":3,` +
		`"cluster_id":2}`
	if err != nil || string(b) != want {
		t.Errorf("parts as JSON = %s, %v, want %s", b, err, want)
	}
}

func errOf[T any](_ T, err error) error { return err }
