package clickhouse_test

import (
	"math"
	"slices"
	"testing"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
)

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

// A fixed is a fixture of whatever type of IDs: a test of all of them asks it for its method.
type fixed interface{ title() string }

func (f fixture[T]) title() string { return f.name }

type integer interface {
	~int64
	idtype.ID
}

func int63[T integer](name string, greatest int64, at func(n uint64) T) fixed {
	return fixture[T]{
		name, "Int64",
		[]T{1, 2, 255, 256, math.MaxInt32, 1<<53 - 1, 1<<53 + 1, T(greatest), math.MaxInt64},
		at,
		[]any{int64(0), int64(-1), int64(math.MinInt64)},
	}
}

func ofBytes[T idtype.ID](name, typ string, edge []T, at func(n uint64) T, bad ...any) fixed {
	return fixture[T]{name, typ, edge, at, bad}
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

func all() []fixed {
	return []fixed{
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
func each[F any](t *testing.T, test func(*testing.T, F)) {
	for _, f := range all() {
		t.Run(f.title(), func(t *testing.T) { test(t, f.(F)) })
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
