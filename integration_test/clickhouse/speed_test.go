package clickhouse_test

import (
	"context"
	"testing"
	"time"

	chgo "github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/chsuite"
)

// A batch of 1,000,000 rows arrives whole, of each form in which IDs are held in memory and in a
// column.
func TestMillion(t *testing.T) {
	forms := map[string]bool{
		"decimal": true, "eightbyte as bigint": true, "sno": true,
		"sno as text": true, "sno as UUID": true,
	}
	for _, f := range all {
		if forms[f.Title()] {
			t.Run(f.Title(), f.(interface{ testMillion(*testing.T) }).testMillion)
		}
	}
}

func (f fixture[T]) testMillion(t *testing.T) {
	d := dbtest.New(t, databases.ClickHouse)
	_, conn := connect(t, d, func(o *ch.Options) {
		o.Compression = &ch.Compression{Method: ch.CompressionLZ4}
	})
	create(t, conn, "t", f.column().PrimaryKey().String())
	ids := f.IDs(1_000_000 - len(f.Edge))
	insert(t, conn, "t", func(b driver.Batch) error { return clickhouse.Append(b.Column(0), ids) })
	c := dial(t, d, chgo.CompressionZSTD, time.Minute)
	var block, got clickhouse.ColID[T]
	try(t, c.Do(t.Context(), chgo.Query{
		Body:     "SELECT id FROM t ORDER BY _part, _part_offset SETTINGS max_threads = 1",
		Result:   proto.Results{{Name: "id", Data: &block}},
		OnResult: func(context.Context, proto.Block) error { got.AppendArr(block); return nil },
	}))
	try(t, c.Close())
	same(t, got, ids)
}

// appender is a column of a batch without its connection.
type appender struct{ column.Interface }

func (a appender) Append(v any) error {
	_, err := a.Interface.Append(v)
	return err
}

func columnOf(typ string) appender {
	return appender{ok(column.Type(typ).Column("id", &column.ServerContext{}))}
}

// Nothing is allocated per row: 20 times the rows need hardly more allocations, those of
// clickhouse-go for each chunk.
func (f fixture[T]) testAppendAllocs(t *testing.T) {
	const few, many = 1000, 20_000
	var zero T
	some := f.IDs(many)
	some[7] = zero
	ids := f.IDs(many)
	for name, count := range map[string]func(n int) float64{
		"Append": func(n int) float64 {
			c := columnOf(f.Type)
			return testing.AllocsPerRun(2, func() {
				c.Reset()
				try(t, clickhouse.Append(c, ids[:n]))
			})
		},
		"AppendOrZero": func(n int) float64 {
			c := columnOf(f.Type)
			return testing.AllocsPerRun(2, func() {
				c.Reset()
				try(t, clickhouse.AppendOrZero(c, some[:n]))
			})
		},
		"AppendNullable": func(n int) float64 {
			c := columnOf("Nullable(" + f.Type + ")")
			return testing.AllocsPerRun(2, func() {
				c.Reset()
				try(t, clickhouse.AppendNullable(c, some[:n]))
			})
		},
	} {
		a, b := count(few), count(many)
		perRow := (b - a) / (many - few)
		t.Logf("%s: %.0f allocations for %d rows, %.0f for %d", name, a, few, b, many)
		if perRow > 0.01 {
			t.Errorf("%s: %.4f allocations per row", name, perRow)
		}
	}
}

// BenchmarkAppend fills the column of a batch, of raw values and of IDs, side by side.
func BenchmarkAppend(b *testing.B) {
	const rows = 1_000_000
	raw := make([]int64, rows)
	ids := make([]chsuite.DecimalKey, rows)
	for i := range ids {
		raw[i], ids[i] = int64(i+1)*100_000, chsuite.DecimalKey(i+1)*100_000
	}
	c := columnOf("Int64")
	run := func(name string, add func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(rows * 8)
			b.ReportAllocs()
			for b.Loop() {
				c.Reset()
				try(b, add())
			}
		})
	}
	run("int64", func() error { return c.Append(raw) })
	run("decimal", func() error { return clickhouse.Append(c, ids) })
	c = columnOf("FixedString(10)")
	snos := make([]idtype.SnoID, rows)
	for i := range snos {
		snos[i] = idtype.SnoID(chsuite.SnoAt(uint64(i + 1)))
	}
	run("bytes", func() error {
		bytes := make([][]byte, rows)
		for i := range snos {
			bytes[i] = snos[i][:]
		}
		return c.Append(bytes)
	})
	run("sno", func() error { return clickhouse.Append(c, snos) })
}

// BenchmarkInsert sends batches to a server, of raw values and of IDs, side by side.
func BenchmarkInsert(b *testing.B) {
	const rows = 1_000_000
	raw := make([]int64, rows)
	ids := make([]chsuite.DecimalKey, rows)
	for i := range ids {
		raw[i], ids[i] = int64(i+1)*100_000, chsuite.DecimalKey(i+1)*100_000
	}
	_, conn := open(b)
	try(b, conn.Exec(b.Context(), "CREATE TABLE t (id Int64) ENGINE = Null"))
	for _, r := range []struct {
		name string
		add  func(driver.Batch) error
	}{
		{"int64", func(batch driver.Batch) error { return batch.Column(0).Append(raw) }},
		{"decimal", func(batch driver.Batch) error {
			return clickhouse.Append(batch.Column(0), ids)
		}},
	} {
		b.Run(r.name, func(b *testing.B) {
			b.SetBytes(rows * 8)
			for b.Loop() {
				insert(b, conn, "t", r.add)
			}
		})
	}
}

func TestAppendAllocations(t *testing.T) {
	each(t, func(t *testing.T, f interface{ testAppendAllocs(*testing.T) }) {
		f.testAppendAllocs(t)
	})
}
