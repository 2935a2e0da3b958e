package clickhouse_test

import (
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/chsuite"
)

// A fixture has the tests of this package as methods.
type fixture[T idtype.ID] struct{ chsuite.Fixture[T] }

// A fixed is a fixture of whatever type of IDs: a test of all of them asks it for its method.
type fixed interface{ Title() string }

type user = chsuite.User

//idmint:keys all []fixed: of[KEY[user]](NAME)

func of[T idtype.ID](name string) fixed { return fixture[T]{chsuite.Of[T](name)} }

// each runs one of the tests for every type of IDs.
func each[F any](t *testing.T, test func(*testing.T, F)) {
	for _, f := range all {
		t.Run(f.Title(), func(t *testing.T) { test(t, f.(F)) })
	}
}

func try(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
