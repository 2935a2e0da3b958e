package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each mutant still has its place in the code.
func TestPlaces(t *testing.T) {
	mutants, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if _, err := m.place("../.."); err != nil {
			t.Errorf("%s: %v", m.why, err)
		}
	}
	t.Logf("%d mutants have their place; make mutants runs them", len(mutants))
}

// Each mutant still has tests that may notice it: every package that it names has one, and every
// alternative of its -run.
func TestTests(t *testing.T) {
	mutants, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	inDir := map[string][]string{}
	for _, m := range mutants {
		var all []string
		for _, dir := range m.packages {
			if inDir[dir] == nil {
				inDir[dir] = testsOf(t, filepath.Join("../..", dir))
			}
			tests := inDir[dir]
			if !slices.ContainsFunc(tests, func(test string) bool { return runs(m.run, test) }) {
				t.Errorf("%s: %s has no test that -run=%s runs", m.why, dir, m.run)
			}
			all = append(all, tests...)
		}
		for _, alternative := range alternatives(m.run) {
			if !slices.ContainsFunc(all, func(test string) bool {
				return runs(alternative, test)
			}) {
				t.Errorf("%s: %s have no test of %s", m.why, m.packages, alternative)
			}
		}
	}
}

// alternatives are the patterns of a -run, without what they say of subtests, where brackets may
// hold further alternatives.
func alternatives(run string) (all []string) {
	for pattern := range strings.SplitSeq(inBrackets.ReplaceAllString(run, ""), "|") {
		test, _, _ := strings.Cut(pattern, "/")
		all = append(all, test)
	}
	return all
}

var inBrackets = regexp.MustCompile(`\([^)]*\)`)

func runs(pattern, test string) bool {
	return slices.ContainsFunc(alternatives(pattern), func(one string) bool {
		return regexp.MustCompile(one).MatchString(test)
	})
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// testsOf are the names of a package's tests.
func testsOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range testFunc.FindAllStringSubmatch(string(source), -1) {
			if f[1] != "TestMain" {
				names = append(names, f[1])
			}
		}
	}
	return names
}

// Nothing but a test that failed catches a mutant, or a crash. To run too long is neither.
func TestJudge(t *testing.T) {
	const timedOut = "panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestLost (1m0s)"
	failed := errors.New("exit status 1")
	for _, test := range []struct {
		out  string
		err  error
		want verdict
		by   string
	}{
		{"ok  \tpkg\t0.1s\n", nil, survived, ""},
		{"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/B (0.00s)\nFAIL\n", failed, caught, "by TestA"},
		{"--- FAIL: TestA (0.00s)\n" + timedOut + "\n\nFAIL\tpkg\t60s\n", failed, caught, "by TestA"},
		{"panic: no\n\ngoroutine 7\nFAIL\tpkg\t0.1s\n", failed, caught, "by a crash: panic: no"},
		{"fatal error: stack overflow\n", failed, caught, "by a crash: fatal error: stack overflow"},
		{timedOut + "\n\ngoroutine 7\nFAIL\tpkg\t60s\n", failed, endless, timedOut},
		{
			"*** Test killed with quit: ran too long (2m0s).\nFAIL\tpkg\t120s\n", failed, endless,
			"*** Test killed with quit: ran too long (2m0s).",
		},
		{"--- FAIL: TestA (0.00s)\nFAIL\tother [build failed]\n", failed, untried, ""},
		{"FAIL\tpkg [setup failed]\n", failed, untried, ""},
		{"FAIL\tpkg\t0.1s\n", failed, untried, ""}, // as TestMain ends it
	} {
		v, by := judge(test.out, test.err)
		if v != test.want || v != untried && by != test.by {
			t.Errorf("%q: %s, %q, want %s, %q", test.out, v, by, test.want, test.by)
		}
	}
}
