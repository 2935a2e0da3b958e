package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// lines are what a command printed, without the last line end.
func lines(out string) []string { return strings.Split(strings.TrimSuffix(out, "\n"), "\n") }

func TestNewTestIDs(t *testing.T) {
	s := newShell(t)
	if got := s.must("new", "decimal", "--test"); got != "10000000000\n" {
		t.Errorf("%q", got)
	}
	for range 2 { // the same each time
		if got := s.must("new", "decimal", "-n", "3", "--test"); got != "10000000000\n20000000000\n30000000000\n" {
			t.Errorf("%q", got)
		}
	}
	if got := s.must("new", "decimal", "--test", "--json"); got != `{"scheme":"decimal","id":"10000000000","counter":1,"generator_id":0,"launch_id":0}`+"\n" {
		t.Errorf("%q", got)
	}
	s.env = append(s.env, launchVariable+"=65") // which a shell may have set for other commands
	if got := s.must("new", "decimal", "--test"); got != "10000000000\n" {
		t.Errorf("with %s: %q", launchVariable, got)
	}
	if got := s.must("new", "decimal", "--test", "--count", "100000"); strings.Count(got, "\n") != 100_000 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

// No ID comes twice: not from one run to the next, and not from processes that run at once.
func TestNewUnique(t *testing.T) {
	const processes, each = 8, 5_000
	s := newShell(t)
	id := s.start("a")
	var all []string
	for range 3 {
		all = append(all, lines(s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", id, "-n", "10"))...)
	}
	var running []*exec.Cmd
	outputs := make([]strings.Builder, processes)
	for i := range processes {
		cmd := s.command("new", "decimal", "--db", "sqlite:app.db", "-n", "5000")
		cmd.Env = append(cmd.Env, launchVariable+"="+id)
		cmd.Stdout = &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
		all = append(all, lines(outputs[i].String())...)
	}
	seen := map[string]bool{}
	generators := map[int]bool{}
	for _, text := range all {
		one, err := idtype.ParseDecimalID(text)
		if err != nil || seen[text] || one.Launch() != 1 {
			t.Fatalf("ID %q: seen %v, %v", text, seen[text], err)
		}
		seen[text], generators[one.Generator()] = true, true
	}
	if len(seen) != 30+processes*each || len(generators) != 3+processes {
		t.Errorf("%d IDs of %d generators", len(seen), len(generators))
	}
	if n := s.count(`SELECT count(*) FROM idmint_generator`); n != len(generators) {
		t.Errorf("the log has %d generator numbers", n)
	}
	t.Logf("%d processes, %d IDs, 0 repeats", processes+3, len(seen))
}

// --launch is stronger than the environment.
func TestNewLaunch(t *testing.T) {
	s := newShell(t)
	s.start("a")
	s.start("b")
	for _, test := range []struct {
		env  string
		args []string
		want int
	}{
		{"1", nil, 1},
		{"1", []string{"--launch", "2"}, 2},
		{"x", []string{"--launch", "2"}, 2},
		{"", []string{"--launch", "1"}, 1},
	} {
		of := *s
		of.env = append(of.env, launchVariable+"="+test.env)
		out := of.must(append([]string{"new", "decimal", "--json", "--db", "sqlite:app.db"}, test.args...)...)
		var got struct {
			Launch int `json:"launch_id"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Launch != test.want {
			t.Errorf("environment %q, arguments %v: launch %d, %v", test.env, test.args, got.Launch, err)
		}
	}
}
