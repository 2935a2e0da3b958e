// Package doctorsuite contains helpers for tests of the checks that the modules of stores add to
// package doctor.
package doctorsuite

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog/checks"
)

// Codes fails the test unless the probes are those that package doctor lists for a kind of store,
// such as "etcd", in the same order.
func Codes[T any](t *testing.T, kind string, probes []checks.Probe[T]) {
	t.Helper()
	var listed, made []string
	for _, c := range checks.All() {
		if strings.HasPrefix(c.Code, kind+".") {
			listed = append(listed, c.Code)
		}
	}
	for _, p := range probes {
		made = append(made, p.Code)
	}
	if len(listed) == 0 || !slices.Equal(made, listed) {
		t.Errorf("made: %v, listed: %v", made, listed)
	}
}

// Judge fails the test unless the results of a judgment begin with want. The results are formatted
// as "LEVEL: TEXT. " each, and end with "passed: well. " if nothing was reported. Judge returns
// them.
func Judge(t *testing.T, of any, judge func(*checks.Reporter), want string) string {
	t.Helper()
	results, err := checks.Examine(t.Context(), 0, []checks.Probe[int]{{
		Code: checks.All()[0].Code, // any
		Look: func(_ context.Context, _ int, r *checks.Reporter) error {
			judge(r)
			r.Pass("well")
			return nil
		},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, r := range results {
		got.WriteString(string(r.Level) + ": " + r.Message + ". ")
	}
	if !strings.HasPrefix(got.String(), want) {
		t.Errorf("%v: %q, want %q", of, got.String(), want)
	}
	return got.String()
}
