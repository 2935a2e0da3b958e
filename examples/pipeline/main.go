// Command pipeline stores an order and its lines in one round trip to PostgreSQL. Their keys are
// minted before, so that no statement waits for the answer to another. For comparison, it does the
// same with keys that the database assigns.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type (
	OrderID = idtype.Decimal[Order]
	LineID  = idtype.Decimal[Line]
)

type Order struct {
	ID       OrderID
	Customer string
	Lines    []Line
}

type Line struct {
	ID      LineID
	Article string
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	dsn := os.Getenv("IDMINT_DB")
	logs, err := postgres.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer logs.Close()
	ids, err := idmint.Open(ctx, logs, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()

	var trips trips
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	config.DialFunc = trips.dial
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	pgxid.Register(conn.TypeMap())
	if err := tables(ctx, conn); err != nil {
		return err
	}

	lines := []Line{{Article: "tea"}, {Article: "cup"}, {Article: "pot"}}
	order := Order{Customer: "Ann", Lines: lines}
	for _, way := range []struct {
		name  string
		store func() error
	}{
		{"minted", func() error { return store(ctx, conn, ids, order) }},
		{"RETURNING", func() error { return storeReturning(ctx, conn, order) }},
	} {
		if err := way.store(); err != nil { // pgx prepares each statement once
			return err
		}
		before := trips.Load()
		if err := way.store(); err != nil {
			return err
		}
		fmt.Printf("%s: %d round trips\n", way.name, trips.Load()-before)
	}
	return nil
}

// store mints all keys, and sends all rows at once. The server stores the whole batch or nothing.
func store(ctx context.Context, conn *pgx.Conn, ids *idmint.IDs, order Order) error {
	keys := make([]idtype.DecimalID, 1+len(order.Lines))
	if _, err := ids.Fill(ctx, keys); err != nil {
		return err
	}
	order.ID = OrderID(keys[0])
	var batch pgx.Batch
	batch.Queue("INSERT INTO orders (id, customer) VALUES ($1, $2)", order.ID, order.Customer)
	for i, line := range order.Lines {
		batch.Queue("INSERT INTO lines (id, order_id, article) VALUES ($1, $2, $3)",
			LineID(keys[1+i]), order.ID, line.Article)
	}
	return conn.SendBatch(ctx, &batch).Close()
}

// storeReturning must wait for the order's key before it can send the lines.
func storeReturning(ctx context.Context, conn *pgx.Conn, order Order) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, "INSERT INTO numbered_orders (customer) VALUES ($1) RETURNING id",
			order.Customer).Scan(&id)
		if err != nil {
			return err
		}
		var batch pgx.Batch
		for _, line := range order.Lines {
			batch.Queue("INSERT INTO numbered_lines (order_id, article) VALUES ($1, $2)", id, line.Article)
		}
		return tx.SendBatch(ctx, &batch).Close()
	})
}

func tables(ctx context.Context, conn *pgx.Conn) error {
	order, err := sqlid.Column[OrderID]{Name: "id"}.PrimaryKey(sqlid.Postgres)
	if err != nil {
		return err
	}
	line, err := sqlid.Column[LineID]{Name: "id"}.PrimaryKey(sqlid.Postgres)
	if err != nil {
		return err
	}
	parent, err := sqlid.Column[OrderID]{Name: "order_id"}.NotNull(sqlid.Postgres)
	if err != nil {
		return err
	}
	for _, table := range []string{
		"orders (" + order + ", customer text NOT NULL)",
		"lines (" + line + ", " + parent + " REFERENCES orders (id), article text NOT NULL)",
		"numbered_orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer text NOT NULL)",
		"numbered_lines (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, " +
			"order_id bigint NOT NULL REFERENCES numbered_orders (id), article text NOT NULL)",
	} {
		if _, err := conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+table); err != nil {
			return err
		}
	}
	return nil
}

// trips counts how often a connection's client waits for the server: a read after a write.
type trips struct{ atomic.Int64 }

func (t *trips) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return &counted{Conn: conn, trips: t}, err
}

type counted struct {
	net.Conn
	trips *trips
	wrote atomic.Bool
}

func (c *counted) Write(b []byte) (int, error) {
	c.wrote.Store(true)
	return c.Conn.Write(b)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.wrote.Swap(false) {
		c.trips.Add(1)
	}
	return n, err
}
