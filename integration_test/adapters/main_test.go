// Package adapters_test runs the adapters, and what documents say of databases, on real servers. It
// is one program, as each costs seconds to link. A file's name begins with its adapter. GORM's are in
// integration_test/gorm.
package adapters_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/publicid"
)

// TestMain is the main of the example of public IDs, too.
func TestMain(m *testing.M) {
	const key = "0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	os.Setenv("PUBLIC_ID_KEY", key)
	users = must(publicid.NewScrambled[UserID]("user", must(publicid.ParseKey(key))))
	// Tests wait for servers more than they compute. The command line may say otherwise.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	code := dbtest.Code(m)
	if examplesDir != "" {
		os.RemoveAll(examplesDir)
	}
	os.Exit(code)
}

func try(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns a value that came without an error.
func must[T any](v T, err error) T {
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
