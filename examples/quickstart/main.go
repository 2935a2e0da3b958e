package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/sqlite"
)

type User struct {
	ID   idtype.Decimal[User]
	Name string
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	store, err := sqlite.OpenOrCreate(ctx, "launches.db")
	if err != nil {
		return err
	}
	defer store.Close()
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
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
	if err = db.Create(&ann).Error; err == nil {
		fmt.Println("Ann is", ann.ID, "of launch", ann.ID.Parts().Launch)
	}
	return err
}
