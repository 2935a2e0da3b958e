package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var ofRun1 = []column{
	{"x", serial("Mint/x"), "y", serial("Peer/y-uuid7")},
	{"c", parallel("Cap/x"), "", figure{}},
}

const headOfRun1 = "date\tcommit\tgo\tprocessors\tcpu\trounds\tx, ns\t/ y\tc, ns\n"

// six are enough rounds of run1 for a measurement.
func six(commit string) string { return "commit: " + commit + "\n" + strings.Repeat(run1, 6) }

func rememberAll(t *testing.T, file string, runs ...string) string {
	t.Helper()
	for _, run := range runs {
		if err := remember(file, results1(t, run), ofRun1); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHistory(t *testing.T) {
	const a = "2026-01-02\taaa\tgo1.26.0\t2\tsome\t6\t6.00\t0.40\t15625\n"
	later := strings.ReplaceAll(a, "2026-01-02\taaa", "2026-01-03\tbbb")
	nextDay := strings.ReplaceAll(six("bbb"), "2026-01-02", "2026-01-03")
	for _, c := range []struct {
		name string
		runs []string
		want string
	}{
		{"a run makes the file", []string{six("aaa")}, headOfRun1 + a},
		{"a later run adds a line", []string{six("aaa"), nextDay}, headOfRun1 + a + later},
		{
			"a run again takes the place of the last",
			[]string{six("aaa"), strings.ReplaceAll(six("aaa"), " 6 ns/op", " 8 ns/op")},
			headOfRun1 + strings.Replace(a, "6.00\t0.40", "8.00\t0.40", 1),
		},
		{
			"another commit of a day has its own",
			[]string{six("aaa"), six("bbb")},
			headOfRun1 + a + strings.Replace(a, "aaa", "bbb", 1),
		},
		{"too few rounds are none", []string{six("aaa"), run1}, headOfRun1 + a},
		{
			"a busy machine is none",
			[]string{
				six("aaa"),
				strings.ReplaceAll(six("bbb"), "0.25 ns/op	 0.5 cpu-ns/op",
					"0.5 ns/op	 0.5 cpu-ns/op"),
			},
			headOfRun1 + a,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := rememberAll(t, filepath.Join(t.TempDir(), "history.tsv"), c.runs...)
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// What cannot be added leaves the file as it was.
func TestHistoryRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, run, want string }{
		{"other columns", "date\tcommit\n", six("aaa"), "other columns"},
		{"an empty file", "", six("aaa"), "other columns"},
		{
			"a figure that the run lacks", headOfRun1,
			strings.ReplaceAll(six("aaa"), "BenchmarkCap", "BenchmarkCup"), "no Cap/x",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "history.tsv")
			if err := os.WriteFile(file, []byte(c.old), 0o644); err != nil {
				t.Fatal(err)
			}
			err := remember(file, results1(t, c.run), ofRun1)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, not an error that says %q", err, c.want)
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != c.old {
				t.Errorf("the file is now %q, %v", text, err)
			}
		})
	}
}

// The file of the repository can be added to: its head is that of the columns, and every line has
// as many cells.
func TestHistoryFile(t *testing.T) {
	text, err := os.ReadFile("../history.tsv")
	if err != nil {
		t.Fatal(err)
	}
	head := historyHead(columns)
	if !strings.HasPrefix(string(text), head) {
		t.Errorf("the head is not\n%s", head)
	}
	for line := range strings.Lines(string(text)) {
		if got, want := strings.Count(line, "\t"), strings.Count(head, "\t"); got != want ||
			!strings.HasSuffix(line, "\n") {
			t.Errorf("%d tabs, want %d, and a line's end: %q", got, want, line)
		}
	}
	if strings.Count(string(text), "\n") < 2 {
		t.Error("no run is remembered")
	}
}
