package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// A key is a scheme beside others, as the report names it, in the storage that is its best.
type key struct{ label, scheme, storage string }

var (
	serial    = key{"serial", measure.Serial, "bigint"}
	decimal   = key{"decimal", "decimal", "bigint"}
	snowflake = key{"snowflake", "snowflake", "bigint"}
	uuidv7    = key{"UUIDv7", "UUIDv7", "uuid"}
	serverV7  = key{"`uuidv7()`", measure.ServerV7, "uuid"}
	uuidv4    = key{"UUIDv4", "UUIDv4", "uuid"}
	ulid      = key{"ULID", "ULID", "bytes"}
)

// keys are all of them, the baseline first.
var keys = []key{
	serial, decimal,
	{"trace", "trace", "bigint"},
	{"short", "short", "bigint"},
	{"sno", "sno", "bytes"},
	snowflake, uuidv7, serverV7, uuidv4, ulid,
}

// rowStores are the databases that keep rows, the newest PostgreSQL first.
var rowStores = []string{"PostgreSQL 18", "PostgreSQL 17", "MariaDB", "SQLite"}

const newest = "PostgreSQL 18"

// writers is how many write at once where a table does not say it.
const writers = 4

// head is the first two lines of a table.
func head(cells ...string) string {
	return "| " + strings.Join(cells, " | ") + " |\n|" + strings.Repeat("---|", len(cells)) + "\n"
}

func labels(of []key) []string {
	var all []string
	for _, k := range of {
		all = append(all, k.label)
	}
	return all
}

// has reports whether the database gives or takes such a key.
func has(database string, k key) bool { return k != serverV7 || database == newest }

// usual is how a key is written where a table does not say it.
func usual(f measure.Footprint) bool {
	return f.Deployments == 1 && !f.Apart && (f.Writers == writers || f.Writers == 1 &&
		f.Scheme != decimal.scheme && f.Scheme != snowflake.scheme)
}

func (s *source) footprint(
	database string, k key, by func(measure.Footprint) bool,
) (measure.Footprint, error) {
	i := slices.IndexFunc(s.Footprints, func(f measure.Footprint) bool {
		return f.Database == database && f.Scheme == k.scheme && f.Storage == k.storage && by(f)
	})
	if i < 0 {
		return measure.Footprint{}, fmt.Errorf("docs/report.json has no size of %s in %s", k.scheme,
			database)
	}
	return s.Footprints[i], nil
}

func keysTable(s *source) (string, error) {
	text := head(append([]string{""}, labels(keys)...)...)
	for _, database := range rowStores {
		text += "| " + database + " |"
		for _, k := range keys {
			if !has(database, k) {
				text += " |"
				continue
			}
			f, err := s.footprint(database, k, usual)
			if err != nil {
				return "", err
			}
			text += fmt.Sprintf(" %.1f; %.0f |", perRow(f.KeyBytes, f.Rows),
				perRow(f.LogBytes, f.Rows))
		}
		text += "\n"
	}
	return text, nil
}

// writings are who writes decimal IDs, and snowflakes beside them.
var writings = []struct {
	label string
	key
	measure.Writing
}{
	{"decimal, 1", decimal, measure.Writing{Writers: 1, Deployments: 1}},
	{"decimal, 1, after ten deployments", decimal, measure.Writing{Writers: 1, Deployments: 10}},
	{"decimal, 4", decimal, measure.Writing{Writers: 4, Deployments: 1}},
	{"decimal, 4, after ten deployments", decimal, measure.Writing{Writers: 4, Deployments: 10}},
	{"decimal, 64", decimal, measure.Writing{Writers: 64, Deployments: 1}},
	{
		"decimal without the log, 4", decimal,
		measure.Writing{Writers: 4, Deployments: 1, Apart: true},
	},
	{
		"decimal without the log, 4, after ten deployments", decimal,
		measure.Writing{Writers: 4, Deployments: 10, Apart: true},
	},
	{"snowflake, 4", snowflake, measure.Writing{Writers: 4, Deployments: 1}},
	{"snowflake, 64", snowflake, measure.Writing{Writers: 64, Deployments: 1}},
}

func writersTable(s *source) (string, error) {
	text := head(append([]string{"writers"}, rowStores...)...)
	for _, w := range writings {
		text += "| " + w.label + " |"
		for _, database := range rowStores {
			f, err := s.footprint(database, w.key,
				func(f measure.Footprint) bool { return f.Writing == w.Writing })
			if err != nil {
				return "", err
			}
			base, err := s.footprint(database, serial, usual)
			if err != nil {
				return "", err
			}
			text += fmt.Sprintf(" %.1f; %.2f |", perRow(f.KeyBytes, f.Rows),
				perRow(f.KeyBytes, f.Rows)/perRow(base.KeyBytes, base.Rows))
		}
		text += "\n"
	}
	return text, nil
}

