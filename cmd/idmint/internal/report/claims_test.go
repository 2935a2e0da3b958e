package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// rowOf is a row of a figure with one panel.
func rowOf(label, scheme string, ours bool, writers int, value, spread float64) chartRow {
	return chartRow{label, scheme, ours, writers, []mark{
		{Value: value, Spread: spread, Text: small(value), Rounds: 31},
	}}
}

// The best rival is that of the same number of writers, whichever it is, and the verdict is about
// it.
func TestVerdicts(t *testing.T) {
	decimal := rowOf("decimal, 4 writers", "decimal", true, 4, 10, 0)
	for _, c := range []struct {
		higher bool
		rivals []chartRow
		want   string
	}{
		{false, []chartRow{rowOf("serial", "serial", false, 0, 8, 0)}, "behind serial by 25\u00a0%"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 10.2, 0)}, "level with serial"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 12, 2)}, "ahead of serial by 17\u00a0%"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 12, 3.2)}, "not clear beside serial"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 10, 3.2)}, "not clear beside serial"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 20, 3.2)}, "ahead of serial by 2.0\u00a0×"},
		{true, []chartRow{rowOf("serial", "serial", false, 0, 10.6, 1)}, "level with serial"},
		{true, []chartRow{rowOf("serial", "serial", false, 0, 10.8, 1)}, "behind serial by 7\u00a0%"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 12, 1)}, "ahead of serial by 17\u00a0%"},
		{true, []chartRow{rowOf("serial", "serial", false, 0, 12, 0)}, "behind serial by 17\u00a0%"},
		{true, []chartRow{rowOf("serial", "serial", false, 0, 2, 0)}, "ahead of serial by 5.0\u00a0×"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 500, 0)}, "ahead of serial by 50\u00a0×"},
		{false, []chartRow{rowOf("serial", "serial", false, 0, 0, 0)}, "behind serial"},
		{
			false, []chartRow{
				rowOf("UUIDv7", "UUIDv7", false, 0, 16, 0),
				rowOf("snowflake, 64 writers", "snowflake", false, 64, 1, 0),
				rowOf("snowflake, 4 writers", "snowflake", false, 4, 15, 0),
				rowOf("trace", "trace", true, 4, 1, 0),
			}, "ahead of snowflake, 4 writers by 33\u00a0%",
		},
	} {
		f := figure{
			Title: "t", Higher: c.higher, Where: []place{{Server: "s"}},
			Chart: chart{Rows: append(c.rivals, decimal)},
		}
		got := claimOf(f, 0)
		if got == nil || got.Says() != c.want {
			t.Errorf("%+v: %+v, want %q", c.rivals, got, c.want)
		}
	}
}

// More rounds make a median certain that single rounds leave open. What is not clear has no card.
func TestNotClear(t *testing.T) {
	cards := func(rounds int) (cards int, verdict string) {
		r := sample("SQLite")
		for i := range r.Inserts {
			r.Inserts[i].Spread, r.Inserts[i].Rounds = 0.5, rounds
		}
		v := newView(r)
		for _, c := range v.Claims {
			if strings.HasPrefix(c.Title, "Inserting") {
				cards++
			}
		}
		for _, row := range v.Balance[0].Rows {
			if strings.HasPrefix(row[0].Text, "Inserting") {
				verdict = row[1].Text
			}
		}
		return cards, verdict
	}
	if n, verdict := cards(31); n != 0 || verdict != "not clear beside snowflake" {
		t.Errorf("31 rounds: %d cards, %s", n, verdict)
	}
	if n, verdict := cards(3100); n != 1 || !strings.HasPrefix(verdict, "ahead of snowflake") {
		t.Errorf("3,100 rounds: %d cards, %s", n, verdict)
	}
}

// Only what decimal IDs and a rival have is a claim.
func TestNoClaim(t *testing.T) {
	for _, rows := range [][]chartRow{
		{rowOf("decimal", "decimal", true, 0, 1, 0)},
		{rowOf("UUIDv7", "UUIDv7", false, 0, 1, 0)},
		{
			rowOf("decimal, 4 apart", "decimal", true, -1, 1, 0),
			rowOf("UUIDv7", "UUIDv7", false, 0, 1, 0),
		},
		{
			rowOf("decimal", "decimal", true, 0, 1, 0),
			rowOf(measure.Plain, measure.Plain, false, 0, 1, 0),
			chartRow{"serial", measure.Serial, false, 0, []mark{{}}},
		},
	} {
		f := figure{Where: []place{{}}, Chart: chart{Rows: rows}}
		if c := claimOf(f, 0); c != nil {
			t.Errorf("%+v: %+v", rows, c)
		}
	}
}

