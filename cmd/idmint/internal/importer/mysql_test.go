package importer

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
)

// withoutLoading is the name of a database by a network on which its server hears from clients that
// they have no files to load. It refuses LOAD DATA LOCAL then, as one does whose local_infile is off.
func withoutLoading(t *testing.T, d dsn.DSN) dsn.DSN {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(client net.Conn) {
		defer client.Close()
		server, err := net.Dial("tcp", d.Host())
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			defer server.Close()
			// The client's first packet begins with what it is capable of, behind four bytes.
			const localFiles = 1 << 7
			first := make([]byte, 5)
			if _, err := io.ReadFull(client, first); err != nil {
				return
			}
			first[4] &^= localFiles
			if _, err := server.Write(first); err == nil {
				_, _ = io.Copy(server, client)
			}
		}()
		_, _ = io.Copy(client, server)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	return d.WithHost(l.Addr().String())
}

// Rows are loaded, unless the server refuses that or warns. Then they are inserted. What does not
// fit, even if only a note says so, is an error of its row.
func TestLoad(t *testing.T) {
	t.Parallel()
	at := place{"MariaDB", databases.MariaDB, ""}.prepare(t)
	for _, test := range []struct {
		name, create string
		setting      string // of the sessions
		refused      bool   // LOAD DATA is
		file         string // JSON lines
		loads        int    // batches of ten rows that are tried
		want         string // the column v, or the error
	}{
		{
			name: "texts", create: "v TEXT", file: `{"v":"x\ty\\z"}` + "\n{\"v\":null}\n",
			loads: 1, want: "x\ty\\z|NULL",
		},
		{
			name: "a decimal that would be rounded", create: "v DECIMAL(5,1)",
			file: `{"v":1.2}` + "\n" + `{"v":1.25}` + "\n", loads: 1, want: `row 2, column "v": `,
		},
		{
			name: "spaces that would be cut off", create: "v VARCHAR(2)",
			file: `{"v":"ab"}` + "\n" + `{"v":"ab   "}` + "\n", loads: 1,
			want: `row 2, column "v": `,
		},
		{
			name: "a time that would be cut off", create: "v DATE",
			file: `{"v":"2026-02-28 12:00:00"}` + "\n", loads: 1, want: `row 1, column "v": `,
		},
		{
			name: "a member", create: "v SET('a','2','b')",
			file:  `{"v":2}` + "\n" + `{"v":"a,b"}` + "\n" + `{"v":""}` + "\n" + `{"v":null}` + "\n",
			loads: 1, want: "2|a,b||NULL",
		},
		{
			name: "times in other forms", create: "v DATETIME",
			file: `{"v":"2026.02.28"}` + "\n" + `{"v":"2026-02-28T12:00:00"}` + "\n", loads: 1,
			want: "2026-02-28 00:00:00|2026-02-28 12:00:00",
		},
		{
			name: "a row that is there", create: "v INT UNIQUE",
			file: `{"v":1}` + "\n" + `{"v":2}` + "\n" + `{"v":1}` + "\n", loads: 1,
			want: "row 3: Error 1062",
		},
		{
			name: "a row that a CHECK refuses", create: "v INT CHECK (v <> 3)",
			file: `{"v":1}` + "\n" + `{"v":3}` + "\n", loads: 1, want: "row 2: Error 4025",
		},
		{
			name: "the time for NULL", create: "v TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP",
			setting: "explicit_defaults_for_timestamp=0", loads: 0,
			file: `{"v":"2026-02-28 12:00:00"}` + "\n" + `{"v":null}` + "\n",
			want: `row 2, column "v": NULL would be stored as "20`,
		},
		{
			name: "NULL for a number that is required", create: "v BIGINT NOT NULL", loads: 0,
			file: `{"v":1}` + "\n" + `{"v":null}` + "\n", want: "row 2: Error 1048",
		},
		{
			name: "an integer that is too large", create: "v TINYINT",
			file: `{"v":1}` + "\n" + `{"v":300}` + "\n", loads: 1,
			want: `row 2, column "v": `,
		},
		{
			name: "a text that is no number", create: "v INT", file: `{"v":""}` + "\n", loads: 1,
			want: `row 1, column "v": `,
		},
		{
			name: "a text that does not fit", create: "v VARCHAR(2)", file: `{"v":"abc"}` + "\n",
			loads: 1, want: `row 1, column "v": `,
		},
		{
			name: "a letter that the column does not have", create: "v TEXT CHARACTER SET latin1",
			file: `{"v":"語"}` + "\n", loads: 1, want: `row 1, column "v": `,
		},
		{
			name: "a date that is none", create: "v DATE", file: `{"v":"2026-02-30"}` + "\n",
			loads: 1, want: `row 1, column "v": `,
		},
		{
			name: "a parent that is missing", file: `{"v":7}` + "\n", loads: 1,
			create: "v BIGINT, FOREIGN KEY (v) REFERENCES t (id)", want: "row 1: Error 1452",
		},
		{
			name: "NULL for a text that is required", file: `{"v":null}` + "\n", loads: 0,
			create: "v TEXT NOT NULL", want: "cannot be null",
		},
		{
			name: "a generated column", create: "v INT AS (1) STORED", file: `{"v":2}` + "\n",
			loads: 0, want: "generated column",
		},
		{
			name: "loading is off", create: "v TEXT", file: strings.Repeat(`{"v":"x"}`+"\n", 11),
			refused: true, loads: 1, want: strings.Repeat("x|", 10) + "x",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := at
			var err error
			if at.target, err = dsn.Parse(at.target.URL() + "?" + test.setting); err != nil {
				t.Fatal(err)
			}
			f := newFixtureIn(t, at, t.TempDir()+"/app.db")
			f.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, " + test.create + ")")
			if test.refused {
				f.at.target = withoutLoading(t, at.target)
			}
			db := f.database(patience).(*table)
			db.db.SetMaxOpenConns(1) // which counts what it was told
			_, err = Run(ctx, db, f.log, strings.NewReader(test.file),
				importing(func(im *Import) { im.Format = JSONLines }))
			var name string
			var loads int
			failed := db.db.QueryRow(`SHOW SESSION STATUS LIKE 'Com_load'`).Scan(&name, &loads)
			if failed != nil || loads != test.loads {
				t.Errorf("%d batches were loaded, or tried, want %d, %v", loads, test.loads, failed)
			}
			_, values := f.table(`SELECT id, v FROM t ORDER BY id`)
			var got []string
			for _, v := range values {
				got = append(got, v...)
			}
			if err != nil {
				if !strings.Contains(err.Error(), test.want) || len(got) > 0 {
					t.Errorf("%v with %q stored, want %s", err, got, test.want)
				}
				return
			}
			if want := strings.Split(test.want, "|"); !reflect.DeepEqual(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// What MariaDB stores as another value without a word is refused with its row, and nothing of the
// batch is stored. Another spelling of the same value is stored.
func TestChangedByMariaDB(t *testing.T) {
	t.Parallel()
	at := place{"MariaDB", databases.MariaDB, ""}.prepare(t)
	readsTimes, err := dsn.Parse(at.target.URL() + "?parseTime=true")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		typ     string
		changed [][2]string // the text, and what the server makes of it
		same    [][2]string
	}{
		{
			"INT", [][2]string{
				{"15e-1", "2"}, {"1E-1", "0"}, {"123456e-2", "1235"}, {"7.5", "8"},
			}, [][2]string{
				{"1.5e1", "15"},
				{"1E+2", "100"},
				{"7.00", "7"},
				{"-0", "0"},
				{" +007", "7"},
				{"-1200", "-1200"},
			},
		},
		{"INT NULL AUTO_INCREMENT UNIQUE", [][2]string{{"0", "2"}}, [][2]string{{"1", "1"}}},
		{
			"BIGINT UNSIGNED",
			[][2]string{{"18446744073709551614.5", "18446744073709551615"}},
			[][2]string{{"1844674407370955161.5e1", "18446744073709551615"}},
		},
		{
			"DECIMAL(9,2) ZEROFILL", nil,
			[][2]string{{"1.5", "0000001.50"}, {"1234567", "1234567.00"}, {"125e-2", "0000001.25"}},
		},
		{
			"DATETIME", [][2]string{
				{"20260228184448.56", "2026-02-28 18:44:48"},
				{"2026-02-28T18.44.48.56", "2026-02-28 18:44:48"},
				{"2026-02-28 18:44:48.56", "2026-02-28 18:44:48"},
				{"26-2-8", "2026-02-08 00:00:00"},
			}, [][2]string{
				{"20260228184448.00", "2026-02-28 18:44:48"},
				{"2026-2-8T1:2:3", "2026-02-08 01:02:03"},
				{"2026.02.28", "2026-02-28 00:00:00"},
			},
		},
		{
			"DATETIME(1)",
			[][2]string{{"2026-02-28 12:00:00.75", "2026-02-28 12:00:00.7"}},
			[][2]string{{"2026-02-28 12:00:00.700", "2026-02-28 12:00:00.7"}},
		},
		{
			"TIMESTAMP NULL", [][2]string{
				{"20260228184448.56", "2026-02-28 18:44:48"},
				{"2026-02-28T18.44.48.56", "2026-02-28 18:44:48"},
			}, [][2]string{{"2026-02-28T18:44:48", "2026-02-28 18:44:48"}},
		},
		{
			"TIME",
			[][2]string{{"184448.56", "18:44:48"}, {"10", "00:00:10"}},
			[][2]string{{"184448", "18:44:48"}, {"9:30", "09:30:00"}, {"-1:02:03", "-01:02:03"}},
		},
		{
			"DATE",
			[][2]string{{"10:11:12", "2010-11-12"}},
			[][2]string{{"2026-02-28 00:00:00", "2026-02-28"}, {"20260228", "2026-02-28"}},
		},
		{
			"YEAR",
			[][2]string{{"1.6", "2002"}, {"99", "1999"}, {"2026.4", "2026"}},
			[][2]string{{"2026", "2026"}, {"2e3", "2000"}},
		},
		{
			"ENUM('a','b','c')",
			[][2]string{{"+1", "a"}, {"2", "b"}, {"A", "a"}},
			[][2]string{{"c", "c"}},
		},
		{
			"SET('a','b','c')",
			[][2]string{{"+3", "a,b"}, {"b,a", "a,b"}},
			[][2]string{{"a,b", "a,b"}, {"", ""}},
		},
		{"ENUM('it''2''s','b','c')", [][2]string{{"2", "b"}}, [][2]string{{"it'2's", "it'2's"}}},
	} {
		t.Run(test.typ, func(t *testing.T) {
			f := newFixtureIn(t, at, t.TempDir()+"/app.db")
			f.at.target = readsTimes
			for _, format := range []Format{CSV, JSONLines} {
				f.exec("DROP TABLE IF EXISTS t")
				f.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, n INT, v " + test.typ + ")")
				file := func(texts ...[2]string) (file string, stored []string) {
					if format == CSV {
						file = "n,v\n"
					}
					for _, text := range texts {
						line, quoted := `1,"`+text[0]+`"`, `"`+text[0]+`"`
						if format == JSONLines {
							if json.Valid([]byte(text[0])) { // a number
								quoted = text[0]
							}
							line = `{"n":1,"v":` + quoted + `}`
						}
						file, stored = file+line+"\n", append(stored, text[1])
					}
					return file, stored
				}
				imports := func(file string) (got []string, err error) {
					f.exec("DELETE FROM t")
					_, err = f.run(ctx, strings.NewReader(file), importing(func(im *Import) {
						im.Format = format
						im.Source += file
					}))
					_, values := f.table(`SELECT id, v FROM t ORDER BY id`)
					for _, v := range values {
						got = append(got, v...)
					}
					return got, err
				}
				text, want := file(test.same...)
				if got, err := imports(text); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %q, want %q, %v", format, got, want, err)
				}
				for _, changed := range test.changed {
					text, _ := file(test.same[0], changed)
					want := fmt.Sprintf("row 2, column \"v\": %q would be stored as %q", changed[0], changed[1])
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
	at := place{"MariaDB", databases.MariaDB, ""}.prepare(t)
	for change, want := range map[string]string{
		"NEW.n = IF(NEW.n = 12, 0, NEW.n)":   `row 13, column "n": "12" would be stored as "0"`,
		"NEW.id = NEW.id + 1":                `row 1, column "id": a trigger of the table would change`,
		"NEW.id = IF(NEW.n = 14, 3, NEW.id)": `row 15, column "id": a trigger of the table would`,
	} {
		f := newFixtureIn(t, at, t.TempDir()+"/app.db")
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
