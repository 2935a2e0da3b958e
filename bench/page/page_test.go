package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// run1 holds three rounds, of which the first was disturbed, and what every page needs.
var run1 = ofPeers(40, "ulid", "gofrs-uuid7", "google-uuid7-pooled") + ofPeers(20, "xid", "muyo-sno-below-cap") +
	ofPeers(8, "snowflake-20-step-bits") + `go: go1.26.0
date: 2026-01-02
processors: 2
peers: github.com/a/b v1.0.0,
goos: linux
goarch: amd64
pkg: github.com/idmint/idmint/bench
cpu: some
BenchmarkFloor/increment 	 100	 0.5 ns/op	 0.5 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkFloor/increment-2 	 100	 0.25 ns/op	 0.5 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkMint/x 	 100	 30 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkMint/x-2 	 100	 2 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkMint/x 	 100	 4 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkMint/x-2 	 100	 2 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkMint/x 	 100	 6 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkMint/x-2 	 100	 2 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkPeer/y-uuid7 	 100	 60 ns/op	 10 cpu-ns/op	 16 B/op	 1 allocs/op
BenchmarkPeer/y-uuid7-2 	 100	 5 ns/op	 10 cpu-ns/op	 16 B/op	 1 allocs/op
BenchmarkPeer/y-uuid7 	 100	 10 ns/op	 10 cpu-ns/op	 16 B/op	 1 allocs/op
BenchmarkPeer/y-uuid7-2 	 100	 5 ns/op	 10 cpu-ns/op	 16 B/op	 1 allocs/op
BenchmarkPeer/y-uuid7 	 100	 20 ns/op	 10 cpu-ns/op	 16 B/op	 1 allocs/op
BenchmarkPeer/y-uuid7-2 	 100	 5 ns/op	 10 cpu-ns/op	 16 B/op	 1 allocs/op
BenchmarkMint/s/shared 	 100	 10 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkMint/s/shared-2 	 100	 10 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkEncode/x 	 100	 4 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkEncode/x-2 	 100	 2 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkDecode/x 	 100	 4 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkDecode/x-2 	 100	 2 ns/op	 4 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkCap/x 	 100	 15625 ns/op	 99.5 %cap	 3 %core	 500 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkCap/x-2 	 100	 15625 ns/op	 98.5 %cap	 4 %core	 500 cpu-ns/op	 0 B/op	 0 allocs/op
BenchmarkRepeats/muyo-sno/goroutines=2-2 	 1	 1000 ns/op	 39 repeats
BenchmarkRepeats/ours/goroutines=2-2 	 1	 1000 ns/op	 0 repeats
PASS
pkg: github.com/idmint/idmint/integration_test/gorm
BenchmarkCreateInBatches/SQLite-2 	 9	 1790 ns/row-by-hand	 1.02 ratio	 1.01 ratio-of-best
PASS
ok  	github.com/idmint/idmint/gormid	2.1s
pkg: github.com/idmint/idmint/integration_test/stores
BenchmarkPostgres/Claim/mode-2 	 9	 500000 ns/op
pkg: github.com/idmint/idmint/launchlog/sqlite
BenchmarkReserve-2 	 9	 250000 ns/op
`

func ofPeers(ns int, names ...string) string {
	text := "pkg: github.com/idmint/idmint/bench\n"
	for _, name := range names {
		for _, processors := range []string{"", "-2"} {
			text += fmt.Sprintf("BenchmarkPeer/%s%s 100 %d ns/op 10 cpu-ns/op 16 B/op 1 allocs/op\n", name,
				processors, ns)
		}
	}
	return text
}

