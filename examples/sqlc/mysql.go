package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	_ "github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/examples/sqlc/keys"
	shop "github.com/idmint/idmint/examples/sqlc/mysql"
	"github.com/idmint/idmint/launchlog/mysql"
)

//go:embed mysql/schema.sql
var mysqlSchema string

func inMySQL(ctx context.Context, dsn string) (err error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := mysql.New(ctx, db)
	if err != nil {
		return err
	}
	mint, err := open(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mint.ids.Close(ctx)) }()
	for _, statement := range strings.SplitAfter(strings.TrimSpace(mysqlSchema), ";\n") {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	q := shop.New(db)

	users, orders := make([]keys.UserID, 2), make([]order, 1)
	if err := mint.mint(ctx, users, orders); err != nil {
		return err
	}
	ann, bob := users[0], users[1]
	if err := q.CreateUser(ctx, shop.CreateUserParams{ID: ann, Name: "Ann"}); err != nil {
		return err
	}
	if err := q.CreateUser(ctx, shop.CreateUserParams{ID: bob, Name: "Bob"}); err != nil {
		return err
	}
	order := shop.CreateOrderParams{ID: orders[0].id, UserID: ann, EventID: orders[0].event}
	if err := q.CreateOrder(ctx, order); err != nil {
		return err
	}

	found, err := q.UsersByID(ctx, []keys.UserID{bob, ann})
	if err != nil {
		return err
	}
	for _, u := range found {
		fmt.Println(u.Name, "is", u.ID)
	}
	with, err := q.UsersWithOrders(ctx)
	if err != nil {
		return err
	}
	for _, u := range with {
		fmt.Println(u.UserID, "has an order:", u.OrderID != nil)
	}
	totals, err := q.Totals(ctx)
	if err != nil {
		return err
	}
	for _, t := range totals {
		fmt.Println(t.UserID, "has", t.Orders, "order, the newest is", t.Newest)
	}
	return nil
}
