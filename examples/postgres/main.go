// Command postgres stores rows with keys of their own in PostgreSQL, by pgx: what the README shows.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

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
	for _, name := range []string{"IDMINT_DB", "IDMINT_LAUNCH_ID"} {
		if os.Getenv(name) == "" {
			log.Fatalf("%s is not set: the README says to what, under %q", name, "In PostgreSQL")
		}
	}
	ctx := context.Background()
	config := must(pgxpool.ParseConfig(os.Getenv("IDMINT_DB")))
	config.AfterConnect = pgxid.AfterConnect
	postgres.Watch(config.ConnConfig)
	pool := must(pgxpool.NewWithConfig(ctx, config))
	launch := must(strconv.Atoi(os.Getenv("IDMINT_LAUNCH_ID")))
	launches := must(launchlog.New(must(postgres.New(ctx, pool)), nil))
	ids := must(generator.NewDecimal(launches.Generators(launch)))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)

	key := must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.Postgres))
	must(pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS users ("+key+", name text NOT NULL)"))

	users := []User{{Name: "Ann"}, {Name: "Bob"}, {Name: "Cem"}}
	for i := range users {
		users[i].ID = UserID(must(ids.Next(ctx)))
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
