package main

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"

	_ "github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/examples/sqlc/keys"
	shop "github.com/idmint/idmint/examples/sqlc/mysql"
	"github.com/idmint/idmint/launchlog/mysql"
)

//go:embed mysql/schema.sql
var mysqlSchema string

func inMySQL(ctx context.Context, dsn string) {
	db := must(sql.Open("mysql", dsn))
	defer db.Close()
	mint := open(ctx, must(mysql.New(ctx, db)))
	defer mint.ids.Close(ctx)
	for _, statement := range strings.SplitAfter(strings.TrimSpace(mysqlSchema), ";\n") {
		must(db.ExecContext(ctx, statement))
	}
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
