package measure

import (
	"context"
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
)

// A Compression is what an ID takes in a column of ClickHouse.
type Compression struct {
	Database   string `json:"database"`
	Scheme     string `json:"scheme"`
	Storage    string `json:"storage"`
	Peer       bool   `json:"peer,omitempty"`
	Column     string `json:"column"`
	Codec      string `json:"codec"`
	Sort       string `json:"sort"` // SortedByID and so on
	Generators int    `json:"generators"`
	IDs        int    `json:"ids"`
	// of the compressed column, without marks and the sparse index
	BytesPerID float64 `json:"bytes_per_id"`
}

// The orders in which a table keeps its rows.
const (
	SortedByID = "ORDER BY id"
	// SortedByBytes is the order of UUIDs as bytes, which is that of their time. ORDER BY id takes
	// the second half of a UUID first.
	SortedByBytes = "ORDER BY toUInt128(id)"
	Arrival       = "ORDER BY tuple()" // as they were inserted
)

// Codecs are those that a column of the key takes. Gorilla is for floating-point numbers and left
// out.
func (k Key) Codecs() []string {
	general := []string{"NONE", "LZ4", "ZSTD(1)", "ZSTD(6)"}
	if k.Storage == idtype.StorageBigint {
		return append(general, "Delta, ZSTD(1)", "Delta, ZSTD(6)", "DoubleDelta, ZSTD(1)",
			"T64('bit'), ZSTD(1)", "Delta, T64('bit'), ZSTD(1)")
	}
	if k.size == 8 { // Delta takes bytes of an integer's length
		return append(general, "Delta, ZSTD(1)", "Delta, ZSTD(6)")
	}
	return general
}

// LargeBlocks are the settings of a column that is compressed in blocks of 1 MiB. A granule of
// integers has 64 KiB.
const LargeBlocks = "SETTINGS (min_compress_block_size = 1048576, max_compress_block_size = 1048576)"

// Compression mints IDs and stores them in ClickHouse once with each codec and each sort order, in
// one part. It asks the system tables for the size of the columns. They have the given settings, if
// any.
func (d *Database) Compression(
	ctx context.Context, k Key, r Rhythm, settings string,
) ([]Compression, error) {
	minted, err := k.Mint(ctx, r)
	if err != nil {
		return nil, err
	}
	codecs := k.Codecs()
	columns := make([]string, len(codecs))
	for i, codec := range codecs {
		columns[i] = fmt.Sprintf("c%d %s MATERIALIZED id CODEC(%s) %s", i, d.Column(k), codec,
			settings)
	}
	var all []Compression
	orders := []string{Arrival, SortedByID}
	if k.Storage == idtype.StorageUUID {
		orders = append(orders, SortedByBytes)
	}
	first := d.tables + 1
	for from, sort := range orders {
		table := d.newTable()
		err := d.exec(ctx, fmt.Sprintf(
			"CREATE TABLE %s (id %s CODEC(NONE), n Int32 EPHEMERAL 0, %s) ENGINE = MergeTree %s "+
				"SETTINGS min_bytes_for_wide_part = 0",
			table, d.Column(k), strings.Join(columns, ", "), sort))
		if err != nil {
			return nil, err
		}
		if from == 0 {
			err = d.load(ctx, table, minted.rows(upTo(0, minted.Len())))
		} else {
			err = d.exec(ctx, fmt.Sprintf("INSERT INTO %s (id) SELECT id FROM ids_%d", table,
				first))
		}
		if err != nil {
			return nil, err
		}
		if err := d.exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
			return nil, err
		}
		for i, codec := range codecs {
			var rows, bytes int64
			err := d.db.QueryRowContext(ctx,
				`SELECT toInt64(sum(rows)), toInt64(sum(column_data_compressed_bytes)) FROM system.parts_columns
				WHERE database = currentDatabase() AND table = ? AND column = ? AND active`, table, fmt.Sprintf("c%d", i)).Scan(&rows, &bytes)
			if err != nil {
				return nil, err
			}
			if rows != int64(r.IDs) || bytes == 0 {
				return nil, fmt.Errorf("%s: %s: %d bytes for %d rows, where %d were inserted",
					d.Name, table, bytes, rows, r.IDs)
			}
			all = append(all, Compression{
				Database: d.Name, Scheme: k.Scheme, Storage: string(k.Storage), Peer: k.Peer,
				Column: d.Column(k), Codec: codec, Sort: sort,
				Generators: r.Generators, IDs: r.IDs, BytesPerID: float64(bytes) / float64(rows),
			})
		}
	}
	for n := range orders {
		if err := d.exec(ctx, fmt.Sprintf("DROP TABLE ids_%d", first+n)); err != nil {
			return nil, err
		}
	}
	return all, nil
}
