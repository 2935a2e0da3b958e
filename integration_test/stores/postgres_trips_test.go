package stores_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
)

// trips counts how often a connection waits for an answer: a reading behind a writing.
type trips struct{ n atomic.Int64 }

type tripConn struct {
	net.Conn
	trips *trips
	wrote atomic.Bool
}

func (c *tripConn) Write(b []byte) (int, error) {
	c.wrote.Store(true)
	return c.Conn.Write(b)
}

func (c *tripConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.wrote.Swap(false) {
		c.trips.n.Add(1)
	}
	return n, err
}

// An app that has a connection has its first ID after two round trips. One opens the log, and one
// joins the launch.
func TestPostgresFirstID(t *testing.T) {
	t.Parallel()
	dsn := postgresServer.database(t)
	first, err := launchlog.New(open(t, dsn), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := storesuite.Request("one")
	l, err := first.Start(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	var n trips
	config, err := pgxpool.ParseConfig(with(t, dsn, "default_query_exec_mode=exec").URL())
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return &tripConn{Conn: c, trips: &n}, err
	}
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool {
		return false // a connection that was idle for a second
	}
	postgres.Watch(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	n.n.Store(0)
	after := func(what string, most int64) {
		t.Helper()
		if trips := n.n.Swap(0); trips != most {
			t.Errorf("%s takes %d round trips, want %d", what, trips, most)
		}
	}
	store, err := postgres.New(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	after("to open the log", 1)
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := log.Join(ctx,
		launchlog.App{Service: r.Service, Environment: r.Environment, Launch: l.ID})
	if err != nil {
		t.Fatal(err)
	}
	after("to join the launch", 1)
	g, err := generator.NewDecimal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Next(ctx); err != nil {
		t.Fatal(err)
	}
	after("the first ID", 0)
}
