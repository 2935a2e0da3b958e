//require github.com/exaring/otelpgx v0.13.0

package main

import (
	"context"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/sqlid/pgxid"
)

func companion(ctx context.Context, _ *generator.Decimal) {
	config := must(pgxpool.ParseConfig("postgres://127.0.0.1/shop"))
	config.ConnConfig.Tracer = otelpgx.NewTracer()
	config.AfterConnect = pgxid.AfterConnect
	must(pgxpool.NewWithConfig(ctx, config)).Close() // connects at the first query
}