// splitsTable is what inserts do to the pages of the key's index.
func splitsTable(s *source) (string, error) {
	text := head("", newest+": pages split", "leaf pages full", "blocks read", "cache hits",
		"MariaDB: pages split")
	for _, k := range keys {
		f, err := s.footprint(newest, k, usual)
		if err != nil {
			return "", err
		}
		if f.Splits == nil || f.Cold == nil {
			return "", fmt.Errorf("docs/report.json has no splits of %s in %s", k.scheme, newest)
		}
		text += fmt.Sprintf("| %s | %.2f | %.0f %% | %.2f | %.1f %% |", k.label,
			thousandth(*f.Splits, f.Rows), f.LeafFill, thousandth(f.Cold.Read, f.Cold.Rows),
			100*float64(f.Cold.Hits)/float64(f.Cold.Hits+f.Cold.Read))
		if k == serverV7 {
			text += " |\n"
			continue
		}
		if f, err = s.footprint("MariaDB", k, usual); err != nil {
			return "", err
		}
		if f.Splits == nil {
			return "", fmt.Errorf("docs/report.json has no splits of %s in MariaDB", k.scheme)
		}
		text += fmt.Sprintf(" %.2f |\n", thousandth(*f.Splits, f.Rows))
	}
	return text, nil
}

// thousandth is a count for each thousand rows.
func thousandth(n int64, rows int) float64 { return 1000 * float64(n) / float64(rows) }

// insertKeys are those whose speed is shown, and who mints them. Zero is a number of writers that
// changes nothing.
var insertKeys = []struct {
	key
	writers, deployments int
}{
	{key{"decimal, 1", decimal.scheme, decimal.storage}, 1, 1},
	{key{"1, after ten deployments", decimal.scheme, decimal.storage}, 1, 10},
	{key{"decimal, 4", decimal.scheme, decimal.storage}, writers, 1},
	{snowflake, writers, 1},
	{uuidv7, 0, 1},
	{serverV7, 0, 1},
	{uuidv4, 0, 1},
	{ulid, writers, 1},
}

func insertsTable(s *source) (string, error) {
	cells := []string{""}
	for _, k := range insertKeys {
		cells = append(cells, k.label)
	}
	text := head(cells...)
	for _, database := range rowStores {
		var paths []string
		for _, m := range s.Inserts {
			if m.Database == database && !slices.Contains(paths, m.Path) {
				paths = append(paths, m.Path)
			}
		}
		if paths == nil {
			return "", fmt.Errorf("docs/report.json has no speed in %s", database)
		}
		for _, path := range paths {
			text += "| " + database + ", " + path + " |"
			for _, k := range insertKeys {
				if !has(database, k.key) {
					text += " |"
					continue
				}
				i := slices.IndexFunc(s.Inserts, func(m measure.Insert) bool {
					return m.Database == database && m.Path == path && m.Scheme == k.scheme &&
						m.Deployments == k.deployments && (k.writers == 0 || m.Writers == k.writers)
				})
				if i < 0 || s.Inserts[i].Baseline != measure.Serial {
					return "", fmt.Errorf("docs/report.json has no speed of %s in %s", k.scheme,
						database)
				}
				text += " " + ratio(s.Inserts[i].Relative, s.Inserts[i].Spread) + " |"
			}
			text += "\n"
		}
	}
	return text, nil
}

func ratio(v, spread float64) string { return fmt.Sprintf("%.2f ± %.2f", v, spread) }

// readKeys are those whose reads are shown.
var readKeys = []key{serial, decimal, snowflake, uuidv7, serverV7, uuidv4, ulid}

func readsTable(s *source) (string, error) {
	text := head("", "newest 100: are the newest", "blocks", "time", "range of 1,000: blocks",
		"asked for", "time", "MariaDB: newest", "range")
	for _, k := range readKeys {
		read := func(database, what string) (measure.Read, error) {
			i := slices.IndexFunc(s.Reads, func(r measure.Read) bool {
				return r.Database == database && r.What == what && r.Scheme == k.scheme && !r.Apart
			})
			if i < 0 {
				return measure.Read{}, fmt.Errorf("docs/report.json has no reads of %s in %s",
					k.scheme, database)
			}
			return s.Reads[i], nil
		}
		last, err := read(newest, measure.Newest)
		if err != nil {
			return "", err
		}
		span, err := read(newest, measure.Range)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("| %s | %d | %d | %s | %d | %d | %s |", k.label, last.Newest, last.Read,
			ratio(last.Relative, last.Spread), span.Read, span.Touched,
			ratio(span.Relative, span.Spread))
		if k == serverV7 {
			text += " | |\n"
			continue
		}
		for _, what := range []string{measure.Newest, measure.Range} {
			r, err := read("MariaDB", what)
			if err != nil {
				return "", err
			}
			text += " " + ratio(r.Relative, r.Spread) + " |"
		}
		text += "\n"
	}
	return text, nil
}

// familiesTable is what a key that is known before saves.
func familiesTable(s *source) (string, error) {
	text := head("parent and 5 children", "round trips", "0 ms away", "1 ms away")
	shown := map[string]string{}
	var ways []string
	for _, f := range s.Families {
		if f.Database != newest {
			continue
		}
		way := f.Scheme + ", " + f.Way
		if shown[way] == "" {
			ways = append(ways, way)
			shown[way] = fmt.Sprintf("| %s | %d |", way, f.RoundTrips)
		}
		shown[way] += " " + ratio(f.Relative, f.Spread) + " |"
	}
	if ways == nil {
		return "", fmt.Errorf("docs/report.json has no parents with children in %s", newest)
	}
	for _, way := range ways {
		text += shown[way] + "\n"
	}
	return text, nil
}
