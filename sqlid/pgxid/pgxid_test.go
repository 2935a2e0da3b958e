package pgxid_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// IDs that are values already are written and read without an allocation.
func TestAllocations(t *testing.T) {
	m := pgxsuite.NewMap()
	type snoID = idtype.Sno[idtype.AsUUID[pgxsuite.User]]
	id, sno := pgxsuite.UserID(14150009200065), idtype.MustParse[snoID]("8fhmi7mfls62jp64")
	buf := make([]byte, 0, 256)
	encode := func(oid uint32, v any) func() error {
		return func() error { _, err := m.Encode(oid, pgtype.BinaryFormatCode, v, buf); return err }
	}
	wire, err := m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	scan := func(oid uint32, wire []byte, dst any) func() error {
		return func() error { return m.Scan(oid, pgtype.BinaryFormatCode, wire, dst) }
	}
	for name, do := range map[string]func() error{
		"encode":          encode(pgtype.Int8OID, id),
		"encode pointer":  encode(pgtype.Int8OID, &id),
		"encode UUID":     encode(pgtype.UUIDOID, &sno),
		"decode":          scan(pgtype.Int8OID, wire, new(pgxsuite.UserID)),
		"decode UUID":     scan(pgtype.UUIDOID, []byte(sno.String()), &sno),
		"decode TraceID":  scan(pgtype.Int8OID, wire, new(idtype.TraceID)),
		"decode SnoBytes": scan(pgtype.ByteaOID, sno[:], new(idtype.SnoID)),
	} {
		var err error
		if n := testing.AllocsPerRun(100, func() { err = do() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}

// A list of byte IDs takes no allocation for each.
func TestAllocationsOfLists(t *testing.T) {
	m, buf := pgxsuite.NewMap(), make([]byte, 0, 4096)
	allocations := func(n int) float64 {
		list := slices.Repeat(pgxsuite.Snos[idtype.AsUUID[pgxsuite.User]](), n)
		return testing.AllocsPerRun(100, func() {
			_, err := m.Encode(pgtype.UUIDArrayOID, pgtype.BinaryFormatCode, list, buf)
			if err != nil {
				t.Error(err)
			}
		})
	}
	if few, many := allocations(1), allocations(40); many > few {
		t.Errorf("%v allocations for 4 IDs, %v for 160", few, many)
	}
}

// A map may know many entities, and share its types with other maps at the same time.
func TestManyTypesAtOnce(t *testing.T) {
	shared := pgxsuite.NewMap()
	int8, ok := shared.TypeForOID(pgtype.Int8OID)
	if !ok {
		t.Fatal("no int8")
	}
	wire := []byte{0, 0, 0, 0, 0, 0, 0, 7}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			m := pgtype.NewMap()
			m.RegisterType(int8)
			pgxid.Register(m)
			for range 50 {
				for _, dst := range []interface{ String() string }{
					new(idtype.DecimalID), new(idtype.TraceID), new(idtype.SequenceID),
					new(pgxsuite.UserID), new(idtype.Trace[pgxsuite.User]),
					new(idtype.Sequence[pgxsuite.User]),
					new(idtype.Decimal[int]), new(idtype.Decimal[string]),
					new(idtype.Decimal[bool]), new(idtype.Trace[int]), new(idtype.Sequence[int]),
				} {
					err := m.Scan(pgtype.Int8OID, pgtype.BinaryFormatCode, wire, dst)
					if err != nil || dst.String() != "7" {
						t.Errorf("%T: %v, %v", dst, dst, err)
					}
				}
			}
		})
	}
	group.Wait()
}

// A struct that embeds an ID has the ID's methods. Its Value writes it and its Scan reads it, as
// before.
func TestEmbedded(t *testing.T) {
	type named struct {
		pgxsuite.UserID
		Name string
	}
	m := pgxsuite.NewMap()
	wire, err := m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, named{7, "Ann"}, nil)
	if err != nil || !bytes.Equal(wire, []byte{0, 0, 0, 0, 0, 0, 0, 7}) {
		t.Errorf("got %x, %v", wire, err)
	}
	var got named
	if err := m.Scan(pgtype.Int8OID, pgtype.BinaryFormatCode, wire, &got); err != nil ||
		got.UserID != 7 {
		t.Errorf("got %v, %v", got, err)
	}
	many, err := m.Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, []named{{7, "Ann"}}, nil)
	head := []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8}
	if err != nil || !bytes.Equal(many, append(head, wire...)) {
		t.Errorf("got %x, %v", many, err)
	}
}

