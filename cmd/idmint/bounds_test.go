package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What is minted now lies within the bounds of today, and of no other day.
func TestBoundsHoldIDs(t *testing.T) {
	s := inside(t)
	for scheme, args := range map[string]string{
		"trace": "--node 9", "eightbyte": "--generator 3 --cluster 1 --mode time", "short": "",
		"sno": "--partition 9 --meta 255",
	} {
		id := strings.TrimSpace(s.must(append([]string{"new", scheme}, strings.Fields(args)...)...))
		if scheme == "short" {
			var fields struct{ ID string }
			err := json.Unmarshal(
				[]byte(s.must("inspect", "--scheme", "short", "--json", "--", id)), &fields)
			if err != nil {
				t.Fatal(err)
			}
			id = fields.ID
		}
		day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
		for span, want := range map[[2]string]bool{
			{day(-1), day(1)}:  true, // it may be midnight
			{day(-9), day(-2)}: false,
			{day(2), day(9)}:   false,
		} {
			got := s.run("bounds", scheme, "--from", span[0], "--to", span[1])
			within := false
			for _, line := range lines(got.stdout) {
				smallest, largest, _ := strings.Cut(line, " ")
				within = within || inOrder(smallest, id) && inOrder(id, largest)
			}
			if within != want || got.status != 0 {
				t.Errorf("%s %s in %v: %v, want %v: %v", scheme, id, span, within, want, got)
			}
		}
	}
}

// inOrder compares texts of numbers, and texts of one length.
func inOrder(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a <= b }
