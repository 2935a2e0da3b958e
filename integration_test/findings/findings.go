// Package findings compares doctor's results for a store with the results that a test expects.
package findings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

// Want compares results with the expected ones: for each code a level, a colon, and the beginning
// of the message. A result may also be expected to have passed. All other results must have passed.
func Want(t testing.TB, when string, results []checks.Result, wanted map[string]string) {
	t.Helper()
	listed := checks.All()
	got := map[string]string{}
	for _, r := range results {
		i := slices.IndexFunc(listed, func(c checks.Check) bool { return c.Code == r.Check })
		advises := r.Level == checks.Note || r.Level == checks.Finding
		if i < 0 || r.Message == "" || advises && r.Remedy != listed[i].Remedy ||
			!advises && r.Remedy != "" {
			t.Errorf("%s: %+v", when, r)
		}
		got[r.Check] += fmt.Sprintf("%s: %s. ", r.Level, r.Message)
	}
	for code, text := range wanted {
		if !strings.Contains(got[code], text) {
			t.Errorf("%s: %s: %q, want %q", when, code, got[code], text)
		}
		delete(got, code)
	}
	for code, text := range got {
		if !strings.HasPrefix(text, "passed: ") {
			t.Errorf("%s: %s: %q, want nothing", when, code, text)
		}
	}
}

// SQL makes the checks of a SQL database, and calls [Want] with their results.
func SQL(t testing.TB, when string, d dsn.DSN, wanted map[string]string) {
	t.Helper()
	db := dbtest.Open(t, d)
	defer db.Close()
	results, err := doctor.SQL(context.Background(), db, d.Kind)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	Want(t, when, results, wanted)
}

// Checked makes the checks of a store that is not a SQL database, calls [Want] with their results,
// and returns the identity of the store. It repeats the checks while the store is too busy.
func Checked[C any](
	t testing.TB, when string, config C,
	check func(context.Context, C) ([]checks.Result, map[string]string, error),
	wanted map[string]string,
) (identity map[string]string) {
	t.Helper()
	for {
		results, identity, err := check(context.Background(), config)
		var busy *launchlog.AttemptError
		switch {
		case errors.As(err, &busy):
			continue
		case err != nil:
			t.Fatalf("%s: %v", when, err)
		}
		Want(t, when, results, wanted)
		return identity
	}
}

// With returns wanted with additional results, given as alternating codes and texts.
func With(wanted map[string]string, more ...string) map[string]string {
	wanted = maps.Clone(wanted)
	if wanted == nil {
		wanted = map[string]string{}
	}
	for i := 0; i < len(more); i += 2 {
		wanted[more[i]] = more[i+1]
	}
	return wanted
}
