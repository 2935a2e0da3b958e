package adapters_test

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"

	"github.com/idmint/idmint/clickhouse"
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
	for name, c := range map[string]struct {
		typ string
		add func(c appender, n int) error
	}{
		"Append": {f.Type, func(c appender, n int) error { return clickhouse.Append(c, ids[:n]) }},
		"AppendOrZero": {f.Type, func(c appender, n int) error {
			return clickhouse.AppendOrZero(c, some[:n])
		}},
		"AppendNullable": {"Nullable(" + f.Type + ")", func(c appender, n int) error {
			return clickhouse.AppendNullable(c, some[:n])
		}},
	} {
		count := func(n int) float64 {
			column := columnOf(c.typ)
			return testing.AllocsPerRun(2, func() {
				column.Reset()
				try(t, c.add(column, n))
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
