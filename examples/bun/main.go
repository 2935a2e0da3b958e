// Command bun stores rows with typed keys by bun, in SQLite or PostgreSQL. docs/use/bun.md
// describes it.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/bunid"
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
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	store, sqldb, dialect, err := open(ctx)
	if err != nil {
		return err
	}
	defer sqldb.Close()
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()

	db, err := bunid.NewDB(sqldb, dialect, bunid.Use(ids))
	if err != nil {
		return err
	}
	if err := bunid.Check(db, (*User)(nil), (*Order)(nil)); err != nil {
		return err
	}
	for _, model := range []any{(*User)(nil), (*Order)(nil)} {
		_, err := db.NewCreateTable().Model(model).IfNotExists().WithForeignKeys().Exec(ctx)
		if err != nil {
			return err
		}
	}

	// A second run finds Ann, and gets her existing key.
	ann := &User{Name: "Ann", Visits: 1}
	_, err = db.NewInsert().Model(ann).
		On("CONFLICT (name) DO UPDATE SET visits = excluded.visits").Returning("id").Exec(ctx)
	if err != nil {
		return err
	}
	orders := []Order{{UserID: ann.ID}, {UserID: ann.ID, ApproverID: &ann.ID}}
	if _, err := db.NewInsert().Model(&orders).Exec(ctx); err != nil {
		return err
	}
	fmt.Println("Ann is", ann.ID, "and ordered", orders[0].ID, "and", orders[1].ID)
	return nil
}

// open opens the database that IDMINT_DB names, which also holds the launch log. By default it
// opens shop.db, with the log in launches.db.
func open(ctx context.Context) (launchlog.Store, *sql.DB, schema.Dialect, error) {
	if dsn := os.Getenv("IDMINT_DB"); dsn != "" {
		store, err := postgres.Open(ctx, dsn)
		if err != nil {
			return nil, nil, nil, err
		}
		db, err := sql.Open("pgx", dsn)
		return store, db, pgdialect.New(), err
	}
	store, err := sqlite.OpenOrCreate(ctx, "launches.db")
	if err != nil {
		return nil, nil, nil, err
	}
	db, err := sql.Open("sqlite3", "file:shop.db?_fk=1&_busy_timeout=5000")
	return store, db, sqlitedialect.New(), err
}