// The cards are of PostgreSQL where it is, and of ClickHouse where decimal IDs do best and worst.
// The lines of the command are the same.
func TestSummary(t *testing.T) {
	got := Summary(sample(everything...))
	want := []string{
		"Index of the key (PostgreSQL 18), bytes a row: decimal, 4 writers 12.0, beside serial " +
			"10.5, snowflake, 4 writers 15.5, UUIDv7 as uuid 16.5: behind serial by 14 %",
		"Log written (PostgreSQL 18), bytes a row: decimal, 4 writers 61.7, beside serial 61.7, " +
			"snowflake, 4 writers 61.7, UUIDv7 as uuid 61.7: level with serial",
		"Inserting by COPY (PostgreSQL 18), × the speed of serial: decimal, 4 writers 1.00, " +
			"beside snowflake, 4 writers 0.72, UUIDv7 as uuid 0.70, UUIDv4 0.62, ULID as bytes 0.60: " +
			"ahead of snowflake",
		"The newest rows, by the highest keys (PostgreSQL 18), rows of 100: decimal, 4 writers 70, " +
			"beside serial 100, UUIDv7 as uuid 100, snowflake, 4 writers 98: behind serial by 30 %",
		"A parent with 5 children (PostgreSQL 18, 1 ms of network delay), ms: decimal: one batch " +
			"0.80, beside serial: one WITH statement 1.40, serial: RETURNING, step by step 2.00: " +
			"ahead of serial: one WITH statement by 43 %",
		"Index of the key (MariaDB), bytes a row: decimal, 4 writers 12.0, beside serial 10.5",
		"Index of the key (SQLite), bytes a row: decimal, 4 writers 12.0, beside serial 10.5",
		"Size, ordered by the key (ClickHouse, 4 generators; not the official server: " +
			"idmint <stand-in>), bytes an ID: decimal",
		"Size, in order of arrival (ClickHouse, 64 generators; not the official server: " +
			"idmint <stand-in>), bytes an ID: decimal",
		"95 of 100 columns sort as documented.",
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if sqlite := Summary(sample("SQLite")); len(sqlite) != 6 ||
		!strings.HasPrefix(sqlite[0], "Index of the key (SQLite)") {
		t.Errorf("%q", sqlite)
	}
}

// A claim says what decimal IDs come to elsewhere: where they do worse too.
func TestAlso(t *testing.T) {
	c := newView(sample(everything...)).Claims[0]
	if c.Also != "PostgreSQL 17: 12.0; 1 writer: 11.0; 1 writer, 10 deployments: 11.5; "+
		"4 writers, 10 deployments: 12.5; 64 writers: 13.0 beside snowflake 16.0; 4 apart: 13.5" {
		t.Error(c.Also)
	}
	top := c.Top()
	if len(top) != 4 || top[0].Name != "decimal, 4 writers" || top[3].Width != 100 ||
		top[1].Width < 63 || top[1].Width > 64 {
		t.Errorf("%+v", top)
	}
}

// The balance has a cell for each claim of each server.
func TestBalance(t *testing.T) {
	v := newView(sample(everything...))
	if len(v.Balance) != 2 {
		t.Fatalf("%d tables", len(v.Balance))
	}
	rows := v.Balance[0]
	if got := strings.Join(rows.Head, "|"); got != "what|PostgreSQL 18|PostgreSQL 17|MariaDB|SQLite" {
		t.Error(got)
	}
	first := rows.Rows[0]
	want := cell{"behind serial by 14\u00a0%", "no", "12.0 beside 10.5"}
	if first[0].Text != "Index of the key, bytes a row" || first[1] != want || first[4] != want {
		t.Errorf("%+v", first)
	}
	names := map[string]bool{}
	for i, table := range v.Balance {
		for _, row := range table.Rows {
			if name := fmt.Sprint(i, row[0].Text); names[name] {
				t.Errorf("two rows are %q", name)
			} else {
				names[name] = true
			}
		}
	}
	if !names["0A parent with 5 children, 1 ms of network delay, ms"] ||
		!names["1Size, in order of arrival, 64 generators, bytes an ID"] ||
		!names["1Granules read for a span of time, primary key, granules"] {
		t.Errorf("%v", names)
	}
}

// An ID is in the codec that users get, among rivals in their best form: the best codec, and each
// order that sorts it.
func TestCompression(t *testing.T) {
	one := func(
		scheme, storage, codec, sort string, peer bool, generators int, bytes float64,
	) measure.Compression {
		return measure.Compression{
			Scheme: scheme, Storage: storage, Codec: codec, Sort: sort, Peer: peer,
			Generators: generators, BytesPerID: bytes,
		}
	}
	r := &measure.Results{
		Databases: []measure.Server{{Name: "ClickHouse", Version: "ClickHouse 1"}},
		Compression: []measure.Compression{
			one("decimal", "bigint", "NONE", measure.SortedByID, false, 4, 8),
			one("decimal", "bigint", "Delta, ZSTD(1)", measure.SortedByID, false, 4, 0.5),
			one("decimal", "bigint", "Delta, ZSTD(6)", measure.SortedByID, false, 4, 0.4),
			one("decimal", "bigint", "Delta, ZSTD(1)", measure.SortedByID, false, 64, 0.7),
			one("sno", "text", "ZSTD(1)", measure.SortedByID, false, 4, 3),
			one("sno", "text", "ZSTD(1)", measure.SortedByID, false, 64, 4),
			one("sno", "bytes", "ZSTD(1)", measure.SortedByID, false, 4, 2),
			one("sno", "bytes", "ZSTD(1)", measure.SortedByID, false, 64, 5),
			one("UUIDv7", "uuid", "ZSTD", measure.SortedByID, true, 4, 14),
			one("UUIDv7", "uuid", "ZSTD", measure.SortedByBytes, true, 4, 10.5),
			one("UUIDv7", "uuid", "ZSTD(6)", measure.SortedByBytes, true, 4, 10),
			one("UUIDv7", "bytes", "ZSTD", measure.SortedByID, true, 4, 11),
			one("UUIDv7", "bytes", "ZSTD", measure.Arrival, true, 4, 12),
		},
	}
	f := newView(r).Sections[0].Figures[0]
	var got []string
	for _, row := range f.Chart.Rows {
		got = append(got, row.Label+" "+row.Marks[1].Text+" "+row.Marks[2].Text)
	}
	want := []string{
		"decimal 0.50 0.70", "sno 2.00 4.00", "UUIDv7 as uuid by toUInt128 10.0 10.0",
		"UUIDv7 as bytes 11.0 11.0", "UUIDv7 as uuid 14.0 14.0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Each figure of a server that is not the official one says so, and which one where there are more.
func TestStandIns(t *testing.T) {
	r := sample("PostgreSQL 17", "PostgreSQL 18", "SQLite")
	r.Databases[1].StandIn = "binaries of a friend"
	for _, s := range newView(r).Sections {
		for _, f := range s.Figures {
			want := ""
			switch {
			case f.Of == "PostgreSQL 18":
				want = "binaries of a friend"
			case s.Title == "PostgreSQL" && f.Of == "":
				want = "PostgreSQL 18, binaries of a friend"
			}
			if f.StandIn != want {
				t.Errorf("%s: %q, want %q", f.Heading(), f.StandIn, want)
			}
		}
	}
}

// One block more of a few is chance. A count that grows with the table is no multiple.
func TestCounts(t *testing.T) {
	says := func(f figure) string {
		c := claimOf(f, 0)
		if c == nil {
			t.Fatal("no claim")
		}
		return c.Says()
	}
	f := figure{Where: []place{{}}, Chart: chart{Rows: []chartRow{
		{Label: "decimal", Scheme: "decimal", Ours: true, Marks: []mark{counted(4)}},
		{Label: "serial", Scheme: "serial", Marks: []mark{counted(3)}},
	}}}
	if got := says(f); got != "level with serial" {
		t.Error(got)
	}
	// 4 and 3 blocks for 20,000 rows, whose difference as fractions is a little more than one
	f.Chart.Rows[0].Marks[0] = mark{Value: 0.20, Text: "0.20", Step: 0.05}
	f.Chart.Rows[1].Marks[0] = mark{Value: 0.15, Text: "0.15", Step: 0.05}
	if got := says(f); got != "level with serial" {
		t.Error(got)
	}
	f.Chart.Rows[1].Marks[0] = counted(3)
	f.Chart.Rows[0].Marks[0] = counted(25)
	if got := says(f); got != "behind serial by 8.3\u00a0×" {
		t.Error(got)
	}
	f.Chart.Full = 25
	if got := says(f); got != "behind serial" {
		t.Error(got)
	}
}
