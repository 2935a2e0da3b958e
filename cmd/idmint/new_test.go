package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/explain"
)

// lines are what a command printed, without the last line end.
func lines(out string) []string { return strings.Split(strings.TrimSuffix(out, "\n"), "\n") }

func TestNewTestIDs(t *testing.T) {
	s := inside(t)
	if got := s.must("new", "decimal", "--test"); got != "10000000000\n" {
		t.Errorf("%q", got)
	}
	for range 2 { // the same each time
		got := s.must("new", "decimal", "-n", "3", "--test")
		if got != "10000000000\n20000000000\n30000000000\n" {
			t.Errorf("%q", got)
		}
	}
	got := s.must("new", "decimal", "--test", "--json")
	if got != `{"scheme":"decimal","id":"10000000000","counter":1,"generator_id":0,`+
		`"launch_id":0}`+"\n" {
		t.Errorf("%q", got)
	}
	s.env = append(s.env, launchVariable+"=65") // which a shell may have set for other commands
	if got := s.must("new", "decimal", "--test"); got != "10000000000\n" {
		t.Errorf("with %s: %q", launchVariable, got)
	}
	if got := s.must("new", "decimal", "--test", "--count", "100000"); strings.Count(got,
		"\n") != 100_000 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

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

// --launch is stronger than the environment.
func TestNewLaunch(t *testing.T) {
	s := inside(t)
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
		out := of.must(append([]string{"new", "decimal", "--json", "--db", "sqlite:app.db"},
			test.args...)...)
		var got struct {
			Launch int `json:"launch_id"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Launch != test.want {
			t.Errorf("environment %q, arguments %v: launch %d, %v", test.env, test.args, got.Launch,
				err)
		}
	}
}

// The schemes beside decimal, with the flags that they want, and a reader of their IDs.
var minted = []struct {
	args  string
	parse func(string) (identified, error)
	parts string // what is the same in every line of JSON
}{
	{"trace --node 7", reader(traceKind), `"node_no":7,`},
	{
		"eightbyte --generator 1161 --cluster 11 --mode time", reader(eightByteKind),
		`"mode":"TIME_SEQUENTIAL",`,
	},
	{
		"eightbyte --generator 2047 --cluster 15 --mode spread", reader(eightByteKind),
		`"generator_id":2047,"cluster_id":15}`,
	},
	{"short", reader(shortKind), `"scheme":"short",`},
	{"sno --partition 34824 --meta 158", reader(snoKind), `"meta":158,"partition":34824,`},
	{"sno --partition 0", reader(snoKind), `"meta":0,"partition":0,`},
}

func reader(s scheme) func(string) (identified, error) {
	return func(text string) (identified, error) { return readValid(s, explain.Text, text) }
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
				id, err := m.parse(text)
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

// Without a database, a run that follows at once repeats nothing either.
func TestNewGivenAgain(t *testing.T) {
	s := newShell(t)
	seen := map[string]bool{}
	for range 5 {
		for _, text := range lines(s.must("new", "sno", "--partition", "5", "-n", "10")) {
			if seen[text] {
				t.Errorf("%s twice", text)
			}
			seen[text] = true
		}
	}
	if len(seen) != 50 {
		t.Errorf("%d IDs", len(seen))
	}
}

// The sequence numbers of a pool, and nothing else.
func TestNewPool(t *testing.T) {
	s := inside(t)
	for args, field := range map[string]string{
		"trace --node 1": "bottom", "eightbyte --generator 1 --cluster 1 --mode time": "sequence",
		"short": "sequence", "sno --partition 1": "sequence",
	} {
		decoder := json.NewDecoder(
			strings.NewReader(s.must(
				strings.Fields("new " + args + " --pool 11..13 -n 3 --json")...)))
		for want := 11; decoder.More(); want++ {
			var fields map[string]any
			if err := decoder.Decode(&fields); err != nil || fields[field] != float64(want) {
				t.Errorf("%s: %v, want %s %d, %v", args, fields, field, want, err)
			}
		}
	}
}

// IDs of another time: all that it has, and then an error.
func TestNewBackdated(t *testing.T) {
	s := inside(t)
	want := `{"scheme":"sno","id":"8fhmi7me22228227","hex":"335f48168c0000030005","unix_ms":1703587783960,"tick_tock":0,"meta":0,"partition":3,"sequence":5}
{"scheme":"sno","id":"8fhmi7me22228228","hex":"335f48168c0000030006","unix_ms":1703587783960,"tick_tock":0,"meta":0,"partition":3,"sequence":6}
`
	args := strings.Fields(
		"new sno --partition 3 --time 2023-12-26T10:49:43.962Z --pool 5..6 --json -n")
	for range 2 { // the same each time
		if got := s.must(append(args, "2")...); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	got := s.run(append(args, "3")...)
	if got.stdout != want || got.status != 1 ||
		!strings.Contains(got.stderr,
			"the sequence numbers 5..6 of 2023-12-26T10:49:43.962Z are used up") {
		t.Errorf("%v", got)
	}
	all := s.must("new", "sno", "--partition", "3", "--time", "2023-12-26", "-n", "65536")
	if strings.Count(all, "\n") != 65536 {
		t.Errorf("%d lines", strings.Count(all, "\n"))
	}
}

// A sequence goes on where it was, in every run, and leaves no gap unless it takes blocks.
func TestNewSequence(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	mint := func(args string) string {
		return strings.Join(
			lines(s.must(strings.Fields("new sequence --db sqlite:app.db "+args)...)), " ")
	}
	for _, step := range []struct{ args, want string }{
		{"--counter orders", "1"},
		{"--counter orders -n 3", "2 3 4"},
		{"--counter shop/orders", "1"},
		{"--counter orders --namespace other", "1"},
		{"--counter orders -n 2 --block 100", "5 6"},
		{"--counter orders -n 3 --block 2", "105 106 107"},
		{"--counter orders", "109"},
		{"--counter orders --json", `{"scheme":"sequence","id":"110"}`},
	} {
		if got := mint(step.args); got != step.want {
			t.Errorf("%s: %s, want %s", step.args, got, step.want)
		}
	}
	out := lines(s.must("new", "sequence", "--db", "sqlite:app.db", "--counter", "orders", "-n",
		"100000"))
	if len(out) != 100_000 || out[0] != "111" || out[99_999] != "100110" {
		t.Errorf("%d IDs, %s to %s", len(out), out[0], out[len(out)-1])
	}
}
