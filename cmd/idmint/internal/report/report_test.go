package report

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// sample are made-up results of a run in these databases, with something of everything.
func sample(databases ...string) *measure.Results {
	r := &measure.Results{
		Made: time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC), Seconds: 61.5, Rows: 1_000_000,
		PerSecond: 10_000,
		Machine: measure.Machine{
			System: "linux/amd64", Processors: 2, Go: "go1.26",
			Processor: "<fast & small>",
		},
	}
	for _, name := range databases {
		r.Databases = append(r.Databases, measure.Server{Name: name, Version: name + " 1.2.3"})
		for i, k := range measure.Keys() {
			form := string(k.Storage)
			r.Order = append(r.Order, measure.Order{
				Database: name, Scheme: k.Scheme, Storage: form, Peer: k.Peer, Column: "COLUMN",
				Documented: "that of the IDs", IDs: 100_000, Generators: 8,
				OrderBy: true, Index: true, AsIDs: true, Access: "Index Scan <ids>",
			})
			if name != "ClickHouse" {
				r.Footprints = append(r.Footprints, measure.Footprint{
					Database: name, Scheme: k.Scheme, Storage: form, Peer: k.Peer, Column: "COLUMN",
					Rows:     200_000,
					KeyBytes: int64(4_000_000 + 100_000*i), TableBytes: 9_000_000,
					LogBytes: 12_345_678, Pages: int64(1500 + 400*i),
				})
			} else {
				r.Compression = append(r.Compression, compressions(k, float64(i+1))...)
			}
			if i < 5 {
				r.Inserts = append(r.Inserts, measure.Insert{
					Database: name, Path: "COPY", Scheme: k.Scheme, Storage: form, Column: "COLUMN",
					Peer: k.Peer, Rows: 20_000, Rounds: 9,
					RowsPerSec: 345_678.9, Relative: 1 - float64(i)/10, Spread: 0.03,
				})
			}
		}
		r.Order = append(r.Order,
			measure.Order{
				Database: name, Scheme: "sno", Storage: "text", What: "Czech",
				Documented: "that of the collation", OrderBy: true, Index: true, Naive: true,
			},
			measure.Order{
				Database: name, Scheme: "sno", Storage: "text", What: "wrong",
				Documented: "that of the IDs", OrderBy: true, Index: false, AsIDs: true,
			},
		)
		s := measure.Skipping{
			Database: name, Scheme: "trace", Storage: "bigint", By: measure.ByKey,
			Rows: 200_000, Found: 2_000, Minted: 2_000, Access: "range",
		}
		if name == "ClickHouse" {
			s.Granules, s.All, s.GranuleRows = 2, 25, 8192
		}
		r.Skipping = append(r.Skipping, s)
	}
	return r
}

func compressions(k measure.Key, size float64) []measure.Compression {
	var all []measure.Compression
	for _, generators := range measure.Generators() {
		for i, codec := range k.Codecs() {
			for j, sort := range []string{measure.SortedByID, measure.Arrival} {
				if k.Alike() && generators != 4 {
					continue
				}
				all = append(all, measure.Compression{
					Database: "ClickHouse", Scheme: k.Scheme, Storage: string(k.Storage),
					Peer: k.Peer, Column: "COLUMN", Codec: codec, Sort: sort,
					Generators: generators, IDs: 1_000_000,
					BytesPerID: size / float64(i+1) / float64(2-j) * float64(generators) / 40,
				})
			}
		}
	}
	return all
}

func pageOf(t *testing.T, r *measure.Results) string {
	t.Helper()
	var b strings.Builder
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var everything = []string{"SQLite", "PostgreSQL", "MariaDB", "ClickHouse"}

// figures are all of a page.
func figures(r *measure.Results) []figure {
	v := newView(r)
	all := slices.Concat(v.Codecs, v.Rows, v.Inserts)
	if v.Hero != nil {
		all = append(all, *v.Hero)
	}
	return all
}

// The table of each chart has its rows by the same names, and the values of all its marks.
func TestTablesHoldCharts(t *testing.T) {
	all := figures(sample(everything...))
	if len(all) != 1+3+2*3+4 {
		t.Errorf("%d figures", len(all))
	}
	for _, f := range all {
		if len(f.Chart.Rows) < 5 || f.Chart.Axis == "" || f.Table.Caption == "" || f.Title == "" {
			t.Errorf("%s: %d rows, axis %q, caption %q", f.Title, len(f.Chart.Rows), f.Chart.Axis,
				f.Table.Caption)
		}
		for _, row := range f.Chart.Rows {
			i := slices.IndexFunc(f.Table.Rows,
				func(cells []cell) bool { return cells[0].Text == row.Label })
			if i < 0 {
				t.Errorf("%s: the table has no row %q", f.Title, row.Label)
				continue
			}
			for _, m := range row.Marks {
				cells := f.Table.Rows[i]
				if len(f.Chart.Series) > 0 {
					cells = cells[1+slices.Index(f.Table.Head[1:], f.Chart.Series[m.Series]):][:1]
				}
				if !slices.ContainsFunc(cells, func(c cell) bool { return c.Text == m.Text }) {
					t.Errorf("%s, %s: the table has %v, not %s", f.Title, row.Label, cells, m.Text)
				}
			}
		}
	}
	v := newView(sample(everything...))
	tables := []*table{v.Order, v.Access, v.Skip}
	for _, f := range all {
		tables = append(tables, &f.Table)
	}
	for _, table := range tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Head) || row[0].Text == "" {
				t.Errorf("%s: row %v under %v", table.Caption, row, table.Head)
			}
		}
	}
}

