// Command ent stores rows with keys of their own by ent, in SQLite or in PostgreSQL: see
// docs/ent.md.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/entid"
	"github.com/idmint/idmint/examples/ent/ent"
	"github.com/idmint/idmint/examples/ent/ent/user"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func main() {
	ctx := context.Background()
	store, drv := open(ctx)
	launches := must(launchlog.New(store, nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)

	client := ent.NewClient(ent.Driver(entid.Guard(drv)))
	client.Use(must(entid.Assign(entid.Use(ids))))
	check(client.Schema.Create(ctx))

	// A second run finds Ann, and gets the key that she has.
	ann := must(client.User.Create().SetName("Ann").SetVisits(1).
		OnConflictColumns(user.FieldName).UpdateNewValues().ID(ctx))
	orders := must(client.Order.CreateBulk(
		client.Order.Create().SetUserID(ann),
		client.Order.Create().SetUserID(ann).SetApproverID(ann),
	).Save(ctx))
	fmt.Println("Ann is", ann, "and ordered", orders[0].ID, "and", orders[1].ID)
}

// open opens the database that IDMINT_DB names, or shop.db. The launch log is in the same one.
func open(ctx context.Context) (launchlog.Store, dialect.Driver) {
	if dsn := os.Getenv("IDMINT_DB"); dsn != "" {
		db := must(sql.Open("pgx", dsn))
		return must(postgres.Open(ctx, dsn)), entsql.OpenDB(dialect.Postgres, db)
	}
	// ent asks for foreign keys in SQLite.
	db := must(sql.Open("sqlite3", "file:shop.db?_fk=1&_busy_timeout=5000"))
	return must(sqlite.Open(ctx, "shop.db")), entsql.OpenDB(dialect.SQLite, db)
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
