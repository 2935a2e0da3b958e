package main

import (
	"fmt"
	"regexp"
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
		"lanch":              `idmint: unknown command "lanch": did you mean launch?`,
		"launch stort":       `idmint: unknown command "stort": did you mean start?`,
		"counter lst":        `idmint: unknown command "lst": did you mean list?`,
		"claims zzz":         `idmint: unknown command "zzz"` + "\n",
		"launch list --limt": `idmint: unknown flag: --limt: did you mean --limit?`,
		"launch list --zzzz": "idmint: unknown flag: --zzzz\n",
		"launch list -z":     "idmint: unknown shorthand flag: 'z' in -z\n",
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

// A flag's error quotes the value once, and names no function of Go.
func TestFlagErrors(t *testing.T) {
	s := newShell(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"launch", "list", "--limit", "x"}, `--limit "x": want a whole number`},
		{[]string{"new", "short", "-n", "1.5"}, `--count "1.5": want a whole number`},
		{[]string{"launch", "list", "--wait", "3"}, `--wait "3": want a time such as 30s or 2m`},
		{[]string{"launch", "list", "--json=perhaps"}, `--json "perhaps": want true or false`},
		{[]string{"launch", "list", "--limit", `a"b`}, "--limit `a\"b`: want a whole number"},
		{
			[]string{"launch", "start", "--db", "sqlite:none.db", "--format", `"env"`},
			"--format `\"env\"`: want plain or env",
		},
		{[]string{"inspect", `"14150009200065"`}, "`\"14150009200065\"` fits no scheme"},
	} {
		got := s.run(c.args...)
		if got.status == 0 || !strings.HasPrefix(got.stderr, "idmint: "+c.want) {
			t.Errorf("%q: %v, want %q", c.args, got, c.want)
		}
	}
}

// All times have their zone, UTC.
func TestZones(t *testing.T) {
	s := newShell(t)
	s.env = append(s.env, "TZ=Asia/Kolkata")
	s.must("migrate", "--db", "sqlite:app.db")
	s.start("a")
	s.lockAhead("sno/7", 4)
	s.run("counter", "advance", "orders", "--to", "70", "--db", "sqlite:app.db")
	zoned := regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ`)
	times := regexp.MustCompile(`\d\d:\d\d:\d\d`)
	for _, args := range []string{
		"launch list", "launch show 1", "counter list", "claims list",
		"claims free 7 --pool sno",
		"advance --launch 1 --counter orders=70 --ahead 1m --dry-run",
	} {
		got := s.run(append(strings.Fields(args), "--db", "sqlite:app.db")...)
		text := got.stdout + got.stderr
		if n := len(times.FindAllString(text, -1)); n == 0 ||
			n != len(zoned.FindAllString(text, -1)) {
			t.Errorf("%s: %v", args, got)
		}
	}
}
