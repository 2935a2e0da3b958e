package main

import (
	"context"
	_ "embed"
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

func inPostgres(ctx context.Context, dsn string) {
	migrate(ctx, dsn)
	config := must(pgxpool.ParseConfig(dsn))
	config.AfterConnect = pgxid.LoadTypes("user_id", "order_id", "event_id")
	postgres.Watch(config.ConnConfig)
	pool := must(pgxpool.NewWithConfig(ctx, config))
	defer pool.Close()
	mint := open(ctx, must(postgres.New(ctx, pool)))
	defer mint.ids.Close(ctx)
	q := shop.New(pool)

	ann, bob := mint.user(ctx), mint.user(ctx)
	check(q.CreateUser(ctx, shop.CreateUserParams{ID: ann, Name: "Ann"}))
	check(q.CreateUser(ctx, shop.CreateUserParams{ID: bob, Name: "Bob", InvitedBy: &ann}))
	orders := []shop.CreateOrdersParams{
		{ID: mint.order(ctx), UserID: ann, EventID: mint.event(ctx), Cents: 500},
		{ID: mint.order(ctx), UserID: ann, EventID: mint.event(ctx), Cents: 700},
	}
	must(q.CreateOrders(ctx, orders)) // COPY

	for _, u := range must(q.UsersByID(ctx, []keys.UserID{bob, ann})) {
		fmt.Println(u.Name, "is", u.ID)
	}
	for _, u := range must(q.UsersWithOrders(ctx)) {
		if u.OrderID == nil {
			fmt.Println(u.ID, "has no order, and was invited by", *u.InvitedBy)
		}
	}
	for _, t := range must(q.Totals(ctx)) {
		fmt.Println(t.UserID, "pays", t.Cents, "for", t.Orders, "and", len(t.Events), "events")
		fmt.Println("both events are of", must(q.OrdersOfEvents(ctx, t.Events)))
	}
}

// migrate makes the tables on a connection that knows no types yet: LoadTypes wants them to exist.
func migrate(ctx context.Context, dsn string) {
	conn := must(pgx.Connect(ctx, dsn))
	defer conn.Close(ctx)
	var there bool
	check(conn.QueryRow(ctx, "SELECT to_regtype('user_id') IS NOT NULL").Scan(&there))
	if !there {
		must(conn.Exec(ctx, postgresSchema))
	}
}
