package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// A metric is a figure of the tables that rows were stored in.
type metric struct {
	title string
	note  string
	axis  string
	unit  string
	of    func(measure.Footprint) (value float64, ok bool)
	// one is what one more makes of a value that is small; nil of any other
	one func(measure.Footprint) float64
}

func perRow(n int64, rows int) float64      { return float64(n) / float64(rows) }
func perThousand(n int64, rows int) float64 { return 1000 * float64(n) / float64(rows) }

// Metrics that have a card.
const (
	keyIndex   = "Index of the key"
	writtenLog = "Log written"
)

// metrics are those of databases that keep rows. What a database does not tell is left out.
func metrics(kind string) []metric {
	index := map[string]string{
		"PostgreSQL": "The primary key's index alone.",
		"MariaDB":    "The leaf pages of the table, which is the key's index.",
	}[kind]
	whole := "The key, an integer, and what the database adds."
	if kind == "MariaDB" {
		whole += " It is reserved in steps of 1 MiB."
	}
	bytes := map[string]int64{"PostgreSQL": 8 << 10, "MariaDB": 16 << 10, "SQLite": 4 << 10}[kind]
	page := func(f measure.Footprint) float64 { return perRow(bytes, f.Rows) }
	each := func(f measure.Footprint) float64 { return perThousand(1, f.Rows) }
	return []metric{
		{
			keyIndex, cmp.Or(index, "The table, which is the key's index."), "bytes a row",
			"bytes a row",
			func(f measure.Footprint) (float64, bool) { return perRow(f.KeyBytes, f.Rows), true },
			page,
		},
		{
			"Table with its indexes", whole, "bytes a row", "bytes a row",
			func(f measure.Footprint) (float64, bool) { return perRow(f.TableBytes, f.Rows), true },
			page,
		},
		{
			writtenLog, "WAL, or the redo log, with ten checkpoints. Scattered keys write whole " +
				"pages after each, so fewer checkpoints write less.",
			"bytes a row", "bytes a row",
			func(f measure.Footprint) (float64, bool) {
				return perRow(f.LogBytes, f.Rows), f.Unknown == ""
			}, nil,
		},
		{
			"Pages written", "What was written to the files. Scattered keys touch more pages. What " +
				"the server writes by itself counts too, so runs differ.",
			"pages for 1,000 rows", "pages for 1,000 rows",
			func(f measure.Footprint) (float64, bool) {
				return perThousand(f.Pages, f.Rows), f.Unknown == ""
			}, each,
		},
		{
			"Page splits", "A key that ascends splits the last page alone, once for each page.",
			"splits for 1,000 rows", "splits for 1,000 rows",
			func(f measure.Footprint) (float64, bool) {
				if f.Splits == nil {
					return 0, false
				}
				return perThousand(*f.Splits, f.Rows), true
			}, each,
		},
		{
			"Cache misses", "Blocks of the index that inserts did not find in the cache. It was " +
				"empty before, and the table was nine tenths full.",
			"misses for 1,000 rows", "misses for 1,000 rows",
			func(f measure.Footprint) (float64, bool) {
				if f.Cold == nil {
					return 0, false
				}
				return perThousand(f.Cold.Read, f.Cold.Rows), true
			},
			func(f measure.Footprint) float64 { return perThousand(1, f.Cold.Rows) },
		},
	}
}

// footprints are a figure for each metric of a kind of databases. They show each scheme in its most
// compact form, and all forms in the tables.
func (n named) footprints(kind string) []figure {
	servers := n.serversOf(kind)
	var figures []figure
	for _, m := range metrics(kind) {
		f := figure{
			ID: slug(kind, m.title), Title: m.title, Note: m.note, Unit: m.unit,
			StandIn: n.standIn(kind), Where: placesOf(servers),
			Chart: chart{Axis: m.axis, Panels: panels(servers), Lines: make([]float64, len(servers))},
		}
		for panel, s := range servers {
			for _, p := range n.Footprints {
				value, ok := m.of(p)
				if p.Database != s.Name || !ok || !n.mostCompact(p) {
					continue
				}
				if p.Scheme == measure.Serial {
					f.Chart.Lines[panel] = value
				}
				at := mark{Value: value, Text: small(value)}
				if m.one != nil {
					at.Step = m.one(p)
				}
				f.Chart.put(chartRow{
					Label: n.written(p.Scheme, p.Storage, p.Writing), Scheme: p.Scheme,
					Ours: !p.Peer, Writers: n.writersOf(p.Scheme, p.Writing),
				}, panel, at)
			}
		}
		if len(f.Chart.Rows) != 0 {
			f.finish()
			figures = append(figures, f)
		}
	}
	return figures
}

