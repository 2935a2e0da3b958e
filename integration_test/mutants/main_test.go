package main

import "testing"

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
