package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
)

// What the driver says leaves the constructors with the package's name in front, once.
func TestErrorsBeginWithThePackage(t *testing.T) {
	const nowhere = "postgres://me@127.0.0.1:1/none"
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	pool, err := pgxpool.New(t.Context(), nowhere)
	if err != nil {
		t.Fatal(err)
	}
	pool.Close()
	for name, open := range map[string]func() (*postgres.Store, error){
		"not a DSN": func() (*postgres.Store, error) {
			return postgres.Open(t.Context(), "postgres://[bad")
		},
		"no pool":       func() (*postgres.Store, error) { return postgres.New(t.Context(), nil) },
		"a closed pool": func() (*postgres.Store, error) { return postgres.New(t.Context(), pool) },
		"an ended context": func() (*postgres.Store, error) {
			return postgres.Open(ended, nowhere)
		},
	} {
		s, err := open()
		if s != nil {
			t.Errorf("%s: a store was opened", name)
		}
		storetest.BeginsWith(t, err, "launchlog/postgres: ")
		if canceled := errors.Is(err, context.Canceled); canceled != (name == "an ended context") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
