package idtype_test

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// TestStorageSlice: the elements are what a query compares with the column.
func TestStorageSlice(t *testing.T) {
	for i, want := range []string{
		`["5b9bda2989e1989b","b7b7b7b7b7b7b7b7"]`,
		`["6601109550783371419","-5208492444341520457"]`,
		`["335f48168d9e8808dc82","b7b7b7b7b7b7b7b7b7b7"]`,
		`["8fhmi7mfls62jp64","owtthfvpowtthfvp"]`,
		`["3866686d-6937-6d66-6c73-36326a703634","6f777474-6866-7670-6f77-747468667670"]`,
	} {
		k := byteKinds[i]
		raw := snoRaw
		if k.size == 8 {
			raw = eightRaw
		}
		got, err := k.slice(raw, k.before())
		if got != want || err != nil {
			t.Errorf("%s: %v, %v, want %s", k.name, got, err, want)
		}
		for _, bad := range []string{`[null]`, `["1","x"]`, `[""]`, `[1.5]`, `[{}]`, `["5x"]`, `["` + strings.Repeat("0", 16) + `"]`, `["` + strings.Repeat("0", 20) + `"]`, `null`, `"`, `{"a":1}`} {
			ids, err := k.scanSlice(bad, k.before())
			wantInputError(t, err, "Slice", bad, nil)
			if !slices.EqualFunc(ids, [][]byte{k.before()}, bytes.Equal) {
				t.Errorf("%s: slice is %x after an error, want it untouched", k.name, ids)
			}
		}
		if upper, err := k.scanSlice(strings.ToUpper(want), k.before()); k.form == idtype.StorageBytes &&
			(err != nil || !slices.EqualFunc(upper, [][]byte{raw, k.before()}, bytes.Equal)) { // as SQLite's hex writes them
			t.Errorf("%s: in upper case %x, %v", k.name, upper, err)
		}
		if got, err := k.slice(); got != "[]" || err != nil {
			t.Errorf("%s: Value of no IDs = %v, %v", k.name, got, err)
		}
	}
	if raws, err := byteKinds[1].scanSlice(`[ 6601109550783371419, -1]`, eightRaw); err != nil || // as a database's own JSON has them
		!slices.EqualFunc(raws, [][]byte{eightRaw, bytes.Repeat([]byte{0xff}, 8)}, bytes.Equal) {
		t.Errorf("numbers are %x, %v", raws, err)
	}
	if raws, err := byteKinds[0].scanSlice(`[2333333333333333]`, eightRaw); err == nil {
		t.Errorf("a number in place of hexadecimal digits is %x", raws)
	}
	// The digits of an int64 ID, whatever its own text is.
	if got, err := (idtype.Slice[UserShortID]{publishedShort, math.MaxInt64}).Value(); got != `["11093174944930914","9223372036854775807"]` || err != nil {
		t.Errorf("Value of short IDs = %v, %v", got, err)
	}
	var ids idtype.Slice[UserShortID]
	if err := ids.Scan(`["11093174944930914",9223372036854775807]`); err != nil || !slices.Equal(ids, idtype.Slice[UserShortID]{publishedShort, math.MaxInt64}) {
		t.Errorf("short IDs came back as %v, %v", ids, err)
	}
}

// TestStorageBigintOrder has the facts of AsBigint's doc: where the numbers' order is that of the IDs, and where it is not.
func TestStorageBigintOrder(t *testing.T) {
	number := func(p idtype.EightByteParts) int64 {
		id, err := p.ID()
		if err != nil {
			t.Fatal(err)
		}
		v, err := EventBigintID(id).Value()
		if err != nil {
			t.Fatal(err)
		}
		return v.(int64)
	}
	const turn = 1 << 41 // ms
	if got := time.UnixMilli(turn).UTC(); got != time.Date(2039, 9, 7, 15, 47, 35, 552e6, time.UTC) {
		t.Errorf("the numbers turn negative at %v", got)
	}
	at := func(ms int64) idtype.EightByteParts {
		return idtype.EightByteParts{Mode: sequential, UnixMs: ms, Sequence: 63, Generator: 2047, Cluster: 15}
	}
	if last, first := number(at(turn-1)), number(idtype.EightByteParts{Mode: sequential, UnixMs: turn}); last != math.MaxInt64 || first != math.MinInt64+0x1000 {
		t.Errorf("the number is %d before, %d after", last, first)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawEightByteParts(t), drawEightByteParts(t)
		a.Mode, b.Mode = sequential, sequential
		idA, _ := a.ID()
		idB, _ := b.ID()
		got := cmp.Compare(number(a), number(b))
		if sameSide := a.UnixMs < turn == (b.UnixMs < turn); sameSide != (got == idA.Compare(idB)) && got != 0 {
			t.Fatalf("numbers of %+v and %+v compare as %d, the IDs as %d", a, b, got, idA.Compare(idB))
		}
		if (number(a) < 0) != (a.UnixMs >= turn) {
			t.Fatalf("the number of %+v is %d", a, number(a))
		}
	})
	negative := 0
	for ms := range int64(1000) {
		if number(idtype.EightByteParts{Mode: spread, UnixMs: 1700000000000 + ms}) < 0 {
			negative++
		}
	}
	if negative != 500 {
		t.Errorf("%d of 1000 SPREAD IDs are negative, want half", negative)
	}
}
