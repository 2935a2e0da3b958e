package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

const (
	// quiet is how many processors two goroutines that share nothing get, at least, on a machine
	// that does nothing else.
	quiet = 1.9
	// enough is how many rounds a median needs for a confidence interval.
	enough = 6
)

// speedPage returns docs/results/speed.md, or an error if the run lacks something.
func speedPage(r *results, targets []target) (string, error) {
	var page strings.Builder
	for _, section := range []func(*results) (string, error){
		head,
		func(r *results) (string, error) { return targetSection(r, targets) },
		peerSection, repeatSection, capSection, storeSection, figureSection,
	} {
		text, err := section(r)
		if err != nil {
			return "", err
		}
		page.WriteString(text)
	}
	return page.String(), nil
}

// A cell returns the text of a table's cell, given the row's name. The first error of a cell is the
// table's.
type cell func(name string) (string, error)

// table returns a table with a row for each name, with its label first.
func table(head string, names []string, label cell, cells ...cell) (string, error) {
	text := fmt.Sprintf("| %s |\n|%s\n", strings.TrimPrefix(head, " "),
		strings.Repeat("---|", strings.Count(head, " | ")+1))
	for _, name := range names {
		text += "|"
		for _, c := range append([]cell{label}, cells...) {
			s, err := c(name)
			if err != nil {
				return "", err
			}
			text += " " + s + " |"
		}
		text += "\n"
	}
	return text, nil
}

// after labels a row with its name, without a prefix.
func after(prefix string) cell {
	return func(name string) (string, error) { return strings.TrimPrefix(name, prefix), nil }
}

// A form formats a median for a cell.
type form func(benchmath.Summary) string

// number formats a figure in a unit, and interval adds its confidence interval.
func number(unit string) form {
	return func(s benchmath.Summary) string { return amount(s.Center, unit) }
}

func interval(unit string) form {
	return func(s benchmath.Summary) string {
		return amount(s.Center, unit) + " ± " + s.PctRangeString()
	}
}

func ratio(s benchmath.Summary) string {
	return fmt.Sprintf("%.2f ± %s", s.Center, s.PctRangeString())
}

func twoDigits(s benchmath.Summary) string { return fmt.Sprintf("%.2f", s.Center) }

func perSecond(s benchmath.Summary) string { return fmt.Sprintf("%.0f", 1e9/s.Center) }

// value returns cells with the median of a figure, serial or parallel.
func (r *results) value(parallel bool, unit string, write form) cell {
	return func(name string) (string, error) {
		v, err := r.series(figure{name, parallel, unit})
		if err != nil {
			return "", err
		}
		return write(median(v)), nil
	}
}

// processorsGot returns how many processors two goroutines that share nothing got in each round.
func processorsGot(r *results) ([]float64, error) {
	alone := figure{"Floor/increment", true, "cpu-ns/op"}
	return r.ratios(alone, alone.in("ns/op"))
}

func head(r *results) (string, error) {
	got, err := processorsGot(r)
	if err != nil {
		return "", err
	}
	processors := median(got).Center
	c := r.config
	peers := strings.TrimRight(strings.ReplaceAll(c["peers"], "github.com/", ""), ", ")
	if peers == "" {
		return "", errors.New("the run names no peers")
	}
	text := fmt.Sprintf(`# Speed

Written by `+"`make bench`"+` on %s: do not edit it. %d rounds on %s processors (%s, %s/%s) with %s.
Compared with: %s.

A figure is the median of the rounds, and ± is its confidence interval at 95 %%. A ratio is the
median of the ratios within each round. Absolute figures hold only for this machine, whereas ratios
carry over better to others. Serial means GOMAXPROCS=1. Parallel means two goroutines on two
processors, and time is per ID, so that perfect scaling halves it. Two goroutines that share nothing
got %.2f processors.
`, c["date"], len(got), c["processors"], c["cpu"], c["goos"], c["goarch"], c["go"],
		peers, processors)
	if len(got) < enough {
		text += fmt.Sprintf(
			"\n**Not a measurement**: fewer than %d rounds show only that the benchmarks work.\n",
			enough)
	}
	if processors < quiet {
		text += fmt.Sprintf(
			"\n**Not a quiet machine**: less than %.1f processors. Parallel figures, and ratios of "+
				"them, mean little.\n", quiet)
	}
	return text, nil
}

// measured returns our figure, the figure that it is compared with, their ratio, and the value to
// which the bound applies.
func (t target) measured(r *results) (ours, against, quotient string, value float64, err error) {
	v, err := r.series(t.ours)
	if err != nil {
		return "", "", "", 0, err
	}
	value = median(v).Center
	ours = amount(value, t.ours.unit)
	if t.peer == "" {
		return ours, "", "", value, nil
	}
	theirs, err := r.series(t.against)
	if err != nil {
		return "", "", "", 0, err
	}
	ratios, err := r.ratios(t.ours, t.against)
	if err != nil {
		return "", "", "", 0, err
	}
	s := median(ratios)
	if t.ratio {
		value = s.Center
	}
	return ours, t.peer + ", " + amount(median(theirs).Center, t.against.unit), ratio(s), value, nil
}

