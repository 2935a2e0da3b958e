package adapters_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

const compressedRows = 40_000

// filled makes a table t of a key and a number, with rows of four generators as they are minted.
func filled(t *testing.T, d dsn.DSN, scheme, option string) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, d)
	m, err := measure.Open(t.Context(), d)
	try(t, err)
	t.Cleanup(func() { m.Close() })
	k := m.Find(scheme)
	ids, err := k.Mint(t.Context(), measure.Rhythm{
		IDs: compressedRows, Generators: 4, PerSecond: 10_000, Deployments: 1,
	})
	try(t, err)
	dbtest.Exec(t, db, "DROP TABLE IF EXISTS t", "CREATE TABLE t (id "+m.Column(k)+
		" PRIMARY KEY, n INTEGER NOT NULL)"+option)
	row := sqlDatabase{}
	if d.Kind == dsn.Postgres {
		row.Dialect = dsn.Postgres
	}
	for from := 0; from < compressedRows; from += 1_000 {
		var values []string
		var args []any
		for i := from; i < from+1_000; i++ {
			values = append(values, "("+row.parameter(len(args)+1)+", "+row.parameter(len(args)+2)+")")
			args = append(args, ids.At(i), i)
		}
		_, err := db.Exec("INSERT INTO t VALUES "+strings.Join(values, ", "), args...)
		try(t, err)
	}
	return db
}

// InnoDB compresses pages where a table asks for it, and gives back what they leave free, in blocks
// of the disk. Tables of each key then take less than three quarters of their pages. Keys that carry
// random bits take more than those that do not.
func TestPageCompressionInInnoDB(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.MariaDB)
	onDisk := map[string]float64{}
	for _, scheme := range []string{"decimal", "trace", measure.UUIDv7} {
		db := filled(t, d, scheme, " ENGINE=InnoDB PAGE_COMPRESSED=1")
		dbtest.Exec(t, db, "ANALYZE TABLE t", "FLUSH TABLES t FOR EXPORT", "UNLOCK TABLES")
		var disk, pages float64
		try(t, db.QueryRow("SELECT allocated_size FROM information_schema.innodb_sys_tablespaces "+
			"WHERE name = concat(database(), '/t')").Scan(&disk))
		try(t, db.QueryRow("SELECT stat_value * @@innodb_page_size FROM mysql.innodb_index_stats "+
			"WHERE database_name = database() AND table_name = 't' AND stat_name = 'size'").Scan(&pages))
		t.Logf("%s: %.1f bytes a row in pages, %.1f on the disk", scheme, pages/compressedRows,
			disk/compressedRows)
		if disk > 0.75*pages {
			t.Errorf("%s: %.0f bytes of pages take %.0f on the disk", scheme, pages, disk)
		}
		onDisk[scheme] = disk
	}
	if onDisk["trace"] > 0.7*onDisk[measure.UUIDv7] {
		t.Errorf("trace takes %.0f bytes, UUIDv7 %.0f", onDisk["trace"], onDisk[measure.UUIDv7])
	}
}

// PostgreSQL compresses no row and no index of keys. A table's bytes follow from the width of the key,
// whatever its values, and an index's also from how full its pages are.
func TestTableBytesInPostgresUncompressed(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Postgres)
	table, index := map[string]int64{}, map[string]int64{}
	for _, scheme := range []string{
		"decimal", "short", "eightbyte, SPREAD as bigint", "sno as bytes", measure.UUIDv7,
	} {
		db := filled(t, d, scheme, "")
		var heap, key int64
		try(t, db.QueryRow("SELECT pg_relation_size('t'), pg_relation_size('t_pkey')").Scan(&heap, &key))
		t.Logf("%s: %.1f bytes a row in the table, %.1f in the index", scheme,
			float64(heap)/compressedRows, float64(key)/compressedRows)
		table[scheme], index[scheme] = heap, key
	}
	for scheme, bytes := range table {
		// Ten bytes and their length take 12, and a number of 4 fills up to 16, as it does behind 8.
		if wide := scheme == measure.UUIDv7; wide != (bytes > table["decimal"]) || bytes < table["decimal"] {
			t.Errorf("a table of %s takes %d bytes, of decimal %d", scheme, bytes, table["decimal"])
		}
		if index[scheme] < index["short"] || index["short"] == 0 {
			t.Errorf("an index of %s takes %d bytes, of short %d", scheme, index[scheme], index["short"])
		}
	}
}
