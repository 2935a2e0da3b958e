package pgxid_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/internal/pgxsuite"
)

const (
	list = 1000
	bin  = pgtype.BinaryFormatCode
)

// BenchmarkCodec measures the codecs beside those of int64 in a map without IDs. It encodes and
// decodes one ID as a query does, with its plan made anew. It does so by a plan, as each row after
// the first, and with an array.
func BenchmarkCodec(b *testing.B) {
	number, id := int64(14150009200065), pgxsuite.UserID(14150009200065)
	numbers, ids := make([]int64, list), make([]pgxsuite.UserID, list)
	for i := range numbers {
		numbers[i] = number + int64(i)*formats.DecimalStep
		ids[i] = pgxsuite.UserID(numbers[i])
	}
	for _, kind := range []struct {
		name       string
		m          *pgtype.Map
		one        func(i int) any
		into       any
		many, fill any
	}{
		{
			"int64", pgtype.NewMap(), func(i int) any { return numbers[i%list] }, new(int64),
			numbers, new([]int64),
		},
		{
			"ID", pgxsuite.NewMap(), func(i int) any { return ids[i%list] }, new(pgxsuite.UserID),
			ids, new([]pgxsuite.UserID),
		},
		{
			"int64/registered", pgxsuite.NewMap(), func(i int) any { return numbers[i%list] },
			new(int64), numbers, new([]int64),
		},
	} {
		one, err := kind.m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, id, nil)
		if err != nil {
			b.Fatal(err)
		}
		many, err := kind.m.Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, kind.many, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("encode/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 64)
			for i := range b.N {
				_, err := kind.m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, kind.one(i), buf)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := kind.m.Scan(pgtype.Int8OID, bin, one, kind.into); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decodeRow/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			plan := kind.m.PlanScan(pgtype.Int8OID, pgtype.BinaryFormatCode, kind.into)
			for range b.N {
				if err := plan.Scan(one, kind.into); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("encode1000/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, list*16)
			for range b.N {
				if _, err := kind.m.Encode(pgtype.Int8ArrayOID, bin, kind.many, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode1000/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := kind.m.Scan(pgtype.Int8ArrayOID, bin, many, kind.fill); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
