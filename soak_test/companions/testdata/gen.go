//require gorm.io/gen v0.3.27
//require gorm.io/plugin/dbresolver v1.6.2

package main

import (
	"context"
	"os"

	"gorm.io/driver/sqlite"
	"gorm.io/gen"

	"github.com/idmint/idmint/generator"
)

func companion(_ context.Context, ids *generator.Decimal) {
	g := gen.NewGenerator(gen.Config{OutPath: must(os.MkdirTemp("", "query"))})
	defer os.RemoveAll(g.OutPath)
	g.UseDB(open(ids, sqlite.Open(":memory:"), &User{}))
	g.ApplyBasic(User{})
	g.Execute()
}
