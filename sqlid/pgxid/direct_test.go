package pgxid_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// TestDirect holds the plans of pgxid's own against Value and Scan, which have tests of their own.
func TestDirect(t *testing.T) {
	int63(t, func(v int64) pgxsuite.UserID { return pgxsuite.UserID(v) })
	int63(t, func(v int64) idtype.TraceID { return idtype.TraceID(v) })
	int63(t, func(v int64) idtype.ShortID { return idtype.ShortID(v) })
	int63(t, func(v int64) idtype.SequenceID { return idtype.SequenceID(v) })
	for _, v := range []uint64{1, 255, 0x5b9bda2989e1989b, 1 << 63, 1<<64 - 1} {
		id, want := idtype.EightByteFromUint64(v), binary.BigEndian.AppendUint64(nil, v)
		testDirect(t, pgtype.ByteaOID, idtype.EightByte[pgxsuite.User](id), want)
		testDirect(t, pgtype.Int8OID, idtype.EightByte[idtype.AsBigint[pgxsuite.User]](id), want)
	}
	for _, text := range []string{"8fhmi7mfls62jp64", "2222222222222223", "xxxxxxxxxxxxxxxx"} {
		id := idtype.MustParse[idtype.SnoID](text)
		testDirect(t, pgtype.ByteaOID, idtype.Sno[pgxsuite.User](id), id[:])
		testDirect(t, pgtype.TextOID, idtype.Sno[idtype.AsText[pgxsuite.User]](id), []byte(text))
		testDirect(t, pgtype.UUIDOID, idtype.Sno[idtype.AsUUID[pgxsuite.User]](id), []byte(text))
	}
	testBadDirect(
		t, pgtype.ByteaOID, idtype.EightByte[pgxsuite.User]{}, idtype.EightByte[pgxsuite.User]{1},
	)
	testBadDirect(
		t, pgtype.Int8OID, idtype.EightByte[idtype.AsBigint[pgxsuite.User]]{},
		idtype.EightByte[idtype.AsBigint[pgxsuite.User]]{1},
	)
	testBadDirect(t, pgtype.ByteaOID, idtype.Sno[pgxsuite.User]{}, idtype.Sno[pgxsuite.User]{1})
	testBadDirect(
		t, pgtype.TextOID, idtype.Sno[idtype.AsText[pgxsuite.User]]{},
		idtype.Sno[idtype.AsText[pgxsuite.User]]{1},
	)
	testBadDirect(
		t, pgtype.UUIDOID, idtype.Sno[idtype.AsUUID[pgxsuite.User]]{},
		idtype.Sno[idtype.AsUUID[pgxsuite.User]]{1},
	)
}

func int63[T idtype.ID](t *testing.T, of func(int64) T) {
	t.Helper()
	for _, v := range []int64{1, 255, 14150009200065, 1<<63 - 1} {
		testDirect(t, pgtype.Int8OID, of(v), binary.BigEndian.AppendUint64(nil, uint64(v)))
	}
	testBadDirect(t, pgtype.Int8OID, of(0), of(7))
	testBadDirect(t, pgtype.Int8OID, of(-5), of(7))
	dst := of(7)
	want := any(&dst).(sql.Scanner).Scan(int64(-5))
	err := pgxsuite.NewMap().PlanScan(pgtype.Int8OID, pgtype.BinaryFormatCode, &dst).
		Scan(binary.BigEndian.AppendUint64(nil, ^uint64(4)), &dst)
	if want == nil || fmt.Sprint(err) != want.Error() || dst != of(7) {
		t.Errorf("-5: %v, want %v; the ID is %v", err, want, dst)
	}
}

func testDirect[T idtype.ID](t *testing.T, oid uint32, id T, want []byte) {
	t.Helper()
	m := pgxsuite.NewMap()
	for _, in := range []any{id, &id} {
		got, err := m.PlanEncode(oid, pgtype.BinaryFormatCode, in).Encode(in, []byte(">"))
		if err != nil || string(got) != ">"+string(want) {
			t.Fatalf("%v: %x, %v, want %x", id, got, err, want)
		}
	}
	var dst T
	for range 2 { // anew, and from those that were seen
		dst = *new(T)
		err := m.PlanScan(oid, pgtype.BinaryFormatCode, &dst).Scan(want, &dst)
		if err != nil || dst != id {
			t.Fatalf("%x: %v, %v, want %v", want, dst, err, id)
		}
	}
}

// testBadDirect: the errors are those of Value and Scan, and leave the destination as it was.
func testBadDirect[T idtype.ID](t *testing.T, oid uint32, bad, was T) {
	t.Helper()
	m := pgxsuite.NewMap()
	_, want := any(bad).(driver.Valuer).Value()
	for _, in := range []any{bad, &bad} {
		got, err := m.PlanEncode(oid, pgtype.BinaryFormatCode, in).Encode(in, []byte(">"))
		if got != nil || fmt.Sprint(err) != want.Error() {
			t.Errorf("%v: %x, %v, want %v", bad, got, err, want)
		}
	}
	dst := was
	scanner := any(&dst).(sql.Scanner)
	for _, src := range [][]byte{
		nil, {}, {1}, []byte("1"), make([]byte, 8), make([]byte, 10), make([]byte, 17),
	} {
		var column any = src
		if src == nil {
			column = nil
		} else if oid == pgtype.Int8OID && len(src) == 8 {
			column = int64(0)
		}
		if oid == pgtype.Int8OID && src != nil && len(src) != 8 { // digits would be an ID to Scan
			err := m.PlanScan(oid, pgtype.BinaryFormatCode, &dst).Scan(src, &dst)
			want := fmt.Sprintf("pgxid: a bigint must have 8 bytes, not %d", len(src))
			if fmt.Sprint(err) != want || dst != was {
				t.Errorf("%x: %v, want %s; the ID is %v", src, err, want, dst)
			}
			continue
		}
		want := scanner.Scan(column)
		err := m.PlanScan(oid, pgtype.BinaryFormatCode, &dst).Scan(src, &dst)
		if want == nil || fmt.Sprint(err) != want.Error() || dst != was {
			t.Errorf("%x: %v, want %v; the ID is %v", src, err, want, dst)
		}
	}
}
