// Command sqlc uses the code that sqlc generates from SQL. Keys are typed in parameters, rows,
// arrays, LEFT JOINs and aggregates. docs/sqlc.md tells of it.
package main

import (
	"context"
	"log"
	"os"
	"strings"
	"time"

	"github.com/idmint/idmint/examples/sqlc/keys"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
)

//go:generate sh -c "sqlc generate && sha256sum sqlc.yaml */*.sql */*.go >generated.sum"

func main() {
	ctx := context.Background()
	switch db := os.Getenv("IDMINT_DB"); {
	case strings.HasPrefix(db, "postgres://"):
		inPostgres(ctx, db)
	case strings.HasPrefix(db, "sqlite:"):
		inSQLite(ctx, strings.TrimPrefix(db, "sqlite:"))
	case strings.Contains(db, "@tcp("):
		inMySQL(ctx, db)
	default:
		log.Fatal("IDMINT_DB: want postgres://…, sqlite:PATH or USER:PASSWORD@tcp(HOST:3306)/DATABASE")
	}
}

// A mint has the generators of the shop.
type mint struct {
	ids    *generator.Decimal
	events *generator.Sno
}

func open(ctx context.Context, store launchlog.Store) *mint {
	launches := must(launchlog.New(store, nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	counter := must(launches.Counter("sno/7"))
	events := must(generator.NewSno(generator.Ceiling(7, counter, 3*time.Second), nil))
	check(events.Ready(ctx))
	return &mint{ids, events}
}

func (m *mint) user(ctx context.Context) keys.UserID { return keys.UserID(must(m.ids.Next(ctx))) }

func (m *mint) order(ctx context.Context) keys.OrderID { return keys.OrderID(must(m.ids.Next(ctx))) }

func (m *mint) event(ctx context.Context) keys.EventID { return keys.EventID(must(m.events.Next(ctx))) }

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
