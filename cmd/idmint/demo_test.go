package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The demo runs in an empty folder, and again in the same one; what it says is compared with what
// the database holds.
func TestDemo(t *testing.T) {
	s := inside(t)
	for run := range 2 {
		s.checkDemo(s.must("demo"), run)
	}
}

func (s *shell) checkDemo(out string, run int) {
	s.Helper()
	db := s.open(demoFile)
	defer db.Close()
	count := func(query string, args ...any) (n int) {
		s.Helper()
		if err := db.QueryRow(query, args...).Scan(&n); err != nil {
			s.Fatalf("%s: %v", query, err)
		}
		return n
	}
	said := func(pattern string) []string {
		s.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(out)
		if found == nil {
			s.Fatalf("run %d does not say %q:\n%s", run, pattern, out)
		}
		return found[1:]
	}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			s.Fatal(err)
		}
		return n
	}
	first := number(said(`starts a launch: launch (\d+)\.`)[0])
	second := number(said(`A second deployment, launch (\d+), takes over`)[0])
	if first != 3*run+1 || second != 3*run+2 { // the import at the end of this test has the third
		s.Errorf("run %d: launches %d and %d", run, first, second)
	}

	zones := said(`table zones: (\d+) rows with IDs (\d+) to (\d+)\.`)
	n := count(`SELECT count(*) FROM zones WHERE id % 100000 = ? AND id BETWEEN ? AND ?`, first,
		zones[1], zones[2])
	if n != number(zones[0]) || n < 300 {
		s.Errorf("run %d: %d zones, it says %s", run, n, zones[0])
	}
	if n := count(`SELECT count(*) FROM zones WHERE id % 100000 = ? AND tz = 'Europe/Berlin' AND `+
		`codes LIKE '%DE%' AND coordinates = '+5230+01322'`, first); n != 1 {
		s.Errorf("run %d: %d rows of Europe/Berlin", run, n)
	}
	for launch, pattern := range map[int]string{first: `creates (\d+) offices in these zones, ` +
		`with (\d+) meetings`, second: `creates (\d+) more offices with (\d+) meetings`} {
		made := said(pattern)
		offices := count(`SELECT count(*) FROM offices JOIN zones ON zones.id = zone_id AND `+
			`zones.id % 100000 = ? WHERE offices.id % 100000 = ?`, first, launch)
		meetings := count(`SELECT count(*) FROM meetings JOIN offices ON offices.id = office_id `+
			`WHERE meetings.id % 100000 = ?`, launch)
		if offices != number(made[0]) || meetings != number(made[1]) || offices == 0 {
			s.Errorf("run %d, launch %d: %d offices and %d meetings, it says %v", run, launch,
				offices, meetings, made)
		}
	}

	// The order by ID is the order of creation within a generator: all of it, by a self-join rather
	// than as the demo does it.
	order := said(`within each of (\d+) generators, the order by ID is the order of creation ` +
		`\((\d+) meetings, (\d+) inversions\)`)
	if n := count(`SELECT count(DISTINCT id % 10000000000) FROM meetings`); n != number(order[0]) ||
		n != 2*run+2 {
		s.Errorf("run %d: %d generators, it says %s", run, n, order[0])
	}
	if n := count(`SELECT count(*) FROM meetings`); n != number(order[1]) {
		s.Errorf("run %d: %d meetings, it says %s", run, n, order[1])
	}
	inversions := count(
		`SELECT count(*) FROM meetings a JOIN meetings b ON a.id % 10000000000 = b.id % ` +
			`10000000000 AND a.id < b.id AND a.created >= b.created`)
	if inversions != 0 || order[2] != "0" {
		s.Errorf("run %d: %d inversions, it says %s", run, inversions, order[2])
	}

	for _, launch := range []int{first, second} {
		used := number(said(fmt.Sprintf(`launch %d: (\d+) of 100000 generator numbers`, launch))[0])
		n := count(`SELECT count(*) FROM idmint_generator WHERE launch_id = ?`, launch)
		if n != used {
			s.Errorf("run %d, launch %d: %d generator numbers, it says %d", run, launch, n, used)
		}
	}
	rows := number(said(`(\d+) rows of three tables have \d+ different IDs`)[0])
	if n := count(`SELECT (SELECT count(*) FROM zones) + (SELECT count(*) ` +
		`FROM offices) + (SELECT ` +
		`count(*) FROM meetings)`); n != rows {
		s.Errorf("run %d: %d rows, it says %d", run, n, rows)
	}
	if n := count(`SELECT count(*) FROM idmint_launch WHERE outcome = 'superseded'`); n != run+1 {
		s.Errorf("run %d: %d launches were superseded", run, n)
	}

	// The rows that it shows are there, and the drawing is inspect's.
	table := regexp.MustCompile(
		`(?m)^(\d+)  +(\w+)  +(\d+)  +(\S.*?)  +(\d+)  +(\S+)$`).FindAllStringSubmatch(out, -1)
	for _, r := range table {
		if n := count(`SELECT count(*) FROM meetings m JOIN offices o ON o.id = m.office_id
			JOIN zones z ON z.id = o.zone_id
			WHERE m.id = ? AND m.title = ? AND o.id = ? AND o.city = ? AND z.id = ?
				AND z.tz = ?`, r[1], r[2], r[3], r[4], r[5], r[6]); n != 1 {
			s.Errorf("run %d: it shows %q, which is not there", run, r[0])
		}
	}
	if len(table) != 6 {
		s.Errorf("run %d: it shows %d rows, want 3 of each launch:\n%s", run, len(table), out)
	}
	// What it tells to look at next works, as it stands.
	next := regexp.MustCompile(`go run ./cmd/idmint (.*)`).FindAllStringSubmatch(out, -1)
	s.write("YOUR.csv", "a\n1\n")
	for _, command := range next {
		got := s.must(strings.Fields(command[1])...)
		if strings.HasPrefix(command[1], "inspect") && !strings.Contains(out, got) {
			s.Errorf("run %d: the drawing is not that of idmint %s:\n%s", run, command[1], got)
		}
	}
	if len(next) != 4 {
		s.Errorf("run %d: %d commands to look at next", run, len(next))
	}
}

// A demo that was stopped in its import can be run again.
func TestDemoAgainAfterKill(t *testing.T) {
	s := inside(t)
	s.must("demo")
	s.exec(demoFile, `UPDATE idmint_import SET state = 'unfinished'; DELETE FROM meetings; DELETE `+
		`FROM offices; DELETE FROM zones WHERE id > 1000000000000`)
	out := s.must("demo")
	if !strings.Contains(out, "launch 3: 2 of 100000") {
		t.Errorf("%s", out)
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
