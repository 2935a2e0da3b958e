package adapters_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// Partitions and shards by the decimal IDs of one generator: docs/explain/choosing.md names those that
// spread them, and those that do not.
func TestSpread(t *testing.T) {
	t.Parallel()
	const n = 2000
	var values []string
	for counter := range n {
		id := must(idtype.DecimalParts{Counter: 1415 + counter, Generator: 92, Launch: 65}.ID())
		values = append(values, fmt.Sprintf("(%d)", int64(id)))
	}
	rows := " VALUES " + strings.Join(values, ",")
	spread := func(t *testing.T, name string, counts []int, evenly bool) {
		t.Helper()
		most, sum := 0, 0
		for _, c := range counts {
			most, sum = max(most, c), sum+c
		}
		if sum != n || evenly != (most < n/4*2) || !evenly && most != n {
			t.Errorf("%s: %v of %d IDs", name, counts, n)
		}
	}
	t.Run("PostgreSQL", func(t *testing.T) {
		db := dbtest.Open(t, dbtest.New(t, databases.Postgres))
		dbtest.Exec(t, db, "CREATE TABLE t (id bigint) PARTITION BY HASH (id)")
		var counts []int
		for i := range 4 {
			dbtest.Exec(t, db, fmt.Sprintf("CREATE TABLE t%d PARTITION OF t "+
				"FOR VALUES WITH (MODULUS 4, REMAINDER %[1]d)", i))
		}
		dbtest.Exec(t, db, "INSERT INTO t"+rows)
		for i := range 4 {
			var c int
			try(t, db.QueryRow(fmt.Sprintf("SELECT count(*) FROM t%d", i)).Scan(&c))
			counts = append(counts, c)
		}
		spread(t, "HASH (id)", counts, true)
	})
	t.Run("MariaDB", func(t *testing.T) {
		db := dbtest.Open(t, dbtest.New(t, databases.MariaDB))
		for by, evenly := range map[string]bool{"HASH": false, "LINEAR HASH": false, "KEY": true} {
			name := strings.ReplaceAll(by, " ", "_")
			dbtest.Exec(t, db, "CREATE TABLE t_"+name+" (id bigint) PARTITION BY "+by+"(id) PARTITIONS 4",
				"INSERT INTO t_"+name+rows)
			var counts []int
			for i := range 4 {
				var c int
				try(t, db.QueryRow(fmt.Sprintf("SELECT count(*) FROM t_%s PARTITION (p%d)", name, i)).Scan(&c))
				counts = append(counts, c)
			}
			spread(t, by, counts, evenly)
		}
	})
	t.Run("ClickHouse", func(t *testing.T) {
		ctx, conn := connectClickHouse(t, dbtest.New(t, databases.ClickHouse))
		createTable(t, conn, "t", "id Int64")
		try(t, conn.Exec(ctx, "INSERT INTO t"+rows))
		for by, evenly := range map[string]bool{
			"id": false, "sipHash64(id)": true, "intHash64(id)": true, "cityHash64(id)": true,
			"intDiv(id, 10000000000)": true,
		} {
			counts := make([]int, 4)
			for i := range counts {
				var c uint64
				query := fmt.Sprintf("SELECT count() FROM t WHERE %s %% 4 = %d", by, i)
				try(t, conn.QueryRow(ctx, query).Scan(&c))
				counts[i] = int(c)
			}
			spread(t, by, counts, evenly)
		}
	})
}
