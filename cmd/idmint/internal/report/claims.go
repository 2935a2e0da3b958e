package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// A claim holds a figure of decimal IDs against the best rivals of the same case.
type claim struct {
	Figure  string // its place on the page
	Title   string
	Where   place
	Unit    string
	Better  string // "less" or "more"
	Ours    *rival
	Rivals  []*rival // the best first
	Verdict verdict
	Also    string // what decimal IDs come to in other cases
}

type rival struct {
	Name   string
	Scheme string
	Text   string
	Value  float64
	Error  float64 // standard, of the median
	Step   float64 // see mark
	Width  float64 // of its bar, in percent of the widest of the claim
}

// A verdict compares with the best rival.
type verdict struct {
	Word string // "ahead", "level", "behind", "not clear"
	By   string // "12 %" of the rival's figure, or from twice on "3.4 ×"
}

const (
	writers     = 4 // of a claim
	rivalsShown = 4
	// Figures that differ by less are level.
	levelPart = 0.03
	oneStep   = 1.5 // and not two, whatever the rounding of fractions
	// Where two medians are less certain than that, a small difference says nothing.
	clearPart = 0.10
	// Both are of a normal distribution. The first is its standard deviation, in halves of the
	// distance between the quartiles. The second is a median's standard error, in standard
	// deviations, times the root of the rounds.
	deviation   = 1.4826
	medianError = 1.2533
	certain     = 1.96 // standard errors on both sides hold the truth in 95 of 100 cases
)

// notClear is the verdict on a difference that other rounds might turn around.
const notClear = "not clear"

// claimOf is nil where decimal IDs or their rivals were not measured.
func claimOf(f figure, panel int) *claim {
	better := map[bool]string{true: "more", false: "less"}[f.Higher]
	c := &claim{
		Better: better, Figure: f.ID, Title: f.Title, Where: f.Where[panel],
		Unit: f.Unit,
	}
	ours := slices.IndexFunc(f.Chart.Rows, func(r chartRow) bool {
		return r.Ours && strings.HasPrefix(r.Scheme, "decimal") &&
			(r.Writers == 0 || r.Writers == writers) && r.Marks[panel].Text != ""
	})
	if ours < 0 {
		return nil
	}
	row := f.Chart.Rows[ours]
	c.Ours = rivalOf(row, panel)
	// Plain integers are no scheme. They stand in for one where the database has no serial.
	seen := map[string]bool{
		measure.Plain: slices.ContainsFunc(f.Chart.Rows,
			func(r chartRow) bool { return r.Scheme == measure.Serial }),
	}
	for _, r := range f.Chart.Rows { // the best first
		if r.Ours || seen[r.Scheme] || r.Marks[panel].Text == "" ||
			r.Writers != 0 && r.Writers != row.Writers {
			continue
		}
		seen[r.Scheme] = true
		c.Rivals = append(c.Rivals, rivalOf(r, panel))
	}
	if len(c.Rivals) == 0 {
		return nil
	}
	slices.SortStableFunc(c.Rivals, func(a, b *rival) int {
		if f.Higher {
			a, b = b, a
		}
		return cmp.Compare(a.Value, b.Value)
	})
	c.Verdict = judge(c.Ours, c.Rivals[0], f.Higher)
	if f.Chart.Full != 0 && c.Ours.Value == f.Chart.Full {
		c.Verdict.By = "" // a larger table has more of them
	}
	c.Also = also(f.Chart, ours, panel)
	return c
}

func rivalOf(r chartRow, panel int) *rival {
	m := r.Marks[panel]
	return &rival{
		Name: r.Label, Scheme: r.Scheme, Text: m.Text, Value: m.Value, Error: m.standardError(),
		Step: m.Step,
	}
}

// standardError is that of the median, which is more certain than a single round.
func (m mark) standardError() float64 {
	if m.Rounds == 0 {
		return 0
	}
	return medianError * deviation * m.Spread / math.Sqrt(float64(m.Rounds))
}

// judge tells how ours compares with the best rival's. A difference that may be chance is level
// where chance is small, and not clear where it is large.
func judge(ours, best *rival, higher bool) verdict {
	difference := ours.Value - best.Value
	if higher {
		difference = -difference
	}
	low, high := min(ours.Value, best.Value), max(ours.Value, best.Value)
	chance := certain * math.Hypot(ours.Error, best.Error)
	switch {
	case high-low <= chance && chance > clearPart*best.Value:
		return verdict{Word: notClear}
	case high-low <= max(levelPart*best.Value, chance, oneStep*best.Step):
		return verdict{Word: "level"}
	case low == 0:
		return verdict{Word: map[bool]string{true: "ahead", false: "behind"}[difference < 0]}
	case difference < 0:
		return verdict{"ahead", apart(ours.Value, best.Value)}
	}
	return verdict{"behind", apart(ours.Value, best.Value)}
}

// apart writes how far a figure is from the rival's: in percent of that, or as a multiple where one
// is twice the other.
func apart(ours, rival float64) string {
	switch ratio := max(ours, rival) / min(ours, rival); {
	case ratio < 1.995:
		return fmt.Sprintf("%.0f\u00a0%%", 100*math.Abs(ours-rival)/rival)
	case ratio < 9.95:
		return fmt.Sprintf("%.1f\u00a0×", ratio)
	default:
		return grouped(ratio) + "\u00a0×"
	}
}

