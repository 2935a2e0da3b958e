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
		server := measure.Server{
			Name: name, Version: name + ".2.3", Build: "built by " + name,
		}
		if name == "ClickHouse" {
			server.StandIn = "idmint <stand-in>"
		}
		r.Databases = append(r.Databases, server)
		for i, k := range measure.Keys() {
			form := string(k.Storage)
			r.Order = append(r.Order, measure.Order{
				Database: name, Scheme: k.Scheme, Storage: form, Peer: k.Peer, Column: "COLUMN",
				Documented: "that of the IDs", IDs: 100_000, Generators: 8,
				OrderBy: true, Index: true, AsIDs: true, Access: "Index Scan <ids>",
			})
			if name == "ClickHouse" {
				r.Compression = append(r.Compression, compressions(k, float64(i+1))...)
			}
			if (i < 5 || k.Peer) && k.Scheme != measure.ClickHouseV7 {
				w := measure.Writing{Writers: 4, Deployments: 1}
				if k.Alike() {
					w.Writers = 1
				}
				r.Inserts = append(r.Inserts, measure.Insert{
					Database: name, Path: "COPY", Scheme: k.Scheme, Storage: form, Column: "COLUMN",
					Peer: k.Peer, Writing: w, Rows: 20_000, Rounds: 9, Baseline: measure.Serial,
					RowsPerSec: 345_678.9, Relative: 1 - float64(i)/40, Spread: 0.01,
				})
			}
		}
		if name != "ClickHouse" {
			tables(r, name)
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
		s.Scheme, s.Storage, s.Peer = "snowflake", "bigint", true
		r.Skipping = append(r.Skipping, s)
	}
	return r
}

