package adapters_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	chgo "github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/chsuite"
)

// What the package's documentation says to do beside clickhouse-go's own ways with IDs works.
func TestClickHouseWaysOfTheDriver(t *testing.T) {
	t.Parallel()
	ctx, conn := newClickHouse(t)

	t.Run("integers and UUIDs are rows as they are", func(t *testing.T) {
		createTable(t, conn, "plain", "a Int64", "b Int64", "c UUID")
		a, b, c := chsuite.DecimalKey(14150009200065), chsuite.EightIntKey{0: 0xff},
			chsuite.SnoUUIDKey(chsuite.SnoAt(7))
		insertBatch(t, conn, "plain", func(batch driver.Batch) error { return batch.Append(a, b, c) })
		var gotA chsuite.DecimalKey
		var gotB chsuite.EightIntKey
		var gotC chsuite.SnoUUIDKey
		try(t, conn.QueryRow(ctx, "SELECT * FROM plain").Scan(&gotA, &gotB, &gotC))
		if gotA != a || gotB != b || gotC != c {
			t.Errorf("got %v, %v, %v, want %v, %v, %v", gotA, gotB, gotC, a, b, c)
		}
		for _, row := range [][]any{
			{chsuite.DecimalKey(0), b, c},
			{a, chsuite.EightIntKey{}, c},
			{a, b, chsuite.SnoUUIDKey{}},
		} {
			batch := must(conn.PrepareBatch(ctx, "INSERT INTO plain"))
			// What docs/use/clickhouse.md quotes: the driver drops the error of Value.
			if err := batch.Append(row...); err == nil ||
				!strings.Contains(err.Error(), "could not get driver.Valuer value") {
				t.Errorf("zero in %v: %v", row, err)
			}
			try(t, batch.Abort())
		}
	})

	t.Run("a Scan's error does not unwrap", func(t *testing.T) {
		var id chsuite.DecimalKey
		err := conn.QueryRow(ctx, "SELECT toInt64(0)").Scan(&id)
		if err == nil || errors.Is(err, idtype.ErrZero) || !errors.Is(wrapped(err), idtype.ErrZero) {
			t.Errorf("%v", err)
		}
	})

	t.Run("LowCardinality", func(t *testing.T) {
		d := dbtest.New(t, databases.ClickHouse)
		ctx, conn := connectClickHouse(t, d)
		createTable(t, conn, "low", "id LowCardinality(FixedString(10))")
		want := []chsuite.SnoKey{chsuite.SnoAt(1), chsuite.SnoAt(2), chsuite.SnoAt(1)}
		insertBatch(t, conn, "low", func(batch driver.Batch) error {
			for _, id := range want {
				if err := batch.Append(clickhouse.Field[chsuite.SnoKey]{ID: id}); err != nil {
					return err
				}
			}
			return nil
		})
		same(t, collectIDs[chsuite.SnoKey](t, conn, "SELECT id FROM low"), want)
		err := conn.Exec(ctx, "CREATE TABLE refused (id LowCardinality(Int64)) ENGINE = Memory")
		if err == nil {
			t.Error("ClickHouse takes LowCardinality(Int64)")
		}
		c := dialClickHouse(t, d)
		doQuery(t, c, "TRUNCATE TABLE low")
		low := func() *proto.ColLowCardinality[chsuite.SnoKey] {
			return proto.NewLowCardinality(&clickhouse.Col[chsuite.SnoKey]{None: clickhouse.OrZero})
		}
		in, out := low(), low()
		in.AppendArr(want)
		try(t, c.Do(ctx,
			chgo.Query{Body: "INSERT INTO low VALUES", Input: proto.Input{{Name: "id", Data: in}}}))
		try(t, c.Do(ctx, chgo.Query{
			Body:   "SELECT id FROM low",
			Result: proto.Results{{Name: "id", Data: out}},
		}))
		try(t, c.Close())
		same(t, out.Values, want)
	})
}

// definitions are those of a type in every role, of columns with names that need quotes.
func definitions[T idtype.ID](spread bool) []clickhouse.Definition {
	c := func(role string) clickhouse.Column[T] {
		return clickhouse.Column[T]{Name: "a `" + role + "`, quoted", Spread: spread}
	}
	return []clickhouse.Definition{
		c("key").PrimaryKey(), c("index").Indexed(),
		c("reference").NotNull(), c("option").Nullable(),
	}
}

