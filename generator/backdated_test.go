package generator_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

func newBackdated(t testing.TB, partition int, pool *generator.Pool) *generator.BackdatedSno {
	t.Helper()
	g, err := generator.NewBackdatedSno(partition, pool)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestBackdated: each time counts for itself, in any order of times, and 4 ms are one time.
func TestBackdated(t *testing.T) {
	g := newBackdated(t, 9, &generator.Pool{Min: 100, Max: 110})
	next := map[int64]int{}
	for i := range 30 {
		at := noon.Add(time.Duration(i*7%12) * time.Millisecond).In(time.FixedZone("", 3600))
		unit := at.UnixMilli() / 4 * 4
		id, err := g.At(at, byte(i))
		want := idtype.SnoParts{UnixMs: unit, Meta: i, Partition: 9, Sequence: 100 + next[unit]}
		if err != nil || id.Parts() != want {
			t.Fatalf("minted %+v, %v, want %+v", id.Parts(), err, want)
		}
		next[unit]++
	}
	for _, n := range next {
		if n != 10 {
			t.Errorf("%d of one time, want 10", n)
		}
	}
}

// TestBackdatedPool: the end of a pool is an error, of that time alone.
func TestBackdatedPool(t *testing.T) {
	for _, pool := range []*generator.Pool{
		nil, {Min: 0, Max: 65535}, {Min: 65535, Max: 65535}, {Min: 0, Max: 0}, {Min: 5, Max: 8},
	} {
		want := generator.Pool{Min: 0, Max: 65535}
		if pool != nil {
			want = *pool
		}
		g := newBackdated(t, 9, pool)
		for sequence := want.Min; sequence <= want.Max; sequence++ {
			if id, err := g.At(noon, 1); err != nil || id.Sequence() != sequence {
				t.Fatalf("pool %+v: minted %+v, %v, want sequence %d", want, id.Parts(), err,
					sequence)
			}
		}
		for range 3 {
			id, err := g.At(noon.Add(3*time.Millisecond), 2)
			var e *generator.PoolError
			if !errors.As(err, &e) || e.Pool != want ||
				!e.Time.Equal(noon.Add(3*time.Millisecond)) || !id.IsZero() {
				t.Fatalf("pool %+v: minted %+v, %v, want a *PoolError", want, id.Parts(), err)
			}
			if text := err.Error(); !strings.Contains(text, "2026-03-14T12:00:00.003Z") ||
				!strings.HasPrefix(text, "generator: sno: ") {
				t.Errorf("text is %q", text)
			}
		}
		if id, err := g.At(noon.Add(-1), 1); err != nil || id.Sequence() != want.Min {
			t.Errorf("pool %+v, another time: %+v, %v", want, id.Parts(), err)
		}
	}
}

// TestBackdatedErrors names what does not fit.
func TestBackdatedErrors(t *testing.T) {
	for _, bad := range []int{-1, 65536} {
		if g, err := generator.NewBackdatedSno(bad, nil); g != nil ||
			!errors.As(err, new(*idtype.RangeError)) {
			t.Errorf("partition %d: %v", bad, err)
		}
	}
	for _, bad := range []generator.Pool{
		{Min: -1, Max: 5}, {Min: 0, Max: 65536}, {Min: 3, Max: 2},
	} {
		if g, err := generator.NewBackdatedSno(1, &bad); g != nil ||
			!errors.As(err, new(*generator.OptionError)) {
			t.Errorf("pool %+v: %v", bad, err)
		}
	}
	g := newBackdated(t, 1, nil)
	first, end := time.UnixMilli(idtype.SnoEpoch), time.UnixMilli(idtype.SnoMaxUnixMs+1)
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, bad := range []time.Time{first.Add(-1), end, {}, year(1600), year(9999)} {
		id, err := g.At(bad, 0)
		var e *idtype.RangeError
		if !errors.As(err, &e) || !id.IsZero() || e.Part != "unix_ms" ||
			e.Value != bad.UnixMilli() {
			t.Errorf("at %v: minted %v, %v", bad, id, err)
		}
	}
	for _, good := range []time.Time{first, first.Add(4 * time.Millisecond), end.Add(-1)} {
		if id, err := g.At(good, 0); err != nil || id.UnixMs() != good.UnixMilli()/4*4 {
			t.Errorf("at %v: minted %+v, %v", good, id.Parts(), err)
		}
	}
}

// TestBackdatedIsNeverZero: with all parts the smallest, an ID would be none. A database refuses
// it.
func TestBackdatedIsNeverZero(t *testing.T) {
	g := newBackdated(t, 0, nil)
	seen := map[idtype.SnoID]bool{}
	for range 5 {
		id, err := g.At(time.UnixMilli(idtype.SnoEpoch), 0)
		if err != nil {
			continue // there may be none
		}
		if seen[id] || id.IsZero() || id.Validate() != nil {
			t.Errorf("minted %v, %+v: %v", id, id.Parts(), id.Validate())
		}
		seen[id] = true
	}
}
