package main

import (
	"context"
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
	ctx := context.Background()
	launches := must(launchlog.New(must(sqlite.Open(ctx, "shop.db")), nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)

	db := must(gorm.Open(gormsqlite.Open("shop.db")))
	check(db.Use(gormid.New(gormid.Use(ids), gormid.Strict())))
	check(db.AutoMigrate(&User{}))
	ann := User{Name: "Ann"}
	check(db.Create(&ann).Error)
	fmt.Println("Ann is", ann.ID, "of launch", ann.ID.Launch())
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
