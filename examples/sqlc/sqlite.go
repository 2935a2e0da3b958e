package main

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/examples/sqlc/keys"
	shop "github.com/idmint/idmint/examples/sqlc/sqlite"
	"github.com/idmint/idmint/launchlog/sqlite"
)

//go:embed sqlite/schema.sql
var sqliteSchema string

func inSQLite(ctx context.Context, path string) {
	mint := open(ctx, must(sqlite.Open(ctx, path)))
	defer mint.ids.Close(ctx)
	db := must(sql.Open("sqlite3", path))
	defer db.Close()
	must(db.ExecContext(ctx, sqliteSchema))
	q := shop.New(db)

	ann, bob := mint.user(ctx), mint.user(ctx)
	check(q.CreateUser(ctx, shop.CreateUserParams{ID: ann, Name: "Ann"}))
	check(q.CreateUser(ctx, shop.CreateUserParams{ID: bob, Name: "Bob"}))
	order := shop.CreateOrderParams{ID: mint.order(ctx), UserID: ann, EventID: mint.event(ctx)}
	check(q.CreateOrder(ctx, order))

	for _, u := range must(q.UsersByID(ctx, []keys.UserID{bob, ann})) {
		fmt.Println(u.Name, "is", u.ID)
	}
	for _, u := range must(q.UsersWithOrders(ctx)) {
		fmt.Println(u.UserID, "has an order:", u.OrderID != nil)
	}
	for _, t := range must(q.Totals(ctx)) {
		fmt.Println(t.UserID, "has", t.Orders, "order, the newest is", t.Newest)
	}
}
