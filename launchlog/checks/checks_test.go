package checks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A check that fails has not passed, whatever it said before. The rest is made where the database
// answers, and not where it does not.
func TestExamine(t *testing.T) {
	refused, gone := errors.New("refused"), errors.New("gone")
	probes := []Probe[int]{
		{"schema", func(_ context.Context, _ int, r *Reporter) error {
			r.Pass("well")
			return refused
		}},
		{"tables", func(_ context.Context, _ int, r *Reporter) error {
			r.Finding("one")
			r.Note("two")
			r.Pass("well")
			return refused
		}},
		{"rights", func(_ context.Context, of int, r *Reporter) error {
			r.Pass("%d", of)
			return nil
		}},
	}
	results, err := Examine(t.Context(), 7, probes, func(context.Context) error { return nil })
	var levels []Level
	for _, r := range results {
		levels = append(levels, r.Level)
	}
	if err != nil || !slices.Equal(levels, []Level{Unknown, Finding, Note, Unknown, Passed}) ||
		results[4].Message != "7" {
		t.Errorf("%+v, %v", results, err)
	}
	_, err = Examine(t.Context(), 7, probes, func(context.Context) error { return gone })
	if !errors.Is(err, refused) || err.Error() != "schema: refused" {
		t.Error(err)
	}
}

// A majority that hangs by one member is a finding.
func TestVoters(t *testing.T) {
	for _, c := range []struct {
		voters, up int
		away       []string
		want       string
	}{
		{3, 3, nil, "passed: 3 voting members, and all of them answer"},
		{5, 4, []string{"a"}, "note: addresses do not answer: a. 1 of 5 voting members are down"},
		{5, 3, []string{"a", "b"}, "finding: 2 of 5 voting members do not answer, and if one"},
		{5, 3, []string{"a"}, "note: addresses do not answer: a. 1 of 5 voting members are down"},
		{5, 3, nil, "note: 2 of 5 voting members are not named"},
		{3, 2, []string{"a"}, "finding: 1 of 3 voting members do not answer, and if one more"},
		{3, 3, []string{"a"}, "note: addresses do not answer: a. 0 of 3 voting members are down"},
		{2, 1, []string{"a"}, "finding: 1 of 2 voting members do not answer: a"},
		{2, 2, nil, "note: there are 2 voting members: if one of them fails, the log stops"},
		{1, 1, nil, "note: there are 1 voting members"},
	} {
		r := Reporter{Code: "etcd.members"}
		r.Voters(c.voters, c.up, c.away)
		got := string(r.Results[0].Level) + ": " + r.Results[0].Message
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
