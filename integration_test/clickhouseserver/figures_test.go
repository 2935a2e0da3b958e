package main

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// TestFigures: what is read and how well it is compressed, as tests of data skipping and
// compression ask it.
func TestFigures(t *testing.T) {
	p := start(t, t.TempDir())
	c := open(t, p.options())
	do(t, c, "CREATE TABLE t (id Int64 CODEC(DoubleDelta, ZSTD(1)), r UInt64) ENGINE = MergeTree "+
		"ORDER BY id",
		"INSERT INTO t SELECT number, rand64() FROM numbers(200000)", "OPTIMIZE TABLE t FINAL")
	read := func(query string) (rows, bytes uint64) {
		t.Helper()
		var infos, result uint64
		ctx := clickhouse.Context(t.Context(),
			clickhouse.WithProgress(func(p *clickhouse.Progress) {
				rows, bytes = rows+p.Rows, bytes+p.Bytes
			}),
			clickhouse.WithProfileInfo(func(p *clickhouse.ProfileInfo) {
				infos, result = infos+1, result+p.Rows
			}))
		found, err := c.Query(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		var n uint64
		for found.Next() {
			n++
		}
		if found.Err() != nil || infos != 1 || result != n {
			t.Errorf("%s: %d rows, %v; profiles %d, of %d rows", query, n, found.Err(), infos,
				result)
		}
		return rows, bytes
	}
	all, allBytes := read("SELECT id, r FROM t WHERE NOT ignore(r)")
	part, partBytes := read(
		"SELECT id, r FROM t WHERE id BETWEEN 100000 AND 100009 AND NOT ignore(r)")
	t.Logf("read %d rows, %d bytes; of a range %d rows, %d bytes", all, allBytes, part, partBytes)
	if all != 200_000 || part == 0 || part > 2*8192 || partBytes >= allBytes {
		t.Error("not what MergeTree reads by its index")
	}
	var plan []string
	rows, err := c.Query(t.Context(),
		"EXPLAIN indexes = 1 SELECT * FROM t WHERE id BETWEEN 100000 AND 100009")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, strings.TrimSpace(line))
	}
	if !slices.ContainsFunc(plan, func(l string) bool {
		return strings.HasPrefix(l, "Granules: ") && !strings.HasPrefix(l, "Granules: 25/25")
	}) {
		t.Errorf("plan without skipped granules: %q", plan)
	}
	do(t, c, "INSERT INTO t VALUES (200000, 1)") // a part of a row
	for _, name := range []string{"id", "r"} {
		var packed, unpacked, inParts uint64
		if err := c.QueryRow(t.Context(), "SELECT data_compressed_bytes, data_uncompressed_bytes "+
			"FROM system.columns"+
			" WHERE database = currentDatabase() AND table = 't' AND name = ?", name).Scan(&packed,
			&unpacked); err != nil {
			t.Fatal(err)
		}
		inParts = one[uint64](t, c, "SELECT min(column_data_compressed_bytes) "+
			"FROM system.parts_columns WHERE table = 't' AND active AND column = ?", name)
		t.Logf("%s: %d of %d bytes; at least %d in a part", name, packed, unpacked, inParts)
		if unpacked != 200_001*8 || packed == 0 || (packed*100 < unpacked) != (name == "id") ||
			inParts == 0 {
			t.Errorf("%s: not the sizes of this column", name)
		}
	}
}

func TestDatabaseSQL(t *testing.T) {
	p := start(t, t.TempDir())
	db := clickhouse.OpenDB(p.options())
	defer db.Close()
	ctx := t.Context()
	if err := db.PingContext(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE t (id Int64, s Nullable(String)) "+
		"ENGINE = MergeTree ORDER BY id"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO t (id, s) VALUES (?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		_, err := insert.ExecContext(ctx, int64(i),
			sql.NullString{String: fmt.Sprint(i), Valid: i%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(ctx, "INSERT INTO t (id, s) VALUES (?, ?)", 1000, "it's")
	if err != nil {
		t.Fatal(err)
	}
	var n, nulls int
	var last sql.Null[string]
	if err := db.QueryRowContext(ctx, "SELECT count(), countIf(s IS NULL), max(s) FROM t "+
		"WHERE id >= ?", 0).Scan(&n, &nulls, &last); err != nil {
		t.Fatal(err)
	}
	if n != 1001 || nulls != 500 || last.V != "it's" {
		t.Errorf("%d rows, %d NULL, greatest %v", n, nulls, last)
	}
	if err := db.QueryRowContext(ctx, "SELECT id FROM t WHERE id = -1").Scan(&n); !errors.Is(err,
		sql.ErrNoRows) {
		t.Errorf("no row: %v", err)
	}
}
