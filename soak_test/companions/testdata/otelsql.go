//require github.com/XSAM/otelsql v0.44.0

package main

import (
	"context"

	"github.com/XSAM/otelsql"
	"gorm.io/driver/sqlite"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	conn := must(otelsql.Open("sqlite3", ":memory:"))
	store(open(ids, sqlite.New(sqlite.Config{Conn: conn}), &User{}))
}
