package generator_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// TestWholeSno mints 200,000,000 IDs by generators that goroutines share, by the real clocks and over thousands of units of time,
// and finds each once. Next and Fill come in turn, with any metabyte: IDs that differ by that alone are repeats here.
func TestWholeSno(t *testing.T) {
	total := int64(200_000_000)
	if raceEnabled || testing.Short() {
		total = 3_000_000
	}
	runs := []struct {
		goroutines int
		clock      string
	}{{2, "an anchored clock"}, {8, "the system's clock"}, {64, "an anchored clock"}}
	units := 0
	for _, run := range runs {
		t.Run(fmt.Sprint(run.goroutines, " goroutines"), func(t *testing.T) {
			var clock generator.Clock = generator.WallClock{}
			if run.clock == "an anchored clock" {
				clock = generator.NewAnchoredClock()
			}
			units += wholeSno(t, clock, run.clock, run.goroutines, (total+2)/int64(len(runs)))
		})
	}
	if least := int(total >> 16); units < least {
		t.Errorf("%d units of time, want at least %d", units, least)
	}
}

func wholeSno(t *testing.T, clock generator.Clock, called string, goroutines int, total int64) int {
	const partition = 0xabcd
	g, err := generator.NewSno(generator.Given(partition), &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	// From 10 s ago: the system's clock may be set back meanwhile.
	b := &bitmap{first: uint64(start.Add(-10*time.Second).UnixMilli()-idtype.SnoEpoch) / idtype.SnoTimeUnit}
	var left atomic.Int64
	left.Store(total)
	seed := rand.Uint64()
	inParallel(goroutines, func(i int) {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		ids := make([]idtype.SnoID, 1<<13)
		for !t.Failed() {
			n := 1 + rnd.Int64N(int64(len(ids)))
			n = min(n, n+left.Add(-n))
			if n <= 0 {
				return
			}
			meta := byte(rnd.Uint32())
			if err := mintSno(g.With(meta), rnd, ids[:n]); err != nil {
				t.Error(err)
				return
			}
			want := uint64(meta)<<16 | partition
			for _, id := range ids[:n] {
				head := binary.BigEndian.Uint64(id[:])
				if head&0xff_ffff != want || !b.mark(head>>25, head>>24&1, uint64(id.Sequence())) {
					t.Errorf("minted %+v, want partition %d, metabyte %d and a time after %v", id.Parts(), partition, meta, start)
					return
				}
			}
		}
	})
	slots, used, full := b.count()
	t.Logf("%d IDs of %d goroutines by %s in %.1f s: %d units of 4 ms, %d of them used up, %d repeats",
		total, goroutines, called, time.Since(start).Seconds(), used, full, b.repeats.Load())
	if b.repeats.Load() != 0 || int64(slots) != total {
		t.Errorf("%d different IDs and %d repeats, want %d and 0", slots, b.repeats.Load(), total)
	}
	if s := g.Stats(); s.Issued != uint64(total) {
		t.Errorf("the statistics say that %d were issued, want %d", s.Issued, total)
	}
	return used
}

// mintSno fills ids, half of the time one by one.
func mintSno(g generator.SnoMeta, rnd *rand.Rand, ids []idtype.SnoID) (err error) {
	if rnd.IntN(2) == 0 {
		_, err = g.Fill(ctx, ids)
		return err
	}
	for i := range ids {
		if ids[i], err = g.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}
