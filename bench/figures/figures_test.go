package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

const root = "../.."

func measured(t *testing.T) *source {
	t.Helper()
	src, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The tables hold what was measured.
func TestTables(t *testing.T) {
	src := measured(t)
	for _, b := range blocks {
		old := document(t, b.file)
		text, err := b.in(old, src)
		if err != nil {
			t.Fatalf("%s, %s: %v", b.file, b.name, err)
		}
		if text != old {
			t.Errorf("%s, %s is not what was measured: go run ./bench/figures", b.file, b.name)
		}
	}
}

// What is missing is an error, not an empty table.
func TestMissing(t *testing.T) {
	for _, b := range blocks {
		if _, err := b.write(&source{}); err == nil {
			t.Errorf("%s, %s: nothing was measured, and that is no error", b.file, b.name)
		}
		for _, text := range []string{"", "<!-- figures: " + b.name + " -->\n", "<!-- end -->\n"} {
			if _, err := b.in(text, measured(t)); err == nil {
				t.Errorf("%q has no place for %s, and that is no error", text, b.name)
			}
		}
	}
}

// A figure is a number with a unit that one measures, or with a fraction.
var figure = regexp.MustCompile(
	`(?:^|[^\w.,/-])(\d[\d,]*(?:\.\d+)?)( ?(?:ns|µs|%|×|GB|GiB|MB|MiB)|` +
		` times (?:as|the)| (?:rows|claims|launches|IDs) (?:a second|per second))?` +
		`(?:[^\w.]|\.\D|\.?$)`)

// figuresIn are the figures of a text.
func figuresIn(text string) (all []string) {
	for _, line := range strings.Split(text, "\n") {
		for line != "" {
			m := figure.FindStringSubmatchIndex(line)
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

// constants are figures that nobody measured: limits, examples and versions.
var constants = map[string]string{
	"1.2":                  "of muyo/sno",
	"1.13":                 "of java-uniqueid",
	"1.26":                 "of Go",
	"1.27":                 "of Go",
	"1.21":                 "of PgBouncer",
	"3.37":                 "of SQLite",
	"9.7":                  "of MySQL",
	"10.5":                 "of MariaDB",
	"10.6":                 "of MariaDB",
	"26.5":                 "of ClickHouse",
	"3.8":                  "days of counters at 2,500 a second",
	"10,000 rows a second": "the rate of the report's rows",
	"10,000 IDs a second":  "the rate of the report's IDs",
	"5.6":                  "seconds of the longest call of a test with ZooKeeper",
	"11 %":                 "of the counters, which an epoch leaves",
	"80 %":                 "at which Warn is told",
	"10 MiB":               "ClickHouse's own default",
	"1 MiB":                "the blocks of an example",
	"3.7":                  "of etcd",
	"3.9":                  "of ZooKeeper",
	"2 GiB":                "etcd's own default",
	"1 MB":                 "ZooKeeper's own default",
	"50 MiB":               "Cassandra's own default",
	"9.5":                  "days of counters at 1,000 a second",
	"10.7":                 "days of counters at 1,000 a second",
	"75 MB":                "a full launch in etcd, extrapolated from 6,400 claims",
	"106 MB":               "a full launch in ZooKeeper, as it was taken",
	"420 MB":               "99,999 launches in ZooKeeper, extrapolated at 530 bytes a znode",
	"910 rows a second":    "what TestWriters wrote",
	"70 %":                 "measured by TestWriters with 80,000 rows, which checks bounds",
	"19 %":                 "measured by TestWriters with 80,000 rows, which checks bounds",
	"0.7 %":                "measured by TestWriters with 80,000 rows, which checks bounds",
	"22.7":                 "measured by TestWriters with 80,000 rows, which checks bounds",
	"0.98":                 "measured by TestDeployments, which checks bounds",
	"0.99":                 "measured by TestDeployments, which checks bounds",
	"1.00":                 "measured by TestDeployments, which checks bounds",
	"1.01":                 "measured by TestDeployments, which checks bounds",
	"1.45":                 "measured by TestDeployments, which checks bounds",
	"4.58":                 "measured by TestDeployments, which checks bounds",
	"22.1":                 "measured by TestDeployments, which checks bounds",
	"22.3":                 "measured by TestDeployments, which checks bounds",
	"22.6":                 "measured by TestDeployments, which checks bounds",
	"22.9":                 "measured by TestDeployments, which checks bounds",
}

// known are the figures that were measured, as they may be written.
func known(src *source) map[string]bool {
	known := map[string]bool{}
	for _, f := range figuresIn(src.speed) {
		known[f] = true
	}
	add := func(v float64) {
		for digits := 1; digits <= 3; digits++ {
			known[strconv.FormatFloat(v, 'f', digits, 64)] = true
		}
	}
	for _, c := range src.Compression {
		add(c.BytesPerID)
	}
	for _, f := range src.Footprints {
		add(perRow(f.KeyBytes, f.Rows))
	}
	return known
}

// Every figure of the documents was measured, or is a constant.
func TestFigures(t *testing.T) {
	known := known(measured(t))
	fence := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for _, name := range []string{
		"README.md", "docs/choosing.md", "docs/clickhouse.md", "docs/databases.md",
		"docs/deployments.md",
		"docs/launchlog.md", "docs/restore.md", "docs/schemes.md", "docs/sno.md",
		"docs/versions.md",
	} {
		text := document(t, name)
		for _, b := range blocks { // see TestTables
			if b.file == name {
				begin, end, err := b.bounds(text)
				if err != nil {
					t.Fatal(err)
				}
				text = text[:begin] + text[end:]
			}
		}
		for _, f := range figuresIn(fence.ReplaceAllString(text, "")) {
			if !known[f] && constants[f] == "" {
				t.Errorf("%s: %q was not measured, and is no constant", name, f)
			}
		}
	}
}

// Packages state no figure of speed or size that nobody measures again. The table of package
// clickhouse is measured.
func TestPackages(t *testing.T) {
	known := known(measured(t))
	for _, dir := range []string{
		"clickhouse", "generator", "gormid", "idtype", "launchlog", "launchlog/*", "migrations",
		"scramble",
		"sqlid", "sqlid/pgxid",
	} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
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
				for _, f := range figuresIn(withoutTable(c.Text())) {
					if !known[f] && constants[f] == "" {
						t.Errorf("%s: %q was not measured, and is no constant", path, f)
					}
				}
			}
		}
	}
}

const tableOfClickHouse = "codec of PrimaryKey"

func withoutTable(comment string) string {
	begin := strings.Index(comment, tableOfClickHouse)
	if begin < 0 {
		return comment
	}
	end := strings.Index(comment[begin:], "\n\n")
	return comment[:begin] + comment[begin+end:]
}

// The table of package clickhouse is that of the report: by ID with the codec that it names, by
// arrival with NotNull's. It may differ by what two runs differ by, and have what the report lacks.
func TestTableOfClickHouse(t *testing.T) {
	src := measured(t)
	text := document(t, "clickhouse/doc.go")
	_, table, found := strings.Cut(text, tableOfClickHouse)
	if !found {
		t.Fatal("there is no table")
	}
	const integers, bytes = "T64('bit'), ZSTD(1)", "ZSTD(1)" // the codecs for arrival
	// scheme, storage and codec for arrival
	names := map[string][3]string{
		"decimal":  {"decimal", "bigint", integers},
		"sequence": {"sequence", "bigint", integers},
		"trace":    {"trace", "bigint", integers},
		"short":    {"short", "bigint", integers},
		"AsBigint": {"eightbyte", "bigint", integers},
		"sno":      {"sno", "bytes", bytes},
		"AsText":   {"sno", "text", bytes},
		"AsUUID":   {"sno", "uuid", bytes},
	}
	row := regexp.MustCompile(`(?m)^//\t *(\w+) +([A-Z]\S.*?\)) +([\d. ]+)$`)
	seen := 0
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		name, numbers := m[1], strings.Fields(m[3])
		of, ok := names[name]
		if !ok || len(numbers) < 6 {
			continue
		}
		seen++
		for i, n := range numbers[:6] {
			key := measure.Compression{
				Scheme: of[0], Storage: of[1], Codec: m[2], Sort: measure.SortedByID,
				Generators: measure.Generators()[i%3],
			}
			if i >= 3 {
				key.Codec, key.Sort = of[2], measure.Arrival
			}
			want, ok := src.size(key)
			if got, err := strconv.ParseFloat(n, 64); err != nil || !ok ||
				math.Abs(got-want) > 0.03*want+0.001 {
				t.Errorf("%s, %+v: the table has %s, the report %.3f", name, key, n, want)
			}
		}
	}
	if seen != len(names) {
		t.Errorf("found %d rows, want %d", seen, len(names))
	}
}

// size is that of the measurement with the codec, the order and the generators of key.
func (s *source) size(key measure.Compression) (float64, bool) {
	for _, c := range s.Compression {
		key.BytesPerID, key.Database, key.Column, key.IDs = c.BytesPerID, c.Database, c.Column,
			c.IDs
		if c == key {
			return c.BytesPerID, true
		}
	}
	return 0, false
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
