package adapters_test

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
	"github.com/idmint/idmint/internal/chsuite"
)

// newClickHouse connects natively to a database of the test's own.
func newClickHouse(t testing.TB) (context.Context, driver.Conn) {
	t.Helper()
	return connectClickHouse(t, dbtest.New(t, databases.ClickHouse))
}

func connectClickHouse(t testing.TB, d dsn.DSN) (context.Context, driver.Conn) {
	t.Helper()
	conn := must(ch.Open(must(ch.ParseDSN(d.Source()))))
	t.Cleanup(func() { try(t, conn.Close()) })
	return t.Context(), conn
}

// createTable makes a table of columns as CREATE TABLE has them, with rows in the order in which
// they come.
func createTable(t testing.TB, conn driver.Conn, name string, columns ...string) {
	t.Helper()
	try(t, conn.Exec(t.Context(), "CREATE OR REPLACE TABLE "+name+" ("+strings.Join(columns, ", ")+
		") ENGINE = MergeTree ORDER BY tuple() SETTINGS min_bytes_for_wide_part = 0"))
}

// insertBatch puts IDs into a table's one column, by whatever adds them to a batch.
func insertBatch(t testing.TB, conn driver.Conn, table string, add func(driver.Batch) error) {
	t.Helper()
	batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO "+table)
	try(t, err)
	try(t, add(batch))
	try(t, batch.Send())
}

// collectIDs reads IDs of a query.
func collectIDs[T idtype.ID](t testing.TB, conn driver.Conn, query string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	try(t, err)
	ids, err := clickhouse.Collect[T](nil, rows)
	try(t, err)
	return ids
}

// wrapped is the error that clickhouse-go wraps in its own, which does not unwrap.
func wrapped(err error) error {
	var op *ch.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// A fixture has the tests of package clickhouse as methods.
type fixture[T idtype.ID] struct{ chsuite.Fixture[T] }

// A fixed is a fixture of whatever type of IDs.
type fixed interface {
	Title() string
	test(t *testing.T)
	testAppendAllocs(t *testing.T)
}

func fixtureOf[T idtype.ID](f chsuite.Fixture[T]) fixed { return fixture[T]{f} }

var fixtures = []fixed{
	fixtureOf(chsuite.Decimal), fixtureOf(chsuite.Trace), fixtureOf(chsuite.Short),
	fixtureOf(chsuite.Sequence),
	fixtureOf(chsuite.EightByte), fixtureOf(chsuite.EightByteAsBigint),
	fixtureOf(chsuite.Sno), fixtureOf(chsuite.SnoAsText), fixtureOf(chsuite.SnoAsUUID),
}

// Every type of IDs goes through all of clickhouse-go, database/sql and ch-go.
func TestClickHouseTypes(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures {
		t.Run(f.Title(), func(t *testing.T) {
			t.Parallel()
			f.test(t)
		})
	}
}

func (f fixture[T]) test(t *testing.T) {
	d := dbtest.New(t, databases.ClickHouse)
	for _, part := range []struct {
		name string
		test func(*testing.T, dsn.DSN)
	}{
		{"rows", f.testRows},
		{"structs", f.testStructs},
		{"columns", f.testColumns},
		{"NULL", f.testNulls},
		{"zero", f.testZeros},
		{"arrays", f.testArrays},
		{"maps", f.testMaps},
		{"parameters", f.testParams},
		{"refused", f.testRefused},
		{"CHECK", f.testChecked},
		{"database/sql", f.testStandard},
		{"ch-go", f.testBlocks},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, d) })
	}
}

func (f fixture[T]) column() clickhouse.Column[T] { return clickhouse.Column[T]{Name: "id"} }
