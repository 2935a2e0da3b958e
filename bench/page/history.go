package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A column of the history is the time of one of our figures and, where there is a peer, the ratio
// to the peer's.
type column struct {
	what    string
	ours    figure
	peer    string
	against figure
}

// columns stay as they are, so that years can be compared. Who adds or removes one does so in the
// head of the file as well, and leaves the cells of older lines empty.
var columns = []column{
	{"decimal", serial("Mint/decimal/shared"), "atomic add", serial("Floor/atomic-add")},
	{
		"decimal, 2 goroutines", parallel("Mint/decimal/shared"), "atomic add",
		parallel("Floor/atomic-add"),
	},
	{"decimal, owned", serial("Mint/decimal/owned"), "", figure{}},
	{"decimal, fill", serial("Mint/decimal/fill"), "", figure{}},
	{"trace", serial("Mint/trace/shared"), "", figure{}},
	{"short", serial("Mint/short/shared"), "uuid v7", serial("Peer/google-uuid7")},
	{"eightbyte", serial("Mint/eightbyte/shared"), "uuid v7", serial("Peer/google-uuid7")},
	{"sno", serial("Mint/sno/shared"), "uuid v7", serial("Peer/google-uuid7")},
	{"sno at its cap", serial("Cap/sno"), "muyo/sno", serial("Cap/muyo-sno")},
	{"decimal to text", serial("Encode/decimal"), "AppendInt", serial("Encode/strconv.AppendInt")},
	{"decimal from text", serial("Decode/decimal"), "ParseInt", serial("Decode/strconv.ParseInt")},
	{"sno to text", serial("Encode/sno"), "xid", serial("Encode/xid")},
	{"sno from text", serial("Decode/sno"), "muyo/sno", serial("Decode/muyo-sno")},
}

// conditions are what the first cells of a line say of the run.
var conditions = []string{"date", "commit", "go", "processors", "cpu", "rounds"}

// historyHead is the first line of the file.
func historyHead(columns []column) string {
	cells := slices.Clone(conditions)
	for _, c := range columns {
		cells = append(cells, c.what+", ns")
		if c.peer != "" {
			cells = append(cells, "/ "+c.peer)
		}
	}
	return strings.Join(cells, "\t") + "\n"
}

// historyLine sums up a run. It is empty for a run that the page calls no measurement, or not of a
// quiet machine.
func historyLine(r *results, columns []column) (string, error) {
	got, err := processorsGot(r)
	if err != nil || len(got) < enough || median(got).Center < quiet {
		return "", err
	}
	var cells []string
	for _, name := range conditions[:len(conditions)-1] {
		cells = append(cells, strings.Join(strings.Fields(r.config[name]), " "))
	}
	cells = append(cells, fmt.Sprint(len(got)))
	for _, c := range columns {
		ours, err := r.series(c.ours)
		if err != nil {
			return "", err
		}
		cells = append(cells, amount(median(ours).Center, ""))
		if c.peer == "" {
			continue
		}
		ratios, err := r.ratios(c.ours, c.against)
		if err != nil {
			return "", err
		}
		cells = append(cells, fmt.Sprintf("%.2f", median(ratios).Center))
	}
	return strings.Join(cells, "\t") + "\n", nil
}

// remember adds the line of a run to the file, which it makes where there is none. A run of the
// same date and commit takes the place of the last line.
func remember(file string, r *results, columns []column) error {
	line, err := historyLine(r, columns)
	if err != nil || line == "" {
		return err
	}
	head := historyHead(columns)
	old, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte(head), nil
	}
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(old)))
	if len(lines) == 0 || lines[0] != head {
		return fmt.Errorf(
			"%s begins with other columns: bring its head and those of bench/page together", file)
	}
	if last := lines[len(lines)-1]; len(lines) > 1 && sameRun(last, line) {
		lines = lines[:len(lines)-1]
	}
	return os.WriteFile(file, []byte(strings.Join(append(lines, line), "")), 0o644)
}

// sameRun reports whether two lines have the same date and commit.
func sameRun(a, b string) bool {
	x, y := strings.SplitN(a, "\t", 3), strings.SplitN(b, "\t", 3)
	return len(x) == 3 && len(y) == 3 && x[0] == y[0] && x[1] == y[1]
}
