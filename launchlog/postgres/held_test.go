package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
)

// An app's transactions hold all connections of its pool.
func TestHeld(t *testing.T) {
	d := newDatabase(t)
	pool, err := pgxpool.New(ctx, with(t, d, "pool_max_conns=2").Source())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := postgres.New(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := openDB(t, d)
	storetest.Held(t, s, storetest.AppPool{
		Connections: 2,
		Begin: func() (func(), error) {
			tx, err := pool.Begin(ctx)
			return func() { _ = tx.Rollback(ctx) }, err
		},
		Lock: func() (func(), error) {
			tx, err := elsewhere.Begin()
			if err == nil {
				_, err = tx.Exec("SELECT FROM idmint_launch, idmint_namespace FOR UPDATE")
			}
			return func() { _ = tx.Rollback() }, err
		},
	})
}
