// Command billing is the second of two services that share a database: it invoices the orders of
// the first, and ends.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type (
	InvoiceID = idtype.Decimal[Invoice]
	OrderID   = idtype.Decimal[Order]
)

// The entities only tell the keys apart.
type (
	Invoice struct{}
	Order   struct{}
)

func main() {
	if os.Getenv("IDMINT_DB") == "" {
		log.Fatal("IDMINT_DB is not set: docs/deployments.md says to what")
	}
	ctx := context.Background()
	config := must(pgxpool.ParseConfig(os.Getenv("IDMINT_DB")))
	config.AfterConnect = pgxid.AfterConnect
	postgres.Watch(config.ConnConfig)
	pool := must(pgxpool.NewWithConfig(ctx, config))
	defer pool.Close()
	launches := must(launchlog.New(must(postgres.New(ctx, pool)), nil))
	numbers := must(launches.Join(ctx, launchlog.App{
		Service: "billing", Environment: os.Getenv("APP_ENV"),
	}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)
	invoices := must(generator.For[InvoiceID](ids))

	must(pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS invoices (id bigint PRIMARY KEY CHECK (id > 0), "+
		"order_id bigint NOT NULL UNIQUE REFERENCES orders)"))
	rows := must(pool.Query(ctx, "SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM invoices) ORDER BY id"))
	open := must(pgx.CollectRows(rows, pgx.RowTo[OrderID]))
	keys := must(invoices.Many(ctx, len(open))) // from one reservation
	batch := new(pgx.Batch)
	for i, order := range open {
		batch.Queue("INSERT INTO invoices VALUES ($1, $2)", keys[i], order)
	}
	check(pool.SendBatch(ctx, batch).Close())
	for i, order := range open {
		fmt.Println("invoice", keys[i], "of order", order)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
