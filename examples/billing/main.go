// Command billing is the second of two services that share a database. It invoices the orders of
// the first, and ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type (
	InvoiceID = idtype.Decimal[Invoice]
	OrderID   = idtype.Decimal[Order]
)

// The entities only distinguish the keys.
type (
	Invoice struct{}
	Order   struct{}
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	if os.Getenv("IDMINT_DB") == "" {
		return errors.New("IDMINT_DB is not set: see docs/operate/deployments.md")
	}
	config, err := pgxpool.ParseConfig(os.Getenv("IDMINT_DB"))
	if err != nil {
		return err
	}
	config.AfterConnect = pgxid.AfterConnect
	postgres.Watch(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.New(ctx, pool)
	if err != nil {
		return err
	}
	ids, err := idmint.Open(ctx, store, idmint.App{
		Service: "billing", Environment: os.Getenv("APP_ENV"),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()
	invoices := idmint.Keys[Invoice](ids)

	_, err = pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS invoices "+
		"(id bigint PRIMARY KEY CHECK (id > 0), order_id bigint NOT NULL UNIQUE REFERENCES orders)")
	if err != nil {
		return err
	}
	rows, err := pool.Query(ctx, "SELECT id FROM orders WHERE id NOT IN "+
		"(SELECT order_id FROM invoices) ORDER BY id")
	if err != nil {
		return err
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[OrderID])
	if err != nil {
		return err
	}
	keys, err := invoices.Many(ctx, len(open)) // from one reservation
	if err != nil {
		return err
	}
	batch := new(pgx.Batch)
	for i, order := range open {
		batch.Queue("INSERT INTO invoices VALUES ($1, $2)", keys[i], order)
	}
	if err := pool.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	for i, order := range open {
		fmt.Println("invoice", keys[i], "of order", order)
	}
	return nil
}
