// Command postgres stores rows with typed keys in PostgreSQL, by pgx. docs/use/pgx.md
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
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type UserID = idtype.Decimal[User]

type User struct {
	ID   UserID
	Name string
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	if os.Getenv("IDMINT_DB") == "" {
		return errors.New("IDMINT_DB is not set: see docs/use/pgx.md")
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
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()
	keys := idmint.Keys[User](ids)

	_, err = pool.Exec(ctx,
		"CREATE TABLE IF NOT EXISTS users (id bigint PRIMARY KEY, name text NOT NULL)")
	if err != nil {
		return err
	}
	id, err := keys.Next(ctx)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, "INSERT INTO users (id, name) VALUES ($1, $2)", id, "Ann")
	if err != nil {
		return err
	}

	users := []User{{Name: "Bob"}, {Name: "Cem"}}
	minted, err := keys.Many(ctx, len(users))
	if err != nil {
		return err
	}
	for i := range minted {
		users[i].ID = minted[i]
	}
	_, err = pool.CopyFrom(ctx, pgx.Identifier{"users"}, []string{"id", "name"},
		pgx.CopyFromSlice(len(users), func(i int) ([]any, error) {
			return []any{&users[i].ID, users[i].Name}, nil
		}))
	if err != nil {
		return err
	}
	rows, err := pool.Query(ctx, "SELECT id, name FROM users WHERE id = ANY($1) ORDER BY id",
		[]UserID{id, users[1].ID})
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[User])
	for _, u := range found {
		fmt.Println(u.Name, "is", u.ID)
	}
	return err
}
