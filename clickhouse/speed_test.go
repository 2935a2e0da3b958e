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
	for name, all := range map[string]clickhouse.Col[T]{
		"IDs":    {IDs: ids},
		"OrZero": {some, clickhouse.OrZero},
		"OrNull": {some, clickhouse.OrNull},
	} {
		count := func(n int) float64 {
			var b proto.Buffer
			got := clickhouse.Col[T]{None: all.None}
			return testing.AllocsPerRun(2, func() {
				b.Reset()
				got.Reset()
				clickhouse.Col[T]{all.IDs[:n], all.None}.EncodeColumn(&b)
				try(t, got.DecodeColumn(reader(b.Buf), n))
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
