package clickhouse_test

import (
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/idmint/idmint/clickhouse"
)

func TestAllocations(t *testing.T) {
	each(t, func(t *testing.T, f interface{ testAllocs(*testing.T) }) { f.testAllocs(t) })
}

// Nothing is allocated per row: 20 times the rows need hardly more allocations.
func (f fixture[T]) testAllocs(t *testing.T) {
	const few, many = 1000, 20_000
	var zero T
	some := f.IDs(many)
	some[7] = zero
	ids := f.IDs(many)
	for name, count := range map[string]func(n int) float64{
		"ColID": func(n int) float64 {
			var b proto.Buffer
			var got clickhouse.ColID[T]
			return testing.AllocsPerRun(2, func() {
				b.Reset()
				got.Reset()
				clickhouse.ColID[T](ids[:n]).EncodeColumn(&b)
				try(t, got.DecodeColumn(reader(b.Buf), n))
			})
		},
		"ColIDNullable": func(n int) float64 {
			var b proto.Buffer
			var got clickhouse.ColIDNullable[T]
			return testing.AllocsPerRun(2, func() {
				b.Reset()
				got.Reset()
				clickhouse.ColIDNullable[T](some[:n]).EncodeColumn(&b)
				try(t, got.DecodeColumn(reader(b.Buf), n))
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
