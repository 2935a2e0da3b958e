// Package report shows what package measure has measured. It writes a page of HTML, JSON, and a few
// lines of text. The page stands by itself, without scripts and without anything from the network.
// Its charts are elements with styles, for light and dark, phones and desktops, with the tables
// behind them.
package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
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

// A figure is a chart with the table behind it.
type figure struct {
	Title string
	Note  string
	Chart chart
	Table table
}

// Legend numbers the chart's series.
func (f figure) Legend() []string { return f.Chart.Series }

// A table's first column are the names of its rows.
type table struct {
	Caption string
	Head    []string
	Rows    [][]cell
}

type cell struct {
	Text  string
	Class string // "yes", "other", "no"; "num" for numbers
}

// A tile is a figure in large type.
type tile struct {
	Value string
	Unit  string
	Text  string
}

// A view is what the page shows.
type view struct {
	Results *measure.Results
	Tiles   []tile
	Hero    *figure
	Codecs  []figure
	Rows    []figure // of databases that keep rows
	Inserts []figure
	Order   *table
	Access  *table
	Skip    *table

	SkipLead string
}

func newView(r *measure.Results) view {
	n := namesOf(r)
	return view{
		Results: r, Tiles: n.tiles(), Hero: n.hero(), Codecs: n.codecs(), Rows: n.footprints(),
		Inserts: n.inserts(),
		Order:   n.order(), Access: n.access(), Skip: n.skipping(), SkipLead: n.skipLead(),
	}
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
	return &results, nil
}

// Summary is the page's first screen in lines of text.
func Summary(r *measure.Results) []string {
	var lines []string
	for _, t := range newView(r).Tiles {
		lines = append(lines, fmt.Sprintf("%s %s: %s", t.Value, t.Unit, t.Text))
	}
	return lines
}
