//require gorm.io/plugin/prometheus v0.1.0

package main

import (
	"context"

	"gorm.io/driver/sqlite"
	"gorm.io/plugin/prometheus"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	db := open(ids, sqlite.Open(":memory:"), &User{})
	check(db.Use(prometheus.New(prometheus.Config{DBName: "shop"})))
	store(db)
}
