package generator_test

import (
	"math/bits"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// ones is a source of random numbers that are all ones, or all of another number.
type ones uint64

func (o ones) Uint64() uint64 { return uint64(o) }

func newShort(t testing.TB, o generator.Options) (*generator.Short, *generator.TestClock) {
	t.Helper()
	clock := generator.NewTestClock(noon.Add(-time.Millisecond))
	o.Clock = clock
	g, err := generator.NewShort(generator.Given(struct{}{}), &o)
	if err != nil {
		t.Fatal(err)
	}
	clock.Set(noon)
	return g, clock
}

// TestShortRandom: the random bits are those of the source, and stay within their nine.
func TestShortRandom(t *testing.T) {
	for _, random := range []ones{0, 98, 511, 512, 1<<64 - 1} {
		g, _ := newShort(t, generator.Options{Random: random})
		for sequence := range 600 {
			id, err := g.Next(ctx)
			want := idtype.ShortParts{
				UnixMs: noon.UnixMilli() + int64(sequence/512), Sequence: sequence % 512,
				Random: int(random & 511),
			}
			if err != nil || id.Parts() != want {
				t.Fatalf("minted %+v, %v, want %+v", id.Parts(), err, want)
			}
		}
	}
}

// TestShortRandomByDefault: all nine bits are used, one for each ID, by Fill as by Next.
func TestShortRandomByDefault(t *testing.T) {
	g, _ := newShort(t, generator.Options{})
	ids := make([]idtype.ShortID, 4096)
	if _, err := g.Fill(ctx, ids[:2048]); err != nil {
		t.Fatal(err)
	}
	for i := range ids[2048:] {
		var err error
		if ids[2048+i], err = g.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var set [9]int
	different := map[int]bool{}
	for _, id := range ids {
		different[id.Random()] = true
		for r := uint(id.Random()); r != 0; r &= r - 1 {
			set[bits.TrailingZeros(r)]++
		}
	}
	for bit, n := range set {
		if n < 1700 || n > 2400 { // 2048 ± 10 deviations
			t.Errorf("bit %d is set in %d of 4096", bit, n)
		}
	}
	if len(different) < 500 {
		t.Errorf("%d different values of 512", len(different))
	}
}
