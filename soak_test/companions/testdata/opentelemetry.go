//require gorm.io/plugin/opentelemetry v0.1.16

package main

import (
	"context"

	"gorm.io/driver/sqlite"
	"gorm.io/plugin/opentelemetry/tracing"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	db := open(ids, sqlite.Open(":memory:"), &User{})
	check(db.Use(tracing.NewPlugin()))
	store(db)
}
