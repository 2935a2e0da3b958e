package generator_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

func TestNewDecimal(t *testing.T) {
	for _, ok := range []int{1, launch, 99_999} {
		if g, err := generator.NewDecimal(ofLaunch{newSource(), ok}); err != nil || g == nil {
			t.Errorf("launch %d: %v", ok, err)
		}
	}
	g, err := generator.NewDecimal(ofLaunch{newSource(), 0})
	if !errors.Is(err, generator.ErrTestLaunch) || g != nil {
		t.Errorf("launch 0: %v, %v, want ErrTestLaunch", g, err)
	}
	for _, bad := range []int{-1, 100_000, math.MaxInt, math.MinInt} {
		g, err := generator.NewDecimal(ofLaunch{newSource(), bad})
		var e *idtype.RangeError
		if !errors.As(err, &e) || e.Part != "launch_id" || e.Value != int64(bad) || g != nil {
			t.Errorf("launch %d: %v, %v, want a *RangeError about launch_id", bad, g, err)
		}
	}
}

// TestFirst: counters begin at 1, and the digits are those of the layout, at the edges of number
// and launch too.
func TestFirst(t *testing.T) {
	for _, tt := range []struct {
		name           string
		launch, number int
		want           string
	}{
		{"of the example in formats.md", 65, 92, "10009200065"},
		{"smallest", 1, 0, "10000000001"},
		{"largest", 99_999, 99_999, "19999999999"},
	} {
		for _, m := range mints {
			t.Run(tt.name+"/"+m.name, func(t *testing.T) {
				g, err := generator.NewDecimal(ofLaunch{newSource(tt.number), tt.launch})
				if err != nil {
					t.Fatal(err)
				}
				ids, err := m.mint(g, 3)
				if err != nil {
					t.Fatal(err)
				}
				first := idtype.MustParseDecimalID(tt.want)
				wantIDs(t, ids, first, first+1_00000_00000, first+2_00000_00000)
				for _, id := range ids {
					if err := id.Validate(); err != nil || id.IsTest() {
						t.Errorf("%d: Validate %v, IsTest %v", id, err, id.IsTest())
					}
				}
			})
		}
	}
}

func TestNewTestDecimal(t *testing.T) {
	// Number 0 too: then the state of the generator is as close to its marks as it gets.
	for _, number := range []int{0, 92} {
		src := newSource(number, number+1)
		g := generator.NewTestDecimal(src)
		for _, m := range mints {
			ids, err := m.mint(g, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if !id.IsTest() || id.Validate() != nil || id.Generator() != number {
					t.Errorf("%s: %d is %+v, want a test ID of generator %d", m.name, id,
						id.Parts(), number)
				}
			}
		}
		g.SkipTo(span - 1)
		ids, err := mints[0].mint(g, 2)
		if err != nil || ids[0].Counter() != span ||
			ids[1].Parts() != (idtype.DecimalParts{Counter: 1, Generator: number + 1}) {
			t.Errorf("at the change: %v, %v", ids, err)
		}
	}
}

func TestLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource(92)
		g := newDecimal(t, src)
		g.Owned(1000)
		g.Stats()
		if n, err := g.Fill(ctx, nil); n != 0 || err != nil {
			t.Errorf("Fill of nothing = %d, %v", n, err)
		}
		synctest.Wait()
		// a number is a claim on the launch log: an app that mints nothing makes none
		src.wantCalls(t, 0)
		if _, err := g.Next(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		src.wantCalls(t, 1)
	})
}

func TestNumberErrorText(t *testing.T) {
	_, err := newDecimal(t, newSource()).Next(ctx)
	for _, part := range []string{"generator: ", "launch 65", errNoNumber.Error()} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error is %v, want %q in it", err, part)
		}
	}
}
