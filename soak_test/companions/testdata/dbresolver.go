//require gorm.io/plugin/dbresolver v1.6.2

package main

import (
	"context"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/plugin/dbresolver"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	const file = "file:shop?mode=memory&cache=shared"
	db := open(ids, sqlite.Open(file), &User{})
	replicas := []gorm.Dialector{sqlite.Open(file)}
	check(db.Use(dbresolver.Register(dbresolver.Config{Replicas: replicas})))
	store(db)
}