func targetSection(r *results, targets []target) (string, error) {
	var rows, missed strings.Builder
	met := 0
	for _, t := range targets {
		ours, against, quotient, value, err := t.measured(r)
		if err != nil {
			return "", err
		}
		bound := t.bound.String() + " " + units[t.ours.unit]
		if t.ratio {
			bound = t.bound.String() + " × " + t.peer
		}
		verdict := "met"
		if t.bound.holds(value) {
			met++
		} else {
			verdict = "**missed**"
			reason := t.reason
			if reason == "" {
				reason = "the reason is not known yet."
			}
			fmt.Fprintf(&missed, "- %s, %s: %s\n", t.what, strings.TrimSpace(bound), reason)
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s | %s |\n", t.what, ours, against, quotient,
			strings.TrimSpace(bound), verdict)
	}
	text := fmt.Sprintf(
		"\n## Targets\n\n%d of %d are met.\n\n"+
			"| what | ours | compared with | ratio | target | |\n|---|---|---|---|---|---|\n%s",
		met, len(targets), rows.String())
	if missed.Len() > 0 {
		text += "\nMissed:\n\n" + missed.String()
	}
	return text, nil
}

// units are the units as readers expect them.
var units = map[string]string{
	"ns/op": "ns", "cpu-ns/op": "ns", "%cap": "%", "%core": "%", "allocs/op": "",
	"worst-ms": "ms", "fewest/most": "", "ns/row-by-hand": "ns", "peak-MiB": "",
}

// wholeUnits are the units whose figures have no fractions.
var wholeUnits = []string{"allocs/op", "ns/row-by-hand", "peak-MiB", "repeats"}

// amount formats all figures of pages: with three digits, or with all digits before the decimal
// point.
func amount(v float64, unit string) string {
	digits := 1
	switch {
	case v == 0 || v >= 1000 || slices.Contains(wholeUnits, unit):
		digits = 0
	case v < 10:
		digits = 2
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, v, units[unit]))
}

// peers are the fastest forms of other libraries, without waits at a cap.
var peers = []struct{ label, name string }{
	{"bwmarrin/snowflake, 20 step bits", "snowflake-20-step-bits"},
	{"xid", "xid"},
	{"muyo/sno", "muyo-sno-below-cap"},
	{"UUIDv7, google/uuid, pooled", "google-uuid7-pooled"},
	{"UUIDv7, gofrs", "gofrs-uuid7"},
	{"ulid", "ulid"},
}

// others compares one ID of ours with one of other libraries.
func others(r *results) (string, error) {
	head := "one goroutine"
	var ratios []cell
	for _, p := range peers {
		head += " | " + p.label
		ratios = append(ratios, func(name string) (string, error) {
			v, err := r.ratios(serial(name), serial("Peer/"+p.name))
			if err != nil {
				return "", err
			}
			return ratio(median(v)), nil
		})
	}
	shared := slices.DeleteFunc(r.under("Mint/"), func(name string) bool {
		return !strings.HasSuffix(name, "/shared")
	})
	rows, err := table(head, shared, func(name string) (string, error) {
		return strings.TrimSuffix(strings.TrimPrefix(name, "Mint/"), "/shared"), nil
	}, ratios...)
	return "Our time divided by theirs in the same round: below 1 ours is faster. Other libraries are " +
		"called as\ntheir documentation shows, and google/uuid's UUIDv7 with its pool. No generator " +
		"is at its cap.\n\n" +
		rows, err
}

func peerSection(r *results) (string, error) {
	text, err := others(r)
	return "\n## One ID compared with others\n\n" + text, err
}

func repeatSection(r *results) (string, error) {
	const prefix = "Repeats/ours/"
	names := r.under(prefix)
	if len(names) == 0 {
		return "", fmt.Errorf("the run has no %s…", prefix)
	}
	counts := func(of string) cell {
		return func(name string) (string, error) {
			v, err := r.series(figure{of + strings.TrimPrefix(name, prefix), true, "repeats"})
			var all []string
			for _, n := range v {
				all = append(all, amount(n, "repeats"))
			}
			return strings.Join(all, ", "), err
		}
	}
	rows, err := table("goroutines | ours | muyo/sno", names, after(prefix+"goroutines="),
		counts(prefix), counts("Repeats/muyo-sno/"))
	return "\n## Repeats\n\nRepeated IDs among 16,777,216 IDs of one sno generator that goroutines " +
		"share, in each run.\n\n" +
		rows, err
}

