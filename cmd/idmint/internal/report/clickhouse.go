package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// columnName tells forms and orders apart.
func (n named) columnName(c measure.Compression) string {
	name := n.name(c.Scheme, c.Storage)
	if c.Sort == measure.SortedByBytes {
		name += " by toUInt128"
	}
	return name
}

// compression are a figure for each order of the table, with a panel for each number of generators.
// Ours have the codec that users get and their best form, peers the best codec in all forms.
func (n named) compression(kind string) []figure {
	var panels []string
	var where []place
	for _, g := range measure.Generators() {
		panels = append(panels, generatorCount(g))
		where = append(where, place{kind, generatorCount(g), n.standIn(kind)})
	}
	var figures []figure
	for _, s := range orders {
		f := figure{
			ID: slug(kind, s.title), Title: s.title, Note: s.note + " " + codecNote, StandIn: n.standIn(kind),
			Unit: "bytes an ID", Where: where,
			Chart: chart{Axis: "bytes an ID", Panels: panels},
		}
		for panel, g := range measure.Generators() {
			for _, c := range n.Smallest(s.sorted, g) {
				f.Chart.put(chartRow{
					Label: shown(c, n.columnName(c)), Scheme: c.Scheme, Ours: !c.Peer,
				}, panel, mark{Value: c.BytesPerID, Text: small(c.BytesPerID)})
			}
		}
		if len(f.Chart.Rows) != 0 {
			f.finish()
			figures = append(figures, f)
		}
	}
	return figures
}

const (
	orderedByKey = "Size, ordered by the key"
	inArrival    = "Size, in order of arrival"
	codecNote    = "Ours have the codec that package clickhouse writes there. Rivals have the best " +
		"that was measured."
)

// orders are those in which a table has the IDs.
var orders = []struct {
	title, note string
	sorted      bool
}{
	{orderedByKey, "The table is ordered by the ID.", true},
	{inArrival, "The table has another order, such as the time of an event.", false},
}

// shown is the scheme alone for ours, of which only the best form is shown.
func shown(c measure.Compression, name string) string {
	if c.Peer {
		return name
	}
	return c.Scheme
}

func generatorCount(n int) string {
	if n == 1 {
		return "1 generator"
	}
	return fmt.Sprintf("%d generators", n)
}

// compressionTables have all codecs: one for each order and number of generators.
func (n named) compressionTables(kind string) []table {
	var codecs []string
	for _, c := range n.Compression {
		if !slices.Contains(codecs, c.Codec) {
			codecs = append(codecs, c.Codec)
		}
	}
	var tables []table
	for _, s := range orders {
		for _, g := range measure.Generators() {
			t := table{
				Caption: fmt.Sprintf("%s: bytes an ID, %s, %s", kind, strings.ToLower(s.title),
					generatorCount(g)),
				Head: append([]string{"scheme", "column"}, codecs...),
			}
			for _, c := range n.Compression {
				if c.Sorted() != s.sorted || c.Generators != g && !n.Alike(c) {
					continue
				}
				name := n.columnName(c)
				i := slices.IndexFunc(t.Rows, func(r []cell) bool { return r[0].Text == name })
				if i < 0 {
					i = len(t.Rows)
					t.add(name, append([]cell{words(c.Column)}, make([]cell, len(codecs))...)...)
				}
				t.Rows[i][2+slices.Index(codecs, c.Codec)] = num(small(c.BytesPerID))
			}
			if len(t.Rows) != 0 {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// granules is a figure of what ClickHouse reads for the IDs of a second. Decimal IDs have no bounds
// of a time, so that all of the table is read.
func (n named) granules(kind string) *figure {
	var ways []string
	var where []place
	for _, s := range n.Skipping {
		if s.All != 0 && !slices.Contains(ways, s.By) {
			ways = append(ways, s.By)
			where = append(where, place{kind, s.By, n.standIn(kind)})
		}
	}
	f := figure{
		ID: slug(kind, "granules"), Title: "Granules read for a span of time", Unit: "granules",
		StandIn: n.standIn(kind), Where: where,
		Chart: chart{Axis: "granules", Panels: ways},
	}
	for _, s := range n.Skipping {
		if s.All == 0 {
			continue
		}
		f.Note = fmt.Sprintf("For %s of %s rows, the IDs of a second. A granule has %s rows, and "+
			"the table %d granules. Decimal IDs have no time: without a column of times all are "+
			"read, of a table of any size.",
			grouped(float64(s.Found)), grouped(float64(s.Rows)), grouped(float64(s.GranuleRows)), s.All)
		f.Chart.put(chartRow{
			Label: n.name(s.Scheme, s.Storage), Scheme: s.Scheme, Ours: !s.Peer,
		}, slices.Index(ways, s.By), mark{
			Value: float64(s.Granules), Text: grouped(float64(s.Granules)),
		})
		f.Chart.Full = max(f.Chart.Full, float64(s.All))
		f.Chart.put(chartRow{Label: "decimal, without a time", Scheme: "decimal", Ours: true},
			slices.Index(ways, s.By), mark{Value: float64(s.All), Text: grouped(float64(s.All))})
	}
	if len(f.Chart.Rows) == 0 {
		return nil
	}
	f.finish()
	return &f
}
