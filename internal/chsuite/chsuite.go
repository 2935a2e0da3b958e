// Package chsuite is what tests of package clickhouse know of each type of IDs: its column, its
// boundaries and what no ID is. Package clickhouse tests with it what needs no server, and
// integration_test/adapters the rest.
package chsuite

import (
	"math"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

type user struct{}

// The types of all schemes and storage forms, as typed keys.
type (
	DecimalKey  = idtype.Decimal[user]
	TraceKey    = idtype.Trace[user]
	ShortKey    = idtype.Short[user]
	SequenceKey = idtype.Sequence[user]
	EightKey    = idtype.EightByte[user]
	EightIntKey = idtype.EightByte[idtype.AsBigint[user]]
	SnoKey      = idtype.Sno[user]
	SnoTextKey  = idtype.Sno[idtype.AsText[user]]
	SnoUUIDKey  = idtype.Sno[idtype.AsUUID[user]]
)

// A Fixture is what the tests know of a type of IDs.
type Fixture[T idtype.ID] struct {
	Name string
	Type string           // of the column
	Edge []T              // the least and the greatest ID, and others at boundaries
	At   func(n uint64) T // a different ID for each n from 1 to 2^40
	Bad  []any            // values that the column can hold and that are no ID
}

// The fixtures. A test package lists all of them, to give them its tests as methods.
var (
	Decimal = int63("decimal", formats.DecimalMax, func(n uint64) DecimalKey {
		return DecimalKey(n * 100_000)
	})
	Trace = int63("trace", math.MaxInt64-1, func(n uint64) TraceKey { return TraceKey(n<<22 | 1) })
	Short = int63("short", 1<<60-1, func(n uint64) ShortKey { return ShortKey(n << 18) })

	Sequence = int63("sequence", 1<<62, func(n uint64) SequenceKey {
		return SequenceKey(n + 1<<20)
	})
	EightByte = Fixture[EightKey]{
		"eightbyte", "FixedString(8)", eights[EightKey](),
		func(n uint64) EightKey { return EightKey(eight(n)) },
		[]any{make([]byte, 8)},
	}
	EightByteAsBigint = Fixture[EightIntKey]{
		"eightbyte as bigint", "Int64", eights[EightIntKey](),
		func(n uint64) EightIntKey { return EightIntKey(eight(n)) },
		[]any{int64(0)},
	}
	Sno = Fixture[SnoKey]{
		"sno", "FixedString(10)", snos[SnoKey](), SnoAt,
		[]any{make([]byte, 10)},
	}
	SnoAsText = Fixture[SnoTextKey]{
		"sno as text", "FixedString(16)", snos[SnoTextKey](),
		func(n uint64) SnoTextKey { return SnoTextKey(SnoAt(n)) },
		[]any{"", "2222222222222222", "ABCDEFGHIJKLMNOP", "brpk4q72xwf2m63"},
	}
	SnoAsUUID = Fixture[SnoUUIDKey]{
		"sno as UUID", "UUID", snos[SnoUUIDKey](),
		func(n uint64) SnoUUIDKey { return SnoUUIDKey(SnoAt(n)) },
		[]any{"00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
	}
)

// IDs are the edges and n others.
func (f Fixture[T]) IDs(n int) []T {
	ids := append(make([]T, 0, len(f.Edge)+n), f.Edge...)
	for i := range n {
		ids = append(ids, f.At(uint64(i+1)))
	}
	return ids
}

// Title is the name, for tests that have fixtures of several types in a list.
func (f Fixture[T]) Title() string { return f.Name }

type integer interface {
	~int64
	idtype.ID
}

func int63[T integer](name string, greatest int64, at func(n uint64) T) Fixture[T] {
	return Fixture[T]{
		name, "Int64",
		[]T{1, 2, 255, 256, math.MaxInt32, 1<<53 - 1, 1<<53 + 1, T(greatest), math.MaxInt64},
		at,
		[]any{int64(0), int64(-1), int64(math.MinInt64)},
	}
}

// eight are the bytes of n spread over the whole range, of both signs.
func eight(n uint64) idtype.EightByteID {
	return idtype.EightByteFromUint64(n * 0x9e37_79b9_7f4a_7c15)
}

// SnoAt is the sno ID of n, with bytes of the whole range.
func SnoAt(n uint64) (id SnoKey) {
	e := eight(n)
	copy(id[1:], e[:])
	return id
}

func snos[T ~[10]byte]() []T {
	return []T{
		{9: 1},
		{0: 1},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{'\\', '\'', '\n', '\t', '\r', 0, '"', '`', '\b', 'N'},
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
