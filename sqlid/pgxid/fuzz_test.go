package pgxid_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// Whatever a server sends as whatever type is read as an ID, or refused with an error that leaves
// what was there. Types that hold no ID give none.
func FuzzColumn(f *testing.F) {
	m := pgxsuite.NewMap()
	for _, seed := range []struct {
		oid    uint32
		format int16
		wire   string
	}{
		{pgtype.Int8OID, pgtype.BinaryFormatCode, "\x00\x00\x00\x00\x00\x00\x00\x07"},
		{pgtype.NumericOID, pgtype.TextFormatCode, "9007199254740993"},
		{pgtype.NumericOID, pgtype.BinaryFormatCode, "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05"},
		{pgtype.Float8OID, pgtype.TextFormatCode, "5"},
		{pgtype.TextOID, pgtype.TextFormatCode, "deadbeef"}, // the bytes of an EightByte
		{pgtype.TextOID, pgtype.BinaryFormatCode, pgxsuite.SnoText},
		{pgtype.InetOID, pgtype.TextFormatCode, "10.0.0.1"},
		{pgtype.JSONOID, pgtype.TextFormatCode, ` "7" `},
		{pgtype.JSONOID, pgtype.TextFormatCode, "null"},
		{pgtype.JSONBOID, pgtype.BinaryFormatCode, "\x01\"" + pgxsuite.SnoText + "\""},
		{pgtype.JSONBOID, pgtype.BinaryFormatCode, ""}, // no version
		{pgtype.UUIDOID, pgtype.BinaryFormatCode, pgxsuite.SnoText},
		{pgtype.ByteaOID, pgtype.TextFormatCode, `\x335f48168d9e8808dc82`},
		{pgtype.VarbitOID, pgtype.BinaryFormatCode, "\x00\x00\x00\x08\xaa"},
	} {
		f.Add(seed.oid, seed.format, []byte(seed.wire))
	}
	none := []uint32{
		pgtype.Float4OID, pgtype.Float8OID, pgtype.InetOID, pgtype.BitOID,
		pgtype.VarbitOID, pgtype.XMLOID, pgtype.QCharOID, pgtype.DateOID,
	}
	f.Fuzz(func(t *testing.T, oid uint32, format int16, wire []byte) {
		if format != pgtype.TextFormatCode {
			format = pgtype.BinaryFormatCode
		}
		if _, ok := m.TypeForOID(oid); !ok || wire == nil {
			return
		}
		switch oid { // pgx takes seconds for numbers of 100,000 digits
		case pgtype.NumericOID, pgtype.NumericArrayOID, pgtype.NumrangeOID,
			pgtype.NumrangeArrayOID, pgtype.NummultirangeOID:
			switch binary := format == pgtype.BinaryFormatCode; {
			case len(wire) > 40, !binary && bytes.ContainsAny(wire, "eE"):
				return
			case binary && oid != pgtype.NumericOID && len(wire) > 12: // with a number
				return
			case binary && (len(wire) > 3 && wire[2] != 0 || len(wire) > 7 && wire[6] != 0):
				return // its weight, and its digits behind the point
			}
		}
		for _, s := range pgxsuite.Samples {
			for _, value := range s.Values {
				dst := reflect.New(reflect.TypeOf(value))
				before := reflect.New(reflect.TypeOf(value)).Elem().Interface()
				if dst.Elem().Kind() != reflect.Pointer {
					before = value
				}
				dst.Elem().Set(reflect.ValueOf(before))
				err := m.Scan(oid, format, wire, dst.Interface())
				if err == nil && slices.Contains(none, oid) {
					t.Errorf("%d, %d, %q into %T: %v", oid, format, wire, value, dst.Elem())
				}
				if pgxMade := dst.Elem().Kind() == reflect.Pointer; err != nil && !pgxMade &&
					dst.Elem().Interface() != before {
					t.Errorf("%d, %d, %q into %T: changed it to %v", oid, format, wire, value,
						dst.Elem())
				}
			}
		}
	})
}