// A table that is made of definitions follows them; one that differs from one in anything does not.
func TestClickHouseCheckTable(t *testing.T) {
	t.Parallel()
	ctx, conn := newClickHouse(t)
	findings := func(t *testing.T, columns, order string,
		of ...clickhouse.Definition,
	) []clickhouse.Finding {
		t.Helper()
		try(t, conn.Exec(ctx, fmt.Sprintf(
			"CREATE OR REPLACE TABLE t (%s, n Int32) ENGINE = MergeTree ORDER BY (%s)", columns,
			order,
		)))
		return must(clickhouse.CheckTable(ctx, conn, "t", of...))
	}
	for _, of := range [][]clickhouse.Definition{
		definitions[chsuite.DecimalKey](false), definitions[chsuite.TraceKey](false),
		definitions[chsuite.ShortKey](false), definitions[chsuite.SequenceKey](false),
		definitions[chsuite.EightKey](false), definitions[chsuite.EightKey](true),
		definitions[chsuite.EightIntKey](false), definitions[chsuite.EightIntKey](true),
		definitions[chsuite.SnoKey](false), definitions[chsuite.SnoTextKey](false),
		definitions[chsuite.SnoUUIDKey](false),
	} {
		all := fmt.Sprintf("%v, %v, %v, %v", of[0], of[1], of[2], of[3])
		if f := findings(t, all, backquoted(of[0].Name)+", n", of...); f != nil {
			t.Errorf("%s: %v", all, f)
		}
	}

	tables := 0
	for _, d := range append(definitions[chsuite.DecimalKey](false),
		definitions[chsuite.EightKey](true)[1]) {
		name, order := backquoted(d.Name), "n"
		if d.Sorted {
			order = backquoted(d.Name) + ", n"
		}
		for _, other := range []struct {
			aspect                clickhouse.Aspect
			column, order, reason string
		}{
			{clickhouse.AspectColumn, "id " + d.Type, "n", "does not exist"},
			{
				clickhouse.AspectType, strings.Replace(d.String(), d.Type, "UInt64", 1), order,
				"converted",
			},
			{
				clickhouse.AspectNullable, nullable(d), "n",
				map[bool]string{false: "a forgotten ID", true: "cannot store NULL"}[d.Nullable],
			},
			{
				clickhouse.AspectCodec, strings.Replace(d.String(), d.Codec, "LZ4", 1), order,
				d.Reason,
			},
			{
				clickhouse.AspectCodec, strings.Replace(d.String(), "CODEC("+d.Codec+")", "", 1),
				order, d.Reason,
			},
			{clickhouse.AspectOrder, d.String(), "n, " + name, "rows by ID"},
			{
				clickhouse.AspectIndex, name + " " + d.Type + " CODEC(" + d.Codec + ")", order,
				d.IndexReason,
			},
			{
				clickhouse.AspectIndex,
				strings.Replace(d.String(), "TYPE "+d.Index, "TYPE set(100)", 1), order,
				d.IndexReason,
			},
		} {
			switch {
			case other.aspect == clickhouse.AspectOrder && !d.Sorted,
				other.aspect == clickhouse.AspectIndex && d.Index == "",
				other.aspect == clickhouse.AspectNullable && d.Index != "":
				continue
			}
			tables++
			got := findings(t, other.column, other.order, d)
			if !slices.ContainsFunc(got, func(f clickhouse.Finding) bool {
				return f.Aspect == other.aspect && f.Want != f.Got &&
					strings.Contains(f.String(), d.Name) &&
					other.reason != "" && strings.Contains(f.Reason, other.reason)
			}) {
				t.Errorf("%s, made as %s: %v", other.aspect, other.column, got)
			}
		}
	}
	t.Logf("%d tables that differ", tables)

	d := clickhouse.Column[chsuite.DecimalKey]{Name: "id"}.PrimaryKey()
	var table *clickhouse.TableError
	if _, err := clickhouse.CheckTable(ctx, conn, "none", d); !errors.As(err, &table) ||
		!errors.Is(err, clickhouse.ErrNoTable) {
		t.Errorf("no table: %v", err)
	}
	if _, err := clickhouse.CheckTable(ctx, conn, "system.one", d); err != nil {
		t.Errorf("a table of another database: %v", err)
	}
}

// nullable is a definition with the other nullability.
func nullable(d clickhouse.Definition) string {
	if d.Nullable {
		return fmt.Sprintf("%s %s CODEC(%s)", backquoted(d.Name),
			strings.TrimSuffix(strings.TrimPrefix(d.Type, "Nullable("), ")"), d.Codec)
	}
	return fmt.Sprintf("%s Nullable(%s) CODEC(%s)", backquoted(d.Name), d.Type, d.Codec)
}

// backquoted is a name of these tests as an SQL identifier.
func backquoted(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
