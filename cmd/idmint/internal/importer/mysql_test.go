package importer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
)

// withoutLoading is a network on which a server hears from clients that they have no files to load.
// It refuses LOAD DATA LOCAL then, as one does whose local_infile is off.
func withoutLoading(first bool, request []byte) (lost, arrives bool) {
	if first { // it begins with what the client is capable of, behind four bytes
		const localFiles = 1 << 7
		request[4] &^= localFiles
	}
	return false, true
}

// Rows are loaded, unless the server refuses that or warns. Then they are inserted. What does not
// fit, even if only a note says so, is an error of its row.
func TestLoad(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[2])
	d, err := dsn.Parse(f.target.URL() + "?explicit_defaults_for_timestamp=0")
	if err != nil {
		t.Fatal(err)
	}
	const refusing = "v LONGTEXT" // on a server that refuses LOAD DATA
	for _, test := range []struct {
		create string
		values string // JSON, separated by bars
		loads  int    // batches of ten rows that are tried
		want   string // the column v, or the error
	}{
		{"v TEXT", `"x\ty\\z"|null`, 1, "x\ty\\z|NULL"},
		{refusing, strings.Repeat(`"x"|`, 10) + `"x"`, 1, strings.Repeat("x|", 10) + "x"},
		{"v DECIMAL(5,1)", `1.2|1.25`, 1, `row 2, column "v": `},
		{"v VARCHAR(2)", `"ab"|"ab   "`, 1, `row 2, column "v": `},
		{"v VARCHAR(2)", `"ab"|"abc"`, 1, `row 2, column "v": `},
		{"v DATE", `"2026-02-28 12:00:00"`, 1, `row 1, column "v": `},
		{"v DATE", `"2026-02-30"`, 1, `row 1, column "v": `},
		{"v TINYINT", `1|300`, 1, `row 2, column "v": `},
		{"v INT", `""`, 1, `row 1, column "v": `},
		{"v TEXT CHARACTER SET latin1", `"語"`, 1, `row 1, column "v": `},
		{"v SET('a','2','b')", `2|"a,b"|""|null`, 1, "2|a,b||NULL"},
		{
			"v DATETIME", `"2026.02.28"|"2026-02-28T12:00:00"`, 1,
			"2026-02-28 00:00:00|2026-02-28 12:00:00",
		},
		{"v INT UNIQUE", `1|2|1`, 1, "row 3: Error 1062"},
		{"v INT CHECK (v <> 3)", `1|3`, 1, "row 2: Error 4025"},
		{"v BIGINT, FOREIGN KEY (v) REFERENCES t (id)", `7`, 1, "row 1: Error 1452"},
		{"v BIGINT NOT NULL", `1|null`, 0, "row 2: Error 1048"},
		{"v TEXT NOT NULL", `null`, 0, "cannot be null"},
		{
			"v TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP", `"2026-02-28 12:00:00"|null`, 0,
			`row 2, column "v": NULL would be stored as "20`,
		},
		{"v INT AS (1) STORED", `2`, 0, "generated column"},
	} {
		f = f.fresh()
		f.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, " + test.create + ")")
		f.target = d
		if test.create == refusing {
			f.target = d.WithHost(proxy(t, d.Host(), withoutLoading))
		}
		db := f.database(patience).(*table)
		db.db.SetMaxOpenConns(1) // which counts what it was told
		var file strings.Builder
		for _, value := range strings.Split(test.values, "|") {
			fmt.Fprintf(&file, "{\"v\":%s}\n", value)
		}
		_, err = Run(ctx, db, f.log, strings.NewReader(file.String()),
			importing(func(im *Import) { im.Format = JSONLines }))
		var name string
		var loads int
		failed := db.db.QueryRow(`SHOW SESSION STATUS LIKE 'Com_load'`).Scan(&name, &loads)
		if failed != nil || loads != test.loads {
			t.Errorf("%s: %d batches were loaded, or tried, %v", test.create, loads, failed)
		}
		got := f.column()
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), test.want) || len(got) > 0 {
				t.Errorf("%s: %v with %q stored, want %s", test.create, err, got, test.want)
			}
		case !reflect.DeepEqual(got, strings.Split(test.want, "|")):
			t.Errorf("%s: %q, want %q", test.create, got, test.want)
		}
	}
}

// column is what is in column v of table t.
func (f *fixture) column() (all []string) {
	f.Helper()
	_, values := f.table(`SELECT id, v FROM t ORDER BY id`)
	for _, v := range values {
		all = append(all, v...)
	}
	return all
}

