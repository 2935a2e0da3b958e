package importer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// loads is how many LOAD DATA the server has carried out, or refused.
func (f *fixture) loads() (n int) {
	f.Helper()
	var name string
	err := f.db.QueryRow(`SHOW GLOBAL STATUS LIKE 'Com_load'`).Scan(&name, &n)
	if err != nil {
		f.Fatal(err)
	}
	return n
}

// Rows are loaded, unless the server refuses that or warns. Then they are inserted. What does not
// fit, even if only a note says so, is an error of its row.
func TestLoad(t *testing.T) {
	at := place{"MariaDB", databases.MariaDB, ""}.prepare(t)
	for _, test := range []struct {
		name, create string
		setting      string // of the server
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
			name: "a number that would be rounded", create: "v BIGINT UNSIGNED",
			file: `{"v":"7.00"}` + "\n" + `{"v":7.5}` + "\n", loads: 0, want: `row 2, column "v": 7.5: `,
		},
		{
			name: "a number that would be a member", create: "v ENUM('a','2','b')",
			file: `{"v":2}` + "\n" + `{"v":3}` + "\n", loads: 0, want: `row 2, column "v": 3: `,
		},
		{
			name: "a member", create: "v SET('a','2','b')",
			file: `{"v":2}` + "\n" + `{"v":"a,b"}` + "\n" + `{"v":""}` + "\n", loads: 1, want: "2|a,b|",
		},
		{
			name: "a second that would be cut off", create: "v DATETIME(1)",
			file:  `{"v":"2026-02-28 12:00:00.700"}` + "\n" + `{"v":"2026-02-28 12:00:00.75"}` + "\n",
			loads: 0, want: `row 2, column "v": 2026-02-28 12:00:00.75: `,
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
			setting: "explicit_defaults_for_timestamp", loads: 0,
			file: `{"v":"2026-02-28 12:00:00"}` + "\n" + `{"v":null}` + "\n",
			want: `row 2, column "v": the column cannot be null`,
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
			setting: "local_infile", loads: 1, want: strings.Repeat("x|", 10) + "x",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixtureIn(t, at, t.TempDir()+"/app.db")
			if test.setting != "" {
				f.exec("SET GLOBAL " + test.setting + " = 0")
				defer f.exec("SET GLOBAL " + test.setting + " = 1")
			}
			f.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, " + test.create + ")")
			before := f.loads()
			_, err := f.run(ctx, strings.NewReader(test.file),
				importing(func(im *Import) { im.Format = JSONLines }))
			if n := f.loads() - before; n != test.loads {
				t.Errorf("%d batches were loaded, or tried, want %d", n, test.loads)
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

// A server may take tables T and t for the same one. So does whoever looks for an unfinished import.
func TestTableInAnotherCase(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--lower-case-table-names=1")
	d, _, err := server.Create(ctx, fmt.Sprint("t_", rand.Uint64()))
	if err != nil {
		t.Fatal(err)
	}
	f := newFixtureIn(t, prepared{place: place{"MariaDB", databases.MariaDB, ""}, target: d},
		t.TempDir()+"/app.db")
	in := func(name string) func(*Import) { return func(im *Import) { im.Table = name } }
	f.stopAfter(20, numbered(50), importing(in("T")))
	_, err = f.run(ctx, strings.NewReader(numbered(50)), importing(in("t")))
	if unfinished := (*UnfinishedError)(nil); !errors.As(err, &unfinished) || unfinished.Rows != 20 {
		t.Errorf("table t: %v", err)
	}
	if result := f.mustRun(numbered(50), importing(in("t"), resume)); result.Resumed != 20 {
		t.Errorf("%+v", result)
	}
	f.checkNumbered(50, 1)
}
