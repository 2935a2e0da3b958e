package adapters_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/internal/pgxsuite"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// COPY of IDs beside int64, which are handed over in the same way: as values, and as pointers,
// which are no allocation.
func BenchmarkPgxCopyFrom(b *testing.B) {
	const rows = 100_000
	ids, numbers := make([]pgxsuite.UserID, rows), make([]int64, rows)
	for i := range ids {
		ids[i] = pgxsuite.UserID((i+1)*formats.DecimalStep + 65)
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
			_, err := pool.Exec(b.Context(),
				"CREATE UNLOGGED TABLE IF NOT EXISTS copied (id bigint)")
			try(b, err)
			row := make([]any, 1)
			b.ReportAllocs()
			for b.Loop() {
				n, err := pool.CopyFrom(b.Context(), pgx.Identifier{"copied"}, []string{"id"},
					pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
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
