package main

import (
	"context"
	"log"

	"github.com/ClickHouse/ch-go/proto"
	"gorm.io/gorm"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type UserID = idtype.Decimal[User]

type User struct {
	ID   UserID
	Name string
}

// The packages that an app with several databases has in its go.mod.
var (
	_ proto.ColumnOf[UserID] = (*clickhouse.Col[UserID])(nil)
	_                        = pgxid.AfterConnect
)

func main() {
	ctx := context.Background()
	launches := must(launchlog.New(memory.New(nil), nil))
	ids := must(generator.NewDecimal(must(launches.JoinDev(ctx, "shop"))))
	defer func() { check(ids.Close(ctx)) }()
	companion(ctx, ids)
}

// open returns a database with the plugin and the tables of models.
func open(ids *generator.Decimal, dialector gorm.Dialector, models ...any) *gorm.DB {
	db := must(gorm.Open(dialector))
	check(db.Use(gormid.New(ids)))
	check(db.AutoMigrate(models...))
	return db
}

// store stores a user as an app does.
func store(db *gorm.DB) UserID {
	ann := User{Name: "Ann"}
	check(db.Create(&ann).Error)
	var found User
	check(db.First(&found, ann.ID).Error)
	if found != ann {
		log.Panicf("found %v, want %v", found, ann)
	}
	return found.ID
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// check panics on an error, so that deferred calls run.
func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
