package pgxid_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type User struct{ ID UserID }

type UserID = idtype.Decimal[User]

func newMap() *pgtype.Map {
	m := pgtype.NewMap()
	pgxid.Register(m)
	return m
}

const list = 1000

// The codecs beside those of int64 in a map without IDs: encode and decode of one as a query does, with its plan made anew; of one
// by a plan, as each row after the first; and of an array.
func BenchmarkCodec(b *testing.B) {
	number, id := int64(14150009200065), UserID(14150009200065)
	numbers, ids := make([]int64, list), make([]UserID, list)
	for i := range numbers {
		numbers[i] = number + int64(i)*idtype.DecimalStep
		ids[i] = UserID(numbers[i])
	}
	for _, kind := range []struct {
		name       string
		m          *pgtype.Map
		one        func(i int) any
		into       any
		many, fill any
	}{
		{"int64", pgtype.NewMap(), func(i int) any { return numbers[i%list] }, new(int64), numbers, new([]int64)},
		{"ID", newMap(), func(i int) any { return ids[i%list] }, new(UserID), ids, new([]UserID)},
		{"int64/registered", newMap(), func(i int) any { return numbers[i%list] }, new(int64), numbers, new([]int64)},
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
				if _, err := kind.m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, kind.one(i), buf); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := kind.m.Scan(pgtype.Int8OID, pgtype.BinaryFormatCode, one, kind.into); err != nil {
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
				if _, err := kind.m.Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, kind.many, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode1000/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := kind.m.Scan(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, many, kind.fill); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// COPY of IDs beside int64, which are handed over in the same way: as values, and as pointers, which are no allocation.
func BenchmarkCopyFrom(b *testing.B) {
	const rows = 100_000
	ids, numbers := make([]UserID, rows), make([]int64, rows)
	for i := range ids {
		ids[i] = UserID((i+1)*idtype.DecimalStep + 65)
		numbers[i] = int64(ids[i])
	}
	source := dbtest.New(b, databases.Postgres).Source()
	for _, kind := range []struct {
		name         string
		afterConnect func(context.Context, *pgx.Conn) error
		value        func(i int) any
	}{
		{"int64", nil, func(i int) any { return numbers[i] }},
		{"ID", pgxid.AfterConnect, func(i int) any { return ids[i] }},
		{"int64 pointer", nil, func(i int) any { return &numbers[i] }},
		{"ID pointer", pgxid.AfterConnect, func(i int) any { return &ids[i] }},
		{"ID without pgxid", nil, func(i int) any { return ids[i] }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			pool := openPool(b, source, pgx.QueryExecModeCacheStatement, kind.afterConnect)
			if _, err := pool.Exec(b.Context(), "CREATE UNLOGGED TABLE IF NOT EXISTS copied (id bigint)"); err != nil {
				b.Fatal(err)
			}
			row := make([]any, 1)
			b.ReportAllocs()
			for b.Loop() {
				n, err := pool.CopyFrom(b.Context(), pgx.Identifier{"copied"}, []string{"id"}, pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
					row[0] = kind.value(i)
					return row, nil
				}))
				if err != nil || n != rows {
					b.Fatal(n, err)
				}
				b.StopTimer()
				if _, err := pool.Exec(b.Context(), "TRUNCATE copied"); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
