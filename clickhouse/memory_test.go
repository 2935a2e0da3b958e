package clickhouse

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/idmint/idmint/idtype"
)

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
		"a struct in a block":  func() { Col[embedding]{}.Type() },
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
