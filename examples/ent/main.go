// Command ent stores rows with typed keys by ent, in SQLite or PostgreSQL. docs/use/ent.md
// describes it.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/entid"
	"github.com/idmint/idmint/examples/ent/ent"
	"github.com/idmint/idmint/examples/ent/ent/user"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	store, drv, err := open(ctx)
	if err != nil {
		return err
	}
	defer drv.Close()
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()

	client := ent.NewClient(ent.Driver(entid.Guard(drv)))
	assign, err := entid.Assign(entid.Use(ids))
	if err != nil {
		return err
	}
	client.Use(assign)
	if err := client.Schema.Create(ctx); err != nil {
		return err
	}

	// A second run finds Ann, and gets her existing key.
	ann, err := client.User.Create().SetName("Ann").SetVisits(1).
		OnConflictColumns(user.FieldName).UpdateNewValues().ID(ctx)
	if err != nil {
		return err
	}
	orders, err := client.Order.CreateBulk(
		client.Order.Create().SetUserID(ann),
		client.Order.Create().SetUserID(ann).SetApproverID(ann),
	).Save(ctx)
	if err != nil {
		return err
	}
	fmt.Println("Ann is", ann, "and ordered", orders[0].ID, "and", orders[1].ID)
	return nil
}

// open opens the database that IDMINT_DB names, which also holds the launch log. By default it
// opens shop.db, with the log in launches.db.
func open(ctx context.Context) (launchlog.Store, dialect.Driver, error) {
	if dsn := os.Getenv("IDMINT_DB"); dsn != "" {
		store, err := postgres.Open(ctx, dsn)
		if err != nil {
			return nil, nil, err
		}
		db, err := sql.Open("pgx", dsn)
		return store, entsql.OpenDB(dialect.Postgres, db), err
	}
	store, err := sqlite.OpenOrCreate(ctx, "launches.db")
	if err != nil {
		return nil, nil, err
	}
	// ent requires foreign keys in SQLite.
	db, err := sql.Open("sqlite3", "file:shop.db?_fk=1&_busy_timeout=5000")
	return store, entsql.OpenDB(dialect.SQLite, db), err
}
