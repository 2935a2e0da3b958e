package importer

import (
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
			setting: "explicit_defaults_for_timestamp=0", loads: 0,
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
