package adapters_test

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/chsuite"
)

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

// BenchmarkClickHouseAppend fills the column of a batch, of raw values and of IDs, side by side.
func BenchmarkClickHouseAppend(b *testing.B) {
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

// BenchmarkClickHouseInsert sends batches to a server, of raw values and of IDs, side by side.
func BenchmarkClickHouseInsert(b *testing.B) {
	const rows = 1_000_000
	raw := make([]int64, rows)
	ids := make([]chsuite.DecimalKey, rows)
	for i := range ids {
		raw[i], ids[i] = int64(i+1)*100_000, chsuite.DecimalKey(i+1)*100_000
	}
	_, conn := newClickHouse(b)
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
				insertBatch(b, conn, "t", r.add)
			}
		})
	}
}

func TestClickHouseAppendAllocations(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.Title(), f.testAppendAllocs)
	}
}
