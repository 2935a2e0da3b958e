package idtype_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// TestPublished is the worked value of docs/design/formats.md, and of the type's own doc.
func TestPublished(t *testing.T) {
	want := idtype.DecimalParts{Counter: 1415, Generator: 92, Launch: 65}
	id, err := want.ID()
	if err != nil || id != published || id.Parts() != want {
		t.Errorf("%+v = %d, %v, which is %+v", want, id, err, id.Parts())
	}
}

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

// The reference is the layout as docs/design/formats.md draws it: three numbers side by side in 9, 5
// and 5 decimal places, done with strings. It shares no arithmetic with the package.

func refText(p idtype.DecimalParts) string {
	return strings.TrimLeft(fmt.Sprintf("%09d%05d%05d", p.Counter, p.Generator, p.Launch), "0")
}

func refParts(text string) (p idtype.DecimalParts) {
	places := strings.Repeat("0", 19-len(text)) + text
	p.Counter, _ = strconv.Atoi(places[:9])
	p.Generator, _ = strconv.Atoi(places[9:14])
	p.Launch, _ = strconv.Atoi(places[14:])
	return p
}

func TestLayoutAgainstReference(t *testing.T) {
	t.Run("parts to ID", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.DecimalParts{
			Counter:   rapid.IntRange(1, 922_337_202).Draw(t, "counter"),
			Generator: rapid.IntRange(0, 99_999).Draw(t, "generator"),
			Launch:    rapid.IntRange(0, 99_999).Draw(t, "launch"),
		}
		id, err := p.ID()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strconv.FormatInt(int64(id), 10), refText(p); got != want {
			t.Fatalf("%+v = %s, want %s", p, got, want)
		}
		if got := id.Parts(); got != p {
			t.Fatalf("parts came back as %+v, want %+v", got, p)
		}
		if err := id.Validate(); err != nil {
			t.Fatal(err)
		}
	}))

	t.Run("ID to parts", rapid.MakeCheck(func(t *rapid.T) {
		v := drawID(t)
		id, want := idtype.DecimalID(v), refParts(strconv.FormatInt(v, 10))
		if got := id.Parts(); got != want {
			t.Fatalf("parts of %d = %+v, want %+v", v, got, want)
		}
		if id.Counter() != want.Counter || id.Generator() != want.Generator ||
			id.Launch() != want.Launch {
			t.Fatalf("%d = %d, %d, %d, want %+v", v, id.Counter(), id.Generator(), id.Launch(),
				want)
		}
		if got, want := id.Validate() == nil, 1 <= want.Counter && want.Counter <= 922_337_202; got != want {
			t.Fatalf("Validate of %d: %v", v, id.Validate())
		}
		if got, want := id.IsTest(), strings.HasSuffix(fmt.Sprintf("%05d", v), "00000"); got != want {
			t.Fatalf("IsTest of %d = %v", v, got)
		}
	}))

	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.DecimalParts{
			Counter: rapid.Int().Draw(t, "counter"), Generator: rapid.Int().Draw(t, "generator"),
			Launch: rapid.Int().Draw(t, "launch"),
		}
		id, err := p.ID()
		// Whatever is accepted is what was asked for: nothing wraps around or spills into the next
		// part.
		if err == nil && id.Parts() != p {
			t.Fatalf("%+v gives %d, which is %+v", p, id, id.Parts())
		}
		if e := new(idtype.RangeError); err != nil && !errors.As(err, &e) {
			t.Fatalf("error is %v, want a *RangeError", err)
		}
	}))
}
