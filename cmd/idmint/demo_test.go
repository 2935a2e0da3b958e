package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// The demo runs in an empty folder, and again in the same one. It compares the order and the number
// of the IDs itself; what it says of its launches is what the database holds.
func TestDemo(t *testing.T) {
	s := inside(t)
	for run := range 2 {
		out := s.must("demo")
		db := s.open(demoFile)
		first := 3*run + 1 // the import at the end has the third
		for _, want := range []string{
			fmt.Sprintf("starts a launch: launch %d.", first),
			fmt.Sprintf("A second deployment, launch %d, takes over", first+1),
			"creates 40 offices", "20 more offices", " 0 inversions)",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("run %d does not say %q:\n%s", run, want, out)
			}
		}
		for query, want := range map[string]int{
			`SELECT count(*) FROM offices o JOIN zones z ON z.id = zone_id AND z.id % 100000 = ?`: 60,
			`SELECT count(*) FROM zones WHERE id % 100000 = ? AND tz = 'Europe/Berlin' AND
				codes LIKE '%DE%' AND coordinates = '+5230+01322'`: 1,
			`SELECT count(*) FROM idmint_launch WHERE launch_id = ? AND outcome = 'superseded'`: 1,
		} {
			if n := number(t, db, strings.Replace(query, "?", fmt.Sprint(first), 1)); n != want {
				t.Errorf("run %d: %s: %d, want %d", run, query, n, want)
			}
		}
		// What it tells to look at next works, as it stands.
		next := regexp.MustCompile(`go run ./cmd/idmint (.*)`).FindAllStringSubmatch(out, -1)
		s.write("YOUR.csv", "a\n1\n")
		for _, command := range next {
			got := s.must(strings.Fields(command[1])...)
			if strings.HasPrefix(command[1], "inspect") && !strings.Contains(out, got) {
				t.Errorf("run %d: the drawing is not that of idmint %s:\n%s", run, command[1], got)
			}
		}
		if len(next) != 4 {
			t.Errorf("run %d: %d commands to look at next", run, len(next))
		}
	}
}

func TestDemoBadDatabase(t *testing.T) {
	s := inside(t)
	s.write(demoFile, strings.Repeat("hello, world\n", 100))
	got := s.run("demo")
	if got.status != 1 || got.stderr != "idmint: "+demoFile+": file is not a database\n" ||
		got.stdout != "" {
		t.Error(got)
	}
}
