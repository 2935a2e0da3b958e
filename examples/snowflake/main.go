// Command snowflake stores rows whose keys carry the time in PostgreSQL, by pgx. You can start
// several at once, because the launch log lends each a different node number. docs/use/snowflake.md
// describes it.
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
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type OrderID = idtype.Snowflake[Order]

type Order struct {
	ID   OrderID
	What string
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	if os.Getenv("IDMINT_DB") == "" {
		return errors.New("IDMINT_DB is not set: see docs/use/snowflake.md")
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
	ids, err := idmint.OpenSnowflake[idtype.Twitter](ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	keys, err := generator.For[OrderID](ids)
	if err != nil {
		return err
	}

	key, err := sqlid.Column[OrderID]{Name: "id"}.PrimaryKey(sqlid.Postgres)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, "SELECT pg_advisory_xact_lock(1); "+ // replicas start at once
		"CREATE TABLE IF NOT EXISTS orders ("+key+", what text NOT NULL)")
	if err != nil {
		return err
	}

	minted, err := keys.Many(ctx, 10_000)
	if err != nil {
		return err
	}
	_, err = pool.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "what"},
		pgx.CopyFromSlice(len(minted), func(i int) ([]any, error) {
			return []any{&minted[i], "tea"}, nil
		}))
	if err != nil {
		return err
	}
	fmt.Printf("node %d stored %d orders\n", minted[0].Node(), len(minted))
	return nil
}