func results1(t *testing.T, text string) *results {
	t.Helper()
	r, err := read(strings.NewReader(text), "run1")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, r *results, targets ...target) string {
	t.Helper()
	text, err := speedPage(r, targets)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPage(t *testing.T) {
	// The ratios of the rounds are 0.5, 0.4 and 0.3: their median is not that of the medians, 6/20.
	ratio := func(most float64) target {
		return relative("x", serial("Mint/x"), "y", serial("Peer/y-uuid7"), atMost(most))
	}
	explained := ratio(0.39)
	explained.reason = "y is quick."
	for _, c := range []struct {
		name   string
		target target
		want   []string
	}{
		{
			"a ratio at its bound", ratio(0.4),
			[]string{
				"1 of 1 are met", "| x | 6.00 ns | y, 20.0 ns | 0.40 ± ", "| ≤ 0.4 × y | met |",
			},
		},
		{
			"a ratio above it", ratio(0.39),
			[]string{
				"0 of 1 are met", "| **missed** |",
				"- x, ≤ 0.39 × y: the reason is not known yet.\n",
			},
		},
		{"a reason", explained, []string{"- x, ≤ 0.39 × y: y is quick.\n"}},
		{
			"a share", absolute("c", serial("Cap/x").in("%cap"), atLeast(99)),
			[]string{"| c | 99.5 % |  |  | ≥ 99 % | met |"},
		},
		{
			"a share in parallel", absolute("c", parallel("Cap/x").in("%cap"), atLeast(99)),
			[]string{"| c | 98.5 % |  |  | ≥ 99 % | **missed** |"},
		},
		{
			"a range beside another",
			target{
				what: "z", ours: serial("Mint/x"), peer: "y", against: serial("Peer/y-uuid7"),
				bound: bound{5, 7},
			},
			[]string{"| z | 6.00 ns | y, 20.0 ns | 0.40 ± ", "| 5.0–7.0 ns | met |"},
		},
		{
			"others", ratio(1),
			[]string{"| one goroutine | bwmarrin/snowflake, 20 step bits | xid |", "| s | 1.25 ± ", "| 0.50 ± "},
		},
		{
			"databases", ratio(1),
			[]string{
				"| CreateInBatches/SQLite | 1790 ns | 1.02 |\n",
				"| Postgres/Claim/mode | 2000 |\n| sqlite/Reserve | 4000 |\n",
			},
		},
		{
			"the rest", ratio(1),
			[]string{
				"on 2026-01-02", "Compared with: a/b v1.0.0.", "got 2.00 processors",
				"**Not a measurement**", "| 2 | 0 | 39 |\n",
				"| x | 15625 ns | 99.5 % | 3.00 % | 15625 ns | 98.5 % |",
				"| y-uuid7 | 20.0 ns ± ∞ | 5.00 ns ± ", "| 10.0 ns | 10.0 ns | 1 |\n",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := written(t, results1(t, run1), c.target)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("the page lacks %q:\n%s", want, got)
				}
			}
			if strings.Contains(got, "Not a quiet machine") {
				t.Error("it says that the machine was not quiet")
			}
		})
	}
}

func TestBusyMachine(t *testing.T) {
	busy := strings.Replace(run1, "0.25 ns/op	 0.5 cpu-ns/op", "0.5 ns/op	 0.5 cpu-ns/op", 1)
	if got := written(t, results1(t, busy)); !strings.Contains(got, "got 1.00 processors") ||
		!strings.Contains(got, "**Not a quiet machine**") {
		t.Errorf("nothing says that two goroutines had one processor:\n%s", got)
	}
}

func TestEnoughRounds(t *testing.T) {
	if got := written(t, results1(t, strings.Repeat(run1, 6))); strings.Contains(got,
		"**Not a measurement**") || strings.Contains(got, "∞") {
		t.Errorf("six rounds are not enough:\n%s", got)
	}
}

// A run that lacks what a page needs makes no page.
func TestIncompleteRun(t *testing.T) {
	ours := relative("x", serial("Mint/x"), "y", serial("Peer/y-uuid7"), atMost(1))
	for _, c := range []struct{ name, without, want string }{
		{
			"nothing parallel", "BenchmarkFloor/increment-2",
			"no Floor/increment in parallel, cpu-ns/op",
		},
		{"our figure", "BenchmarkMint/x", "no Mint/x, ns/op"},
		{"the other one", "BenchmarkPeer/y-uuid7 ", "no Peer/y-uuid7, ns/op"},
		{"a group", "BenchmarkDecode/", "no Decode/…"},
		{"the cap in parallel", "BenchmarkCap/x-2", "no Cap/x in parallel, ns/op"},
		{"our repeats", "BenchmarkRepeats/ours", "no Repeats/ours/…"},
		{
			"their repeats", "BenchmarkRepeats/muyo",
			"no Repeats/muyo-sno/goroutines=2 in parallel, repeats",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var kept []string
			for _, line := range strings.SplitAfter(run1, "\n") {
				if !strings.HasPrefix(line, c.without) {
					kept = append(kept, line)
				}
			}
			_, err := speedPage(results1(t, strings.Join(kept, "")), []target{ours})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, not an error that says %q", err, c.want)
			}
		})
	}
	t.Run("a round", func(t *testing.T) {
		short := strings.Replace(run1,
			"BenchmarkPeer/y-uuid7 	 100	 60 ns/op	 10 cpu-ns/op	 16 B/op	 1 allocs/op\n",
			"", 1)
		_, err := speedPage(results1(t, short), []target{ours})
		if err == nil || !strings.Contains(err.Error(),
			"3 of Mint/x, ns/op, and 2 of Peer/y-uuid7, ns/op") {
			t.Errorf("got %v, not an error that counts the rounds", err)
		}
	})
}

