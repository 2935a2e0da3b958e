package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// named are results, with names for the forms of schemes.
type named struct {
	*measure.Results
	forms map[string]map[string]bool // by scheme
}

func namesOf(r *measure.Results) named {
	n := named{r, map[string]map[string]bool{}}
	for _, o := range r.Order {
		if n.forms[o.Scheme] == nil {
			n.forms[o.Scheme] = map[string]bool{}
		}
		n.forms[o.Scheme][o.Storage] = true
	}
	return n
}

// name is the scheme's, with the form where there is a choice.
func (n named) name(scheme, storage string) string {
	if len(n.forms[scheme]) > 1 {
		return scheme + " as " + storage
	}
	return scheme
}

// heroGenerators is the number of generators that the page speaks of where it names none.
const heroGenerators = 4

// compressed are the measurements of a sort order, one for each column that keeps says and with the
// codec that compresses it best.
func (n named) best(sort string, generators int) []measure.Compression {
	var best []measure.Compression
	for _, c := range n.Compression {
		if c.Sort != sort || c.Generators != generators && !n.alike(c) {
			continue
		}
		i := slices.IndexFunc(best,
			func(b measure.Compression) bool {
				return b.Scheme == c.Scheme &&
					b.Storage == c.Storage
			})
		switch {
		case i < 0:
			best = append(best, c)
		case c.BytesPerID < best[i].BytesPerID:
			best[i] = c
		}
	}
	return best
}

// alike reports whether a column was measured for one number of generators only, as it is the same
// for all.
func (n named) alike(c measure.Compression) bool {
	return !slices.ContainsFunc(n.Compression, func(o measure.Compression) bool {
		return o.Scheme == c.Scheme && o.Storage == c.Storage && o.Generators != c.Generators
	})
}

// hero is the first chart: of ClickHouse, or else of the first database.
func (n named) hero() *figure {
	best := n.best(measure.SortedByID, heroGenerators)
	if len(best) == 0 {
		return nil
	}
	slices.SortStableFunc(best,
		func(a, b measure.Compression) int { return cmp.Compare(a.BytesPerID, b.BytesPerID) })
	f := figure{
		Title: "Bytes per ID in ClickHouse",
		Note: fmt.Sprintf("A sorted column of %s IDs by %d generators, with the codec that suits "+
			"it best. Each line of the scale is ten times the one before.",
			grouped(float64(n.Rows)), heroGenerators),
		Chart: chart{
			Title: "Bytes per ID in ClickHouse, logarithmic, by scheme",
			Axis:  "bytes per ID, logarithmic", Log: true,
		},
		Table: table{
			Caption: "Bytes per ID in ClickHouse, sorted by ID, best codec",
			Head:    []string{"scheme", "column", "codec", "bytes per ID"},
		},
	}
	shown := map[string]bool{}
	for _, c := range best {
		name := n.name(c.Scheme, c.Storage)
		if !shown[c.Scheme] { // a scheme's best form
			f.Chart.Rows = append(f.Chart.Rows,
				chartRow{name, !c.Peer, []mark{{Value: c.BytesPerID, Text: small(c.BytesPerID)}}})
		}
		shown[c.Scheme] = true
		f.Table.add(name, words(c.Column), words(c.Codec), num(small(c.BytesPerID)))
	}
	return &f
}

func (t *table) add(name string, cells ...cell) {
	t.Rows = append(t.Rows, append([]cell{{Text: name}}, cells...))
}

func words(s string) cell { return cell{Text: s} }
func num(s string) cell   { return cell{Text: s, Class: "num"} }

