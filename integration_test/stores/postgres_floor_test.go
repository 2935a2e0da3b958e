package stores_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// benchmarkOneCaller is how fast one caller claims generator numbers, beside the least that can
// number something durably: an UPDATE … RETURNING of one row. They take turns, a statement each, so
// that a busy machine slows both. Ratio is the floor's time by the claim's: 1 is as fast.
func benchmarkOneCaller(b *testing.B) {
	for _, mode := range []string{
		"default_query_exec_mode=exec", "default_query_exec_mode=cache_statement",
	} {
		b.Run(mode, func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background()) // as a claim has, and a request
			defer cancel()
			dsn := with(b, postgresServer.database(b), mode)
			pool, err := pgxpool.New(ctx, dsn.URL())
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(pool.Close)
			for _, text := range []string{
				`CREATE TABLE floor (id INT PRIMARY KEY, n BIGINT NOT NULL)`,
				`INSERT INTO floor VALUES (1, 0)`,
			} {
				if _, err := pool.Exec(ctx, text); err != nil {
					b.Fatal(err)
				}
			}
			log, err := launchlog.New(open(b, dsn), nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := log.Start(ctx, storetest.Request("one")); err != nil {
				b.Fatal(err)
			}
			var floor, claim time.Duration
			b.ResetTimer()
			for range b.N {
				start := time.Now()
				var n int64
				err := pool.QueryRow(ctx,
					`UPDATE floor SET n = n + 1 WHERE id = $1 RETURNING n`, 1).Scan(&n)
				between := time.Now()
				if err == nil {
					_, err = log.Claim(ctx, 1)
				}
				if err != nil {
					b.Fatal(err)
				}
				floor += between.Sub(start)
				claim += time.Since(between)
			}
			b.ReportMetric(float64(floor)/float64(b.N)/1e3, "floor-µs")
			b.ReportMetric(float64(claim)/float64(b.N)/1e3, "claim-µs")
			b.ReportMetric(float64(floor)/float64(claim), "ratio")
		})
	}
}
