package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// inserts are a figure for each way into a kind of databases.
func (n named) inserts(kind string) []figure {
	servers := n.serversOf(kind)
	var figures []figure
	for _, m := range n.Inserts {
		panel := slices.IndexFunc(servers, func(s measure.Server) bool { return s.Name == m.Database })
		if panel < 0 {
			continue
		}
		baseline := cmp.Or(m.Baseline, measure.Plain)
		title := "Inserting by " + m.Path
		i := slices.IndexFunc(figures, func(f figure) bool { return f.Title == title })
		if i < 0 {
			i = len(figures)
			figures = append(figures, figure{
				ID: slug(kind, title), Title: title, Higher: true,
				Unit: "× the speed of " + baseline,
				Note: fmt.Sprintf("One connection fills an empty table with %s rows; median of %d rounds. "+
					"All fits into memory: a large table slows keys without order down more. A "+
					"dashed line is %s.", grouped(float64(m.Rows)), m.Rounds, baseline),
				StandIn: n.standIn(kind), Where: placesOf(servers),
				Chart: chart{
					Axis: "× the speed of " + baseline, Ratio: true, Panels: panels(servers),
					Lines: slices.Repeat([]float64{1}, len(servers)),
				},
			})
		}
		figures[i].Chart.put(
			chartRow{
				Label: n.written(m.Scheme, m.Storage, m.Writing), Scheme: m.Scheme, Ours: !m.Peer,
				Writers: n.writersOf(m.Scheme, m.Writing),
			}, panel, median(m.Relative, m.Spread, m.Rounds))
	}
	for i := range figures {
		figures[i].finish()
	}
	return figures
}

func (n named) insertTables(server string) []table {
	var tables []table
	for _, m := range n.Inserts {
		if m.Database != server {
			continue
		}
		caption := server + ": inserting by " + m.Path
		i := slices.IndexFunc(tables, func(t table) bool { return t.Caption == caption })
		if i < 0 {
			i = len(tables)
			tables = append(tables, table{
				Caption: caption,
				Head: []string{
					"scheme", "column", "rows a second",
					"× the speed of " + cmp.Or(m.Baseline, measure.Plain), "±",
				},
			})
		}
		tables[i].add(n.written(m.Scheme, m.Storage, m.Writing), words(m.Column), num(grouped(m.RowsPerSec)),
			num(ratio(m.Relative, 0)), spreadCell(m.Spread))
	}
	return tables
}

func spreadCell(spread float64) cell {
	if spread == 0 {
		return num("")
	}
	return num(fmt.Sprintf("%.2f", spread))
}

// An answer is what is told of a question. FOUND, ROUNDS and QUERY are replaced in its texts.
type answer struct {
	what   string // measure.Newest or Range
	title  string
	note   string
	axis   string
	unit   string
	higher bool
	of     func(measure.Read) (m mark, ok bool)
}

const newestFound = "The newest rows, by the highest keys"

// timed is how long a question takes.
func timed(r measure.Read) (mark, bool) {
	return median(r.Relative, r.Spread, r.Rounds), true
}

// median is a ratio's mark.
func median(value, spread float64, rounds int) mark {
	return mark{Value: value, Spread: spread, Text: ratio(value, 0), Rounds: rounds}
}

func counted(n int64) mark {
	return mark{Value: float64(n), Text: grouped(float64(n)), Step: 1}
}

const (
	timeAxis = "× the time of serial; less is faster"
	timeUnit = "× the time of serial"
)

var answers = []answer{
	{
		measure.Newest, newestFound,
		"Of the rows with the FOUND highest keys, so many are among the FOUND that came last.",
		"rows of FOUND; more is better", "rows of FOUND", true,
		func(r measure.Read) (mark, bool) { return counted(int64(r.Newest)), true },
	},
	{
		measure.Newest, "Time to read the FOUND highest keys",
		"QUERY; median of ROUNDS rounds with a warm cache. The chart before says how many of the " +
			"rows are the newest.",
		timeAxis, timeUnit, false, timed,
	},
	{
		measure.Range, "Blocks for a range of FOUND rows",
		"QUERY; how often it asks for a block of index or table.",
		"blocks; less is better", "blocks", false,
		func(r measure.Read) (mark, bool) { return counted(r.Touched), r.Touched != 0 },
	},
	{
		measure.Range, "Time to read a range of FOUND rows",
		"QUERY; median of ROUNDS rounds with a warm cache.", timeAxis, timeUnit, false, timed,
	},
}

