package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

type UserID = idtype.Decimal[User]

type User struct {
	ID   UserID
	Name string
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	store, err := sqlite.Open(ctx, "launches.db")
	if err != nil {
		return err
	}
	defer store.Close()
	launches, err := launchlog.New(store, nil)
	if err != nil {
		return err
	}
	numbers, err := launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"})
	if err != nil {
		return err
	}
	ids, err := generator.NewDecimal(numbers)
	if err != nil {
		return err
	}
	if err := ids.Ready(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()

	db, err := gorm.Open(gormsqlite.Open("shop.db"))
	if err != nil {
		return err
	}
	if err := db.Use(gormid.New(ids)); err != nil {
		return err
	}
	if err := db.AutoMigrate(&User{}); err != nil {
		return err
	}
	ann := User{Name: "Ann"}
	if err := db.Create(&ann).Error; err != nil {
		return err
	}
	fmt.Println("Ann is", ann.ID, "of launch", ann.ID.Parts().Launch)
	return nil
}
