package clickhouse_test

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

const (
	million = 1_000_000
	some    = 100_000 // of types that are stored as others are
	granule = 8192    // rows
)

// IDs are made each millisecond from then on, by four generators.
var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(i int) time.Time { return start.Add(time.Duration(i) * time.Millisecond) }

// A query for a span of time reads the granules that hold IDs of the span, and one more at each end
// at most. The table is ordered by the ID, or by something else with an index on the ID.
func TestTimeRangesReadTheirGranules(t *testing.T) {
	t.Run("trace", granules(million, func(i int) chsuite.TraceKey {
		return chsuite.TraceKey(ok(idtype.TraceParts{
			Timestamp: idtype.TraceTimestamp(at(i)), Node: i % 4, Bottom: i%1000/4 + 1,
		}.ID()))
	}))
	t.Run("short", granules(million, func(i int) chsuite.ShortKey {
		return chsuite.ShortKey(ok(idtype.ShortParts{
			UnixMs: at(i).UnixMilli(), Sequence: i % 4, Random: i * 77 % 512,
		}.ID()))
	}))
	t.Run("eightbyte", granules(million, func(i int) chsuite.EightKey {
		return chsuite.EightKey(sequential(at(i), i))
	}))
	t.Run("eightbyte as bigint", granules(some, func(i int) chsuite.EightIntKey {
		return chsuite.EightIntKey(sequential(at(i), i))
	}))
	t.Run("sno", granules(million, func(i int) chsuite.SnoKey {
		return chsuite.SnoKey(snoAt(at(i), i))
	}))
	t.Run("sno as text", granules(some, func(i int) chsuite.SnoTextKey {
		return chsuite.SnoTextKey(snoAt(at(i), i))
	}))
}

func sequential(at time.Time, i int) idtype.EightByteID {
	return ok(idtype.EightByteParts{
		Mode: idtype.EightByteTimeSequential, UnixMs: at.UnixMilli(), Generator: i % 4, Cluster: 3,
	}.ID())
}

func snoAt(at time.Time, i int) idtype.SnoID {
	return ok(idtype.SnoParts{UnixMs: at.UnixMilli(), Partition: i % 4, Sequence: i % 4}.ID())
}

func granules[T idtype.ID](rows int, id func(i int) T) func(*testing.T) {
	return func(t *testing.T) {
		_, conn := open(t)
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
		insert(t, conn, "arrival", func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), ids)
		})
		shuffled := slices.Clone(ids)
		rand.Shuffle(len(ids), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		insert(t, conn, "key", func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), shuffled)
		})

		for _, seconds := range []int{1, 10, rows / 10_000} {
			first, last := rows/2, rows/2+1000*seconds-1
			condition := ok(c.Between(at(first), at(last)))
			for _, table := range []string{"key", "arrival"} {
				var n, inside uint64
				try(t, conn.QueryRow(t.Context(),
					"SELECT count() FROM "+table+" WHERE "+condition).Scan(&n))
				if want := uint64(last - first + 1); n != want {
					t.Errorf("%s: %d rows in %d s, want %d", table, n, seconds, want)
				}
				inside = n
				read, all := selected(t, conn, "SELECT id FROM "+table+" WHERE "+condition)
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
func TestLookupsReadFewGranules(t *testing.T) {
	decimal := clickhouse.Column[chsuite.DecimalKey]{Name: "id"}
	t.Run("decimal", lookups(decimal, func(i int) chsuite.DecimalKey {
		return chsuite.DecimalKey(
			ok(idtype.DecimalParts{Counter: i/4 + 1, Generator: i % 4, Launch: 65}.ID()),
		)
	}))
	spread := clickhouse.Column[chsuite.EightKey]{Name: "id", Spread: true}
	t.Run("eightbyte, spread", lookups(spread, func(i int) chsuite.EightKey {
		return chsuite.EightKey(
			ok(idtype.EightByteParts{UnixMs: at(i).UnixMilli(), Generator: i % 4}.ID()),
		)
	}))
	sno := clickhouse.Column[chsuite.SnoUUIDKey]{Name: "id"}
	t.Run("sno as UUID", lookups(sno, func(i int) chsuite.SnoUUIDKey {
		return chsuite.SnoUUIDKey(snoAt(at(i), i))
	}))
}

func lookups[T idtype.ID](c clickhouse.Column[T], id func(i int) T) func(*testing.T) {
	return func(t *testing.T) {
		const rows, looked = 300_000, 100
		_, conn := open(t)
		create(t, conn, "t", c.Indexed().String())
		ids := make([]T, rows)
		for i := range ids {
			ids[i] = id(i)
		}
		insert(t, conn, "t", func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), ids)
		})
		read, all := 0, 0
		for i := range looked {
			found, of := selected(t, conn, "SELECT id FROM t WHERE id = ?", ids[i*rows/looked])
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
func selected(t *testing.T, conn driver.Conn, query string, args ...any) (read, all int) {
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