// reads are a figure for each answer.
func (n named) reads(kind string) []figure {
	servers := n.serversOf(kind)
	var figures []figure
	for _, a := range answers {
		f := figure{
			Higher: a.higher, StandIn: n.standIn(kind), Where: placesOf(servers),
			Chart: chart{Panels: panels(servers), Lines: make([]float64, len(servers))},
		}
		for _, r := range n.Reads {
			panel := slices.IndexFunc(servers,
				func(s measure.Server) bool { return s.Name == r.Database })
			m, ok := a.of(r)
			if panel < 0 || r.What != a.what || !ok || !n.bestRead(r) {
				continue
			}
			text := strings.NewReplacer("FOUND", grouped(float64(r.Found)),
				"ROUNDS", strconv.Itoa(r.Rounds), "QUERY", r.Query).Replace
			f.Title, f.Note, f.Unit = text(a.title), text(a.note), text(a.unit)
			f.Chart.Axis = text(a.axis)
			f.Chart.Ratio = m.Rounds != 0
			if r.Scheme == measure.Serial {
				f.Chart.Lines[panel] = m.Value
			}
			f.Chart.put(chartRow{
				Label: n.written(r.Scheme, r.Storage, r.Writing), Scheme: r.Scheme, Ours: !r.Peer,
				Writers: n.writersOf(r.Scheme, r.Writing),
			}, panel, m)
		}
		if len(f.Chart.Rows) == 0 {
			continue
		}
		f.ID = slug(kind, f.Title)
		f.finish()
		figures = append(figures, f)
	}
	return figures
}

// bestRead reports whether no other form of the scheme answers sooner. Of equal ones it is the
// first.
func (n named) bestRead(r measure.Read) bool {
	for _, o := range n.Reads {
		if o.Database == r.Database && o.What == r.What && o.Scheme == r.Scheme &&
			o.Writing == r.Writing {
			if o.Storage == r.Storage {
				continue
			}
			if o.Relative < r.Relative {
				return false
			}
		}
	}
	return true
}

func (n named) readTables(server string) []table {
	var tables []table
	for _, what := range []string{measure.Newest, measure.Range} {
		t := table{Head: []string{"scheme", "column", "microseconds", "× the time of serial", "±"}}
		newest, blocks := what == measure.Newest, slices.ContainsFunc(n.Reads,
			func(r measure.Read) bool { return r.Database == server && r.Touched != 0 })
		if newest {
			t.Head = append(t.Head, "of these rows, among as many that came last")
		}
		if blocks {
			t.Head = append(t.Head, "blocks touched", "of them not in an empty cache")
		}
		for _, r := range n.Reads {
			if r.Database != server || r.What != what {
				continue
			}
			t.Caption = fmt.Sprintf("%s: %s, %s of %s rows, by %s", server, what,
				grouped(float64(r.Found)), grouped(float64(r.Rows)), r.Query)
			cells := []cell{
				words(r.Column), num(grouped(r.Microseconds)), num(ratio(r.Relative, 0)),
				spreadCell(r.Spread),
			}
			if newest {
				cells = append(cells, num(grouped(float64(r.Newest))))
			}
			if blocks {
				cells = append(cells, num(grouped(float64(r.Touched))), num(grouped(float64(r.Read))))
			}
			t.add(n.written(r.Scheme, r.Storage, r.Writing), cells...)
		}
		if len(t.Rows) != 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// family is a figure of a server: parents with children, with a panel for each delay.
func (n named) family(server string) *figure {
	f := figure{
		ID: slug(server, "parent with children"), Unit: "ms", StandIn: n.standInOf(server),
		Chart: chart{Axis: "milliseconds"},
	}
	var delays []float64
	for _, m := range n.Families {
		if m.Database == server && !slices.Contains(delays, m.DelayMillis) {
			delays = append(delays, m.DelayMillis)
		}
	}
	slices.Sort(delays)
	for _, d := range delays {
		f.Chart.Panels = append(f.Chart.Panels, fmt.Sprintf("%g ms network", d))
		f.Where = append(f.Where,
			place{server, fmt.Sprintf("%g ms of network delay", d), n.standInOf(server)})
	}
	for _, m := range n.Families {
		if m.Database != server {
			continue
		}
		f.Title, f.Of = fmt.Sprintf("A parent with %d children", m.Children), server
		f.Note = fmt.Sprintf("One transaction; median of %d rounds. A round trip takes the "+
			"network's delay.", m.Rounds)
		milliseconds := m.Microseconds / 1000
		f.Chart.put(chartRow{Label: familyName(m), Scheme: familyName(m), Ours: !m.Peer},
			slices.Index(delays, m.DelayMillis),
			mark{
				Value: milliseconds, Spread: spreadOf(m) / 1000, Text: small(milliseconds),
				Rounds: m.Rounds,
			})
	}
	if len(f.Chart.Rows) == 0 {
		return nil
	}
	f.finish()
	return &f
}

// spreadOf is a family's spread in microseconds: it is measured of ratios.
func spreadOf(m measure.Family) float64 {
	if m.Relative == 0 {
		return 0
	}
	return m.Spread * m.Microseconds / m.Relative
}

// familyName is the scheme and the way.
func familyName(m measure.Family) string {
	return m.Scheme + ": " + strings.TrimSuffix(m.Way, ", minted keys")
}

func (n named) familyTable(server string) *table {
	t := table{Head: []string{
		"keys and way", "delay of the network, ms", "round trips", "milliseconds",
		"× the time of " + measure.WayReturning, "±",
	}}
	for _, m := range n.Families {
		if m.Database != server {
			continue
		}
		t.Caption = fmt.Sprintf("%s: a parent with %d children", server, m.Children)
		t.add(familyName(m), num(fmt.Sprintf("%g", m.DelayMillis)),
			num(fmt.Sprintf("%d", m.RoundTrips)), num(small(m.Microseconds/1000)),
			num(ratio(m.Relative, 0)), spreadCell(m.Spread))
	}
	return optional(t)
}
