// Command gorm stores rows with typed keys in PostgreSQL, by GORM, which shares a pool of
// connections with the launch log. docs/use/gorm.md describes it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
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
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	if os.Getenv("IDMINT_DB") == "" {
		return errors.New("IDMINT_DB is not set: see docs/use/pgx.md")
	}
	config, err := pgxpool.ParseConfig(os.Getenv("IDMINT_DB"))
	if err != nil {
		return err
	}
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
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()

	db, err := gorm.Open(gormpostgres.New(gormpostgres.Config{Conn: stdlib.OpenDBFromPool(pool)}))
	if err != nil {
		return err
	}
	if err := db.Use(gormid.New(ids)); err != nil {
		return err
	}
	if err := db.AutoMigrate(&Customer{}, &Order{}); err != nil {
		return err
	}
	ann := Customer{Name: "Ann", Orders: []Order{{Item: "tea"}, {Item: "milk"}}}
	if err := db.Create(&ann).Error; err != nil { // the customer and both orders get their keys
		return err
	}

	var found Customer
	if err := db.Preload("Orders").First(&found, ann.ID).Error; err != nil {
		return err
	}
	for _, order := range found.Orders {
		fmt.Println(found.Name, "ordered", order.Item, "by", order.ID, "as", order.CustomerID)
	}
	return nil
}
