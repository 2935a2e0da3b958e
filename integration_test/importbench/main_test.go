package main

import "testing"

// An import of ours that takes more memory than the page promises is an error.
func TestWithinMemory(t *testing.T) {
	native := []cost{{peak: 1 << 40}}
	for peak, want := range map[int64]bool{mostMemory: true, mostMemory + 1: false} {
		for _, r := range []result{
			{ours: []cost{{}, {peak: peak}}, native: native},
			{ours: []cost{{}}, growth: []cost{{}, {peak: peak}}},
		} {
			if err := withinMemory([]result{{}, r}); (err == nil) != want {
				t.Errorf("%d bytes: %v", peak, err)
			}
		}
	}
}
