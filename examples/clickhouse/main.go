// Command clickhouse stores rows with typed keys in ClickHouse, whole columns at a time. Their
// numbers come from the launch log in launches.db. docs/use/clickhouse.md describes it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	if os.Getenv("CLICKHOUSE_DSN") == "" {
		return errors.New("CLICKHOUSE_DSN is not set: see docs/use/clickhouse.md")
	}
	store, err := sqlite.OpenOrCreate(ctx, "launches.db")
	if err != nil {
		return err
	}
	defer store.Close()
	gen, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(ctx)) }()
	options, err := ch.ParseDSN(os.Getenv("CLICKHOUSE_DSN"))
	if err != nil {
		return err
	}
	conn, err := ch.Open(options)
	if err != nil {
		return err
	}
	defer conn.Close()

	key := clickhouse.Column[idtype.DecimalID]{Name: "id"}.PrimaryKey()
	err = conn.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS readings (%v, value Float64) "+
		"ENGINE = MergeTree ORDER BY id", key))
	if err != nil {
		return err
	}

	ids, values := make([]idtype.DecimalID, 1_000_000), make([]float64, 1_000_000)
	if _, err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO readings")
	if err != nil {
		return err
	}
	if err := clickhouse.Append(batch.Column(0), ids); err != nil {
		return err
	}
	if err := batch.Column(1).Append(values); err != nil {
		return err
	}
	if err := batch.Send(); err != nil {
		return err
	}

	var perID float64
	if err := conn.QueryRow(ctx, `SELECT sum(column_data_compressed_bytes) / sum(rows)
		FROM system.parts_columns
		WHERE database = currentDatabase() AND table = 'readings' AND column = 'id' AND active`,
	).Scan(&perID); err != nil {
		return err
	}
	fmt.Printf("%.3f bytes per ID\n", perID)
	return nil
}
