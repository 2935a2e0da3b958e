package clickhouse

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// firstBelow is what a loop over one value at a time finds, for all places of a bad value.
func TestFirstBelow(t *testing.T) {
	slow := func(vs []int64, least int64) int {
		return slices.IndexFunc(vs, func(v int64) bool { return v < least })
	}
	for n := range 20 { // every place in lists of every length
		for i := range n {
			for _, bad := range []int64{0, -1, math.MinInt64} {
				vs := slices.Repeat([]int64{1}, n)
				vs[i] = bad
				if got, want := firstBelow(vs, zeroFails), i; got != want {
					t.Errorf("%v: %d, want %d", vs, got, want)
				}
				if got, want := firstBelow(vs, zeroStays), slow(vs, 0); got != want {
					t.Errorf("%v, with zeros: %d, want %d", vs, got, want)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.SampledFrom(
			[]int64{1, 2, math.MaxInt64, 0, -1, math.MinInt64, math.MinInt64 + 1},
		)
		good := rapid.Int64Range(1, math.MaxInt64)
		vs := rapid.SliceOfN(good, 0, 50).Draw(t, "values")
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 49), 0, 2).Draw(t, "places") {
			if i < len(vs) {
				vs[i] = edge.Draw(t, "edge")
			}
		}
		if got, want := firstBelow(vs, zeroFails), slow(vs, 1); got != want {
			t.Fatalf("%v: %d, want %d", vs, got, want)
		}
		if got, want := firstBelow(vs, zeroStays), slow(vs, 0); got != want {
			t.Fatalf("%v, with zeros: %d, want %d", vs, got, want)
		}
	})
}

// IDs that are seen as another type show their own memory, all of it, and nothing else.
func TestMemory(t *testing.T) {
	ids := make([]idtype.DecimalID, 3, 7)
	ints := int64s(ids)
	if len(ints) != 3 || cap(ints) != 7 {
		t.Fatalf("%d of %d integers", len(ints), cap(ints))
	}
	ints[2] = 42
	if ids[2] != 42 || unsafe.Pointer(&ids[0]) != unsafe.Pointer(&ints[0]) {
		t.Fatalf("%v, want 42 at the end", ids)
	}
	snos := make([]idtype.SnoID, 3, 7)
	raw := rawBytes(snos)
	if len(raw) != 30 || cap(raw) != 70 {
		t.Fatalf("%d of %d bytes", len(raw), cap(raw))
	}
	raw[29], raw[10] = 1, 2
	if !slices.Equal(snos, []idtype.SnoID{{}, {2}, {9: 1}}) {
		t.Fatalf("%v", snos)
	}
	if len(int64s[idtype.DecimalID](nil)) != 0 || len(rawBytes[idtype.SnoID](nil)) != 0 {
		t.Fatal("nothing is something")
	}
}

// A type that has all the methods of an ID, and is larger.
type embedding struct {
	idtype.DecimalID
	extra int
}

func TestNoOtherTypeIsSeenAsIDs(t *testing.T) {
	for name, f := range map[string]func(){
		"a struct as integers": func() { int64s([]embedding{{extra: 1}}) },
		"a struct as bytes":    func() { rawBytes([]embedding{{extra: 1}}) },
		"bytes as integers":    func() { int64s([]idtype.EightByteID{{}}) },
		"integers as bytes":    func() { rawBytes([]idtype.DecimalID{1}) },
		"a struct to append":   func() { _ = Append(nil, []embedding{{extra: 1}}) },
		"a struct in a block":  func() { ColID[embedding]{{extra: 1}}.Type() },
		"a struct in a table":  func() { Column[embedding]{}.PrimaryKey() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
