//require github.com/glebarez/sqlite v1.11.0

package main

import (
	"context"

	"github.com/glebarez/sqlite"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	store(open(ids, sqlite.Open(":memory:"), &User{}))
}
