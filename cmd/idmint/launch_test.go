package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/launchlog"
)

func TestLaunchStart(t *testing.T) { inEveryLog(t, testLaunchStart) }

func testLaunchStart(t *testing.T, s *shell) {
	place, err := dsn.Parse(cmp.Or(s.db, "sqlite:app.db"))
	if err != nil {
		t.Fatal(err)
	}
	version := "3"
	if place.IsKeyValue() {
		version = "1"
	}
	for _, want := range []string{
		"created a new launch log in " + place.String() + ", at schema version " + version + "\n",
		"the launch log in " + place.String() + " is at schema version " + version + " already\n",
	} {
		if got := s.must("migrate", "--db", "sqlite:app.db"); got != want {
			t.Errorf("migrate: %q, want %q", got, want)
		}
	}
	found := `{"created":false,"from":` + version + `,"to":` + version + `}` + "\n"
	if got := s.must("migrate", "--db", "sqlite:app.db", "--json"); got != found {
		t.Errorf("migrate --json: %q", got)
	}
	args := func(key string, more ...string) []string {
		return append([]string{
			"launch", "start", "--db", "sqlite:app.db", "--service", "shop",
			"--env", "production", "--key", key, "--initiator", "ann",
		}, more...)
	}
	for range 2 { // the step of a pipeline may be run again
		if got := s.must(args("k")...); got != "1\n" {
			t.Errorf("%q, want the number alone", got)
		}
	}
	if got := s.must(args("k", "--format", "env")...); got != "IDMINT_LAUNCH_ID=1\n" {
		t.Errorf("%q", got)
	}
	if got := s.must(args("l")...); got != "2\n" {
		t.Errorf("%q", got)
	}
	if got := s.must(args("k", "--namespace", "other")...); got != "1\n" {
		t.Errorf("another namespace: %q", got)
	}
	var launch launchlog.Launch
	err = json.Unmarshal([]byte(s.must(args("k", "--json")...)), &launch)
	if err != nil || launch.ID != 1 || launch.Service != "shop" {
		t.Errorf("%+v, %v", launch, err)
	}
	got := s.run(args("k", "--version", "2")...)
	if got.status != 1 || got.stdout != "" ||
		!strings.Contains(got.stderr, `launch 1, of key "k", is there and differs in version`) {
		t.Errorf("the same key for something else: %v", got)
	}
	if got := s.must(args("m", "--known", "2")...); got != "3\n" {
		t.Errorf("--known: %q", got)
	}
	if got := s.run(args("n", "--known", "4")...); got.status != 1 || got.stdout != "" ||
		!strings.Contains(got.stderr, "launch 4 is known, the last one is 3") {
		t.Errorf("--known beyond: %v", got)
	}
	if got := s.run("launch", "advance", "--db", "sqlite:app.db", "--to", "40"); got.status != 0 ||
		got.stdout != "40\n" || !strings.Contains(got.stderr, "none of them runs") {
		t.Errorf("advance: %v", got)
	}
	for to, words := range map[string]string{
		"41":    "had no launches: is the name right?",
		"99999": "there are no more in this namespace",
	} {
		got := s.run("launch", "advance", "--db", "sqlite:app.db", "--to", to, "--namespace",
			"n"+to)
		if got.status != 0 || !strings.Contains(got.stderr, words) {
			t.Error(got)
		}
	}
	if got := s.run("launch", "advance", "--db", "sqlite:app.db", "--to", "7"); got.status != 1 ||
		got.stdout != "" || !strings.Contains(got.stderr, "below the last launch, 40") {
		t.Errorf("advance backwards: %v", got)
	}
	if got := s.must(args("n", "--known", "4")...); got != "41\n" {
		t.Errorf("after advance: %q", got)
	}
	if got := s.run(args("m")...); got.status != 0 || got.stdout != "3\n" ||
		!strings.Contains(got.stderr, "launch 3, of this key, has ended as superseded") {
		t.Errorf("the key of a launch that has ended: %v", got)
	}
}

func TestLaunchFields(t *testing.T) { inEveryLog(t, testLaunchFields) }

