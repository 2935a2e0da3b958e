package clickhouse_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/cmd/idmint/dsn"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type user struct{}

// The types of all schemes and storage forms, as typed keys.
type (
	decimalKey  = idtype.Decimal[user]
	traceKey    = idtype.Trace[user]
	shortKey    = idtype.Short[user]
	sequenceKey = idtype.Sequence[user]
	eightKey    = idtype.EightByte[user]
	eightIntKey = idtype.EightByte[idtype.AsBigint[user]]
	snoKey      = idtype.Sno[user]
	snoTextKey  = idtype.Sno[idtype.AsText[user]]
	snoUUIDKey  = idtype.Sno[idtype.AsUUID[user]]
)

// A fixture is what the tests know of a type of IDs.
type fixture[T idtype.ID] struct {
	name string
	typ  string           // of the column
	edge []T              // the least and the greatest ID, and others at boundaries
	at   func(n uint64) T // a different ID for each n from 1 to 2^40
	bad  []any            // values that the column can hold and that are no ID
}

// tests are the fixture's tests: methods of generic types are no values before they have a type.
type tests struct {
	name                                                                string
	rows, structs, columns, nulls, zeros, arrays, maps, params, refused func(*testing.T)
	blocks, spoilt, checked, standard, million, allocs                  func(*testing.T)

	fuzzed func(t *testing.T, data []byte)
}

func (f fixture[T]) tests() tests {
	return tests{
		f.name,
		f.testRows, f.testStructs, f.testColumns, f.testNulls, f.testZeros, f.testArrays, f.testMaps, f.testParams, f.testRefused,
		f.testBlocks, f.testSpoilt, f.testChecked, f.testStandard, f.testMillion, f.testAllocs,
		f.fuzz,
	}
}

type integer interface {
	~int64
	idtype.ID
}

func int63[T integer](name string, greatest int64, at func(n uint64) T) tests {
	return fixture[T]{
		name, "Int64",
		[]T{1, 2, 255, 256, math.MaxInt32, 1<<53 - 1, 1<<53 + 1, T(greatest), math.MaxInt64},
		at,
		[]any{int64(0), int64(-1), int64(math.MinInt64)},
	}.tests()
}

func ofBytes[T idtype.ID](name, typ string, edge []T, at func(n uint64) T, bad ...any) tests {
	return fixture[T]{name, typ, edge, at, bad}.tests()
}

// eight are the bytes of n spread over the whole range, of both signs.
func eight(n uint64) idtype.EightByteID { return idtype.EightByteFromUint64(n * 0x9e37_79b9_7f4a_7c15) }

func sno(n uint64) (id idtype.SnoID) {
	e := eight(n)
	copy(id[1:], e[:])
	return id
}

func snos[T ~[10]byte]() []T {
	return []T{
		{9: 1}, {0: 1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {'\\', '\'', '\n', '\t', '\r', 0, '"', '`', '\b', 'N'},
	}
}

func eights[T ~[8]byte]() []T {
	return []T{
		{7: 1},
		{0: 0x80},
		{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{'\\', '\'', '\n', '\t', '\r', 0, '"', '`'},
		{'N', 'U', 'L', 'L', '\\', 'N', 0, 0},
	}
}

func all() []tests {
	return []tests{
		int63("decimal", int64(idtype.MaxDecimalID), func(n uint64) decimalKey { return decimalKey(n * 100_000) }),
		int63("trace", math.MaxInt64-1, func(n uint64) traceKey { return traceKey(n<<22 | 1) }),
		int63("short", 1<<60-1, func(n uint64) shortKey { return shortKey(n << 18) }),
		int63("sequence", 1<<62, func(n uint64) sequenceKey { return sequenceKey(n + 1<<20) }),
		ofBytes("eightbyte", "FixedString(8)", eights[eightKey](), func(n uint64) eightKey { return eightKey(eight(n)) },
			make([]byte, 8)),
		ofBytes("eightbyte as bigint", "Int64", eights[eightIntKey](), func(n uint64) eightIntKey { return eightIntKey(eight(n)) },
			int64(0)),
		ofBytes("sno", "FixedString(10)", snos[snoKey](), func(n uint64) snoKey { return snoKey(sno(n)) },
			make([]byte, 10)),
		ofBytes("sno as text", "FixedString(16)", snos[snoTextKey](), func(n uint64) snoTextKey { return snoTextKey(sno(n)) },
			"", "2222222222222222", "ABCDEFGHIJKLMNOP", "brpk4q72xwf2m63"),
		ofBytes("sno as UUID", "UUID", snos[snoUUIDKey](), func(n uint64) snoUUIDKey { return snoUUIDKey(sno(n)) },
			"00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
	}
}

// each runs one of the tests for every type of IDs.
func each(t *testing.T, test func(tests) func(*testing.T)) {
	for _, f := range all() {
		t.Run(f.name, test(f))
	}
}

// ids are the edges and n others.
func (f fixture[T]) ids(n int) []T {
	ids := append(make([]T, 0, len(f.edge)+n), f.edge...)
	for i := range n {
		ids = append(ids, f.at(uint64(i+1)))
	}
	return ids
}

func (f fixture[T]) column() clickhouse.Column[T] { return clickhouse.Column[T]{Name: "id"} }

func try(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ok returns a value that came without an error; of the two, only tests that go on need the value.
func ok[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// open connects natively to a database of the test's own.
func open(t testing.TB, change ...func(*ch.Options)) (context.Context, driver.Conn) {
	t.Helper()
	return connect(t, dbtest.New(t, databases.ClickHouse), change...)
}

func connect(t testing.TB, d dsn.DSN, change ...func(*ch.Options)) (context.Context, driver.Conn) {
	t.Helper()
	options := ok(ch.ParseDSN(d.Source()))
	for _, c := range change {
		c(options)
	}
	conn := ok(ch.Open(options))
	t.Cleanup(func() { try(t, conn.Close()) })
	return t.Context(), conn
}

// create makes a table of columns as CREATE TABLE has them, and rows in the order in which they come.
func create(t testing.TB, conn driver.Conn, name string, columns ...string) {
	t.Helper()
	try(t, conn.Exec(t.Context(), "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+
		") ENGINE = MergeTree ORDER BY tuple() SETTINGS min_bytes_for_wide_part = 0"))
}

// insert puts IDs into a table's one column, by whatever adds them to a batch.
func insert(t testing.TB, conn driver.Conn, table string, add func(driver.Batch) error) {
	t.Helper()
	batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO "+table)
	try(t, err)
	try(t, add(batch))
	try(t, batch.Send())
}

// collect reads IDs of a query.
func collect[T idtype.ID](t testing.TB, conn driver.Conn, query string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	try(t, err)
	ids, err := clickhouse.Collect[T](nil, rows)
	try(t, err)
	return ids
}

func same[V comparable](t testing.TB, got, want []V) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("row %d of %d: got %v, want %v", i, len(want), got[i], want[i])
		}
	}
	t.Fatalf("got %d rows, want %d", len(got), len(want))
}

// within is the error that clickhouse-go wraps in its own, which does not unwrap.
func within(err error) error {
	var op *ch.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
