package adapters_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/chsuite"
)

const granule = 8192 // rows

// IDs are made each millisecond from then on, by four generators.
var spanStart = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func spanAt(i int) time.Time { return spanStart.Add(time.Duration(i) * time.Millisecond) }

// A query for a span of time reads the granules that hold IDs of the span, and one more at each end
// at most. The table is ordered by the ID, or by something else with an index on the ID.
func TestClickHouseTimeRangesReadTheirGranules(t *testing.T) {
	t.Parallel()
	t.Run("trace", granules(func(i int) chsuite.TraceKey {
		return chsuite.TraceKey(must(idtype.TraceParts{
			Timestamp: int(spanAt(i).Unix() & (1<<25 - 1)), Node: i % 4, Bottom: i%1000/4 + 1,
		}.ID()))
	}))
	t.Run("short", granules(func(i int) chsuite.ShortKey {
		return chsuite.ShortKey(must(idtype.ShortParts{
			UnixMs: spanAt(i).UnixMilli(), Sequence: i % 4, Random: i * 77 % 512,
		}.ID()))
	}))
	t.Run("eightbyte", granules(func(i int) chsuite.EightKey {
		return chsuite.EightKey(eightByteOfSpan(spanAt(i), i))
	}))
	t.Run("eightbyte as bigint", granules(func(i int) chsuite.EightIntKey {
		return chsuite.EightIntKey(eightByteOfSpan(spanAt(i), i))
	}))
	t.Run("sno", granules(func(i int) chsuite.SnoKey {
		return chsuite.SnoKey(snoOfSpan(spanAt(i), i))
	}))
	t.Run("sno as text", granules(func(i int) chsuite.SnoTextKey {
		return chsuite.SnoTextKey(snoOfSpan(spanAt(i), i))
	}))
}

func eightByteOfSpan(at time.Time, i int) idtype.EightByteID {
	return must(idtype.EightByteParts{
		Mode: idtype.EightByteTimeSequential, UnixMs: at.UnixMilli(), Generator: i % 4, Cluster: 3,
	}.ID())
}

func snoOfSpan(at time.Time, i int) idtype.SnoID {
	return must(idtype.SnoParts{UnixMs: at.UnixMilli(), Partition: i % 4, Sequence: i % 4}.ID())
}

func granules[T idtype.ID](id func(i int) T) func(*testing.T) {
	const rows = 200_000
	return func(t *testing.T) {
		t.Parallel()
		_, conn := newClickHouse(t)
		c := clickhouse.Column[T]{Name: "id"}
		ids := make([]T, rows)
		for i := range ids {
			ids[i] = id(i)
		}
		const settings = ") SETTINGS min_bytes_for_wide_part = 0, index_granularity = 8192, " +
			"add_minmax_index_for_numeric_columns = 0"
		try(t, conn.Exec(t.Context(), fmt.Sprintf(
			"CREATE TABLE key (%v) ENGINE = MergeTree ORDER BY (id%s", c.PrimaryKey(), settings,
		)))
		try(t, conn.Exec(t.Context(), fmt.Sprintf(
			"CREATE TABLE arrival (%v) ENGINE = MergeTree ORDER BY (%s", c.Indexed(), settings,
		)))
		insertBatch(t, conn, "arrival", func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), ids)
		})
		shuffled := slices.Clone(ids)
		rand.Shuffle(len(ids), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		insertBatch(t, conn, "key", func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), shuffled)
		})
		for _, table := range []string{"key", "arrival"} { // to one part
			try(t, conn.Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL"))
		}

		for _, seconds := range []int{1, 10, 100} {
			first := rows / 4
			last := first + 1000*seconds - 1
			condition := must(c.Between(spanAt(first), spanAt(last)))
			for _, table := range []string{"key", "arrival"} {
				var n, inside uint64
				try(t, conn.QueryRow(t.Context(),
					"SELECT count() FROM "+table+" WHERE "+condition).Scan(&n))
				if want := uint64(last - first + 1); n != want {
					t.Errorf("%s: %d rows in %d s, want %d", table, n, seconds, want)
				}
				inside = n
				read, all := granulesRead(t, conn, "SELECT id FROM "+table+" WHERE "+condition)
				if most := int(inside)/granule + 2; read > most || read == 0 || all < rows/granule {
					t.Errorf("%s: %d of %d granules for %d s, want at most %d\n%s", table, read,
						all, seconds, most, condition)
				}
				t.Logf("%s, %d s: %d of %d granules", table, seconds, read, all)
			}
		}
	}
}