// codecs are a chart for each sort order, and one for the numbers of generators.
func (n named) codecs() []figure {
	if len(n.Compression) == 0 {
		return nil
	}
	var codecs []string
	for _, c := range n.Compression {
		if !slices.Contains(codecs, c.Codec) {
			codecs = append(codecs, c.Codec)
		}
	}
	var figures []figure
	for _, s := range []struct{ sort, title, note string }{
		{measure.SortedByID, "Sorted by ID", "ORDER BY id: where the ID is the table's key."},
		{
			measure.Arrival, "In order of arrival",
			"ORDER BY tuple(): where the table has another order, such as the time of an event.",
		},
	} {
		f := figure{
			Title: s.title, Note: s.note,
			Chart: chart{
				Title: "Bytes per ID by scheme and codec, " + s.sort,
				Axis:  "bytes per ID, logarithmic", Log: true, Series: codecs,
			},
			Table: table{
				Caption: "Bytes per ID by scheme and codec, " + s.sort,
				Head:    append([]string{"scheme"}, codecs...),
			},
		}
		n.group(&f, codecs, func(c measure.Compression) (string, bool) {
			return c.Codec, c.Sort == s.sort && (c.Generators == heroGenerators || n.alike(c))
		})
		figures = append(figures, f)
	}
	var numbers []string
	for _, g := range measure.Generators() {
		numbers = append(numbers, generatorCount(g))
	}
	f := figure{
		Title: "By the number of generators", Note: "Sorted by ID, with the best codec of each.",
		Chart: chart{
			Title: "Bytes per ID by scheme and number of generators",
			Axis:  "bytes per ID, logarithmic", Log: true, Series: numbers,
		},
		Table: table{
			Caption: "Bytes per ID by number of generators, sorted by ID, best codec",
			Head:    append([]string{"scheme"}, numbers...),
		},
	}
	best := map[string]measure.Compression{}
	for _, g := range measure.Generators() {
		for _, c := range n.best(measure.SortedByID, g) {
			best[c.Scheme+c.Storage+strconv.Itoa(g)] = c
		}
	}
	n.group(&f, numbers, func(c measure.Compression) (string, bool) {
		return generatorCount(c.Generators), !n.alike(c) &&
			best[c.Scheme+c.Storage+strconv.Itoa(c.Generators)] == c
	})
	return append(figures, f)
}

func generatorCount(n int) string {
	if n == 1 {
		return "1 generator"
	}
	return fmt.Sprintf("%d generators", n)
}

// group makes a row for each scheme and form, with a mark for each column: where of says that a
// measurement belongs.
func (n named) group(
	f *figure, columns []string, of func(measure.Compression) (column string, ok bool),
) {
	at := map[string]int{}
	for _, c := range n.Compression {
		column, ok := of(c)
		if !ok {
			continue
		}
		name := n.name(c.Scheme, c.Storage)
		i, known := at[name]
		if !known {
			i = len(f.Table.Rows)
			at[name] = i
			f.Chart.Rows = append(f.Chart.Rows, chartRow{Label: name, Ours: !c.Peer})
			f.Table.add(name, make([]cell, len(columns))...)
		}
		s := slices.Index(columns, column)
		f.Chart.Rows[i].Marks = append(f.Chart.Rows[i].Marks,
			mark{s, c.BytesPerID, small(c.BytesPerID)})
		f.Table.Rows[i][s+1] = num(small(c.BytesPerID))
	}
}

// footprints are two charts for each database: sizes, and pages written.
func (n named) footprints() []figure {
	var figures []figure
	for _, d := range n.Databases {
		sizes := figure{
			Title: d.Name + ": size of the key",
			Note: map[bool]string{
				true:  "The primary key's index, per row.",
				false: "The table, which is the primary key's index, per row.",
			}[d.Name == "PostgreSQL"],
			Chart: chart{
				Title: d.Name + ": bytes of the primary key's index per row, by scheme",
				Axis:  "bytes per row",
			},
			Table: table{
				Caption: d.Name + ": size and what was written to store it",
				Head: []string{
					"scheme", "column", "key index, bytes per row",
					"table with indexes, bytes per row", "log, bytes per row",
					"pages written per 1,000 rows",
				},
			},
		}
		pages := figure{
			Title: d.Name + ": pages written",
			Note:  "Per 1,000 rows, logarithmic.",
			Chart: chart{
				Title: d.Name + ": pages written per 1,000 rows, by scheme",
				Axis:  "pages, logarithmic", Log: true,
			},
			Table: table{
				Caption: d.Name + ": pages written per 1,000 rows",
				Head:    []string{"scheme", "pages written per 1,000 rows"},
			},
		}
		unknown := ""
		for _, f := range n.Footprints {
			if f.Database != d.Name {
				continue
			}
			name, rows := n.name(f.Scheme, f.Storage), float64(f.Rows)
			key := float64(f.KeyBytes) / rows
			sizes.Chart.Rows = append(sizes.Chart.Rows,
				chartRow{name, !f.Peer, []mark{{Value: key, Text: small(key)}}})
			log, written := num("unknown"), num("unknown")
			if f.Unknown == "" {
				per := float64(f.Pages) * 1000 / rows
				log, written = num(small(float64(f.LogBytes)/rows)), num(small(per))
				pages.Chart.Rows = append(pages.Chart.Rows,
					chartRow{name, !f.Peer, []mark{{Value: per, Text: small(per)}}})
				pages.Table.add(name, written)
			} else {
				unknown = " What was written is not known: " + f.Unknown
			}
			sizes.Table.add(name, words(f.Column), num(small(key)),
				num(small(float64(f.TableBytes)/rows)), log, written)
		}
		sizes.Note += unknown
		if len(sizes.Chart.Rows) != 0 {
			figures = append(figures, sizes)
		}
		if len(pages.Chart.Rows) != 0 {
			figures = append(figures, pages)
		}
	}
	return figures
}

