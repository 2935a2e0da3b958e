package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
)

// An app's transactions hold all connections of its pool.
func TestHeld(t *testing.T) {
	d := suite.Database(t)
	pool, err := pgxpool.New(ctx, serversuite.With(t, d, "pool_max_conns=2").Source())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	elsewhere := dbtest.Open(t, d)
	storetest.Held(t, storetest.AppPool{
		Connections: 2,
		New:         func() (launchlog.Store, error) { return postgres.New(ctx, pool) },
		Elsewhere:   suite.Store(t, d),
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

// Two transactions that mint their first IDs, of a launch that was started elsewhere, hold both
// connections of the pool. The generator says what to do, and mints as soon as they have ended.
func TestFirstIDInTransactions(t *testing.T) {
	d := suite.Database(t)
	pool, err := pgxpool.New(ctx, serversuite.With(t, d, "pool_max_conns=2").Source())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := postgres.New(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	log := serversuite.Log(t, s, 0)
	launch, err := serversuite.Log(t, suite.Store(t, d), 0).Start(ctx, storetest.Request("a"))
	if err != nil {
		t.Fatal(err)
	}
	ids, err := generator.NewDecimal(log.Generators(launch.ID))
	if err != nil {
		t.Fatal(err)
	}
	var group, begun sync.WaitGroup
	begun.Add(2)
	for range 2 {
		group.Go(func() {
			tx, err := pool.Begin(ctx)
			begun.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer tx.Rollback(ctx)
			begun.Wait()
			id, err := ids.Next(ctx)
			if !errors.Is(err, launchlog.ErrHeld) || !strings.Contains(err.Error(), "Ready") {
				t.Errorf("in a transaction: %v, %v", id, err)
			}
		})
	}
	group.Wait()
	if id, err := ids.Next(ctx); err != nil || id == 0 {
		t.Errorf("afterwards: %v, %v", id, err)
	}
}
