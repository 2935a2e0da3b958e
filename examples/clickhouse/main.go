// Command clickhouse stores rows with keys of their own in ClickHouse, whole columns at a time:
// what docs/clickhouse.md shows. Their numbers come from the launch log in shop.db.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func main() {
	if os.Getenv("CLICKHOUSE_DSN") == "" {
		log.Fatal("CLICKHOUSE_DSN is not set: docs/clickhouse.md says to what")
	}
	ctx := context.Background()
	launches := must(launchlog.New(must(sqlite.Open(ctx, "shop.db")), nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	gen := must(generator.NewDecimal(numbers))
	check(gen.Ready(ctx))
	defer gen.Close(ctx)
	conn := must(ch.Open(must(ch.ParseDSN(os.Getenv("CLICKHOUSE_DSN")))))

	key := clickhouse.Column[idtype.DecimalID]{Name: "id"}.PrimaryKey()
	check(conn.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS readings (%v, value Float64) ENGINE = MergeTree ORDER BY id", key)))

	ids, values := make([]idtype.DecimalID, 1_000_000), make([]float64, 1_000_000)
	must(gen.Fill(ctx, ids))
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	batch := must(conn.PrepareBatch(ctx, "INSERT INTO readings"))
	check(clickhouse.Append(batch.Column(0), ids))
	check(batch.Column(1).Append(values))
	check(batch.Send())

	size := must(clickhouse.BytesPerID(ctx, conn, "readings", "id"))
	fmt.Printf("%.3f bytes per ID\n", size.PerID())
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
