//go:build !race

package generator_test

import (
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestWholeNumber mints all IDs of a number, by Fill, and some of the next.
func TestWholeNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("922,337,202 IDs")
	}
	src := newSource(99_999, 0)
	g := newDecimal(t, src)
	block := make([]idtype.DecimalID, 1<<18)
	want := idtype.MustParseDecimalID("19999900065")
	for minted := 0; minted < span; {
		n, err := g.Fill(ctx, block[:min(len(block), span-minted)])
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range block[:n] {
			if got != want {
				t.Fatalf("ID %d is %d, want %d", minted+i+1, got, want)
			}
			want += 1_00000_00000
		}
		minted += n
	}
	if last := want - 1_00000_00000; last.String() != "9223372029999900065" {
		t.Errorf("the last ID is %d", last)
	}
	next, err := g.Next(ctx)
	if err != nil || next != id(1, 0) {
		t.Errorf("the ID after the last is %d, %v, want the first of the next number", next, err)
	}
	src.wantCalls(t, 2)
	t.Logf("%d IDs of one generator number, each once and in order", span)
}
