package generator_test

import (
	"math/bits"
	"testing"
	"testing/synctest"
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
	make: func(w windows, o *generator.Options) (*timed, error) {
		g, err := generator.NewShort(numbered(w, func(int) struct{} { return struct{}{} }), o)
		if err != nil {
			return nil, err
		}
		pool := generator.Pool{Min: 0, Max: 511}
		if o != nil && o.Pool != nil {
			pool = *o.Pool
		}
		return adapt(g, func(id idtype.ShortID) mark {
			intact(id)(id.Parts().ID())
			n := pool.Max - pool.Min + 1
			slot := pool.Min + (id.Parts().Sequence-g.Begins(id.Time())+n)%n
			return mark{0, id.Time().UnixNano(), 0, slot}
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
	synctest.Test(t, func(t *testing.T) {
		for _, random := range []ones{0, 98, 511, 512, 1<<64 - 1} {
			clock := testclock.New(noon.Add(-1))
			g := made(generator.NewShort(generator.Given(struct{}{}),
				&generator.Options{Clock: clock, Random: random}))
			clock.Set(noon)
			for sequence := range 600 {
				id, err := g.Next(ctx)
				want := idtype.ShortParts{
					UnixMs: noon.UnixMilli() + int64(sequence/512), Random: int(random & 511),
				}
				want.Sequence = (g.Begins(time.UnixMilli(want.UnixMs)) + sequence) % 512
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
	})
}

// TestShortRolls: each millisecond takes all sequence numbers of the pool once, and passes the last
// one at most once.
func TestShortRolls(t *testing.T) {
	clock := testclock.New(noon)
	for _, pool := range []generator.Pool{{Min: 0, Max: 511}, {Min: 7, Max: 306}, {Min: 511, Max: 511}} {
		g := made(generator.NewShort(generator.Given(struct{}{}),
			&generator.Options{Clock: clock, Pool: &pool}))
		ids := make([]idtype.ShortID, pool.Max-pool.Min+1)
		for range 300 {
			clock.Add(time.Millisecond)
			if _, err := g.Fill(ctx, ids); err != nil {
				t.Fatal(err)
			}
			seen, wraps := map[int]bool{}, 0
			for i, id := range ids {
				sequence := id.Parts().Sequence
				seen[sequence] = true
				if i > 0 && sequence < ids[i-1].Parts().Sequence {
					wraps++
				}
				if sequence < pool.Min || sequence > pool.Max || !id.Time().Equal(ids[0].Time()) {
					t.Fatalf("%+v: minted %+v", pool, id.Parts())
				}
			}
			if len(seen) != len(ids) || wraps > 1 {
				t.Fatalf("%+v: %d numbers of %d, %d wraps", pool, len(seen), len(ids), wraps)
			}
		}
	}
}

// TestShortTextsVaryAtBothEnds: at any rate the first two characters of a list's texts and the last
// one take all 64 letters, each about equally often.
func TestShortTextsVaryAtBothEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, every := range []time.Duration{
			0, time.Millisecond, time.Second / 47, 512 * time.Millisecond, time.Second, time.Hour,
		} {
			clock := testclock.New(noon)
			g := made(generator.NewShort(generator.Given(struct{}{}),
				&generator.Options{Clock: clock}))
			var letters [3]map[byte]int
			for i := range letters {
				letters[i] = map[byte]int{}
			}
			const n = 64 * 64
			for range n {
				clock.Add(every)
				id, err := g.Next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				text := id.String()
				letters[0][text[0]]++
				letters[1][text[1]]++
				letters[2][text[len(text)-1]]++
			}
			for i, end := range letters {
				for letter, count := range end {
					if len(end) != 64 || count > n/64*2 { // 8 deviations
						t.Errorf("every %v: %d letters at %d, %q %d times of %d", every, len(end), i,
							letter, count, n)
						break
					}
				}
			}
		}
	})
}
