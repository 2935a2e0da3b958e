package idtype_test

import (
	"cmp"
	"database/sql/driver"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

func TestStorageValue(t *testing.T) {
	eight, late := idtype.MustParseEightByteID(eightText), idtype.MustParseEightByteID(lateText)
	sno := idtype.MustParseSnoID(snoText)
	zero8, zero10 := make([]byte, 8), make([]byte, 10)
	for _, tt := range []struct {
		name   string
		id     driver.Valuer
		want   driver.Value
		none   driver.Valuer
		zero   driver.Value // of none
		column string       // GormDataType
	}{
		{"EightByteID", eight, eightRaw, idtype.OrZero[idtype.EightByteID]{}, zero8, "bytes"},
		{"EightByte", EventEightID(eight), eightRaw, idtype.OrZero[EventEightID]{}, zero8, "bytes"},
		{
			"EightByte as bigint", EventBigintID(eight), int64(eightNum),
			idtype.OrZero[EventBigintID]{},
			int64(0), "bigint",
		},
		{
			"EightByte as bigint, late", EventBigintID(late), int64(math.MinInt64 + 0x1000),
			idtype.OrZero[EventBigintID]{},
			int64(0), "bigint",
		},
		{"SnoID", sno, snoRaw, idtype.OrZero[idtype.SnoID]{}, zero10, "bytes"},
		{"Sno", EventSnoID(sno), snoRaw, idtype.OrZero[EventSnoID]{}, zero10, "bytes"},
		{"Sno as text", EventTextID(sno), snoText, idtype.OrZero[EventTextID]{}, "", "char(16)"},
		{"Sno as UUID", EventUUIDID(sno), snoUUID, idtype.OrZero[EventUUIDID]{}, nilUUID, "uuid"},
		// Tags of other schemes' forms say nothing.
		{
			"Sno as bigint", idtype.Sno[idtype.AsBigint[Event]](sno), snoRaw,
			idtype.OrZero[EventSnoID]{},
			zero10, "bytes",
		},
		{
			"EightByte as text", idtype.EightByte[idtype.AsText[Event]](eight), eightRaw,
			idtype.OrZero[EventEightID]{},
			zero8, "bytes",
		},
		{
			"EightByte as UUID", idtype.EightByte[idtype.AsUUID[Event]](eight), eightRaw,
			idtype.OrZero[EventEightID]{},
			zero8, "bytes",
		},
		{
			"Decimal as UUID", idtype.Decimal[idtype.AsUUID[Event]](57), int64(57),
			idtype.OrZero[UserID]{},
			int64(0), "bigint",
		},
		{
			"Decimal as text", idtype.Decimal[idtype.AsText[Event]](57), int64(57),
			idtype.OrZero[UserID]{},
			int64(0), "bigint",
		},
		// The outer tag counts.
		{
			"Sno as text as UUID", idtype.Sno[idtype.AsText[idtype.AsUUID[Event]]](sno), snoText,
			idtype.OrZero[EventTextID]{},
			"", "char(16)",
		},
		// An entity may be anything, a nil interface and a pointer included.
		{
			"of a pointer", idtype.Sno[idtype.AsText[*Event]](sno), snoText,
			idtype.OrZero[idtype.Sno[*Event]]{},
			zero10, "bytes",
		},
		{
			"of an interface", idtype.Sno[idtype.AsText[error]](sno), snoText,
			idtype.OrZero[idtype.Sno[error]]{},
			zero10, "bytes",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := tt.id.Value(); err != nil || !reflect.DeepEqual(got, tt.want) ||
				!driver.IsValue(got) {
				t.Errorf("Value = %#v, %v, want %#v", got, err, tt.want)
			}
			if got, err := tt.none.Value(); err != nil || !reflect.DeepEqual(got, tt.zero) ||
				!driver.IsValue(got) {
				t.Errorf("Value of none = %#v, %v, want %#v", got, err, tt.zero)
			}
			got := tt.none.(interface{ GormDataType() string }).GormDataType()
			if got != tt.column {
				t.Errorf("GormDataType = %q, want %q", got, tt.column)
			}
		})
	}
	if got, _ := sno.Value(); &got.([]byte)[0] == &mustValue(t, sno)[0] {
		t.Error("two calls of Value share their bytes")
	}
}

func mustValue(t *testing.T, v driver.Valuer) []byte {
	t.Helper()
	got, err := v.Value()
	if err != nil {
		t.Fatal(err)
	}
	return got.([]byte)
}

// TestStorageNames: column helpers go by them.
func TestStorageNames(t *testing.T) {
	for storage, name := range map[idtype.Storage]string{
		idtype.StorageBigint: "bigint", idtype.StorageBytes: "bytes", idtype.StorageText: "text",
		idtype.StorageUUID: "uuid",
	} {
		if string(storage) != name {
			t.Errorf("storage %q, want %q", storage, name)
		}
	}
	for _, got := range []idtype.Storage{
		UserID(0).Storage(), UserTraceID(0).Storage(), UserShortID(0).Storage(),
		UserSequenceID(0).Storage(),
	} {
		if got != idtype.StorageBigint {
			t.Errorf("storage of an int64 ID is %q", got)
		}
	}
}

// TestStorageBigintOrder has the facts of AsBigint's doc: where the numbers' order is that of the
// IDs, and where it is not.
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
	got := time.UnixMilli(turn).UTC()
	if got != time.Date(2039, 9, 7, 15, 47, 35, 552e6, time.UTC) {
		t.Errorf("the numbers turn negative at %v", got)
	}
	at := func(ms int64) idtype.EightByteParts {
		return idtype.EightByteParts{
			Mode: sequential, UnixMs: ms, Sequence: 63, Generator: 2047,
			Cluster: 15,
		}
	}
	last, first := number(at(turn-1)), number(idtype.EightByteParts{Mode: sequential, UnixMs: turn})
	if last != math.MaxInt64 || first != math.MinInt64+0x1000 {
		t.Errorf("the number is %d before, %d after", last, first)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawEightByteParts(t), drawEightByteParts(t)
		a.Mode, b.Mode = sequential, sequential
		idA, _ := a.ID()
		idB, _ := b.ID()
		got := cmp.Compare(number(a), number(b))
		sameSide := a.UnixMs < turn == (b.UnixMs < turn)
		if sameSide != (got == idA.Compare(idB)) && got != 0 {
			t.Fatalf("numbers of %+v and %+v compare as %d, the IDs as %d", a, b, got,
				idA.Compare(idB))
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
