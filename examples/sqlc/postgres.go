package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/examples/sqlc/keys"
	shop "github.com/idmint/idmint/examples/sqlc/postgres"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/sqlid/pgxid"
)

//go:embed postgres/schema.sql
var postgresSchema string

func inPostgres(ctx context.Context, dsn string) (err error) {
	if err := migrate(ctx, dsn); err != nil {
		return err
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return err
	}
	config.AfterConnect = pgxid.LoadTypes("user_id", "order_id", "event_id")
	postgres.Watch(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.New(ctx, pool)
	if err != nil {
		return err
	}
	mint, err := open(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mint.ids.Close(ctx)) }()
	q := shop.New(pool)

	users, orders := make([]keys.UserID, 2), make([]order, 2)
	if err := mint.mint(ctx, users, orders); err != nil {
		return err
	}
	ann, bob := users[0], users[1]
	if err := q.CreateUser(ctx, shop.CreateUserParams{ID: ann, Name: "Ann"}); err != nil {
		return err
	}
	err = q.CreateUser(ctx, shop.CreateUserParams{ID: bob, Name: "Bob", InvitedBy: &ann})
	if err != nil {
		return err
	}
	rows := make([]shop.CreateOrdersParams, len(orders))
	for i, o := range orders {
		rows[i] = shop.CreateOrdersParams{
			ID: o.id, UserID: ann, EventID: o.event, Cents: int64(500 + 200*i),
		}
	}
	if _, err := q.CreateOrders(ctx, rows); err != nil { // COPY
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
		if u.OrderID == nil {
			fmt.Println(u.ID, "has no order, and was invited by", *u.InvitedBy)
		}
	}
	totals, err := q.Totals(ctx)
	if err != nil {
		return err
	}
	for _, t := range totals {
		fmt.Println(t.UserID, "pays", t.Cents, "for", t.Orders, "and", len(t.Events), "events")
		of, err := q.OrdersOfEvents(ctx, t.Events)
		if err != nil {
			return err
		}
		fmt.Println("both events are of", of)
	}
	return nil
}

// migrate creates the tables on a connection without loaded types, because LoadTypes requires them
// to exist.
func migrate(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var there bool
	err = conn.QueryRow(ctx, "SELECT to_regtype('user_id') IS NOT NULL").Scan(&there)
	if err == nil && !there {
		_, err = conn.Exec(ctx, postgresSchema)
	}
	return err
}