// The command writes what it is asked for, each at its place.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	imported := func(database string) string {
		return "BenchmarkImport/" + database + "-2 1 1 ns/op 0.7 cpu-ratio 0.8 its-cpu-s 0.54 our-cpu-s " +
			"0.5 our-client-s 0.62 elapsed-ratio\n"
	}
	const before, after = "# A\n\n<!-- figures: import -->\n", "<!-- end -->\n\nMore.\n"
	write("docs/reference/import.md", before+"old\n"+after)
	write("raw.txt", `date: 2026-01-02
commit: aaa
go: go1.26.0
processors: 2
load: 0.10
databases: PostgreSQL 17
pkg: github.com/idmint/idmint/integration_test/imports
`+strings.Repeat(imported("SQLite")+imported("MariaDB")+imported("PostgreSQL"), 6)+
		"BenchmarkMemory/SQLite/50000-2 1 1 ns/op 61.3 peak-MiB\n")
	if err := run(".", []string{"import", "raw.txt"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/reference/import.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		before + "Measured on 2026-01-02, commit aaa, on 2 processors with go1.26.0,\nPostgreSQL 17,\n", after,
		"| SQLite | `sqlite3 .import` | 0.70 ± 0% | 0.80 | 0.54 | 0.50 | 0.62 ± 0% |\n",
		"| SQLite/50000 | 61 |\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	write("docs/reference/import.md", "# A\n")
	write("less.txt", imported("SQLite")+imported("MariaDB"))
	if err := run(".", []string{"import", "less.txt"}); err == nil ||
		!strings.Contains(err.Error(), "no Import/PostgreSQL") {
		t.Errorf("got %v, for a run without PostgreSQL", err)
	}
	for _, args := range [][]string{
		nil,
		{"speed"},
		{"speed", "no-such-file"},
		{"speed", "raw.txt"},
		{"other", "raw.txt"},
		{"import", "raw.txt"}, // no place for it
	} {
		if err := run(".", args); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

// Names say what they are, because the list of what was missed has them without their neighbours.
func TestTargetsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range targets {
		key := tt.what + tt.peer
		if seen[key] {
			t.Errorf("two targets are called %q beside %q", tt.what, tt.peer)
		}
		seen[key] = true
		if tt.ratio && tt.peer == "" {
			t.Errorf("%q is a ratio to nothing", tt.what)
		}
	}
}

// TestRunMeasuresTargets: the script measures what the page is made of.
func TestRunMeasuresTargets(t *testing.T) {
	script, err := os.ReadFile("../run")
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`(?m)^ *measure '(.+?)' (\S+) `).FindAllStringSubmatch(string(script), -1)
	measured := func(f figure) bool {
		function, _, _ := strings.Cut("Benchmark"+f.name, "/")
		processors := map[bool]string{false: "1", true: "2"}[f.parallel]
		for _, call := range calls {
			if regexp.MustCompile(call[1]).MatchString(function) && strings.Contains(call[2], processors) {
				return true
			}
		}
		return false
	}
	figures := []figure{}
	for _, tt := range targets {
		figures = append(figures, tt.ours, tt.against)
	}
	for _, f := range figures {
		if f.name != "" && !measured(f) { // which it is where there is no peer
			t.Errorf("bench/run does not measure %v", f)
		}
	}
}