// What MariaDB stores as another value without a word is refused with its row, and nothing of the
// batch is stored. Another spelling of the same value is stored.
func TestChangedByMariaDB(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[2])
	readsTimes, err := dsn.Parse(f.target.URL() + "?parseTime=true")
	if err != nil {
		t.Fatal(err)
	}
	f.target = readsTimes
	for _, test := range []struct {
		typ string
		// texts, and what the server makes of each: other values, and other spellings
		changed, same string
	}{
		{
			"INT", "15e-1→2|1E-1→0|123456e-2→1235|7.5→8",
			"1.5e1→15|1E+2→100|7.00→7|-0→0| +007→7|-1200→-1200",
		},
		{"INT NULL AUTO_INCREMENT UNIQUE", "0→2", "1→1"},
		{
			"BIGINT UNSIGNED", "18446744073709551614.5→18446744073709551615",
			"1844674407370955161.5e1→18446744073709551615",
		},
		{"DECIMAL(9,2) ZEROFILL", "", "1.5→0000001.50|1234567→1234567.00|125e-2→0000001.25"},
		{
			"DATETIME",
			"20260228184448.56→2026-02-28 18:44:48|2026-02-28T18.44.48.56→2026-02-28 18:44:48|" +
				"2026-02-28 18:44:48.56→2026-02-28 18:44:48|26-2-8→2026-02-08 00:00:00",
			"20260228184448.00→2026-02-28 18:44:48|2026-2-8T1:2:3→2026-02-08 01:02:03|" +
				"2026.02.28→2026-02-28 00:00:00",
		},
		{
			"DATETIME(1)", "2026-02-28 12:00:00.75→2026-02-28 12:00:00.7",
			"2026-02-28 12:00:00.700→2026-02-28 12:00:00.7",
		},
		{
			"TIMESTAMP NULL", "20260228184448.56→2026-02-28 18:44:48",
			"2026-02-28T18:44:48→2026-02-28 18:44:48",
		},
		{"TIME", "184448.56→18:44:48|10→00:00:10", "184448→18:44:48|9:30→09:30:00|-1:02:03→-01:02:03"},
		{"DATE", "10:11:12→2010-11-12", "2026-02-28 00:00:00→2026-02-28|20260228→2026-02-28"},
		{"YEAR", "1.6→2002|99→1999|2026.4→2026", "2026→2026|2e3→2000"},
		{"ENUM('a','b','c')", "+1→a|2→b|A→a", "c→c"},
		{"SET('a','b','c')", "+3→a,b|b,a→a,b", "a,b→a,b|→"},
		{"ENUM('it''2''s','b','c')", "2→b", "it'2's→it'2's"},
	} {
		t.Run(test.typ, func(t *testing.T) {
			for _, format := range []Format{CSV, JSONLines} {
				f.exec("DROP TABLE IF EXISTS t")
				f.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, n INT, v " + test.typ + ")")
				file := func(pairs string) (file string, stored []string) {
					if format == CSV {
						file = "n,v\n"
					}
					for pair := range strings.SplitSeq(pairs, "|") {
						text, is, _ := strings.Cut(pair, "→")
						line, quoted := `1,"`+text+`"`, `"`+text+`"`
						if format == JSONLines {
							if json.Valid([]byte(text)) { // a number
								quoted = text
							}
							line = `{"n":1,"v":` + quoted + `}`
						}
						file, stored = file+line+"\n", append(stored, is)
					}
					return file, stored
				}
				imports := func(file string) ([]string, error) {
					f.exec("DELETE FROM t")
					_, err := f.run(ctx, strings.NewReader(file), importing(func(im *Import) {
						im.Format = format
						im.Source += test.typ + file
					}))
					return f.column(), err
				}
				text, want := file(test.same)
				if got, err := imports(text); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %q, want %q, %v", format, got, want, err)
				}
				for pair := range strings.SplitSeq(test.changed, "|") {
					if pair == "" {
						continue
					}
					first, _, _ := strings.Cut(test.same, "|")
					text, values := file(first + "|" + pair)
					sent, _, _ := strings.Cut(pair, "→")
					want := fmt.Sprintf("row 2, column \"v\": %q would be stored as %q", sent, values[1])
					got, err := imports(text)
					if err == nil || !strings.Contains(err.Error(), want) || len(got) > 0 {
						t.Errorf("%s: %q, %v, want %s", format, got, err, want)
					}
				}
			}
		})
	}
}

// A trigger of MariaDB changes neither a value that is compared nor an ID.
func TestChangedByTrigger(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[2])
	for change, want := range map[string]string{
		"NEW.n = IF(NEW.n = 12, 0, NEW.n)":   `row 13, column "n": "12" would be stored as "0"`,
		"NEW.id = NEW.id + 1":                `row 1, column "id": a trigger of the table would change`,
		"NEW.id = IF(NEW.n = 14, 3, NEW.id)": `row 15, column "id": a trigger of the table would`,
	} {
		f = f.fresh()
		f.exec(`CREATE TABLE t (id BIGINT PRIMARY KEY, n INT, name TEXT)`)
		f.exec(`CREATE TRIGGER changes BEFORE INSERT ON t FOR EACH ROW SET ` + change)
		_, err := f.run(ctx, strings.NewReader(numbered(15)),
			importing(func(im *Import) { im.Batch = 0 }))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", change, err, want)
		}
		f.checkNumbered(0, 1)
	}
}
