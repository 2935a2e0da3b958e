// Package report shows what package measure has measured. It writes a page of HTML, JSON, and a few
// lines of text. The page stands by itself, without scripts and without anything from the network.
// Its charts are elements with styles, for light and dark, phones and desktops, with the tables
// behind them.
package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

// page is parsed when it is wanted: the other commands start without it.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"css":     func() template.CSS { return template.CSS(style) },
		"date":    func(t time.Time) string { return t.Format("2006-01-02 15:04 UTC") },
		"grouped": func(n int) string { return grouped(float64(n)) },
		"minutes": func(seconds float64) string {
			return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
		},
	}).Parse(pageText))
})

// A view is what the page shows.
type view struct {
	Results  *measure.Results
	Claims   []claim
	Sections []section
	Balance  []table
	Order    *table
	Access   *table
	Skip     *table

	OrderLead string
}

const clickHouse = "ClickHouse"

func newView(r *measure.Results) view {
	n := namesOf(r)
	v := view{
		Results: r, Order: n.order(), Access: n.access(), Skip: n.skipping(),
		OrderLead: n.orderLead(),
	}
	for _, kind := range n.kinds() {
		s := n.section(kind)
		if len(s.Figures) != 0 {
			v.Sections = append(v.Sections, s)
		}
	}
	v.Claims, v.Balance = v.claims(), v.balance()
	return v
}

// section is all that was measured of a kind of databases.
func (n named) section(kind string) section {
	s := section{ID: slug(kind), Title: kind}
	maybe := func(f *figure) {
		if f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	table := func(t *table) {
		if t != nil {
			s.Tables = append(s.Tables, *t)
		}
	}
	for _, d := range n.serversOf(kind) {
		s.Servers = append(s.Servers, server{d.Version, d.Build, d.StandIn})
	}
	if kind == clickHouse {
		s.Lead = n.clickHouseLead()
		s.Figures = append(n.compression(kind), n.inserts(kind)...)
		maybe(n.granules(kind))
		s.Tables = n.compressionTables(kind)
	} else {
		s.Lead = n.rowsLead() + n.unknown(kind)
		s.Figures = slices.Concat(n.footprints(kind), n.inserts(kind), n.reads(kind))
	}
	for _, d := range n.serversOf(kind) {
		maybe(n.family(d.Name))
		table(n.footprintTable(d.Name))
		s.Tables = slices.Concat(s.Tables, n.insertTables(d.Name), n.readTables(d.Name))
		table(n.familyTable(d.Name))
	}
	return s
}

// rowsLead says what was stored in databases that keep rows.
func (n named) rowsLead() string {
	if len(n.Footprints) == 0 {
		return ""
	}
	return fmt.Sprintf("%s rows of an ID and an integer, %s to a transaction, with ten checkpoints "+
		"in between. A dashed line is serial: the database counts. Writers are simulated "+
		"generators that mint %s IDs a second together. One connection stores them in order of "+
		"arrival. Decimal generators look at a launch log in memory, which keeps up to eight in "+
		"step. What a log writes is not counted. Those apart do without one.",
		grouped(float64(n.Footprints[0].Rows)), "1,000", grouped(float64(n.PerSecond)))
}

// clickHouseLead says what was stored in ClickHouse.
func (n named) clickHouseLead() string {
	return fmt.Sprintf("A column of %s IDs, by generators that mint at once. ClickHouse "+
		"compresses it by a codec: IDs that lie in their order take little if the codec stores "+
		"differences. In order of arrival the IDs of the generators alternate.",
		grouped(float64(n.Rows)))
}

// WriteHTML writes the page.
func WriteHTML(w io.Writer, r *measure.Results) error {
	var b bytes.Buffer
	if err := page().Execute(&b, newView(r)); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// WriteJSON writes all figures, as [ReadJSON] reads them.
func WriteJSON(w io.Writer, r *measure.Results) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// ReadJSON reads the figures of a run. A field that it does not know is an error.
func ReadJSON(r io.Reader) (*measure.Results, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var results measure.Results
	if err := d.Decode(&results); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if len(results.Databases) == 0 {
		return nil, errors.New("report: these are no figures of a report: no database was measured")
	}
	return &results, nil
}

// Summary is the page's first screen in lines of text.
func Summary(r *measure.Results) []string {
	var lines []string
	v := newView(r)
	for _, c := range v.Claims {
		var rivals []string
		for _, r := range c.Top()[1:] {
			rivals = append(rivals, r.Name+" "+r.Text)
		}
		where := c.Where.String()
		if c.Where.StandIn != "" {
			where += "; not the official server: " + c.Where.StandIn
		}
		lines = append(lines, fmt.Sprintf("%s (%s), %s: %s %s, beside %s: %s", c.Title, where,
			c.Unit, c.Ours.Name, c.Ours.Text, strings.Join(rivals, ", "),
			strings.ReplaceAll(c.Says(), "\u00a0", " "))) // a line of a terminal is not wrapped
	}
	if v.Order != nil {
		lines = append(lines, v.OrderLead)
	}
	return lines
}
