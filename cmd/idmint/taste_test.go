package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A topic that is no command is wrong usage, and those that are near are named.
func TestHelpUnknown(t *testing.T) {
	s := inside(t)
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

// A command waits for its number's time for as long as --wait says, and no longer. Ctrl-C ends that.
func TestNewWaits(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	for partition, ahead := range map[string]time.Duration{
		"7": time.Second, "8": 30 * time.Minute,
	} {
		until := fmt.Sprint(time.Now().Add(ahead).UnixMilli() / 4)
		if got := s.run("counter", "advance", "sno/"+partition, "--to", until, "--db",
			"sqlite:app.db"); got.status != 0 {
			t.Fatal(got)
		}
	}
	s.must("new", "sno", "--partition", "7", "--db", "sqlite:app.db")
	args := []string{"new", "sno", "--partition", "8", "--db", "sqlite:app.db", "--wait"}
	got := s.run(append(args, "20m")...)
	if got.status != statusBadInput || !strings.Contains(got.stderr, "the clock is behind") {
		t.Errorf("--wait 20m: %v", got)
	}
	cmd := s.command(append(args, "1h")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.opens(cmd.Process.Pid, "app.db")
	time.Sleep(200 * time.Millisecond) // in which it would fail if it did not wait
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != statusInterrupted ||
		!strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("--wait 1h: %v, %q", cmd.ProcessState, stderr.String())
	}
}

// A launch that has ended otherwise is told with its outcome.
func TestEndTellsOutcome(t *testing.T) {
	s := inside(t)
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
	s := inside(t)
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
	t.Parallel()
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
