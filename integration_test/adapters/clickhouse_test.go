package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
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

//idmint:keys fixtures []fixed: fixtureOf[KEY[User]](NAME)

func fixtureOf[T idtype.ID](name string) fixed { return fixture[T]{chsuite.Of[T](name)} }

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

var id = clickhouse.Column[UserID]{Name: "id"}

func createUsers(ctx context.Context, conn ch.Conn) error {
	return conn.Exec(ctx, fmt.Sprintf(
		"CREATE TABLE users (%v, name String) ENGINE = MergeTree ORDER BY id", id.PrimaryKey()))
}

func insertUsers(ctx context.Context, conn ch.Conn, ids []UserID, names []string) error {
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO users (id, name)")
	if err != nil {
		return err
	}
	if err := clickhouse.Append(batch.Column(0), ids); err != nil {
		return err
	}
	if err := batch.Column(1).Append(names); err != nil {
		return err
	}
	return batch.Send()
}

func findUsers(ctx context.Context, conn ch.Conn, name string) ([]UserID, error) {
	rows, err := conn.Query(ctx, "SELECT id FROM users WHERE name = ?", name)
	if err != nil {
		return nil, err
	}
	return clickhouse.Collect[UserID](nil, rows)
}

// The first use in the manual is this file's, and works.
func TestClickHouseFirstUse(t *testing.T) {
	t.Parallel()
	source := string(must(os.ReadFile("clickhouse_test.go")))
	manual := string(must(os.ReadFile("../../clickhouse/doc.go")))
	_, shown, _ := strings.Cut(source, "\nvar id")
	shown, _, _ = strings.Cut("var id"+shown, "\n\n// The first use")
	shown = "//\t" + strings.ReplaceAll(shown, "\n", "\n//\t")
	shown = strings.ReplaceAll(shown, "\n//\t\n", "\n//\n")
	if !strings.Contains(manual, shown+"\n") {
		t.Errorf("doc.go does not show\n%s", shown)
	}

	ctx, conn := newClickHouse(t)
	try(t, createUsers(ctx, conn))
	try(t, insertUsers(ctx, conn, []UserID{14150009200065, 14160009200065}, []string{"Ann", "Bob"}))
	found, err := findUsers(ctx, conn, "Bob")
	try(t, err)
	same(t, found, []UserID{14160009200065})
}

// appender is a column of a batch without its connection.
type appender struct{ column.Interface }

func (a appender) Append(v any) error {
	_, err := a.Interface.Append(v)
	return err
}

func columnOf(typ string) appender {
	return appender{must(column.Type(typ).Column("id", &column.ServerContext{}))}
}

// Nothing is allocated per row: 20 times the rows need hardly more allocations, those of
// clickhouse-go for each chunk.
func (f fixture[T]) testAppendAllocs(t *testing.T) {
	const few, many = 1000, 20_000
	var zero T
	some := f.IDs(many)
	some[7] = zero
	ids := f.IDs(many)
	for name, c := range map[string]struct {
		typ  string
		ids  []T
		none clickhouse.None
	}{
		"IDs":    {f.Type, ids, 0},
		"OrZero": {f.Type, some, clickhouse.OrZero},
		"OrNull": {"Nullable(" + f.Type + ")", some, clickhouse.OrNull},
	} {
		count := func(n int) float64 {
			column := columnOf(c.typ)
			return testing.AllocsPerRun(2, func() {
				column.Reset()
				try(t, clickhouse.Append(column, c.ids[:n], c.none))
			})
		}
		a, b := count(few), count(many)
		perRow := (b - a) / (many - few)
		t.Logf("%s: %.0f allocations for %d rows, %.0f for %d", name, a, few, b, many)
		if perRow > 0.01 {
			t.Errorf("%s: %.4f allocations per row", name, perRow)
		}
	}
}

func TestClickHouseAppendAllocations(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.Title(), f.testAppendAllocs)
	}
}
