package main

import (
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
		run := ""
		var all []string
		for _, arg := range m.test { // options come before packages
			if pattern, ok := strings.CutPrefix(arg, "-run="); ok {
				run = pattern
			}
			if strings.HasPrefix(arg, "-") {
				continue
			}
			if inDir[arg] == nil {
				inDir[arg] = testsOf(t, filepath.Join("../..", arg))
			}
			tests := inDir[arg]
			if !slices.ContainsFunc(tests, func(test string) bool { return runs(run, test) }) {
				t.Errorf("%s: %s has no test that -run=%s runs", m.why, arg, run)
			}
			all = append(all, tests...)
		}
		for alternative := range strings.SplitSeq(topLevel.FindString(run), "|") {
			if !slices.ContainsFunc(all, func(test string) bool {
				return runs(alternative, test)
			}) {
				t.Errorf("%s: %s have no test of %s", m.why, m.test, alternative)
			}
		}
	}
}

// topLevel is what a -run says of tests, before it speaks of their subtests.
var topLevel = regexp.MustCompile(`^[^/]*`)

func runs(pattern, test string) bool {
	return regexp.MustCompile(topLevel.FindString(pattern)).MatchString(test)
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