// tables are what is measured of rows in a database: of each scheme by each that may write it.
func tables(r *measure.Results, database string) {
	splits := int64(500)
	size := int64(2_000_000)
	add := func(scheme, form string, peer bool, w measure.Writing) {
		size += 100_000
		r.Footprints = append(r.Footprints, measure.Footprint{
			Database: database, Scheme: scheme, Storage: form, Peer: peer, Column: "COLUMN",
			Writing: w, Rows: 200_000, KeyBytes: size, TableBytes: 3 * size, LogBytes: 12_345_678,
			Pages: size / 1000, Splits: &splits, LeafFill: 90,
			Cold: &measure.Cold{Rows: 20_000, Hits: 39_900, Read: 100},
		})
		newest, ok := map[string]int{"decimal": 70, "snowflake": 98}[scheme]
		if !ok {
			newest = 100
		}
		for i, what := range []string{measure.Newest, measure.Range} {
			r.Reads = append(r.Reads, measure.Read{
				Database: database, Scheme: scheme, Storage: form, Peer: peer, Column: "COLUMN",
				Writing: w, What: what, Query: "SELECT n < 5", Rows: 200_000,
				Found: 100 + 900*i, Newest: newest * (1 - i), Touched: 6, Read: 5, Rounds: 101,
				Microseconds: 80, Relative: float64(size) / 2_100_000, Spread: 0.02,
			})
		}
	}
	add(measure.Serial, "bigint", true, measure.Writing{ByServer: true, Writers: 1, Deployments: 1})
	for _, w := range []measure.Writing{
		{Writers: 1, Deployments: 1},
		{Writers: 1, Deployments: 10},
		{Writers: 4, Deployments: 1},
		{Writers: 4, Deployments: 10},
		{Writers: 64, Deployments: 1},
		{Writers: 4, Deployments: 1, Apart: true},
	} {
		add("decimal", "bigint", false, w)
	}
	add("sno", "bytes", false, measure.Writing{Writers: 4, Deployments: 1})
	add("sno", "text", false, measure.Writing{Writers: 4, Deployments: 1})
	for _, n := range []int{1, 4, 64} {
		add("snowflake", "bigint", true, measure.Writing{Writers: n, Deployments: 1})
	}
	add("UUIDv7", "uuid", true, measure.Writing{Writers: 1, Deployments: 1})
	for _, delay := range []float64{0, 1} {
		for i, f := range []measure.Family{
			{Way: measure.WayReturning, Scheme: measure.Serial, Peer: true},
			{Way: measure.WayStatement, Scheme: measure.Serial, Peer: true},
			{Way: measure.WayBatch, Scheme: "decimal"},
		} {
			f.Database, f.Children, f.DelayMillis, f.RoundTrips, f.Rounds = database, 5, delay, 4, 201
			f.Relative = 1 - 0.3*float64(i)
			f.Microseconds = 1000 * (1 + delay) * f.Relative
			f.Spread = 0.01
			r.Families = append(r.Families, f)
		}
	}
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

var everything = []string{"SQLite", "PostgreSQL 17", "PostgreSQL 18", "MariaDB", "ClickHouse"}

// figures are all of a page.
func figures(r *measure.Results) []figure {
	var all []figure
	for _, s := range newView(r).Sections {
		all = append(all, s.Figures...)
	}
	return all
}

// The values of each chart stand in a table of its section, in a row of the same name.
func TestTablesHoldCharts(t *testing.T) {
	for _, s := range newView(sample(everything...)).Sections {
		if len(s.Figures) < 3 || len(s.Tables) < 3 || s.Lead == "" {
			t.Errorf("%s: %d figures, %d tables", s.Title, len(s.Figures), len(s.Tables))
		}
		for _, f := range s.Figures {
			if len(f.Chart.Rows) == 0 || f.Chart.Axis == "" || f.Note == "" || f.ID == "" ||
				f.Unit == "" || len(f.Where) != max(1, len(f.Chart.Panels)) {
				t.Errorf("%s: %+v", s.Title, f)
			}
			if strings.HasPrefix(f.Title, "Granules") {
				continue // its table is of all databases
			}
			for _, row := range f.Chart.Rows {
				for _, m := range row.Marks {
					if m.Text != "" && !holds(s.Tables, row.Label, m.Text) {
						t.Errorf("%s, %s: no table has %s in a row %q", s.Title, f.Title, m.Text,
							row.Label)
					}
				}
			}
		}
	}
}

func holds(tables []table, name, text string) bool {
	for _, t := range tables {
		for _, row := range t.Rows {
			// Ours are shown in their best form, without its name.
			if (row[0].Text == name || strings.HasPrefix(row[0].Text, name+" as ")) &&
				slices.ContainsFunc(row, func(c cell) bool { return c.Text == text }) {
				return true
			}
		}
	}
	return false
}

func TestTablesAreWhole(t *testing.T) {
	v := newView(sample(everything...))
	tables := append([]table{*v.Order, *v.Access, *v.Skip}, v.Balance...)
	for _, s := range v.Sections {
		tables = append(tables, s.Tables...)
	}
	for _, table := range tables {
		if table.Caption == "" || len(table.Rows) == 0 {
			t.Errorf("%q has %d rows", table.Caption, len(table.Rows))
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Head) || row[0].Text == "" {
				t.Errorf("%s: row %v under %v", table.Caption, row, table.Head)
			}
		}
	}
}

