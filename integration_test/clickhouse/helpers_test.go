package clickhouse_test

import (
	"slices"
	"testing"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/chsuite"
)

// A fixture has the tests of this package as methods.
type fixture[T idtype.ID] struct{ chsuite.Fixture[T] }

// A fixed is a fixture of whatever type of IDs: a test of all of them asks it for its method.
type fixed interface{ Title() string }

func of[T idtype.ID](f chsuite.Fixture[T]) fixed { return fixture[T]{f} }

var all = []fixed{
	of(chsuite.Decimal), of(chsuite.Trace), of(chsuite.Short), of(chsuite.Sequence),
	of(chsuite.EightByte), of(chsuite.EightByteAsBigint),
	of(chsuite.Sno), of(chsuite.SnoAsText), of(chsuite.SnoAsUUID),
}

// each runs one of the tests for every type of IDs.
func each[F any](t *testing.T, test func(*testing.T, F)) {
	for _, f := range all {
		t.Run(f.Title(), func(t *testing.T) { test(t, f.(F)) })
	}
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