// A query for one ID reads few granules of a table that is ordered by something else and has the
// index of the definition.
func TestClickHouseLookupsReadFewGranules(t *testing.T) {
	t.Parallel()
	decimal := clickhouse.Column[chsuite.DecimalKey]{Name: "id"}
	t.Run("decimal", lookups(decimal, func(i int) chsuite.DecimalKey {
		return chsuite.DecimalKey(
			must(idtype.DecimalParts{Counter: i/4 + 1, Generator: i % 4, Launch: 65}.ID()),
		)
	}))
	spread := clickhouse.Column[chsuite.EightKey]{Name: "id", Spread: true}
	t.Run("eightbyte, spread", lookups(spread, func(i int) chsuite.EightKey {
		return chsuite.EightKey(
			must(idtype.EightByteParts{UnixMs: spanAt(i).UnixMilli(), Generator: i % 4}.ID()),
		)
	}))
	sno := clickhouse.Column[chsuite.SnoUUIDKey]{Name: "id"}
	t.Run("sno as UUID", lookups(sno, func(i int) chsuite.SnoUUIDKey {
		return chsuite.SnoUUIDKey(snoOfSpan(spanAt(i), i))
	}))
}

func lookups[T idtype.ID](c clickhouse.Column[T], id func(i int) T) func(*testing.T) {
	return func(t *testing.T) {
		const rows, looked = 100_000, 25
		t.Parallel()
		_, conn := newClickHouse(t)
		createTable(t, conn, "t", c.Indexed().String())
		ids := make([]T, rows)
		for i := range ids {
			ids[i] = id(i)
		}
		insertBatch(t, conn, "t", func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), ids)
		})
		try(t, conn.Exec(t.Context(), "OPTIMIZE TABLE t FINAL"))
		read, all := 0, 0
		for i := range looked {
			found, of := granulesRead(t, conn, "SELECT id FROM t WHERE id = ?", ids[i*rows/looked])
			if found == 0 {
				t.Fatalf("%v is in no granule", ids[i*rows/looked])
			}
			read, all = read+found, all+of
		}
		t.Logf("%d lookups: %d of %d granules", looked, read, all)
		if read > 2*looked || all < looked*rows/granule {
			t.Errorf("%d lookups: %d of %d granules", looked, read, all)
		}
	}
}

// selected are the granules that a query reads, and those of the table.
func granulesRead(t *testing.T, conn driver.Conn, query string, args ...any) (read, all int) {
	t.Helper()
	lines, err := conn.Query(t.Context(), "EXPLAIN indexes = 1, json = 1 "+query, args...)
	try(t, err)
	var text strings.Builder
	for lines.Next() {
		var line string
		try(t, lines.Scan(&line))
		text.WriteString(line)
	}
	try(t, lines.Err())
	type index struct {
		Initial  int `json:"Initial Granules"`
		Selected int `json:"Selected Granules"`
	}
	type node struct {
		Plans   []node  `json:"Plans"`
		Indexes []index `json:"Indexes"`
	}
	var plans []struct{ Plan node }
	try(t, json.Unmarshal([]byte(text.String()), &plans))
	var found []index
	for n := plans[0].Plan; ; n = n.Plans[0] {
		found = append(found, n.Indexes...)
		if len(n.Plans) == 0 {
			break
		}
	}
	for _, i := range found {
		all = max(all, i.Initial)
	}
	return found[len(found)-1].Selected, all
}
