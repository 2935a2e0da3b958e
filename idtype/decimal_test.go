package idtype_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestPublished is the worked value of document 002, and of the type's own doc.
func TestPublished(t *testing.T) {
	want := idtype.DecimalParts{Counter: 1415, Generator: 92, Launch: 65}
	id, err := want.ID()
	if err != nil || id != published || id.Parts() != want {
		t.Errorf("%+v = %d, %v, which is %+v", want, id, err, id.Parts())
	}
}

// TestBounds states the layout's bounds as numbers, so that a changed constant is seen.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		parts idtype.DecimalParts
		want  string // the ID, or the part that is out of range
	}{
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
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := tt.parts.ID()
			if tt.want[0] > '9' {
				wantRangeError(t, err, "DecimalID", tt.want)
				return
			}
			if err != nil || id.String() != tt.want {
				t.Errorf("%+v = %s, %v, want %s", tt.parts, id, err, tt.want)
			}
		})
	}
	if idtype.DecimalMaxCounter != 922_337_202 || idtype.DecimalMaxGenerator != 99_999 || idtype.DecimalMaxLaunch != 99_999 {
		t.Error("the exported bounds are not those of the layout")
	}
	if idtype.MinDecimalID.String() != "10000000000" || idtype.MaxDecimalID.String() != "9223372029999999999" {
		t.Errorf("IDs are said to be %d ..= %d", idtype.MinDecimalID, idtype.MaxDecimalID)
	}
	if next := idtype.DecimalID(published + idtype.DecimalStep); next != 14160009200065 {
		t.Errorf("a DecimalStep after the published ID is %d", next)
	}
}

func TestValidate(t *testing.T) {
	for _, id := range []idtype.DecimalID{10_000_000_000, published, 9_223_372_029_999_999_999} {
		if err := id.Validate(); err != nil {
			t.Errorf("%d: %v", id, err)
		}
	}
	for _, id := range []idtype.DecimalID{1, 57, 9_999_999_999, 9_223_372_030_000_000_000, math.MaxInt64} {
		wantRangeError(t, id.Validate(), "DecimalID", "counter")
	}
	if err := idtype.DecimalID(0).Validate(); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("Validate of zero is %v, want one that wraps ErrZero", err)
	}
	for _, id := range []idtype.DecimalID{-1, -published, math.MinInt64} {
		if err := id.Validate(); err == nil {
			t.Errorf("Validate of %d is no error", id)
		}
	}
}

func TestZeroAndTest(t *testing.T) {
	for _, tt := range []struct {
		name         string
		id           idtype.DecimalID
		zero, isTest bool
	}{
		{"zero is nobody's", 0, true, false},
		{"published", published, false, false},
		{"launch 0", 14150009200000, false, true},
		{"launch 10000 ends in zeros too", 14150009210000, false, false},
		{"an old row", 57, false, false},
	} {
		if tt.id.IsZero() != tt.zero || tt.id.IsTest() != tt.isTest {
			t.Errorf("%s: IsZero = %v, IsTest = %v", tt.name, tt.id.IsZero(), tt.id.IsTest())
		}
	}
}

func TestCompare(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		ascending := []int64{math.MinInt64, -1, 0, 1, published, published + 1, math.MaxInt64}
		for i, a := range ascending {
			for j, b := range ascending {
				if got := k.compare(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
					t.Errorf("Compare(%d, %d) = %d", a, b, got)
				}
			}
		}
	})
}

func TestMust(t *testing.T) {
	for name, must := range map[string]func(text string) int64{
		"MustParseDecimalID":       func(text string) int64 { return int64(idtype.MustParseDecimalID(text)) },
		"MustParseTraceID":         func(text string) int64 { return int64(idtype.MustParseTraceID(text)) },
		"MustParseShortID":         func(text string) int64 { return int64(idtype.MustParseShortID(text)) },
		"MustParseSequenceID":      func(text string) int64 { return int64(idtype.MustParseSequenceID(text)) },
		"MustParse of a typed key": func(text string) int64 { return int64(idtype.MustParse[UserID](text)) },
		"MustParse of a short key": func(text string) int64 { return int64(idtype.MustParse[UserShortID](text)) },
	} {
		t.Run(name, func(t *testing.T) {
			text, want := "14150009200065", int64(published)
			if strings.Contains(strings.ToLower(name), "short") {
				text, want = "xinaS8QBh", publishedShort
			}
			if got := must(text); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
			defer func() {
				err, _ := recover().(error)
				if err == nil || !strings.Contains(err.Error(), "no sense") {
					t.Errorf("panics with %v, want the parse error", err)
				}
			}()
			must("no sense")
		})
	}
}