var (
	charts = regexp.MustCompile(
		`(?s)<div class="chart panels[123]" role="img" aria-label="[^"]+">(.*?)` +
			`<span class="unit">[^<]+</span></div>`)
	places  = regexp.MustCompile(`(?:left:|width:|100% - )([^%]*)%`)
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
	// Each colour has a value for light and one for dark.
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

// The page stands by itself.
func TestPageNeedsNothing(t *testing.T) {
	page := pageOf(t, sample(everything...))
	for _, no := range []string{
		"http:", "https:", "//cdn", "<script", "stylesheet", "<img", "<iframe",
		"url(", "@import", "onload", "srcset",
	} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	for _, want := range []string{
		"&lt;fast &amp; small&gt;", "Index Scan &lt;ids&gt;", "2026-11-02 09:30 UTC", "in 1m2s",
		"ClickHouse.2.3", `lang="en"`, "width=device-width",
		"prefers-color-scheme: dark", "✗ not as documented", "≠ IDs; that of the collation",
		"2 of 25", "the table 25 granules", "--rows 1000000", "1,000,000 in a column",
		"Not the official server: idmint &lt;stand-in&gt;", "SELECT n &lt; 5",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<caption>"); n != strings.Count(page, "<table") {
		t.Errorf("%d captions", n)
	}
}

// What was not measured is not shown.
func TestSQLiteAlone(t *testing.T) {
	r := sample("SQLite")
	v := newView(r)
	if len(v.Sections) != 1 || v.Sections[0].ID != "sqlite" || len(v.Balance) != 1 {
		t.Errorf("%+v", v.Sections)
	}
	page := pageOf(t, r)
	for _, no := range []string{"in ClickHouse, a fifth", "PostgreSQL", "official"} {
		if n := strings.Count(page, no); n > strings.Count("in ClickHouse, a fifth", no) {
			t.Errorf("the page speaks of %q", no)
		}
	}
	r.Footprints, r.Reads, r.Families, r.Order, r.Skipping = nil, nil, nil, nil, nil
	page = pageOf(t, r)
	if strings.Contains(page, "Index of the key") || !strings.Contains(page, "Inserting by COPY") ||
		strings.Contains(page, `href="#order"`) || strings.Contains(page, `id="time"`) {
		t.Error("the page shows what was not measured")
	}
	r.Inserts = nil
	page = pageOf(t, r)
	if strings.Contains(page, "<figure") || !strings.Contains(page, `href="#how"`) {
		t.Error("nothing was measured, and something is shown")
	}
}

// PostgreSQL is first, the newest version in front, and ClickHouse last.
func TestSections(t *testing.T) {
	var titles []string
	v := newView(sample("ClickHouse", "SQLite", "MariaDB", "PostgreSQL 17", "PostgreSQL 18"))
	ids := map[string]bool{}
	for _, s := range v.Sections {
		titles = append(titles, s.Title)
		for _, f := range s.Figures {
			if ids[f.ID] {
				t.Errorf("two places are called %s", f.ID)
			}
			ids[f.ID] = true
		}
	}
	if got := strings.Join(titles, " "); got != "PostgreSQL MariaDB SQLite ClickHouse" {
		t.Error(got)
	}
	first := v.Sections[0].Figures[0]
	if !slices.Equal(first.Chart.Panels, []string{"PostgreSQL 18", "PostgreSQL 17"}) ||
		len(first.Chart.Lines) != 2 || first.Chart.Lines[0] != 10.5 {
		t.Errorf("%+v", first.Chart)
	}
	labels := ""
	writers := map[string]int{
		"decimal, 4 writers": 4, "decimal, 1 writer, 10 deployments": -1, "decimal, 4 apart": -1,
		"decimal, 4 writers, 10 deployments": -1,
	}
	for _, r := range first.Chart.Rows {
		labels += r.Label + "|"
		if want, ok := writers[r.Label]; ok && r.Writers != want {
			t.Errorf("%s has %d writers", r.Label, r.Writers)
		}
	}
	if labels != "serial|decimal, 1 writer|decimal, 1 writer, 10 deployments|"+
		"decimal, 4 writers|decimal, 4 writers, 10 deployments|decimal, 64 writers|decimal, 4 apart|sno as bytes|snowflake, 1 writer|"+
		"snowflake, 4 writers|snowflake, 64 writers|UUIDv7 as uuid|" {
		t.Error(labels)
	}
}

// Pages whose number is not known are no zero.
func TestUnknownPages(t *testing.T) {
	r := sample("PostgreSQL 17")
	for i := range r.Footprints {
		f := &r.Footprints[i]
		f.Unknown, f.Pages, f.LogBytes = "permission denied", 0, 0
		f.Splits, f.Cold = nil, nil
	}
	s := newView(r).Sections[0]
	for _, f := range s.Figures {
		if f.Title == writtenLog || f.Title == "Pages written" || f.Title == "Page splits" {
			t.Errorf("%s is shown", f.Title)
		}
	}
	if !holds(s.Tables, "serial", "unknown") {
		t.Error("the table does not say that it is unknown")
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
			func(d measure.Server) bool { return kindOf(d.Name) == kindOf(name) }) {
			t.Errorf("docs/report.json has nothing of %s", name)
		}
	}
}

// Who built a server stands beside its version, above its figures and at the end of the page.
func TestBuilds(t *testing.T) {
	page := pageOf(t, sample(everything...))
	for _, name := range everything {
		if n := strings.Count(page, name+".2.3 (built by "+name+")"); n != 2 {
			t.Errorf("%s: %d times", name, n)
		}
	}
}

// What is no report makes no page.
func TestNoFigures(t *testing.T) {
	for _, text := range []string{"{}", `{"rows": 5}`} {
		if _, err := ReadJSON(strings.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), "no database was measured") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
