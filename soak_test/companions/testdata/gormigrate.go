//require github.com/go-gormigrate/gormigrate/v2 v2.1.7

package main

import (
	"context"

	"github.com/go-gormigrate/gormigrate/v2"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	db := open(ids, sqlite.Open(":memory:"))
	check(gormigrate.New(db, gormigrate.DefaultOptions, []*gormigrate.Migration{{
		ID:      "users",
		Migrate: func(tx *gorm.DB) error { return tx.Migrator().CreateTable(&User{}) },
	}}).Migrate())
	store(db)
}
