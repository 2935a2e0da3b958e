package report

import (
	"cmp"
	"slices"
	"strconv"
)

// A figure is a chart. The table that holds its values is one of its section's.
type figure struct {
	ID      string // of its place on the page
	Title   string
	Note    string
	StandIn string  // the server that was measured, where it is not the official one
	Higher  bool    // more is better
	Unit    string  // of the values, after them in a sentence
	Of      string  // what the title does not say, where several figures have it
	Where   []place // of each panel
	Chart   chart
}

// A place is where a panel's values are from.
type place struct {
	Server  string
	Case    string // "4 generators"; empty where there is but one
	StandIn string // what the server calls itself, where it is not the official one
}

func (p place) String() string {
	if p.Case == "" {
		return p.Server
	}
	return p.Server + ", " + p.Case
}

// Heading is the title, and what it is of.
func (f figure) Heading() string {
	if f.Of == "" {
		return f.Title
	}
	return f.Title + ": " + f.Of
}

// A section of the page is about a kind of databases.
type section struct {
	ID      string
	Title   string
	Lead    string
	Servers []server
	Figures []figure
	Tables  []table
}

// A server is what a section's heading says of one.
type server struct{ Version, Build, StandIn string }

// A table's first column are the names of its rows.
type table struct {
	Caption string
	Head    []string
	Rows    [][]cell
	Class   string // of the style sheet
}

type cell struct {
	Text   string
	Class  string // "yes", "other", "no"; "num" for numbers
	Detail string // below the text
}

func (t *table) add(name string, cells ...cell) {
	t.Rows = append(t.Rows, append([]cell{{Text: name}}, cells...))
}

// Wide reports whether the chart takes the page's width.
func (f figure) Wide() bool { return len(f.Chart.Panels) > 2 }

func words(s string) cell { return cell{Text: s} }
func num(s string) cell   { return cell{Text: s, Class: "num"} }

// NumberColumn reports whether a column is of numbers, and so its heading is on the right.
func (t table) NumberColumn(i int) bool {
	return slices.ContainsFunc(t.Rows, func(cells []cell) bool { return cells[i].Class == "num" })
}

// put adds a mark to a row of the chart, which it makes where there is none of that label.
func (c *chart) put(r chartRow, panel int, m mark) {
	i := slices.IndexFunc(c.Rows, func(o chartRow) bool { return o.Label == r.Label })
	if i < 0 {
		r.Marks = make([]mark, max(1, len(c.Panels)))
		c.Rows = append(c.Rows, r)
		i = len(c.Rows) - 1
	}
	c.Rows[i].Marks[panel] = m
}

// finish puts the best row on top, by the first panel that has a mark of it, and chooses the axis.
func (f *figure) finish() {
	value := func(r chartRow) float64 {
		i := slices.IndexFunc(r.Marks, func(m mark) bool { return m.Text != "" })
		return r.Marks[i].Value
	}
	slices.SortStableFunc(f.Chart.Rows, func(a, b chartRow) int {
		if f.Higher {
			a, b = b, a
		}
		return cmp.Compare(value(a), value(b))
	})
	if !f.Chart.Ratio {
		f.Chart.Log = f.Chart.spans(20)
	}
	if f.Chart.Log {
		f.Chart.Axis += ", logarithmic"
	}
	f.Chart.Title = f.Heading() + ": " + f.Chart.Axis + ", by scheme"
}

// spans reports whether the values are too far apart for bars. All are above zero then, and the
// largest is more than so many times the smallest.
func (c chart) spans(times float64) bool {
	low, high := 0.0, 0.0
	for _, r := range c.Rows {
		for _, m := range r.Marks {
			switch {
			case m.Text == "":
			case m.Value <= 0:
				return false
			default:
				if low == 0 {
					low = m.Value
				}
				low, high = min(low, m.Value), max(high, m.Value)
			}
		}
	}
	return high > times*low
}

// small writes a figure with about three digits.
func small(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.0995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case v < 9.95:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.5:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return grouped(v)
}

// ratio writes a multiple, with its spread.
func ratio(v, spread float64) string {
	text := strconv.FormatFloat(v, 'f', 2, 64)
	if spread != 0 {
		text += " ± " + strconv.FormatFloat(spread, 'f', 2, 64)
	}
	return text
}

// grouped writes a whole number with a comma after every three digits.
func grouped(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
