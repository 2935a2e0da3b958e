//require github.com/casbin/gorm-adapter/v3 v3.41.0

package main

import (
	"context"

	gormadapter "github.com/casbin/gorm-adapter/v3"
	"gorm.io/driver/sqlite"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	db := open(ids, sqlite.Open(":memory:"), &User{})
	adapter := must(gormadapter.NewAdapterByDB(db))
	check(adapter.AddPolicy("p", "p", []string{store(db).String(), "orders", "read"}))
}
