// Command gorm stores rows with keys of their own in PostgreSQL, by GORM: what docs/gorm.md shows.
// GORM and the launch log share a pool of connections.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
)

type (
	CustomerID = idtype.Decimal[Customer]
	OrderID    = idtype.Decimal[Order]
)

type Customer struct {
	ID     CustomerID
	Name   string
	Orders []Order
}

type Order struct {
	ID         OrderID
	CustomerID CustomerID
	Item       string
}

func main() {
	if os.Getenv("IDMINT_DB") == "" {
		log.Fatal("IDMINT_DB is not set: docs/postgresql.md says to what")
	}
	ctx := context.Background()
	config := must(pgxpool.ParseConfig(os.Getenv("IDMINT_DB")))
	postgres.Watch(config.ConnConfig)
	pool := must(pgxpool.NewWithConfig(ctx, config))
	defer pool.Close()
	launches := must(launchlog.New(must(postgres.New(ctx, pool)), nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)

	db := must(gorm.Open(gormpostgres.New(gormpostgres.Config{Conn: stdlib.OpenDBFromPool(pool)})))
	check(db.Use(gormid.New(gormid.Use(ids), gormid.Strict())))
	check(db.AutoMigrate(&Customer{}, &Order{}))
	ann := Customer{Name: "Ann", Orders: []Order{{Item: "tea"}, {Item: "milk"}}}
	check(db.Create(&ann).Error) // the customer and both orders get their keys

	var found Customer
	check(db.Preload("Orders").First(&found, ann.ID).Error)
	for _, order := range found.Orders {
		fmt.Println(found.Name, "ordered", order.Item, "by", order.ID, "as", order.CustomerID)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
