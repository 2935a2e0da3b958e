package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

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
	launch := must(strconv.Atoi(os.Getenv("IDMINT_LAUNCH_ID")))
	launches := must(launchlog.New(must(sqlite.Open(ctx, "shop.db")), nil))
	ids := must(generator.NewDecimal(launches.Generators(launch)))
	check(ids.Ready(ctx))
	db := must(gorm.Open(gormsqlite.Open("shop.db")))
	check(db.Use(gormid.New(gormid.Use(ids))))
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
