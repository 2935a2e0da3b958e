// Command bun stores rows with keys of their own by bun, in SQLite or in PostgreSQL: see
// docs/bun.md.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
)

type (
	UserID  = idtype.Decimal[User]
	OrderID = idtype.Decimal[Order]
)

type User struct {
	bunid.Keyed[UserID]
	Name   string `bun:",unique"`
	Visits int
	Orders []*Order `bun:"rel:has-many,join:id=user_id"`
}

type Order struct {
	bunid.Keyed[OrderID]
	UserID     UserID
	User       *User `bun:"rel:belongs-to,join:user_id=id"`
	ApproverID *UserID
}

func main() {
	ctx := context.Background()
	store, sqldb, dialect := open(ctx)
	launches := must(launchlog.New(store, nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)

	db := must(bunid.NewDB(sqldb, dialect, bunid.Use(ids)))
	check(bunid.Check(db, (*User)(nil), (*Order)(nil)))
	for _, model := range []any{(*User)(nil), (*Order)(nil)} {
		must(db.NewCreateTable().Model(model).IfNotExists().WithForeignKeys().Exec(ctx))
	}

	// A second run finds Ann, and gets the key that she has.
	ann := &User{Name: "Ann", Visits: 1}
	must(db.NewInsert().Model(ann).
		On("CONFLICT (name) DO UPDATE SET visits = excluded.visits").Returning("id").Exec(ctx))
	orders := []Order{{UserID: ann.ID}, {UserID: ann.ID, ApproverID: &ann.ID}}
	must(db.NewInsert().Model(&orders).Exec(ctx))
	fmt.Println("Ann is", ann.ID, "and ordered", orders[0].ID, "and", orders[1].ID)
}

// open opens the database that IDMINT_DB names, or shop.db. The launch log is in the same one.
func open(ctx context.Context) (launchlog.Store, *sql.DB, schema.Dialect) {
	if dsn := os.Getenv("IDMINT_DB"); dsn != "" {
		return must(postgres.Open(ctx, dsn)), must(sql.Open("pgx", dsn)), pgdialect.New()
	}
	db := must(sql.Open("sqlite3", "file:shop.db?_fk=1&_busy_timeout=5000"))
	return must(sqlite.Open(ctx, "shop.db")), db, sqlitedialect.New()
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
