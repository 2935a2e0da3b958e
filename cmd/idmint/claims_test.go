package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/launchlog"
)

// Without a number a command is lent one that no other run has. Not before a minute later it is
// lent again, so that on a busy machine there may be fewer numbers than runs.
func TestNewClaims(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	const processes, each = 4, 20
	s.must("migrate", "--db", "sqlite:app.db")
	began, lent := time.Now(), map[string]int{}
	for _, scheme := range []string{"trace", "sno", "eightbyte --mode spread"} {
		args := strings.Fields("new " + scheme + " -n 20 --json --db sqlite:app.db")
		one := s.run(args...)
		if one.status != 0 || !strings.HasSuffix(one.stderr, " is lent to this command\n") {
			t.Error(one)
		}
		all := append(lines(one.stdout), s.atOnce(processes, args...)...)
		seen, numbers := map[string]bool{}, map[string]bool{}
		for _, line := range all {
			var id map[string]any
			if err := json.Unmarshal([]byte(line), &id); err != nil {
				t.Fatal(err)
			}
			seen[fmt.Sprint(id["id"])] = true
			number := fmt.Sprint(id["node_no"], id["partition"], id["generator_id"])
			numbers[number] = true
		}
		lent[scheme] = len(numbers)
		if len(seen) != (processes+1)*each ||
			len(numbers) != processes+1 && time.Since(began) < time.Minute {
			t.Errorf("%s: %d IDs of %d numbers", scheme, len(seen), len(numbers))
		}
	}
	got := s.run("claims", "list", "--pool", "sno", "--db", "sqlite:app.db")
	if n := len(lines(got.stdout)); got.status != 0 || n != lent["sno"]+1 ||
		!strings.Contains(got.stderr, "of 65536 numbers are lent") {
		t.Errorf("%v: %d lines", got, n)
	}
	found := lines(s.must("claims", "list", "--json", "--db", "sqlite:app.db"))
	for _, line := range found {
		var claim claims.Claim
		if err := json.Unmarshal([]byte(line), &claim); err != nil || claim.Holder == "" ||
			claim.Until.Before(began) || time.Until(claim.Until) > time.Minute {
			t.Errorf("%s: %v", line, err)
		}
	}
	if n := lent["trace"] + lent["sno"] + lent["eightbyte --mode spread"]; len(found) != n {
		t.Errorf("%d claims of %d numbers", len(found), n)
	}
}

// lockAhead leaves a counter of app.db as a source does whose clock, and whose store's, is a year
// ahead. Its unit is a number of milliseconds.
func (s *shell) lockAhead(counter string, unit int64) {
	s.Helper()
	now := time.Now().UnixMilli() / unit
	ahead := now + 86400*365*1000/unit
	s.exec("app.db", `INSERT INTO idmint_namespace (namespace) SELECT 'default'
		WHERE NOT EXISTS (SELECT 1 FROM idmint_namespace)`)
	s.exec("app.db", `INSERT INTO idmint_counter (namespace, name, value, note, holder)
		VALUES ('default', ?, ?, ?, 'pod-1')`, counter, ahead+100,
		fmt.Sprintf("%s/%d-%d", launchlog.NewNote(), now-1000, ahead))
}

// A number that a clock far ahead has locked is got back, and lent again.
func TestClaimsFree(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.lockAhead("sno/7", 4)
	if listed := s.run("claims", "list", "--db", "sqlite:app.db"); !strings.Contains(listed.stdout,
		"locked: claims free gives it back") {
		t.Error(listed)
	}
	for range 2 {
		got := s.must("claims", "free", "7", "--pool", "sno", "--db", "sqlite:app.db")
		if !strings.HasPrefix(got, "sno 7 is free until ") {
			t.Error(got)
		}
	}
	if n := s.count(`SELECT count(*) FROM idmint_counter WHERE name LIKE 'sno/7/%'`); n != 1 {
		t.Errorf("%d counters of the gap", n)
	}
	if listed := s.run("claims", "list", "--db", "sqlite:app.db"); !strings.Contains(listed.stdout,
		"freed before") || strings.Contains(listed.stdout, "locked") {
		t.Error(listed)
	}
	if got := s.must("claims", "free", "7", "--pool", "sno", "--json", "--db",
		"sqlite:app.db"); !strings.Contains(got, `"before":`) {
		t.Error(got)
	}
}
