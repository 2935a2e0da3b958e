package generator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

func newEightByte(
	t testing.TB, mode idtype.EightByteMode, pair generator.EightBytePair,
) (*generator.EightByte, *generator.TestClock) {
	t.Helper()
	clock := generator.NewTestClock(noon.Add(-time.Millisecond))
	g, err := generator.NewEightByte(mode, generator.Given(pair), &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	clock.Set(noon)
	return g, clock
}

// TestEightByteBits: every pair's bits are where the layout has them, in both modes, and the mode
// is the generator's. The time's top bit, which is set from 2039 on, is a bit like any other.
func TestEightByteBits(t *testing.T) {
	for _, mode := range []idtype.EightByteMode{
		idtype.EightByteSpread, idtype.EightByteTimeSequential,
	} {
		for _, pair := range []generator.EightBytePair{
			{0, 0}, {2047, 15}, {0x27, 0}, {0, 1}, {256, 8}, {255, 7}, {1024, 0}, {1, 0},
		} {
			g, clock := newEightByte(t, mode, pair)
			var last idtype.EightByteID
			for _, ms := range []int64{noon.UnixMilli(), 1<<41 - 1, 1 << 41, 1<<42 - 1} {
				clock.Set(time.UnixMilli(ms))
				for sequence := range 3 {
					want := idtype.EightByteParts{
						Mode: mode, UnixMs: ms, Sequence: sequence,
						Generator: pair.Generator, Cluster: pair.Cluster,
					}
					wantID, wantErr := want.ID()
					id, err := g.Next(ctx)
					if err != nil || wantErr != nil || id != wantID || id.Parts() != want {
						t.Errorf("minted %v, %+v, %v; want %v", id, id.Parts(), err, wantID)
					}
					if mode == idtype.EightByteTimeSequential && id.Compare(last) <= 0 {
						t.Errorf("minted %v after %v", id, last)
					}
					last = id
				}
			}
		}
	}
}

// TestEightByteErrors names the part that does not fit.
func TestEightByteErrors(t *testing.T) {
	for _, tt := range []struct {
		pair generator.EightBytePair
		want idtype.RangeError
	}{
		{
			generator.EightBytePair{Generator: -1},
			idtype.RangeError{Part: "generator_id", Value: -1, Max: 2047},
		},
		{
			generator.EightBytePair{Generator: 2048},
			idtype.RangeError{Part: "generator_id", Value: 2048, Max: 2047},
		},
		{
			generator.EightBytePair{Cluster: -1},
			idtype.RangeError{Part: "cluster_id", Value: -1, Max: 15},
		},
		{
			generator.EightBytePair{Cluster: 16},
			idtype.RangeError{Part: "cluster_id", Value: 16, Max: 15},
		},
	} {
		tt.want.Type = "EightByteID"
		for _, mode := range []idtype.EightByteMode{
			idtype.EightByteSpread, idtype.EightByteTimeSequential,
		} {
			g, err := generator.NewEightByte(mode, generator.Given(tt.pair), nil)
			var e *idtype.RangeError
			if g != nil || !errors.As(err, &e) || *e != tt.want {
				t.Errorf("%+v: %v, want %v", tt.pair, err, &tt.want)
			}
		}
	}
	for _, mode := range []idtype.EightByteMode{-1, 2} {
		g, err := generator.NewEightByte(mode, generator.Given(generator.EightBytePair{}), nil)
		var e *generator.OptionError
		if g != nil || !errors.As(err, &e) || e.Option != "mode" {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}

// TestEightByteModes: generators of both modes may have one pair, and IDs differ; their snapshots
// are not each other's.
func TestEightByteModes(t *testing.T) {
	pair := generator.EightBytePair{Generator: 5, Cluster: 6}
	spread, clock := newEightByte(t, idtype.EightByteSpread, pair)
	sequential, _ := newEightByte(t, idtype.EightByteTimeSequential, pair)
	seen := map[idtype.EightByteID]bool{}
	for _, g := range []*generator.EightByte{spread, sequential} {
		ids := make([]idtype.EightByteID, 200)
		if _, err := g.Fill(ctx, ids); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			seen[id] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d different IDs, want 400", len(seen))
	}
	snapshot := spread.Snapshot()
	_, err := generator.NewEightByte(idtype.EightByteTimeSequential, generator.Given(pair),
		&generator.Options{Clock: clock, Snapshot: &snapshot})
	if !errors.As(err, new(*generator.SnapshotError)) {
		t.Errorf("a snapshot of the other mode: %v", err)
	}
}