var (
	charts = regexp.MustCompile(
		`(?s)<div class="chart" role="img" aria-label="[^"]+">(.*?)<p>[^<]+</p></div>`)
	places  = regexp.MustCompile(`(?:left:|width:|100% - )([^%]*)%`)
	marks   = regexp.MustCompile(`class="mark s(\d+)"`)
	used    = regexp.MustCompile(`var\((--[a-z0-9]+)\)`)
	defined = regexp.MustCompile(`(--[a-z0-9]+):`)
)

// Each chart has a name for who does not see it. All that it draws lies within its scale.
func TestCharts(t *testing.T) {
	page := pageOf(t, sample(everything...))
	all := figures(sample(everything...))
	found := charts.FindAllStringSubmatch(page, -1)
	if len(found) != len(all) {
		t.Errorf("%d charts, want %d", len(found), len(all))
	}
	for _, c := range found {
		drawn := places.FindAllStringSubmatch(c[1], -1)
		if len(drawn) < 5 {
			t.Errorf("%d places: %.300s", len(drawn), c[1])
		}
		for _, place := range drawn {
			if at, err := strconv.ParseFloat(place[1], 64); err != nil || at < 0 || at > 100 {
				t.Errorf("%s in %.300s", place[0], c[1])
			}
		}
	}
	// Each series has a shape, and each colour a value for light and one for dark.
	for _, m := range marks.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(style, "\n.s"+m[1]+" { background: var(--s"+m[1]+"); clip-path: ") {
			t.Fatalf("no shape for the series %s", m[1])
		}
	}
	light, dark, _ := strings.Cut(style, "@media (prefers-color-scheme: dark)")
	dark, _, _ = strings.Cut(dark, "\n}")
	for _, m := range used.FindAllStringSubmatch(style, -1) {
		for theme, text := range map[string]string{"light": light, "dark": dark} {
			names := defined.FindAllStringSubmatch(text, -1)
			if !slices.ContainsFunc(names, func(name []string) bool { return name[1] == m[1] }) {
				t.Fatalf("%s has no value for %s", m[1], theme)
			}
		}
	}
}

// A place on the axis tells the value: by equal steps, or on a logarithmic axis by equal factors.
func TestPlaces(t *testing.T) {
	bar := func(value float64) chartRow { return chartRow{Marks: []mark{{Value: value}}} }
	linear := chart{Rows: []chartRow{bar(10), bar(5)}}
	zero, half, full := linear.At(0), linear.At(5), linear.At(10)
	if zero != 0 || half != 45.5 || full != 90.9 {
		t.Errorf("%v, %v, %v", zero, half, full)
	}
	logarithmic := chart{
		Log: true, Rows: []chartRow{bar(1), {Marks: []mark{{Value: 100}, {Value: 10}}}},
	}
	one, ten, hundred := logarithmic.At(1), logarithmic.At(10), logarithmic.At(100)
	if one != 8.8 || ten != 48.4 || hundred != 88.1 {
		t.Errorf("%v, %v, %v", one, ten, hundred)
	}
	if row := logarithmic.Rows[1]; row.Low() != 10 || row.High() != 100 {
		t.Errorf("%v to %v", row.Low(), row.High())
	}
	if marked := (chart{Line: 2, Rows: []chartRow{bar(1)}}).At(2); marked != 90.9 {
		t.Errorf("the line lies at %v", marked)
	}
}

// The page stands by itself.
func TestPageNeedsNothing(t *testing.T) {
	page := pageOf(t, sample(everything...))
	for _, no := range []string{
		"http:", "https:", "//cdn", "<script", "<link", "<img", "<iframe",
		"url(", "@import", "onload", "srcset",
	} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	for _, want := range []string{
		"&lt;fast &amp; small&gt;", "Index Scan &lt;ids&gt;", "2026-11-02 09:30 UTC", "in 1m2s",
		"ClickHouse 1.2.3", `lang="en"`, "width=device-width",
		"prefers-color-scheme: dark", "✗ not as documented", "≠ IDs; that of the collation",
		"2 of 25 granules", ">0.90 ± 0.03<", "--containers --rows 1000000", "1,000,000 in a column",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<caption>"); n != strings.Count(page, "<table>") {
		t.Errorf("%d captions", n)
	}
}