// A document is somebody else's struct. Its first field is an ID, and its column is of another
// kind.
type document struct {
	ID   pgxsuite.UserID
	Name string
}

func (d document) Value() (driver.Value, error) { return d.Name, nil }
func (d *document) Scan(src any) error          { d.Name, _ = src.(string); return nil }

func TestOthersColumns(t *testing.T) {
	m := pgxsuite.NewMap()
	wire, err := m.Encode(pgtype.TextOID, pgtype.BinaryFormatCode, document{7, "Ann"}, nil)
	if err != nil || string(wire) != "Ann" {
		t.Errorf("got %q, %v", wire, err)
	}
	var got document
	if err := m.Scan(pgtype.TextOID, pgtype.BinaryFormatCode, wire, &got); err != nil ||
		got.Name != "Ann" {
		t.Errorf("got %v, %v", got, err)
	}
}

// Each type that pgx knows looks after IDs, so none changes one.
func TestEveryType(t *testing.T) {
	m, of := pgxsuite.NewMap(), map[string]int{}
	for oid := range uint32(1 << 14) { // PostgreSQL's own types have lower ones
		if known, ok := m.TypeForOID(oid); ok {
			codec := known.Codec
			if array, ok := codec.(*pgtype.ArrayCodec); ok {
				codec = array.ElementType.Codec
			}
			of[fmt.Sprintf("%T", codec)]++
		}
	}
	if len(of) != 1 || of["*pgxid.codec"] < 100 {
		t.Errorf("codecs: %v", of)
	}
}

// To register again neither piles up plans nor changes what a map does.
func TestRegisterTwice(t *testing.T) {
	m := pgxsuite.NewMap()
	encode, scan := len(m.TryWrapEncodePlanFuncs), len(m.TryWrapScanPlanFuncs)
	pgxid.Register(m)
	if len(m.TryWrapEncodePlanFuncs) != encode || len(m.TryWrapScanPlanFuncs) != scan {
		t.Error("the map has plans twice")
	}
	wire, err := m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, pgxsuite.UserID(7), nil)
	if err != nil || !bytes.Equal(wire, []byte{0, 0, 0, 0, 0, 0, 0, 7}) {
		t.Errorf("got %x, %v", wire, err)
	}
}

// What is refused in a list is named by its place in it.
func TestElement(t *testing.T) {
	m := pgxsuite.NewMap()
	id := pgxsuite.UserID(14150009200065)
	for _, list := range []any{
		[]pgxsuite.UserID{id, 0, id, 0},
		[]*pgxsuite.UserID{nil, new(pgxsuite.UserID)},
		idtype.Slice[pgxsuite.UserID]{id, 0},
		[]sql.Null[pgxsuite.UserID]{{}, {Valid: true}},
		[]idtype.Sno[idtype.AsUUID[pgxsuite.User]]{{1}, {}},
	} {
		for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
			oid := uint32(0)
			// an array only where the server says so
			if _, ok := list.(idtype.Slice[pgxsuite.UserID]); ok {
				oid = pgtype.Int8ArrayOID
			}
			_, err := m.Encode(oid, format, list, nil)
			if !errors.Is(err, idtype.ErrZero) ||
				!strings.Contains(err.Error(), ": pgxid: element 1: idtype: ") {
				t.Errorf("%T in format %d: %v", list, format, err)
			}
		}
	}
}

// A codec for JSON that the user registered before is asked for all but IDs.
func TestOwnJSONCodec(t *testing.T) {
	m := pgtype.NewMap()
	mine := &pgtype.JSONCodec{
		Marshal:   func(any) ([]byte, error) { return []byte(`"mine"`), nil },
		Unmarshal: func(_ []byte, v any) error { *v.(*[]int) = []int{7}; return nil },
	}
	m.RegisterType(&pgtype.Type{Name: "json", OID: pgtype.JSONOID, Codec: mine})
	pgxid.Register(m)
	if wire, err := m.Encode(pgtype.JSONOID, pgtype.TextFormatCode, []int{1}, nil); err != nil ||
		string(wire) != `"mine"` {
		t.Errorf("got %s, %v", wire, err)
	}
	var numbers []int
	if err := m.Scan(pgtype.JSONOID, pgtype.TextFormatCode, []byte("[]"), &numbers); err != nil ||
		len(numbers) != 1 {
		t.Errorf("got %v, %v", numbers, err)
	}
	wire, err := m.Encode(pgtype.JSONOID, pgtype.TextFormatCode, pgxsuite.UserID(7), nil)
	if err != nil || string(wire) != `"7"` {
		t.Errorf("got %s, %v", wire, err)
	}
}
