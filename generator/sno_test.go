package generator_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/internal/testclock"
)

var _ = add(scheme{
	name: "sno", id: idtype.SchemeSno, typ: "SnoID", unit: 4 * time.Millisecond,
	begin: time.UnixMilli(formats.SnoEpoch),
	end:   time.UnixMilli(formats.SnoMaxUnixMs + 1), last: 1<<16 - 1, lag: 4,
	numbers: 1 << 16, part: "partition", ascends: true, toggles: true,
	make: func(w windows, o *generator.Options) (*timed, error) {
		g, err := generator.NewSno(numbered(w, func(n int) int { return n }), o)
		if err != nil {
			return nil, err
		}
		return adapt(g, func(id idtype.SnoID) mark {
			intact(id)(id.Parts().ID())
			p := id.Parts()
			return mark{p.Partition, id.Time().UnixNano(), p.TickTock, p.Sequence}
		}), nil
	},
	zero: adapt[idtype.SnoID](new(generator.Sno), nil),
})

// TestSnoMeta: all metabytes share the sequence, so they are of no matter to uniqueness.
func TestSnoMeta(t *testing.T) {
	clock := testclock.New(noon.Add(-1))
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

// snoScheme is the one that toggles.
func snoScheme() scheme {
	for _, s := range schemes {
		if s.toggles {
			return s
		}
	}
	panic("no scheme toggles")
}

// A step sets a clock, in units after noon, and mints an ID of a unit. A call that waits does so
// until that.
type step struct {
	at, unit, bit, slot int
	waits               bool
}

func (s scheme) take(t *testing.T, g *timed, clock *testclock.Clock, p step) {
	t.Helper()
	clock.Set(noon.Add(s.units(p.at)))
	wantNext(t, s, g, p.unit, p.bit, p.slot)
	if p.waits {
		p.at = p.unit
	}
	wantAt(t, clock, s.units(p.at))
}

// TestTickTock follows the bit. A regression toggles it at once, in both directions, unless the
// other value of the bit has stamped the time. There the call waits.
func TestTickTock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := snoScheme()
		g, clock := idle(t, s, generator.Options{Pool: &generator.Pool{Min: 7, Max: 9}})
		for _, p := range []step{
			{110, 110, 0, 7, false},
			{90, 90, 1, 7, false}, // the first regression
			{90, 90, 1, 8, false},
			{95, 95, 1, 7, false},
			{92, 95, 1, 8, false}, // both values have stamped this: 0 up to 110, 1 from 90 on
			{92, 95, 1, 9, false},
			{92, 96, 1, 7, true},
			{110, 110, 1, 7, false}, // what 0 stamped is new to 1
			{120, 120, 1, 7, false},
			{115, 115, 0, 7, false}, // after 110, so 0 is free
			{114, 115, 0, 8, false}, // 1 has stamped up to 120
			{114, 115, 0, 9, false},
			{114, 116, 0, 7, true},
			{130, 130, 0, 7, false},
			{121, 121, 1, 7, false}, // the first that 1 has not
			{120, 121, 1, 8, false},
			{120, 121, 1, 9, false},
			{120, 122, 1, 7, true},
			{140, 140, 1, 7, false},
			{140, 140, 1, 8, false},
			{140, 140, 1, 9, false},
			{129, 131, 0, 7, true}, // 130 was stamped by 0: it is sooner over than 140
		} {
			s.take(t, g, clock, p)
		}
		if st := g.stats(); st.Regressions != 7 || st.Waits != 4 {
			t.Errorf("%+v, want 7 regressions, 4 waits", st)
		}
	})
}

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

// TestBackdatedPool: the end of a pool is an error, of that time alone. No ID is zero.
func TestBackdatedPool(t *testing.T) {
	for _, pool := range []generator.Pool{
		{Min: 0, Max: 65535}, {Min: 65535, Max: 65535}, {Min: 0, Max: 0}, {Min: 5, Max: 8},
	} {
		g := newBackdated(t, 0, &pool)
		for sequence := pool.Min; sequence <= pool.Max; sequence++ {
			if id, err := g.At(noon, 1); err != nil || id.Parts().Sequence != sequence {
				t.Fatalf("%+v: minted %+v, %v, want sequence %d", pool, id.Parts(), err, sequence)
			}
		}
		at := noon.Add(3 * time.Millisecond)
		for range 3 {
			id, err := g.At(at, 2)
			var e *generator.OptionError
			if !errors.As(err, &e) || e.Option != "time" || !id.IsZero() {
				t.Fatalf("%+v: minted %+v, %v, want an *OptionError", pool, id.Parts(), err)
			}
		}
		if id, err := g.At(noon.Add(-1), 1); err != nil || id.Parts().Sequence != pool.Min {
			t.Errorf("%+v, another time: %+v, %v", pool, id.Parts(), err)
		}
		if id, err := g.At(time.UnixMilli(formats.SnoEpoch), 0); err == nil && id.Validate() != nil {
			t.Errorf("%+v, the first time: %+v: %v", pool, id.Parts(), id.Validate())
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
	if g, err := generator.NewBackdatedSno(1, &generator.Pool{Min: 3, Max: 2}); g != nil ||
		!errors.As(err, new(*generator.OptionError)) {
		t.Errorf("a pool: %v", err)
	}
	g := newBackdated(t, 1, nil)
	first, end := time.UnixMilli(formats.SnoEpoch), time.UnixMilli(formats.SnoMaxUnixMs+1)
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for at, ok := range map[time.Time]bool{
		first: true, end.Add(-1): true, first.Add(-1): false, end: false, {}: false,
		year(1600): false, year(9999): false,
	} {
		id, err := g.At(at, 0)
		var e *idtype.RangeError
		if (err == nil) != ok || !ok && (!errors.As(err, &e) || e.Value != at.UnixMilli()) ||
			ok && id.Parts().UnixMs != at.UnixMilli()/4*4 {
			t.Errorf("at %v: minted %v, %v", at, id, err)
		}
	}
}