// mostCompact reports whether no other form of the scheme has a smaller table. Of equal ones it is
// the first.
func (n named) mostCompact(f measure.Footprint) bool {
	best := f
	for _, o := range n.Footprints {
		if o.Database == f.Database && o.Scheme == f.Scheme && o.Writing == f.Writing &&
			o.TableBytes+o.KeyBytes < best.TableBytes+best.KeyBytes {
			best = o
		}
	}
	first := slices.IndexFunc(n.Footprints, func(o measure.Footprint) bool {
		return o.Database == f.Database && o.Scheme == f.Scheme && o.Writing == f.Writing &&
			o.TableBytes+o.KeyBytes == best.TableBytes+best.KeyBytes
	})
	return n.Footprints[first].Storage == f.Storage
}

// panels are the names of servers where there are several.
func panels(servers []measure.Server) []string {
	if len(servers) < 2 {
		return nil
	}
	return namesOfServers(servers)
}

func placesOf(servers []measure.Server) []place {
	var places []place
	for _, s := range servers {
		places = append(places, place{Server: s.Name, StandIn: s.StandIn})
	}
	return places
}

func namesOfServers(servers []measure.Server) []string {
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}

// footprintTable is a table of a server.
func (n named) footprintTable(server string) *table {
	t := table{
		Caption: server + ": sizes, and what was written to store them",
		Head: []string{
			"scheme", "column", "key index, bytes a row", "table with indexes, bytes a row",
			"log, bytes a row", "pages written for 1,000 rows",
		},
	}
	// What only some databases tell.
	splits, fill, cold := false, false, false
	for _, f := range n.Footprints {
		if f.Database == server {
			splits, fill = splits || f.Splits != nil, fill || f.LeafFill != 0
			cold = cold || f.Cold != nil
		}
	}
	for _, more := range []struct {
		told bool
		head []string
	}{
		{splits, []string{"page splits for 1,000 rows"}},
		{fill, []string{"leaf pages full"}},
		{cold, []string{"cache hits", "cache misses for 1,000 rows"}},
	} {
		if more.told {
			t.Head = append(t.Head, more.head...)
		}
	}
	for _, f := range n.Footprints {
		if f.Database != server {
			continue
		}
		cells := []cell{
			words(f.Column), num(small(perRow(f.KeyBytes, f.Rows))),
			num(small(perRow(f.TableBytes, f.Rows))), num("unknown"), num("unknown"),
		}
		if f.Unknown == "" {
			cells[3] = num(small(perRow(f.LogBytes, f.Rows)))
			cells[4] = num(small(perThousand(f.Pages, f.Rows)))
		}
		if splits {
			cells = append(cells, n.splitsCell(f))
		}
		if fill {
			cells = append(cells, num(fmt.Sprintf("%.0f %%", f.LeafFill)))
		}
		if cold {
			cells = append(cells, coldCells(f)...)
		}
		t.add(n.written(f.Scheme, f.Storage, f.Writing), cells...)
	}
	return optional(t)
}

func (n named) splitsCell(f measure.Footprint) cell {
	if f.Splits == nil {
		return num("unknown")
	}
	return num(small(perThousand(*f.Splits, f.Rows)))
}

func coldCells(f measure.Footprint) []cell {
	if f.Cold == nil || f.Cold.Hits+f.Cold.Read == 0 {
		return []cell{num("unknown"), num("unknown")}
	}
	hits := 100 * float64(f.Cold.Hits) / float64(f.Cold.Hits+f.Cold.Read)
	return []cell{
		num(fmt.Sprintf("%.2f %%", hits)), num(small(perThousand(f.Cold.Read, f.Cold.Rows))),
	}
}

// optional is nil for a table without rows.
func optional(t table) *table {
	if len(t.Rows) == 0 {
		return nil
	}
	return &t
}

// unknown says why a database does not tell what was written.
func (n named) unknown(kind string) string {
	i := slices.IndexFunc(n.Footprints, func(f measure.Footprint) bool {
		return kindOf(f.Database) == kind && f.Unknown != ""
	})
	if i < 0 {
		return ""
	}
	return " What was written is not known: " + n.Footprints[i].Unknown
}