func testLaunchFields(t *testing.T, s *shell) {
	s.start("before")
	flags := map[string]string{
		"service": "shop", "env": "production", "key": "https://ci/1", "initiator": "ann",
		"initiator-kind": "user", "version": "1.2.3",
		"commit": "abc123", "ref": "main", "digest": "sha256:77", "ticket": "OPS-1",
		"reason": "Friday", "approver": "bob",
		"pipeline-url": "https://ci/run/1", "rolls-back": "1", "data": `{"b": 1, "a": [2]}`,
	}
	args := []string{"launch", "start", "--db", "sqlite:app.db"}
	for name, value := range flags {
		args = append(args, "--"+name, value)
	}
	if got := s.must(args...); got != "2\n" {
		t.Fatalf("%q", got)
	}
	s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", "2")

	plain := s.must("launch", "show", "2", "--db", "sqlite:app.db")
	delete(flags, "data")
	for name, value := range flags {
		if !strings.Contains(plain, " "+value) {
			t.Errorf("show does not say %s %s:\n%s", name, value, plain)
		}
	}
	for _, want := range []string{
		`{"a":[2],"b":1}`, "running", "1 of 100000", "started by ann",
		"generator 0 taken by ",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("show does not say %q:\n%s", want, plain)
		}
	}

	var shown struct {
		launchlog.Launch
		Events []launchlog.Event
		Claims []launchlog.Claim
	}
	err := json.Unmarshal([]byte(s.must("launch", "show", "2", "--db", "sqlite:app.db", "--json")),
		&shown)
	if err != nil {
		t.Fatal(err)
	}
	if shown.ID != 2 || shown.RollsBack != 1 || shown.Ticket != "OPS-1" ||
		shown.NextGenerator != 1 || len(shown.Events) != 1 || len(shown.Claims) != 1 ||
		!shown.Running() {
		t.Errorf("%+v", shown)
	}
}

func TestLaunchEnd(t *testing.T) { inEveryLog(t, testLaunchEnd) }

func testLaunchEnd(t *testing.T, s *shell) {
	s.start("a")
	for range 2 {
		s.must("launch", "end", "1", "--db", "sqlite:app.db", "--outcome", "rolled-back",
			"--initiator", "bob", "--reason", "too slow")
	}
	plain := s.must("launch", "show", "1", "--db", "sqlite:app.db")
	for _, want := range []string{"rolled-back", "ended by bob", "too slow"} {
		if !strings.Contains(plain, want) {
			t.Errorf("show does not say %q:\n%s", want, plain)
		}
	}
	var ended launchlog.Launch
	out := s.must("launch", "end", "1", "--db", "sqlite:app.db", "--outcome", "rolled-back",
		"--json")
	err := json.Unmarshal([]byte(out), &ended)
	if err != nil || ended.Outcome != launchlog.RolledBack || ended.Running() {
		t.Errorf("%s: %v", out, err)
	}
	got := s.run("launch", "end", "1", "--db", "sqlite:app.db", "--outcome", "failed")
	if got.status != 1 || !strings.Contains(got.stderr, "launch 1") {
		t.Errorf("another outcome: %v", got)
	}
	got = s.run("new", "decimal", "--db", "sqlite:app.db", "--launch", "1")
	if got.status != 1 || got.stdout != "" {
		t.Errorf("an ID of a launch that has ended: %v", got)
	}
}

func TestLaunchList(t *testing.T) { inEveryLog(t, testLaunchList) }

func testLaunchList(t *testing.T, s *shell) {
	s.must("migrate", "--db", "sqlite:app.db")
	got := s.must("launch", "list", "--db", "sqlite:app.db")
	if strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "LAUNCH") {
		t.Errorf("an empty log: %q", got)
	}
	if got := s.must("launch", "list", "--db", "sqlite:app.db", "--json"); got != "" {
		t.Errorf("an empty log as JSON: %q", got)
	}
	for i, service := range []string{"shop", "blog", "shop"} {
		s.must("launch", "start", "--db", "sqlite:app.db", "--service", service, "--env",
			"e"+fmt.Sprint(i), "--key", fmt.Sprint(i), "--initiator", "ann")
	}
	s.must("launch", "end", "3", "--db", "sqlite:app.db", "--outcome", "superseded")
	for args, want := range map[string]string{
		"":                         "3 2 1",
		"--service shop":           "3 1",
		"--env e1":                 "2",
		"--running":                "2 1",
		"--limit 2":                "3 2",
		"--before 3 --limit 1":     "2",
		"--service none":           "",
		"--namespace other":        "",
		"--running --service shop": "1",
	} {
		list := append([]string{"launch", "list", "--db", "sqlite:app.db"}, strings.Fields(args)...)
		var plain, inJSON []string
		for _, line := range lines(s.must(list...))[1:] {
			plain = append(plain, strings.Fields(line)[0])
		}
		decoder := json.NewDecoder(strings.NewReader(s.must(append(list, "--json")...)))
		for decoder.More() {
			var l launchlog.Launch
			if err := decoder.Decode(&l); err != nil {
				t.Fatal(err)
			}
			inJSON = append(inJSON, fmt.Sprint(l.ID))
		}
		if a, b := strings.Join(plain, " "), strings.Join(inJSON, " "); a != want || b != want {
			t.Errorf("list %s: %q, as JSON %q, want %q", args, a, b, want)
		}
	}
}