// inserts are a chart for each way into each database.
func (n named) inserts() []figure {
	var figures []figure
	for _, m := range n.Inserts {
		title := m.Database + ": " + m.Path
		i := slices.IndexFunc(figures, func(f figure) bool { return f.Title == title })
		if i < 0 {
			i = len(figures)
			figures = append(figures, figure{
				Title: title, Note: fmt.Sprintf("%s rows at a time; median of %d rounds.",
					grouped(float64(m.Rows)), m.Rounds),
				Chart: chart{
					Title: title +
						": speed as a multiple of that of plain int64, by scheme",
					Axis: "× the speed of plain int64", Line: 1,
				},
				Table: table{
					Caption: title + ": speed",
					Head:    []string{"scheme", "column", "rows per second", "× plain int64"},
				},
			})
		}
		relative := fmt.Sprintf("%.2f", m.Relative)
		if m.Spread != 0 {
			relative += fmt.Sprintf(" ± %.2f", m.Spread)
		}
		figures[i].Chart.Rows = append(figures[i].Chart.Rows,
			chartRow{m.Scheme, !m.Peer, []mark{{Value: m.Relative, Text: relative}}})
		figures[i].Table.add(m.Scheme, words(m.Column), num(grouped(m.RowsPerSec)), num(relative))
	}
	return figures
}

// order is a table of schemes and databases.
func (n named) order() *table {
	t := table{Caption: "Order of columns", Head: []string{"scheme and column"}}
	for _, d := range n.Databases {
		t.Head = append(t.Head, d.Name)
	}
	at := map[string]int{}
	for _, o := range n.Order {
		name := n.name(o.Scheme, o.Storage)
		if o.What != "" {
			name += ", " + o.What
		}
		i, known := at[name]
		if !known {
			i = len(t.Rows)
			at[name] = i
			t.add(name, make([]cell, len(n.Databases))...)
		}
		c := cell{"✗ not as documented", "no"}
		switch {
		case o.Agrees() && o.AsIDs:
			c = cell{"✓ as the IDs", "yes"}
		case o.Agrees():
			c = cell{"≠ IDs; " + o.Documented, "other"}
		}
		t.Rows[i][1+slices.IndexFunc(n.Databases,
			func(d measure.Server) bool { return d.Name == o.Database })] = c
	}
	return &t
}

// access is how each database walked the index.
func (n named) access() *table {
	t := table{
		Caption: "How the order was read",
		Head: []string{
			"scheme", "database", "column", "IDs", "generators",
			"along the index, as the database explains it",
		},
	}
	for _, o := range n.Order {
		t.add(n.name(o.Scheme, o.Storage), words(o.Database), words(o.Column),
			num(grouped(float64(o.IDs))), num(strconv.Itoa(o.Generators)), cell{o.Access, "code"})
	}
	return &t
}

func (n named) skipping() *table {
	t := table{
		Caption: "What a query for a second reads",
		Head: []string{
			"scheme", "database", "by", "rows found", "of rows", "granules read",
			"as the database explains it",
		},
	}
	for _, s := range n.Skipping {
		granules := ""
		if s.All != 0 {
			granules = fmt.Sprintf("%d of %d", s.Granules, s.All)
		}
		t.add(n.name(s.Scheme, s.Storage), words(s.Database), words(s.By),
			num(grouped(float64(s.Found))), num(
				grouped(float64(s.Rows))), num(granules), cell{s.Access, "code"})
	}
	return &t
}

// skipLead says what ClickHouse has to read.
func (n named) skipLead() string {
	i := slices.IndexFunc(n.Skipping, func(s measure.Skipping) bool { return s.All != 0 })
	if i < 0 {
		return ""
	}
	s := n.Skipping[i]
	return fmt.Sprintf("ClickHouse finds %s of %s rows in %d of %d granules, its units of %s "+
		"rows: here of %s IDs, by the %s.",
		grouped(float64(s.Found)), grouped(
			float64(s.Rows)), s.Granules, s.All, grouped(
			float64(s.GranuleRows)), n.name(s.Scheme, s.Storage), s.By)
}

// small writes a figure with about three digits.
func small(v float64) string {
	switch {
	case v < 0.0995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case v < 9.95:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.5:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return grouped(v)
}

// grouped writes a whole number with a comma after every three digits.
func grouped(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
