// Package chsuite describes each type of IDs for the tests of package clickhouse: its column, its
// boundaries, and values that are not IDs. Package clickhouse uses it for tests without a server,
// and integration_test/adapters for the others.
package chsuite

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

type User struct{}

// The types of all schemes and storage forms, as typed keys.
type (
	DecimalKey  = idtype.Decimal[User]
	TraceKey    = idtype.Trace[User]
	ShortKey    = idtype.Short[User]
	SequenceKey = idtype.Sequence[User]
	EightKey    = idtype.EightByte[User]
	EightIntKey = idtype.EightByte[idtype.AsBigint[User]]
	SnoKey      = idtype.Sno[User]
	SnoTextKey  = idtype.Sno[idtype.AsText[User]]
	SnoUUIDKey  = idtype.Sno[idtype.AsUUID[User]]
)

// A Fixture is what the tests know about a type of IDs.
type Fixture[T idtype.ID] struct {
	Name string
	Type string           // of the column
	Edge []T              // the least and the greatest ID, and others at boundaries
	At   func(n uint64) T // a different ID for each n from 1 to 2^40
	Bad  []any            // values that the column can hold but that are not IDs
}

// Of returns the fixture of a type.
func Of[T idtype.ID](name string) Fixture[T] {
	var zero T
	f, size := schemes.Of(zero.Scheme()), len(idtype.AppendBytes(nil, zero))
	fixture := Fixture[T]{Name: name, At: func(n uint64) T {
		b := make([]byte, size)
		if n += 1 << 20; f.Size > 0 { // spread over the whole range
			n *= 0x9e37_79b9_7f4a_7c15
		}
		binary.BigEndian.PutUint64(b[size-8:], n)
		return of[T](b)
	}}
	for _, edge := range edges {
		if f.Size > 0 {
			b := append([]byte(edge), make([]byte, size)...)[:size]
			fixture.Edge = append(fixture.Edge, of[T](b))
		}
	}
	for _, n := range []uint64{1, 2, 255, 256, math.MaxInt32, 1<<53 - 1, 1<<53 + 1, math.MaxInt64} {
		b := make([]byte, size)
		binary.BigEndian.PutUint64(b[size-8:], n)
		fixture.Edge = append(fixture.Edge, of[T](b))
	}
	switch zero.Storage() {
	case idtype.StorageBigint:
		fixture.Type, fixture.Bad = "Int64", []any{int64(0)}
		if f.Size == 0 {
			fixture.Bad = append(fixture.Bad, int64(-1), int64(math.MinInt64))
		}
	case idtype.StorageBytes:
		fixture.Type = fmt.Sprintf("FixedString(%d)", size)
		fixture.Bad = []any{make([]byte, size)}
	case idtype.StorageText:
		fixture.Type = "FixedString(16)"
		fixture.Bad = []any{
			"", strings.Repeat(f.Text.Alphabet[:1], 16), "ABCDEFGHIJKLMNOP", f.Text.Example[1:],
		}
	case idtype.StorageUUID:
		fixture.Type = "UUID"
		fixture.Bad = []any{"00000000-0000-0000-0000-000000000000"}
		if size != 16 { // whose texts are other UUIDs
			fixture.Bad = append(fixture.Bad, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
		}
	}
	return fixture
}

// edges are the first bytes of IDs: the greatest one, one whose sign bit is set, and bytes that
// texts escape.
var edges = []string{
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x80", "\x01", "\\'\n\t\r\x00\"`\bN", "NULL\\N",
}

func of[T idtype.ID](b []byte) T {
	id, err := idtype.FromBytes[T](b)
	if err != nil {
		panic(err)
	}
	return id
}

// IDs returns the edges and n others.
func (f Fixture[T]) IDs(n int) []T {
	ids := append(make([]T, 0, len(f.Edge)+n), f.Edge...)
	for i := range n {
		ids = append(ids, f.At(uint64(i+1)))
	}
	return ids
}

// Title returns the name, for tests that list fixtures of several types.
func (f Fixture[T]) Title() string { return f.Name }

// SnoAt returns a sno ID with bytes from the whole range.
func SnoAt(n uint64) SnoKey { return Of[SnoKey]("").At(n) }
