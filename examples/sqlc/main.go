// Command sqlc uses code that sqlc generates from SQL, with typed keys in parameters, rows, arrays,
// LEFT JOINs and aggregates. docs/use/sqlc.md describes it.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"strings"
	"time"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/examples/sqlc/keys"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
)

//go:generate sh -c "sqlc generate && sha256sum sqlc.yaml */*.sql */*.go >generated.sum"

func main() {
	if err := run(context.Background(), os.Getenv("IDMINT_DB")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, db string) error {
	switch {
	case strings.HasPrefix(db, "postgres://"):
		return inPostgres(ctx, db)
	case strings.HasPrefix(db, "sqlite:"):
		return inSQLite(ctx, strings.TrimPrefix(db, "sqlite:"))
	}
	return errors.New("IDMINT_DB must be postgres://… or sqlite:PATH")
}

// A mint holds the generators of the shop.
type mint struct {
	ids    *idmint.IDs
	events *generator.Sno
}

func open(ctx context.Context, store launchlog.Store) (*mint, error) {
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return nil, err
	}
	events, err := openEvents(ctx, ids.Log())
	if err != nil {
		return nil, errors.Join(err, ids.Close(ctx))
	}
	return &mint{ids, events}, nil
}

func openEvents(ctx context.Context, log *launchlog.Log) (*generator.Sno, error) {
	counter, err := log.Counter("sno/7")
	if err != nil {
		return nil, err
	}
	events, err := generator.NewSno(generator.Ceiling(7, counter, 3*time.Second), nil)
	if err != nil {
		return nil, err
	}
	return events, events.Ready(ctx)
}

// An order holds the keys of an order and of its event.
type order struct {
	id    keys.OrderID
	event keys.EventID
}

// mint mints the keys of users and of orders.
func (m *mint) mint(ctx context.Context, users []keys.UserID, orders []order) error {
	for i := range users {
		id, err := m.ids.Next(ctx)
		if err != nil {
			return err
		}
		users[i] = keys.UserID(id)
	}
	for i := range orders {
		id, err := m.ids.Next(ctx)
		if err != nil {
			return err
		}
		event, err := m.events.Next(ctx)
		if err != nil {
			return err
		}
		orders[i] = order{keys.OrderID(id), keys.EventID(event)}
	}
	return nil
}
