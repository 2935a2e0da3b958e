package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// lines are what a command printed, without the last line end.
func lines(out string) []string { return strings.Split(strings.TrimSuffix(out, "\n"), "\n") }

// atOnce runs several processes at the same time, and returns the lines of all of them.
func (s *shell) atOnce(processes int, args ...string) (all []string) {
	s.Helper()
	outputs := make([]strings.Builder, processes)
	var running []*exec.Cmd
	for i := range outputs {
		cmd := s.command(args...)
		cmd.Stdout = &outputs[i]
		if err := cmd.Start(); err != nil {
			s.Fatal(err)
		}
		running = append(running, cmd)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			s.Errorf("%v, process %d: %v", args, i, err)
		}
		all = append(all, lines(outputs[i].String())...)
	}
	return all
}

// No ID comes twice: not from one run to the next, and not from processes that run at once.
func TestNewUnique(t *testing.T) {
	t.Parallel()
	const processes, each = 4, 5_000
	s := newShell(t)
	id := s.start("a")
	var all []string
	for range 3 {
		all = append(all, lines(
			s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", id, "-n", "10"))...)
	}
	s.env = append(s.env, launchVariable+"="+id)
	all = append(all,
		s.atOnce(processes, "new", "decimal", "--db", "sqlite:app.db", "-n", "5000")...)
	seen := map[string]bool{}
	generators := map[int]bool{}
	for _, text := range all {
		one, err := idtype.Parse[idtype.DecimalID](text)
		if err != nil || seen[text] || one.Parts().Launch != 1 {
			t.Fatalf("ID %q: seen %v, %v", text, seen[text], err)
		}
		seen[text], generators[one.Parts().Generator] = true, true
	}
	if len(seen) != 30+processes*each || len(generators) != 3+processes {
		t.Errorf("%d IDs of %d generators", len(seen), len(generators))
	}
	if n := s.count(`SELECT count(*) FROM idmint_generator`); n != len(generators) {
		t.Errorf("the log has %d generator numbers", n)
	}
	t.Logf("%d processes, %d IDs, 0 repeats", processes+3, len(seen))
}

// The schemes beside decimal, with the flags that they want, and a reader of their IDs.
var minted = []struct {
	args  string
	parts string // what is the same in every line of JSON
}{
	{"trace --node 7", `"node_no":7,`},
	{
		"eightbyte --generator 1161 --cluster 11 --mode time",
		`"mode":"TIME_SEQUENTIAL",`,
	},
	{
		"eightbyte --generator 2047 --cluster 15 --mode spread",
		`"generator_id":2047,"cluster_id":15}`,
	},
	{"short", `"scheme":"short",`},
	{"sno --partition 34824 --meta 158", `"meta":158,"partition":34824,`},
	{"sno --partition 0", `"meta":0,"partition":0,`},
}

// IDs of the schemes that carry the time are of now, have the numbers that were given, and no two
// are the same. With a database that is so of runs that follow each other at once, too.
func TestNewTimed(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	for _, m := range minted {
		seen := map[string]bool{}
		for run, db := range []string{"", " --db sqlite:app.db", " --db sqlite:app.db"} {
			began := time.Now()
			args := strings.Fields("new " + m.args + " -n 3000" + db)
			for _, text := range lines(s.must(args...)) {
				id, err := readText(strings.Fields(m.args)[0], text)
				if err != nil || seen[text] {
					t.Fatalf("%v: %q seen before: %v, %v", args, text, seen[text], err)
				}
				seen[text] = true
				at := id.Times(time.Now().Add(3 * time.Second))[0]
				if at.Before(began.Add(-2*time.Second)) || at.After(time.Now().Add(time.Second)) {
					t.Fatalf("%v: %s is of %v, not of %v", args, text, at, began)
				}
			}
			if run == 0 { // a run without a database is in no counter
				clear(seen)
				out := s.must(append(args, "--json")...)
				if strings.Count(out, m.parts) != 3000 {
					t.Errorf("%v --json: %d lines with %s", args, strings.Count(out, m.parts), m.parts)
				}
			}
		}
	}
	for _, counter := range []string{
		"trace/7", "eightbyte/11/1161", "eightbyte/15/2047", "short",
		"sno/34824", "sno/0",
	} {
		if n := s.count(`SELECT count(*) FROM idmint_counter WHERE name = ?`, counter); n != 1 {
			t.Errorf("%d counters %s", n, counter)
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

// readText reads the text of an ID that follows the layout of a scheme.
func readText(scheme, text string) (identified, error) {
	s, err := schemeNamed(scheme)
	if err != nil {
		return nil, err
	}
	return readValid(s, schemes.Text, text)
}
