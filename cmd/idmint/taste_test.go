package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A topic that is no command is wrong usage, and those that are near are named.
func TestHelpUnknown(t *testing.T) {
	s := newShell(t)
	for args, want := range map[string]string{
		"help lanch":         `idmint: help: unknown command "lanch": did you mean launch?`,
		"help launch stort":  `idmint: help: unknown command "stort": did you mean start?`,
		"help new sno extra": `idmint: help: unknown command "extra"`,
		"help zzzzzz":        `idmint: help: unknown command "zzzzzz"` + "\n",
	} {
		got := s.run(strings.Fields(args)...)
		if got.status != statusUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, want) {
			t.Errorf("%s: %v, want %q", args, got, want)
		}
	}
	for args, want := range map[string]string{
		"help": "Usage:", "help launch start": "idmint launch start", "help new sno": "--partition",
	} {
		if got := s.must(strings.Fields(args)...); !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", args, got, want)
		}
	}
}

// A command that was lent a number says which.
func TestNewTellsNumber(t *testing.T) {
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	for args, want := range map[string]string{
		"new sno":                   "idmint: partition ",
		"new trace":                 "idmint: node ",
		"new eightbyte --mode time": "idmint: cluster/generator 0/",
	} {
		got := s.run(append(strings.Fields(args), "--db", "sqlite:app.db")...)
		if got.status != 0 || !strings.HasPrefix(got.stderr, want) ||
			!strings.HasSuffix(got.stderr, " is lent to this command\n") {
			t.Errorf("%s: %v, want %q", args, got, want)
		}
	}
}

// A command waits for its number's time for as long as --wait says, and no longer.
func TestNewWaits(t *testing.T) {
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	ahead := time.Now().Add(13*time.Second).UnixMilli() / 4
	if got := s.run("counter", "advance", "sno/7", "--to", fmt.Sprint(ahead), "--db",
		"sqlite:app.db"); got.status != 0 {
		t.Fatal(got)
	}
	args := []string{"new", "sno", "--partition", "7", "--db", "sqlite:app.db"}
	got := s.run(append(args, "--wait", "100ms")...)
	if got.status != statusBadInput || !strings.Contains(got.stderr, "the clock is behind") {
		t.Errorf("--wait 100ms: %v", got)
	}
	if got = s.run(args...); got.status != 0 { // by 30 s
		t.Errorf("by default: %v", got)
	}
}

// A launch that has ended otherwise is told with its outcome.
func TestEndTellsOutcome(t *testing.T) {
	s := newShell(t)
	id := s.start("a")
	s.must("launch", "end", id, "--outcome", "failed", "--db", "sqlite:app.db")
	got := s.run("launch", "end", id, "--outcome", "succeeded", "--db", "sqlite:app.db")
	if got.status != statusBadInput || !strings.Contains(got.stderr,
		`launch 1, of key "a", has ended already, with outcome failed`) {
		t.Error(got)
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 notes", 1: "1 note", 2: "2 notes"} {
		if got := plural(n, "note"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