// also are the other cases of decimal IDs: of other panels, and of other writers, beside a rival's
// of as many.
func also(c chart, ours, panel int) string {
	var cases []string
	for i, m := range c.Rows[ours].Marks {
		if i != panel && m.Text != "" {
			cases = append(cases, c.Panels[i]+": "+m.Text)
		}
	}
	for i, r := range c.Rows {
		if i != ours && r.Ours && r.Scheme == c.Rows[ours].Scheme && r.Marks[panel].Text != "" {
			_, label, _ := strings.Cut(r.Label, ", ")
			text := label + ": " + r.Marks[panel].Text
			if beside := slices.IndexFunc(c.Rows, func(o chartRow) bool {
				return !o.Ours && o.Writers > 1 && o.Writers == r.Writers && o.Marks[panel].Text != ""
			}); beside >= 0 {
				text += " beside " + c.Rows[beside].Scheme + " " + c.Rows[beside].Marks[panel].Text
			}
			cases = append(cases, text)
		}
	}
	return strings.Join(cases, "; ")
}

// Says is the verdict as a sentence.
func (c claim) Says() string { return c.Verdict.beside(c.Rivals[0].Name) }

func (v verdict) beside(rival string) string {
	switch {
	case v.Word == "level":
		return "level with " + rival
	case v.Word == notClear:
		return notClear + " beside " + rival
	case v.By == "":
		return v.beyond(rival)
	}
	return v.beyond(rival) + " by " + v.By
}

func (v verdict) beyond(rival string) string {
	if v.Word == "ahead" {
		return "ahead of " + rival
	}
	return "behind " + rival
}

// Top are the rivals that a card has room for, with bars.
func (c claim) Top() []*rival {
	top := append([]*rival{c.Ours}, c.Rivals[:min(rivalsShown, len(c.Rivals))]...)
	widest := 0.0
	for _, r := range top {
		widest = max(widest, r.Value)
	}
	for i := range top {
		if widest > 0 {
			top[i].Width = 100 * top[i].Value / widest
		}
	}
	return top
}

// claims are those of the page's head, where what was measured is clear. Most are of the first kind
// of database that keeps rows. The others that keep rows have the size of their tables. Two are of
// ClickHouse: where decimal IDs do best, and where they do worst.
func (v view) claims() []claim {
	var all []claim
	add := func(f figure, panel int) {
		if c := claimOf(f, panel); c != nil && c.Verdict.Word != notClear {
			all = append(all, *c)
		}
	}
	of := func(s section, title string, panel int) {
		for _, f := range s.Figures {
			if strings.HasPrefix(f.Title, title) {
				add(f, min(max(panel, -1), len(f.Where)-1))
				return
			}
		}
	}
	for i, s := range v.Sections {
		switch {
		case s.Title == clickHouse:
			of(s, orderedByKey, 1)
			of(s, inArrival, 2)
		case i == 0:
			of(s, keyIndex, 0)
			of(s, writtenLog, 0)
			of(s, "Inserting", 0)
			of(s, newestFound, 0)
			of(s, "A parent", 1)
		default:
			of(s, keyIndex, 0)
		}
	}
	return all
}

// balance are tables of all claims that the figures hold: of the databases that keep rows, with a
// column for each server, and of ClickHouse.
func (v view) balance() []table {
	rows := table{
		Caption: "Decimal IDs in databases that keep rows", Head: []string{"what"}, Class: "balance",
	}
	columns := table{
		Caption: "Decimal IDs in ClickHouse", Head: []string{"what", "decimal IDs are"}, Class: "balance",
	}
	for _, s := range v.Sections {
		for _, f := range s.Figures {
			for panel := range f.Where {
				c := claimOf(f, panel)
				switch {
				case c == nil:
				case s.Title == clickHouse:
					columns.add(c.name(), c.cell())
				default:
					rows.place(c.name(), c.Where.Server, c.cell())
				}
			}
		}
	}
	var tables []table
	for _, t := range []table{rows, columns} {
		if len(t.Rows) != 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// name is what the claim is of, in any server.
func (c claim) name() string {
	if c.Where.Case == "" {
		return c.Title + ", " + c.Unit
	}
	return c.Title + ", " + c.Where.Case + ", " + c.Unit
}

func (c claim) cell() cell {
	return cell{
		Text:   c.Verdict.beside(c.Rivals[0].Scheme),
		Class:  map[string]string{"ahead": "yes", "behind": "no"}[c.Verdict.Word],
		Detail: c.Ours.Text + " beside " + c.Rivals[0].Text,
	}
}

// place puts a cell under a heading, and adds the row and the column where there are none.
func (t *table) place(row, head string, c cell) {
	column := slices.Index(t.Head, head)
	if column < 0 {
		column = len(t.Head)
		t.Head = append(t.Head, head)
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], cell{})
		}
	}
	i := slices.IndexFunc(t.Rows, func(r []cell) bool { return r[0].Text == row })
	if i < 0 {
		i = len(t.Rows)
		t.add(row, make([]cell, len(t.Head)-1)...)
	}
	t.Rows[i][column] = c
}
