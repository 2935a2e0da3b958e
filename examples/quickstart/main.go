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
	launch := launchNumber()
	launches := must(launchlog.New(must(sqlite.Open(ctx, "shop.db")), nil))
	ids := must(generator.NewDecimal(launches.Generators(launch)))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)
	db := must(gorm.Open(gormsqlite.Open("shop.db")))
	check(db.Use(gormid.New(gormid.Use(ids))))
	check(db.AutoMigrate(&User{}))
	ann := User{Name: "Ann"}
	check(db.Create(&ann).Error)
	fmt.Println("Ann is", ann.ID, "of launch", ann.ID.Launch())
}

// launchNumber is what idmint launch start has printed.
func launchNumber() int {
	const variable = "IDMINT_LAUNCH_ID"
	launch, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		log.Fatalf("%s is %q: export the number that idmint launch start prints", variable,
			os.Getenv(variable))
	}
	return launch
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
