// Command postgres stores rows with keys of their own in PostgreSQL, by pgx: what docs/postgresql.md shows.
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
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type UserID = idtype.Decimal[User]

type User struct {
	ID   UserID
	Name string
}

func main() {
	if os.Getenv("IDMINT_DB") == "" {
		log.Fatal("IDMINT_DB is not set: docs/postgresql.md says to what")
	}
	ctx := context.Background()
	config := must(pgxpool.ParseConfig(os.Getenv("IDMINT_DB")))
	config.AfterConnect = pgxid.AfterConnect
	postgres.Watch(config.ConnConfig)
	pool := must(pgxpool.NewWithConfig(ctx, config))
	launches := must(launchlog.New(must(postgres.New(ctx, pool)), nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)
	keys := must(generator.For[UserID](ids))

	key := must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.Postgres))
	must(pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS users ("+key+", name text NOT NULL)"))

	users := []User{{Name: "Ann"}, {Name: "Bob"}, {Name: "Cem"}}
	for i, id := range must(keys.Many(ctx, len(users))) {
		users[i].ID = id
	}
	must(pool.CopyFrom(ctx, pgx.Identifier{"users"}, []string{"id", "name"}, pgx.CopyFromSlice(len(users), func(i int) ([]any, error) {
		return []any{&users[i].ID, users[i].Name}, nil
	})))
	rows := must(pool.Query(ctx, "SELECT id, name FROM users WHERE id = ANY($1) ORDER BY id", []UserID{users[0].ID, users[2].ID}))
	for _, u := range must(pgx.CollectRows(rows, pgx.RowToStructByName[User])) {
		fmt.Println(u.Name, "is", u.ID)
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
