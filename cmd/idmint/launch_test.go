package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

func TestLaunchStart(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
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
	err := json.Unmarshal([]byte(s.must(args("k", "--json")...)), &launch)
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
	if got := s.run(args("m")...); got.status != 1 || got.stdout != "" ||
		!strings.Contains(got.stderr, "launch 3, of this key, has ended as superseded") {
		t.Errorf("the key of a launch that has ended: %v", got)
	}
}

func TestLaunchFields(t *testing.T) {
	s := inside(t)
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

func TestLaunchEnd(t *testing.T) {
	s := inside(t)
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

// What an ending that comes too late would have changed is said, and nothing else.
func TestLaunchEndTwice(t *testing.T) {
	s := inside(t)
	s.start("a")
	end := func(more ...string) answer {
		return s.run(append([]string{"launch", "end", "1", "--db", "sqlite:app.db"}, more...)...)
	}
	if got := end("--outcome", "failed", "--reason", "too slow", "--initiator", "bob"); got.status != 0 {
		t.Fatal(got)
	}
	for range 2 { // the same, and less
		got := end("--outcome", "failed", "--reason", "too slow", "--initiator", "bob")
		if less := end("--outcome", "failed"); got != (answer{}) || less != got {
			t.Errorf("%v, %v", got, less)
		}
	}
	got := end("--outcome", "failed", "--reason", "broken", "--initiator", "eve")
	for _, want := range []string{
		`its reason stays "too slow", and "broken" is not recorded`,
		`its initiator stays "bob", and "eve" is not recorded`,
	} {
		if got.status != 0 || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%v, want %q", got, want)
		}
	}
	got = end("--outcome", "succeeded")
	const want = "has ended already, with outcome failed, and not succeeded: nothing was changed"
	if got.status != statusBadInput || !strings.Contains(got.stderr, want) {
		t.Errorf("%v, want %q", got, want)
	}
}

// A launch that supersedes ends the earlier ones of its service and environment, and no other.
func TestLaunchSupersede(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	start := func(key, service, env string, more ...string) answer {
		return s.run(append([]string{
			"launch", "start", "--db", "sqlite:app.db", "--service", service, "--env", env,
			"--key", key, "--initiator", "ann",
		}, more...)...)
	}
	running := func() string {
		out := s.must("launch", "list", "--db", "sqlite:app.db", "--running", "--json")
		var ids []string
		for _, line := range lines(out) {
			var l launchlog.Launch
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, fmt.Sprint(l.ID))
		}
		return strings.Join(ids, " ")
	}
	for i, place := range []string{"shop live", "shop live", "blog live", "shop test", "shop live"} {
		service, env, _ := strings.Cut(place, " ")
		if got := start(fmt.Sprint(i), service, env); got.status != 0 {
			t.Fatal(got)
		}
	}
	s.must("launch", "end", "2", "--db", "sqlite:app.db", "--outcome", "failed")
	// A pipeline of before is run again: later launches go on.
	if got := start("3", "shop", "test", "--supersede"); got.status != 0 || got.stderr != "" {
		t.Error(got)
	}
	if got := running(); got != "5 4 3 1" {
		t.Errorf("running: %s", got)
	}
	got := start("new", "shop", "live", "--supersede")
	if got.status != 0 || got.stdout != "6\n" || strings.Count(got.stderr, "\n") != 2 ||
		!strings.Contains(got.stderr, "ended launch 1 as superseded\n") ||
		!strings.Contains(got.stderr, "ended launch 5 as superseded\n") {
		t.Error(got)
	}
	if got := running(); got != "6 4 3" {
		t.Errorf("running: %s", got)
	}
	if got := start("new", "shop", "live", "--supersede"); got != (answer{stdout: "6\n"}) {
		t.Errorf("again: %v", got)
	}
	shown := s.must("launch", "show", "5", "--db", "sqlite:app.db")
	if !strings.Contains(shown, "launch 6 took its place") ||
		!strings.Contains(shown, "ended by ann") {
		t.Error(shown)
	}
	// The key of what was superseded starts nothing, and ends nothing.
	got = start("0", "shop", "live", "--supersede", "--format", "env")
	if got.status != statusBadInput || got.stdout != "" ||
		!strings.Contains(got.stderr, "launch 1, of this key, has ended as superseded") {
		t.Error(got)
	}
	if got := running(); got != "6 4 3" {
		t.Errorf("running: %s", got)
	}
}

// A launch's history is told in the order of time.
func TestHistory(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	var told []string
	for _, h := range history([]launchlog.Event{
		{Kind: "started", Actor: "ann", At: at(1)}, {Kind: "ended", Actor: "bob", At: at(3)},
	}, []launchlog.Claim{
		{Generator: 0, ClaimedAt: at(1)},
		{Generator: 2, ClaimedAt: at(5)},
		{Generator: 1, ClaimedAt: at(2)},
	}) {
		told = append(told, strings.Join(strings.Fields(h.what)[:2], " "))
	}
	const want = "started by, generator 0, generator 1, ended by, generator 2"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLaunchList(t *testing.T) {
	s := inside(t)
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