// What was not measured is not shown.
func TestSQLiteAlone(t *testing.T) {
	r := sample("SQLite")
	v := newView(r)
	if v.Hero != nil || v.Codecs != nil || len(v.Rows) != 2 || len(v.Inserts) != 1 ||
		v.SkipLead != "" {
		t.Errorf("%+v", v)
	}
	page := pageOf(t, r)
	if strings.Contains(page, "Bytes per ID in ClickHouse") ||
		strings.Contains(page, "--containers") {
		t.Error("the page speaks of databases that were not measured")
	}
	want := []string{
		"20.0 bytes per row: of the primary key's index in SQLite, with a decimal ID. With a " +
			"UUIDv7 it takes 26.0",
		"4.5 × fewer pages written: in SQLite with decimal IDs than with UUIDv4, for the same rows",
		"1.00 × the speed of plain int64: a decimal ID inserted by COPY into SQLite: " +
			"345,679 rows a second",
		"16 of 17 columns sort as documented: by ORDER BY and along the index, with IDs of " +
			"several generators at once",
	}
	if got := Summary(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSummary(t *testing.T) {
	got := Summary(sample(everything...))
	want := []string{
		"0.006 bytes per ID: a decimal ID in ClickHouse, " +
			"in a table ordered by it. A UUIDv7 takes " +
			"0.22 there, and 0.43 in order of arrival",
		"4.5 × fewer pages written: in PostgreSQL with decimal IDs than with UUIDv4, " +
			"for the same rows",
		"1.00 × the speed of plain int64: a decimal ID inserted by COPY into PostgreSQL: 345,679 " +
			"rows a second",
		"64 of 68 columns sort as documented: by ORDER BY and along the index, with IDs of " +
			"several generators at once",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A speed that is uncertain is no headline, and what ClickHouse skips takes its place.
func TestNoise(t *testing.T) {
	r := sample(everything...)
	for i := range r.Inserts {
		r.Inserts[i].Spread = 0.3
	}
	got := Summary(r)
	want := "2 of 25 granules are read: by ClickHouse for the 2,000 IDs of a second, of 200,000"
	if len(got) != 4 || got[3] != want {
		t.Errorf("%q, want %q at the end", got, want)
	}
}

// Pages whose number is not known are no zero.
func TestUnknownPages(t *testing.T) {
	r := sample("PostgreSQL")
	for i := range r.Footprints {
		f := &r.Footprints[i]
		f.Unknown, f.Pages, f.LogBytes = "permission denied", 0, 0
	}
	v := newView(r)
	if len(v.Rows) != 1 || v.Rows[0].Table.Rows[0][5].Text != "unknown" || len(v.Tiles) != 3 {
		t.Errorf("%+v", v)
	}
	if page := pageOf(t, r); !strings.Contains(page, "permission denied") {
		t.Error("the page does not say why")
	}
}

func TestJSON(t *testing.T) {
	want := sample(everything...)
	var b bytes.Buffer
	if err := WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(&b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, or the figures are others", err)
	}
	for _, bad := range []string{"", "[]", `{"rows": "many"}`, `{"colour": 1}`} {
		if _, err := ReadJSON(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// The page in docs is that of the figures beside it.
func TestDocs(t *testing.T) {
	data, err := os.Open("../../../../docs/report.json")
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	r, err := ReadJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../../docs/report.html")
	if err != nil {
		t.Fatal(err)
	}
	if pageOf(t, r) != string(page) {
		t.Error("docs/report.html is stale: idmint report --from docs/report.json --out " +
			"docs/report.html")
	}
	for _, name := range everything {
		if !slices.ContainsFunc(r.Databases,
			func(d measure.Server) bool { return d.Name == name }) {
			t.Errorf("docs/report.json has nothing of %s", name)
		}
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{
		0.0102: "0.010", 0.0994: "0.099", 0.0996: "0.10", 0.784: "0.78", 9.94: "9.94", 9.96: "10.0",
		13.98: "14.0", 99.6: "100", 1234.5: "1,234", 1234567: "1,234,567", 999: "999",
	} {
		if got := small(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

// Ticks have room for their labels, and include one in every chart.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks []tick
		want  []float64
	}{
		{powers(0.006, 52), []float64{0.01, 0.1, 1, 10}},
		{powers(1, 10), []float64{1, 10}},
		{steps(1.4), []float64{0, 0.25, 0.5, 0.75, 1, 1.25}},
		{steps(51), []float64{0, 10, 20, 30, 40, 50}},
		{steps(130), []float64{0, 25, 50, 75, 100, 125}},
	} {
		var got []float64
		for _, tick := range c.ticks {
			got = append(got, tick.Value)
			if tick.Label == "" {
				t.Errorf("no label at %v", tick.Value)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
