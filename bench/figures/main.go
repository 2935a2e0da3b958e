// Command figures writes the tables of figures in README.md and in pages of docs anew. They are
// measured: docs/speed.md is written by make bench, docs/report.json by idmint report. It is run in
// the checkout's folder, by make bench, and after a new report:
//
//	go run ./bench/figures
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// A block is a table in a document, between a comment with its name and one that ends it.
type block struct {
	file, name string
	write      func(*source) (string, error)
}

var blocks = []block{
	{"README.md", "sizes", sizesTable},
	{"docs/choosing.md", "speed", speedTable},
	{"docs/choosing.md", "families", familiesTable},
	{"docs/databases.md", "keys", keysTable},
	{"docs/databases.md", "writers", writersTable},
	{"docs/databases.md", "splits", splitsTable},
	{"docs/databases.md", "inserts", insertsTable},
	{"docs/databases.md", "reads", readsTable},
	{"docs/databases.md", "clickhouse", clickHouseTable},
	{"docs/clickhouse.md", "skipping", skippingTable},
}

func run(dir string) error {
	src, err := read(dir)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		path := filepath.Join(dir, b.file)
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := b.in(string(old), src)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", b.file, b.name, err)
		}
		if text == string(old) {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bounds are where the block is in a document, without the comments around it.
func (b block) bounds(text string) (begin, end int, err error) {
	first, last := "<!-- figures: "+b.name+" -->\n", "<!-- end -->\n"
	begin = strings.Index(text, first)
	if begin < 0 {
		return 0, 0, fmt.Errorf("there is no %q", first)
	}
	begin += len(first)
	end = strings.Index(text[begin:], last)
	if end < 0 {
		return 0, 0, fmt.Errorf("there is no %q after it", last)
	}
	return begin, begin + end, nil
}

// in is a document with the block written anew.
func (b block) in(text string, src *source) (string, error) {
	begin, end, err := b.bounds(text)
	if err != nil {
		return "", err
	}
	table, err := b.write(src)
	return text[:begin] + table + text[end:], err
}

// A source is what was measured.
type source struct {
	speed string     // docs/speed.md
	rows  [][]string // of its tables
	measure.Results
}

func read(dir string) (*source, error) {
	speed, err := os.ReadFile(filepath.Join(dir, "docs", "speed.md"))
	if err != nil {
		return nil, err
	}
	src := &source{speed: string(speed)}
	for line := range strings.Lines(src.speed) {
		if cells, ok := strings.CutPrefix(strings.TrimSpace(line), "| "); ok {
			src.rows = append(src.rows, strings.Split(strings.TrimSuffix(cells, " |"), " | "))
		}
	}
	report, err := os.ReadFile(filepath.Join(dir, "docs", "report.json"))
	if err != nil {
		return nil, err
	}
	return src, json.Unmarshal(report, &src.Results)
}

// target is the row of docs/speed.md that holds a figure of ours beside that of a peer, if any.
func (s *source) target(what, peer string) ([]string, error) {
	i := slices.IndexFunc(s.rows, func(r []string) bool {
		return len(r) == 6 && r[0] == what && strings.HasPrefix(r[2], peer) && (peer != "") == (r[3] != "")
	})
	if i < 0 {
		return nil, fmt.Errorf("docs/speed.md has no row %q beside %q", what, peer)
	}
	return s.rows[i], nil
}

var headOfSpeed = regexp.MustCompile(`on (\d{4}-\d\d-\d\d): .* on (\d+) processors .* with (go[\w.]+)\.\n`)

// speedRows are what docs/choosing.md shows of the targets in docs/speed.md.
var speedRows = []struct{ label, what, peer string }{
	{"`Decimal.Next`", "decimal, a shared generator", "an atomic add"},
	{"the same, two goroutines on one generator", "decimal, a shared generator, 2 goroutines", "an atomic add"},
	{"`OwnedDecimal.Next`", "decimal, a goroutine's own", "an atomic add"},
	{"`Decimal.Fill`, 1,000 IDs, for each", "decimal, a slice of 1,000, per ID", "an atomic add"},
	{"`Trace.Next`, below its cap", "trace below its cap", "`time.Since`"},
	{"`Short.Next`, below its cap", "short below its cap", "`time.Since`"},
	{"`EightByte.Next`, below its cap", "eightbyte below its cap", "`time.Since`"},
	{"`Sno.Next`, below its cap", "sno below its cap", "`time.Since`"},
	{"19 digits to text", "decimal, to text", "`strconv.AppendInt`"},
	{"19 digits from text, strictly", "decimal, from text", "`strconv.ParseInt`"},
	{"16 characters of sno to text", "sno, to text", "xid"},
	{"16 characters of sno from text", "sno, from text", "muyo/sno"},
}

func speedTable(s *source) (string, error) {
	head := headOfSpeed.FindStringSubmatch(s.speed)
	if head == nil {
		return "", fmt.Errorf("docs/speed.md does not say when and with what it was measured")
	}
	text := fmt.Sprintf("Measured on %s, on %s processors with %s:\n\n| what | time | beside | ratio |\n|---|---|---|---|\n",
		head[1], head[2], head[3])
	for _, r := range speedRows {
		row, err := s.target(r.what, r.peer)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("| %s | %s | %s | %s |\n", r.label, row[1], row[2], row[3])
	}
	_, others, ok := strings.Cut(s.speed, "\n## One ID beside others\n\n")
	others, _, end := strings.Cut(others, "\n## ")
	if !ok || !end {
		return "", fmt.Errorf("docs/speed.md does not compare with others")
	}
	return text + "\n" + others, nil
}

func bytesPerID(size float64) string {
	if size < 0.1 {
		return fmt.Sprintf("%.3f", size)
	}
	return fmt.Sprintf("%.2f", size)
}

func perRow(bytes int64, rows int) float64 { return float64(bytes) / float64(rows) }
