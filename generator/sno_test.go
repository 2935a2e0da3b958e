package generator_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// TestSnoMeta: all metabytes share the sequence, so they are of no matter to uniqueness.
func TestSnoMeta(t *testing.T) {
	clock := generator.NewTestClock(noon.Add(-1))
	g, err := generator.NewSno(generator.Given(65535), &generator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	clock.Set(noon)
	want := idtype.SnoParts{UnixMs: noon.UnixMilli(), Partition: 65535}
	check := func(id idtype.SnoID, err error) {
		t.Helper()
		if err != nil || id.Parts() != want {
			t.Fatalf("minted %+v, %v, want %+v", id.Parts(), err, want)
		}
		want.Sequence++
	}
	for meta := range 256 {
		want.Meta = 0
		check(g.Next(ctx))
		want.Meta = meta
		check(g.With(byte(meta)).Next(ctx))
		var ids [2]idtype.SnoID
		_, err := g.With(byte(meta)).Fill(ctx, ids[:])
		check(ids[0], err)
		check(ids[1], err)
		_, err = g.Fill(ctx, ids[:1])
		want.Meta = 0
		check(ids[0], err)
	}
	if st := g.Stats(); st.Issued != 256*5 {
		t.Errorf("%+v", st)
	}
}

// TestSnoPartitions: the zero value hands out all of them, each once, and then an error, for ever.
func TestSnoPartitions(t *testing.T) {
	var p generator.Partitions
	var mu sync.Mutex
	seen := map[int]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 8192 {
				w, err := p.NextWindow(ctx, 1000, 4*time.Millisecond)
				mu.Lock()
				if err != nil || seen[w.Number] || w.Number < 0 || w.Number > 65535 ||
					w.To != generator.NoEnd || w.From != 1001 {
					t.Errorf("%+v, %v", w, err)
				}
				seen[w.Number] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for range 8 {
		wg.Go(func() {
			for range 100 {
				_, err := p.NextWindow(ctx, 1000, 4*time.Millisecond)
				var e *idtype.RangeError
				want := idtype.RangeError{Type: "SnoID", Part: "partition", Max: 65535}
				if !errors.As(err, &e) || e.Value < 65536 {
					t.Errorf("%v, want %+v", err, want)
				}
			}
		})
	}
	wg.Wait()
	g, err := generator.NewSno(&p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := g.Next(ctx); !errors.As(err, new(*generator.NumberError)) ||
			!errors.As(err, new(*idtype.RangeError)) {
			t.Errorf("after the last partition: %v", err)
		}
	}
}

// TestSnoByPartitions: generators of one process take theirs when they mint first, and keep it.
func TestSnoByPartitions(t *testing.T) {
	var p generator.Partitions
	clock := generator.NewTestClock(noon)
	generators := make([]*generator.Sno, 3)
	for i := range generators {
		var err error
		if generators[i], err = generator.NewSno(&p, &generator.Options{Clock: clock}); err != nil {
			t.Fatal(err)
		}
	}
	for partition, i := range []int{2, 0, 1} {
		for range 3 {
			if id, err := generators[i].Next(ctx); err != nil || id.Partition() != partition ||
				id.Sequence() != 0 {
				t.Errorf("minted %+v, %v, want partition %d", id.Parts(), err, partition)
			}
			clock.Add(time.Hour)
		}
	}
	if id, err := generators[2].Next(ctx); err != nil || id.Partition() != 0 {
		t.Errorf("minted %+v, %v, want the same partition again", id.Parts(), err)
	}
}