func capSection(r *results) (string, error) {
	var cells []cell
	for _, parallel := range []bool{false, true} {
		for _, unit := range []string{"ns/op", "%cap", "%core"} {
			cells = append(cells, r.value(parallel, unit, number(unit)))
		}
	}
	rows, err := table(
		" | 1 caller | of the cap | a processor | 8 callers | of the cap | a processor", r.under("Cap/"), after("Cap/"), cells...)
	return "\n## At the cap\n\nOne caller, and then eight, take all IDs that one generator can mint. " +
		"The table shows time per ID,\nshare of the cap, and processor time while calls wait.\n\n" + rows, err
}

// storeSection returns the benchmarks with databases, or "" for a run that reached none.
func storeSection(r *results) (string, error) {
	label := func(name string) (string, error) {
		_, label, _ := strings.Cut(name, "/")
		return label, nil
	}
	value := func(unit string, write form) cell { return r.value(true, unit, write) }
	var text string
	for _, t := range []struct {
		title, head string
		names       []string
		cells       []cell
	}{
		{
			"GORM's CreateInBatches, with rows whose IDs were set by hand, and in turn with the " +
				"plugin.",
			" | by hand, per row | with the plugin, ratio", r.under("gormid/"),
			[]cell{value("ns/row-by-hand", number("ns/row-by-hand")), value("ratio", twoDigits)},
		},
		{
			"The launch log, which writes to disk before it answers: launches and claims by 16 " +
				"concurrent\ncallers. MySQL is the store for MySQL, on a MariaDB server. A single caller " +
				"has no target, because\nat each claim it waits for the server's disk.",
			" | a second", r.under("launchlog/"),
			[]cell{value("ns/op", perSecond)},
		},
	} {
		if len(t.names) == 0 {
			continue
		}
		rows, err := table(t.head, t.names, label, t.cells...)
		if err != nil {
			return "", err
		}
		text += "\n" + t.title + "\n\n" + rows
	}
	if text == "" {
		return "", nil
	}
	return "\n## In databases\n" + text, nil
}

func figureSection(r *results) (string, error) {
	text := "\n## All figures\n\nAll figures are per ID. Processor time counts the whole process. " +
		"\"Below cap\" uses several generators in turn.\n"
	for _, group := range []struct{ prefix, title string }{
		{"Floor/", "Building blocks of generators"},
		{"Mint/", "One ID of ours, below the caps"},
		{"Peer/", "One ID of other libraries"},
		{"Encode/", "To text"},
		{"Decode/", "From text"},
	} {
		names := r.under(group.prefix)
		if len(names) == 0 {
			return "", fmt.Errorf("the run has no %s…", group.prefix)
		}
		rows, err := table(group.title+
			" | serial | parallel | processor, serial | processor, parallel | allocations", names,
			after(group.prefix), r.value(false, "ns/op", interval("ns/op")),
			r.value(true, "ns/op", interval("ns/op")),
			r.value(false, "cpu-ns/op", number("cpu-ns/op")),
			r.value(true, "cpu-ns/op", number("cpu-ns/op")),
			r.value(false, "allocs/op", number("allocs/op")))
		if err != nil {
			return "", err
		}
		text += "\n" + rows
	}
	return text, nil
}

// importTables returns the tables of docs/reference/import.md, of BenchmarkImport and
// BenchmarkMemory.
func importTables(r *results) (string, error) {
	c := r.config
	names := r.under("Import/")
	for database := range tools { // a missing database skips its benchmark silently
		if !slices.Contains(names, "Import/"+database) {
			return "", fmt.Errorf("the run has no Import/%s", database)
		}
	}
	value := func(unit string, write form) cell { return r.value(true, unit, write) }
	tool := func(name string) (string, error) {
		return tools[strings.TrimPrefix(name, "Import/")], nil
	}
	times, err := table("database | compared with | processor time | its seconds, client and server | "+
		"ours | of which client | elapsed", names, after("Import/"), tool, value("cpu-ratio", ratio),
		value("its-cpu-s", twoDigits), value("our-cpu-s", twoDigits),
		value("our-client-s", twoDigits), value("elapsed-ratio", ratio))
	if err != nil {
		return "", err
	}
	memory, err := table("database/rows | MiB", r.under("Memory/"), after("Memory/"),
		value("peak-MiB", number("peak-MiB")))
	return fmt.Sprintf("Measured on %s, commit %s, on %s processors with %s,\n%s,\nin pairs that take turns: "+
		"the median and its confidence interval. The machine's load was %s before. The\nratios are for "+
		"500,000 rows. With shorter files, starting the program takes a larger share.\n\n%s\n"+
		"The peak memory of the import:\n\n%s", c["date"], c["commit"], c["processors"], c["go"],
		c["databases"], c["load"], times, memory), err
}

// tools are the databases' own tools.
var tools = map[string]string{
	"PostgreSQL": "`psql \\copy`", "MariaDB": "`LOAD DATA LOCAL`", "SQLite": "`sqlite3 .import`",
}
