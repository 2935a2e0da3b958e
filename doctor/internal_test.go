package doctor

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
	checks := []Probe[int]{
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
	results, err := Examine(t.Context(), 7, checks, func(context.Context) error { return nil })
	var levels []Level
	for _, r := range results {
		levels = append(levels, r.Level)
	}
	if err != nil || !slices.Equal(levels, []Level{Unknown, Finding, Note, Unknown, Passed}) ||
		results[4].Message != "7" {
		t.Errorf("%+v, %v", results, err)
	}
	_, err = Examine(t.Context(), 7, checks, func(context.Context) error { return gone })
	if !errors.Is(err, refused) || err.Error() != "doctor: schema: refused" {
		t.Error(err)
	}
}

// elsewhere are the stores whose modules make their checks.
var elsewhere = []string{"etcd", "zookeeper", "cassandra"}

// Codes are listed once, each with its words, and each check that is made is listed.
func TestChecks(t *testing.T) {
	var codes []string
	for _, c := range Checks() {
		if store, _, _ := strings.Cut(c.Code, "."); slices.Contains(elsewhere, store) {
			continue
		}
		if c.Code == "" || c.Looks == "" || c.Remedy == "" || slices.Contains(codes, c.Code) {
			t.Errorf("%+v", c)
		}
		codes = append(codes, c.Code)
	}
	made := []string{"open", "sqlite.file", "identity", "lost", "schema"}
	for _, c := range contentChecks {
		made = append(made, c.code)
	}
	for _, e := range engines {
		for _, c := range append(slices.Clone(e.server), e.content...) {
			made = append(made, c.Code)
		}
	}
	slices.Sort(codes)
	slices.Sort(made)
	if made = slices.Compact(made); !slices.Equal(made, codes) {
		t.Errorf("made: %v, listed: %v", made, codes)
	}
}

// Versions of servers that tests cannot start.
func TestOldMySQL(t *testing.T) {
	for text, want := range map[string]bool{
		"8.0.28": true, "8.0.29": false, "8.0.29-log": false, "5.7.44": true, "9.7.0": false,
		"10.5.29-MariaDB": true, "10.6.0-MariaDB": false, "11.8.6-MariaDB-0+deb13u1": false,
		"5.5.5-10.5.1-MariaDB": true, "5.5.5-10.11.1-MariaDB-log": false,
	} {
		if got, err := oldMySQL(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := oldMySQL("eight"); err == nil {
		t.Error("no error")
	}
}

// An account's name may have an @ in it.
func TestGrantee(t *testing.T) {
	for account, want := range map[string]string{
		"app@%": "'app'@'%'", "a@b@localhost": "'a@b'@'localhost'",
	} {
		if got := grantee(account); got != want {
			t.Errorf("%s: %s", account, got)
		}
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
		{5, 3, []string{"a", "b"}, "finding: 2 of 5 voting members do not answer, and without one"},
		{5, 3, []string{"a"}, "note: addresses do not answer: a. 1 of 5 voting members are down"},
		{5, 3, nil, "note: 2 of 5 voting members are not named"},
		{3, 2, []string{"a"}, "finding: 1 of 3 voting members do not answer, and without one more"},
		{3, 3, []string{"a"}, "note: addresses do not answer: a. 0 of 3 voting members are down"},
		{2, 1, []string{"a"}, "finding: 1 of 2 voting members do not answer: a"},
		{2, 2, nil, "note: there are 2 voting members: without one of them the log stops"},
		{1, 1, nil, "note: there are 1 voting members"},
	} {
		r := Reporter{code: "etcd.members"}
		r.Voters(c.voters, c.up, c.away)
		got := string(r.results[0].Level) + ": " + r.results[0].Message
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
