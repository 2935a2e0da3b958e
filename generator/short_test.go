package generator_test

import (
	"math/bits"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype/formats"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

var _ = add(scheme{
	name: "short", id: idtype.SchemeShort, typ: "ShortID", unit: time.Millisecond,
	begin: time.UnixMilli(formats.ShortEpoch),
	end:   time.UnixMilli(formats.ShortMaxUnixMs + 1), last: 511, lag: 8, numbers: 1,
	ascends: true,
	make: func(w windows, o *generator.Options) (*timed, error) {
		g, err := generator.NewShort(numbered(w, func(int) struct{} { return struct{}{} }), o)
		if err != nil {
			return nil, err
		}
		return adapt(g, func(id idtype.ShortID) mark {
			intact(id)(id.Parts().ID())
			return mark{0, id.Time().UnixNano(), 0, id.Parts().Sequence}
		}), nil
	},
	zero: adapt[idtype.ShortID](new(generator.Short), nil),
})

// ones is a source of random numbers that are all ones, or all of another number.
type ones uint64

func (o ones) Uint64() uint64 { return uint64(o) }

// TestShortRandom: the random bits are those of the source, and stay within their nine. Without a
// source all of them are used, one for each ID, by Fill as by Next.
func TestShortRandom(t *testing.T) {
	for _, random := range []ones{0, 98, 511, 512, 1<<64 - 1} {
		clock := testclock.New(noon.Add(-1))
		g := made(generator.NewShort(generator.Given(struct{}{}),
			&generator.Options{Clock: clock, Random: random}))
		clock.Set(noon)
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
	g := made(generator.NewShort(generator.Given(struct{}{}),
		&generator.Options{Clock: testclock.New(noon)}))
	ids := make([]idtype.ShortID, 4096)
	_, err := g.Fill(ctx, ids[:2048])
	for i := 2048; err == nil && i < len(ids); i++ {
		ids[i], err = g.Next(ctx)
	}
	var set [9]int
	for _, id := range ids {
		for r := uint(id.Parts().Random); r != 0; r &= r - 1 {
			set[bits.TrailingZeros(r)]++
		}
	}
	for bit, n := range set {
		if n < 1700 || n > 2400 || err != nil { // 2048 ± 10 deviations
			t.Errorf("bit %d is set in %d of 4096; %v", bit, n, err)
		}
	}
}
