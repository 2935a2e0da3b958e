package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// One command counts all that a restored log may have forgotten as used.
func TestAdvance(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := func(args string) answer {
		t.Helper()
		return s.run(append(strings.Fields(args), "--db", "sqlite:app.db")...)
	}
	values := func() map[string]int64 {
		t.Helper()
		found := map[string]int64{}
		for _, line := range lines(run("counter list --json").stdout) {
			var c struct {
				Name  string
				Value int64 `json:",string"`
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			found[c.Name] = c.Value
		}
		return found
	}
	s.start("a")
	for _, args := range []string{
		"new sequence --counter orders -n 3", "new sequence --counter sno/orders -n 5",
		"new sno --partition 7", "new eightbyte --mode time", "new decimal --launch 1",
		"claims clusters --set 0,3", "new sno",
	} {
		if got := run(args); got.status != 0 {
			t.Fatalf("%s: %v", args, got)
		}
	}
	before := values()
	const question = "how far have these counters come? Name each by --counter NAME=NUMBER, or =0 to " +
		"leave it: orders, sno/orders"
	for _, test := range []struct {
		args   string
		status int
		want   string // in stderr
	}{
		{"--launch 1", 1, question},
		{"--launch 9 --dry-run", 1, question},
		{
			"--launch 9 --counter orders=2 --counter sno/orders=0", 1,
			"--counter orders=2: in the log it has already come to 3",
		},
		{
			"--launch 0 --counter orders=7 --counter sno/orders=0", 1,
			"--launch 0 is below the last launch, 1",
		},
	} {
		got := run("advance " + test.args)
		if got.status != test.status || got.stdout != "" || !strings.Contains(got.stderr, test.want) {
			t.Errorf("advance %s: %v; want status %d and %q", test.args, got, test.status, test.want)
		}
	}
	const all = "advance --launch 9 --counter orders=7 --counter sno/orders=0 " +
		"--counter bills=11 --ahead 10m"
	dry := run(all + " --dry-run")
	if after := values(); fmt.Sprint(after) != fmt.Sprint(before) || dry.status != 0 {
		t.Errorf("a dry run: %v; counters %v, want %v", dry, after, before)
	}

	now := time.Now().UnixMilli()
	got := run(all)
	if got.status != 0 || !strings.Contains(got.stderr, "counter bills of namespace default had "+
		"handed out nothing") || !strings.Contains(got.stderr, "start the apps after that") {
		t.Error(got)
	}
	// Times and the number of what was to be raised are those of the dry run. Only seconds differ.
	if a, b := len(lines(dry.stdout)), len(lines(got.stdout)); a != b || a != 10 {
		t.Errorf("it says %s and dry %s", got.stdout, dry.stdout)
	}
	if !regexp.MustCompile(`(?m)^counter orders +3 +7 *$`).MatchString(got.stdout) {
		t.Errorf("it says %s", got.stdout)
	}
	after := values()
	for name, want := range map[string]int64{
		"orders": 7, "bills": 11, "sno/orders": 5,
		"eightbyte/clusters": before["eightbyte/clusters"],
	} {
		if after[name] != want {
			t.Errorf("counter %s is at %d, want %d", name, after[name], want)
		}
		delete(after, name)
	}
	most, numbers := time.Now().UnixMilli()+602_000, 0
	for name, value := range after {
		scheme, _, _ := strings.Cut(name, "/")
		unit := map[string]int64{"sno": 4, "trace": 1000, "eightbyte": 1, "snowflake": 1, "short": 1}[scheme]
		if at := value * unit; at < now+599_000 || at > most+unit {
			t.Errorf("counter %s is at %d, %d ms from now", name, value, at-now)
		}
		if _, was := before[name]; was {
			numbers++
		}
	}
	for _, name := range []string{"trace/floor", "sno/floor", "eightbyte/floor", "short"} {
		if after[name] == 0 {
			t.Errorf("counter %s is not there: %v", name, after)
		}
	}
	if numbers != 3 {
		t.Errorf("counters %v, and before %v", after, before)
	}
	if got := run("new decimal --launch 1"); got.status != 1 ||
		!strings.Contains(got.stderr, "the launch has ended") {
		t.Errorf("the launch before: %v", got)
	}
	// Nobody mints before that time. Run again, the command lowers nothing.
	for wait := time.Second; ; wait *= 4 {
		got := run("new sno --wait " + wait.String())
		lent := strings.Contains(got.stderr, "are lent")
		if !lent && got.status == 1 && wait < time.Minute {
			continue // a busy machine may have had no time to ask
		}
		if got.status != 1 || !lent {
			t.Errorf("a number: %v", got)
		}
		break
	}
	if got := run("new sno --partition 7 --wait 1s"); got.status != 1 {
		t.Errorf("a ceiling: %v", got)
	}
	got = run(strings.Replace(strings.Replace(all, "10m", "1s", 1), "bills=11", "bills=0", 1) +
		" --json")
	if got.status != 0 || strings.Count(got.stdout, `"raised":0`) != 4 ||
		!strings.Contains(got.stdout, `{"namespace":"default","kind":"launches","to":"9"}`+"\n") ||
		!strings.Contains(got.stdout, `"kind":"counter","name":"bills","from":"11","to":"11"}`+"\n") {
		t.Errorf("again: %v", got)
	}
	for name, value := range values() {
		if want, times := after[name]; times && value != want {
			t.Errorf("again: counter %s went from %d to %d", name, want, value)
		}
	}
	if id := s.start("b"); id != "10" {
		t.Errorf("the next launch is %s", id)
	}
}
