package measure

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
)

// A FillCase is a key, and how it is minted for a table.
type FillCase struct {
	Key
	Rhythm
	// ByArrival means that the table is not ordered by the ID, in ClickHouse.
	ByArrival bool
}

// A Figure is the size of rows of a key and a number in a database, and how fast they were
// inserted.
type Figure struct {
	Database    string `json:"database"`
	Key                // of the rows
	Column      string `json:"column"`
	ByArrival   bool   `json:"by_arrival,omitempty"`
	Rows        int    `json:"rows"`
	Writers     int    `json:"writers"`     // generators that minted at once
	Deployments int    `json:"deployments"` // of such generators, one after another
	// BytesPerRow is the size of the primary key's index per row. In SQLite that is the table
	// itself, in MariaDB the table's leaf pages, and in ClickHouse the compressed column of the
	// IDs.
	BytesPerRow float64 `json:"bytes_per_row"`
	// RowsPerSecond is the median of the rounds.
	RowsPerSecond float64 `json:"rows_per_second"`
	// Relative is the speed as a multiple of the first case's speed, the median of the ratios of
	// each round. Its confidence interval is from Low to High.
	Relative float64 `json:"relative"`
	Low      float64 `json:"relative_low"`
	High     float64 `json:"relative_high"`
}

// FillCases lists every key of the database with the rhythm r. The first is the key with which
// others are compared: [Serial], or [UUIDv7] in ClickHouse, which has no serial keys.
func (d *Database) FillCases(r Rhythm) (cases []FillCase) {
	for _, k := range d.Keys() {
		cases = append(cases, FillCase{Key: k, Rhythm: r})
		if d.Kind == dsn.ClickHouse {
			cases = append(cases, FillCase{Key: k, Rhythm: r, ByArrival: true})
		}
	}
	first := slices.IndexFunc(cases, func(c FillCase) bool { return c.Peer() })
	return slices.Concat(cases[first:first+1], cases[:first], cases[first+1:])
}

// Fill fills a table for each case, in order of arrival and in one transaction, and measures it.
// The cases take turns in each round, in another order each time, because the speed of a machine
// varies. If there are several rounds, another one precedes them as a warm-up. Told is called
// before each table.
func (d *Database) Fill(
	ctx context.Context, cases []FillCase, rounds int, told func(FillCase),
) ([]Figure, error) {
	all := make([]Figure, len(cases))
	ids := make([]*IDs, len(cases))
	for i, c := range cases {
		var err error
		if ids[i], err = c.Mint(ctx, c.Rhythm); err != nil {
			return nil, err
		}
		all[i] = Figure{
			Database: d.Name, Key: c.Key, Column: d.Column(c.Key), ByArrival: c.ByArrival,
			Rows: c.IDs, Writers: c.Generators, Deployments: max(c.Deployments, 1),
		}
	}
	took := make([][]float64, len(cases)) // seconds, by round
	warm := min(1, rounds-1)
	for round := range warm + rounds {
		for _, i := range rand.Perm(len(cases)) {
			told(cases[i])
			seconds, size, err := d.fill(ctx, ids[i], cases[i].ByArrival)
			if err != nil {
				return nil, err
			}
			all[i].BytesPerRow = float64(size) / float64(ids[i].Len())
			if round >= warm {
				took[i] = append(took[i], seconds)
			}
		}
	}
	compare(all, took)
	return all, nil
}

// compare puts speeds into figures of cases that took some seconds in each round.
func compare(all []Figure, took [][]float64) {
	for i := range all {
		f := &all[i]
		ratios := make([]float64, len(took[i]))
		for round := range ratios {
			ratios[round] = took[0][round] / took[i][round] * float64(f.Rows) / float64(all[0].Rows)
		}
		f.RowsPerSecond = float64(f.Rows) / median(took[i]).Center
		ratio := median(ratios)
		f.Relative, f.Low, f.High = ratio.Center, ratio.Lo, ratio.Hi
	}
}

// median returns the median with the confidence interval that benchstat shows.
func median(values []float64) benchmath.Summary {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95)
}

// fill fills a table, and returns the seconds that took, and the table's size.
func (d *Database) fill(ctx context.Context, ids *IDs, byArrival bool) (float64, int64, error) {
	column, order := d.Column(ids.Key), "id"
	if d.Kind == dsn.ClickHouse {
		column += " CODEC(" + codec(ids.Key, byArrival) + ")"
		switch {
		case byArrival:
			order = "tuple()"
		case ids.Key.Scheme == UUIDv7: // orders by time, which is best for it
			order = "toUInt128(id)"
		}
	}
	table, err := d.create(ctx, column, order)
	if err != nil {
		return 0, 0, err
	}
	rows := indexes(0, ids.Len())
	runtime.GC() // not in the middle
	began := time.Now()
	if err := d.insert(ctx, table, ids, rows); err != nil {
		return 0, 0, err
	}
	took := time.Since(began).Seconds()
	size, err := d.size(ctx, table)
	if err != nil {
		return 0, 0, err
	}
	return took, size, d.exec(ctx, "DROP TABLE "+table)
}

// codec returns the codec that package clickhouse writes for a key of ours, and a strong one for
// UUIDv7.
func codec(k Key, byArrival bool) string {
	if k.Peer() {
		return "ZSTD(6)"
	}
	scheme, spread := strings.CutSuffix(k.Scheme, ", SPREAD")
	column := clickhouse.AnyColumn{
		Scheme: idtype.Scheme(scheme), Storage: k.Storage, Spread: spread,
	}
	if byArrival {
		return column.Indexed().Codec
	}
	return column.PrimaryKey().Codec
}

// size returns the size of the primary key's index, or of the column of the IDs in ClickHouse.
func (d *Database) size(ctx context.Context, table string) (size int64, err error) {
	switch d.Kind {
	case dsn.SQLite: // all pages but the schema's
		return d.number(ctx, "SELECT (page_count - freelist_count - 1) * page_size FROM "+
			"pragma_page_count, pragma_freelist_count, pragma_page_size")
	case dsn.Postgres:
		return d.number(ctx, fmt.Sprintf("SELECT pg_relation_size('%s_pkey')", table))
	case dsn.ClickHouse:
		if err := d.exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
			return 0, err
		}
		return d.number(ctx, "SELECT toInt64(sum(column_data_compressed_bytes)) FROM "+
			"system.parts_columns WHERE database = currentDatabase() AND table = ? AND "+
			"column = 'id' AND active", table)
	}
	if err := d.exec(ctx, "ANALYZE TABLE "+table); err != nil {
		return 0, err
	}
	// The size that the server gives for a table is the reserved size, in steps of a megabyte, so
	// the statistics are better. But not every user may read them, and for a table of less than an
	// extent they count one leaf page.
	size, err = d.number(ctx, `SELECT stat_value * @@innodb_page_size FROM mysql.innodb_index_stats
		WHERE database_name = DATABASE() AND table_name = ? AND index_name = 'PRIMARY'
		AND stat_name = 'n_leaf_pages' AND stat_value > 1`, table)
	if err != nil && ctx.Err() == nil {
		return d.number(ctx, "SELECT data_length FROM information_schema.tables "+
			"WHERE table_schema = DATABASE() AND table_name = ?", table)
	}
	return size, err
}
