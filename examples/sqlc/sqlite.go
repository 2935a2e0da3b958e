package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/examples/sqlc/keys"
	shop "github.com/idmint/idmint/examples/sqlc/sqlite"
	"github.com/idmint/idmint/launchlog/sqlite"
)

//go:embed sqlite/schema.sql
var sqliteSchema string

func inSQLite(ctx context.Context, path string) (err error) {
	store, err := sqlite.OpenOrCreate(ctx, "launches.db")
	if err != nil {
		return err
	}
	defer store.Close()
	mint, err := open(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mint.ids.Close(ctx)) }()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, sqliteSchema); err != nil {
		return err
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
