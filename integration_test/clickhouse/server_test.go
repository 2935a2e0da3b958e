package clickhouse_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// open connects natively to a database of the test's own.
func open(t testing.TB, change ...func(*ch.Options)) (context.Context, driver.Conn) {
	t.Helper()
	return connect(t, dbtest.New(t, databases.ClickHouse), change...)
}

func connect(t testing.TB, d dsn.DSN, change ...func(*ch.Options)) (context.Context, driver.Conn) {
	t.Helper()
	options := ok(ch.ParseDSN(d.Source()))
	for _, c := range change {
		c(options)
	}
	conn := ok(ch.Open(options))
	t.Cleanup(func() { try(t, conn.Close()) })
	return t.Context(), conn
}

// create makes a table of columns as CREATE TABLE has them, and rows in the order in which they
// come.
func create(t testing.TB, conn driver.Conn, name string, columns ...string) {
	t.Helper()
	try(t, conn.Exec(t.Context(), "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+
		") ENGINE = MergeTree ORDER BY tuple() SETTINGS min_bytes_for_wide_part = 0"))
}

// insert puts IDs into a table's one column, by whatever adds them to a batch.
func insert(t testing.TB, conn driver.Conn, table string, add func(driver.Batch) error) {
	t.Helper()
	batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO "+table)
	try(t, err)
	try(t, add(batch))
	try(t, batch.Send())
}

// collect reads IDs of a query.
func collect[T idtype.ID](t testing.TB, conn driver.Conn, query string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	try(t, err)
	ids, err := clickhouse.Collect[T](nil, rows)
	try(t, err)
	return ids
}

// within is the error that clickhouse-go wraps in its own, which does not unwrap.
func within(err error) error {
	var op *ch.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
