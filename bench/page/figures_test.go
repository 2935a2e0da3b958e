package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A figure of a text is a number with a unit that one measures, or with a fraction.
var figureInText = regexp.MustCompile(
	`(?:^|[^\w.,/-])(\d[\d,]*(?:\.\d+)?)( ?(?:ns|µs|%|×|GB|GiB|MB|MiB)|` +
		` times (?:as|the)| (?:rows|claims|launches|IDs) (?:a second|per second))?` +
		`(?:[^\w.]|\.\D|\.?$)`)

// figuresIn are the figures of a text.
func figuresIn(text string) (all []string) {
	for _, line := range strings.Split(text, "\n") {
		for line != "" {
			m := figureInText.FindStringSubmatchIndex(line)
			if m == nil {
				break
			}
			number, unit := line[m[2]:m[3]], ""
			if m[4] >= 0 {
				unit = strings.TrimSpace(line[m[4]:m[5]])
			}
			if unit != "" || strings.Contains(number, ".") {
				all = append(all, strings.TrimSpace(number+" "+unit))
			}
			line = line[max(m[3], m[5]):]
		}
	}
	return all
}

// constants are figures that nobody measured, or that a test with bounds has measured, by what they
// are.
var constants = map[string][]string{
	"versions":                          {"1.2", "1.13", "1.26", "1.27", "1.21", "3.37", "9.7", "10.5", "10.6", "26.5", "3.7", "3.9"},
	"days of counters, at some rate":    {"3.8", "9.5", "10.7"},
	"the rate of what was measured":     {"10,000 rows a second", "10,000 IDs a second"},
	"a call of a test with ZooKeeper":   {"5.6"},
	"counters beyond a round":           {"11 %"},
	"at which Warn and doctor tell":     {"80 %", "90 %"},
	"defaults of stores, and examples":  {"10 MiB", "1 MiB", "2 GiB", "1 MB", "50 MiB"},
	"full launches, taken or projected": {"75 MB", "106 MB", "420 MB"},
	"TestHottestRange":                  {"100.0", "1.7"},
	"TestIndexBytesInRowStores":         {"0.98", "0.99", "22.1", "22.3"},
}

// measured are constants and the figures of committed results, as they may be written: those of
// docs/results/speed.md, and those of bench/databases.json, of a row, of a thousand rows, or as a multiple
// of serial's.
func measured(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	speed := document(t, "docs/results/speed.md")
	for _, f := range append(figuresIn(speed), numberInTable.FindAllString(speed, -1)...) {
		known[f] = true
	}
	add := func(v float64, digits ...int) {
		for _, n := range append(digits, 1, 2, 3) {
			known[strconv.FormatFloat(v, 'f', n, 64)] = true
		}
	}
	add(0)
	for _, figures := range constants {
		for _, f := range figures {
			known[f] = true
		}
	}
	var results map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document(t, "bench/databases.json")), &results); err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{
		"compression", "footprints", "skipping", "inserts", "reads", "families",
	} {
		var records []map[string]any
		if err := json.Unmarshal(results[section], &records); err != nil || len(records) == 0 {
			t.Fatalf("%s: %d records, %v", section, len(records), err)
		}
		serial := map[any]float64{} // bytes a row, by database
		for _, r := range records {
			rows, _ := r["rows"].(float64)
			for name, field := range r {
				v, ok := field.(float64)
				if !ok {
					continue
				}
				add(v, 0)
				if section == "footprints" {
					add(v/rows, 0)
					add(1000*v/rows, 0)
				}
				if name == "key_bytes" {
					if r["scheme"] == "serial" {
						serial[r["database"]] = v
					}
					add(v / serial[r["database"]])
				}
			}
			if cold, ok := r["cold"].(map[string]any); ok {
				hits, reads, rows := cold["hits"].(float64), cold["reads"].(float64), cold["rows"].(float64)
				add(1000 * reads / rows)
				add(100 * hits / (hits + reads))
			}
		}
	}
	return known
}

var numberInTable = regexp.MustCompile(`\b\d[\d,]*(?:\.\d+)?\b`)

// A block is a table of figures in a document.
var block = regexp.MustCompile(`(?s)<!-- figures: .*?<!-- end -->\n`)

// Every figure of the documents, and every number of their tables of figures, stands in committed
// results, or is a constant. So does every figure of a package's documentation.
func TestFigures(t *testing.T) {
	known := measured(t)
	check := func(place, figure string) {
		if !known[figure] {
			t.Errorf("%s: %q was not measured, and is no constant", place, figure)
		}
	}
	fence := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	tables := 0
	for _, name := range []string{
		"README.md", "docs/explain/choosing.md", "docs/explain/order.md", "docs/use/clickhouse.md",
		"docs/reference/databases.md",
		"docs/operate/deployments.md", "docs/explain/distributed.md", "docs/operate/launch-log.md", "docs/operate/restore.md",
		"docs/reference/schemes.md",
		"docs/move/from-sno.md",
	} {
		text := document(t, name)
		for _, table := range block.FindAllString(text, -1) {
			tables++
			for i, line := range strings.Split(table, "\n") {
				cells := strings.Split(strings.TrimSuffix(line, " |"), " | ")
				if len(cells) < 3 || i < 3 { // the comment, the heads and texts
					continue
				}
				for _, n := range numberInTable.FindAllString(strings.Join(cells[1:], " "), -1) {
					check(name+", "+cells[0], n)
				}
			}
		}
		for _, f := range figuresIn(fence.ReplaceAllString(block.ReplaceAllString(text, ""), "")) {
			check(name, f)
		}
	}
	if tables < 10 {
		t.Errorf("%d tables of figures", tables)
	}
	for _, dir := range []string{
		"clickhouse", "generator", "gormid", "idtype", "launchlog", "launchlog/*", "migrations",
		"scramble", "sqlid", "sqlid/pgxid",
	} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range file.Comments {
				for _, f := range figuresIn(c.Text()) {
					check(path, f)
				}
			}
		}
	}
}

// What is a figure, and what is none.
func TestFiguresIn(t *testing.T) {
	for text, want := range map[string]string{
		"takes 4.98 ns, or 19.6 ns.":         "[4.98 ns 19.6 ns]",
		"0.010 bytes each, 14.03 and 10.17.": "[0.010 14.03 10.17]",
		"3,600 claims a second, 9 % more":    "[3,600 claims a second 9 %]",
		"go1.26.8, 11.0.3 and 2157-07-13":    "[]",
		"65,536 per 4 ms, 3 s, 16 bytes":     "[]",
		"| 0.65 ± 7% | 5 times the log |":    "[0.65 7 % 5 times the]",
	} {
		if got := fmt.Sprint(figuresIn(text)); got != want {
			t.Errorf("%q has %s, want %s", text, got, want)
		}
	}
}
