package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
)

// wide is a file with n columns, and a row.
func wide(format Format, n int) string {
	var header, row []string
	for i := range n {
		name := fmt.Sprintf("column_%d", i)
		if format == JSONLines {
			name = fmt.Sprintf(`"%s":"x"`, name)
		}
		header, row = append(header, name), append(row, "x")
	}
	switch format {
	case CSV:
		return strings.Join(header, ",") + "\n" + strings.Join(row, ",") + "\n"
	case TSV:
		return strings.Join(header, "\t") + "\n" + strings.Join(row, "\t") + "\n"
	}
	return "{" + strings.Join(header, ",") + "}\n"
}

// allocated is how many bytes f allocates in all, and whoever runs beside it: no test may.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A header of any length is read with little memory.
func TestMemoryOfColumns(t *testing.T) {
	const columns = 100_000
	f := newFixture(t)
	for _, format := range []Format{CSV, TSV, JSONLines} {
		im := importing(func(im *Import) { im.Format = format })
		file := wide(format, columns)
		var err error
		// What grows by += allocates 100 GB here.
		n := allocated(func() { _, err = f.run(ctx, strings.NewReader(file), im) })
		if n > 300<<20 {
			t.Errorf("%s: %d MB were allocated", format, n>>20)
		}
		if wrong := (*ColumnsError)(nil); !errors.As(err, &wrong) || wrong.Columns != columns+1 {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestTooManyColumns(t *testing.T) { everywhere(t, testTooManyColumns) }

func testTooManyColumns(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	most := map[databases.Kind]int{
		"": 2000, databases.Postgres: 1600, databases.MariaDB: 1017,
		databases.ClickHouse: 2000,
	}[f.at.kind]
	for _, format := range []Format{CSV, TSV, JSONLines} {
		im := importing(func(im *Import) { im.Format = format })
		_, err := f.run(ctx, strings.NewReader(wide(format, most)), im)
		var wrong *ColumnsError
		if !errors.As(err, &wrong) || wrong.Columns != most+1 || wrong.Most != most ||
			!strings.Contains(err.Error(), fmt.Sprintf("the file has %d columns", most)) {
			t.Errorf("%s with %d columns: %v", format, most, err)
		}
	}
	if f.exists("t") || f.exists("idmint_import") ||
		f.count(`SELECT count(*) FROM idmint_launch`) != 0 {
		t.Error("something was made")
	}
	if f.at.kind == databases.MariaDB {
		// As it makes tables here. InnoDB keeps 40 bytes of each text in the row, and takes more
		// columns where it is told to.
		most = 197
	}
	f.mustRun(wide(CSV, most-1), importing())
	if n := f.count(fmt.Sprintf(`SELECT count(*) FROM t WHERE column_%d = 'x'`, most-2)); n != 1 {
		t.Errorf("%d rows with %d columns", n, most)
	}
}

// An endless reader gives a text once, and then another for ever.
type endless struct {
	first, then string
	given       int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.first)
	e.first = e.first[n:]
	for n < len(p) {
		n += copy(p[n:], e.then)
	}
	e.given += int64(n)
	return n, nil
}

// A record without an end is an error of its line, with as little memory as its limit takes.
func TestLongRecord(t *testing.T) {
	const limit = 5 << 20 // as for maxRecord, of which there is one case: memory is slow to get
	const long, many = "longer than 5 MiB", "more than 131072 fields"
	const longest = "longer than 64 MiB"
	x := strings.Repeat("x", 4096)
	for _, test := range []struct {
		name   string
		format Format
		file   endless
		line   int
		reason string
		rows   int // before it
	}{
		{"csv field", CSV, endless{first: "a,b\n1,2\n3,4\n5,", then: x}, 4, long, 2},
		{"csv longest field", CSV, endless{first: "a,b\n1,2\n3,4\n5,", then: x}, 4, longest, 2},
		{
			"csv field in quotes", CSV,
			endless{first: "a,b\n1,2\n\"3\n\n\",\"4\"\n5,\"", then: x},
			6,
			long, 2,
		},
		{"csv lines in quotes", CSV, endless{first: "a,b\n1,2\n3,\"", then: x + "\n"}, 3, long, 1},
		{"csv header", CSV, endless{first: "a,", then: x}, 1, long, 0},
		{"csv header in quotes", CSV, endless{first: `a,"`, then: `x"",`}, 1, long, 0},
		{"csv many fields", CSV, endless{first: "a,b\n1,2\n", then: ","}, 3, many, 1},
		{"csv many fields in quotes", CSV, endless{first: "a,b\n1,2\n", then: `"x",`}, 3, many, 1},
		{"csv many columns", CSV, endless{then: ","}, 1, many, 0},
		{"csv empty", CSV, endless{then: "\x00"}, 1, long, 0},
		{"tsv field", TSV, endless{first: "a\tb\n\"1\t2\n3\t", then: x}, 3, long, 1},
		{"tsv header", TSV, endless{then: x}, 1, long, 0},
		{"tsv many fields", TSV, endless{first: "a\n", then: "\t"}, 2, many, 0},
		{"json field", JSONLines, endless{first: "{\"a\":\"1\"}\n{\"a\":\"", then: x}, 2, long, 1},
		{"json first line", JSONLines, endless{first: "{\"a\":\"", then: x}, 1, long, 0},
		{"json spaces", JSONLines, endless{first: "{\"a\":\"1\"}\n", then: " "}, 2, long, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rows [][]any
			var err error
			most := limit
			if test.reason == longest {
				most = maxRecord
			}
			n := allocated(func() {
				_, rows, _, err = allWithin(t, test.format,
					newGate(newSource(&test.file), test.format, most))
			})
			var wrong *RecordError
			if !errors.As(err, &wrong) || wrong.Line != test.line ||
				!strings.Contains(wrong.Reason, test.reason) || len(rows) != test.rows {
				t.Errorf("%d rows, %v; want %d, line %d: %s", len(rows), err, test.rows, test.line,
					test.reason)
			}
			if n > 300<<20 && most == limit || n > 1<<30 || test.file.given > int64(most)+1<<20 {
				t.Errorf("%d MB were allocated, %d MB read", n>>20, test.file.given>>20)
			}
		})
	}
}

// JSON that names too many columns is one line, and long enough to be read.
func TestManyNames(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range maxFields + 1 {
		fmt.Fprintf(&b, `,"%x":1`, i)
	}
	_, _, _, err := all(t, JSONLines, strings.NewReader("{"+b.String()[1:]+"}\n"))
	var wrong *RecordError
	if !errors.As(err, &wrong) || wrong.Line != 1 || wrong.Reason != "more than 131072 fields" {
		t.Error(err)
	}
}

// What is as long as the limits allow is taken, and so is what follows it.
func TestLongestRecord(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	field := strings.Repeat("x", limit-len("1,\n"))
	for _, format := range []Format{CSV, TSV} {
		separator := map[Format]string{CSV: ",", TSV: "\t"}[format]
		file := strings.Join([]string{"a", "b\n1", field + "\n3", "4\n"}, separator)
		within := func(file string) ([][]any, error) {
			_, rows, _, err := allWithin(t, format, newGate(strings.NewReader(file), format, limit))
			return rows, err
		}
		rows, err := within(file)
		if err != nil || len(rows) != 2 || rows[0][1] != field || rows[1][1] != "4" {
			t.Errorf("%s: %d rows, %v", format, len(rows), err)
		}
		_, err = within(strings.Replace(file, "x\n", "xx\n", 1))
		var wrong *RecordError
		if !errors.As(err, &wrong) || wrong.Line != 2 {
			t.Errorf("%s with a byte more: %v", format, err)
		}
	}
	rec, err := openRecords(strings.NewReader("a\n"+strings.Repeat(",", maxFields-1)+"\n"), CSV)
	if err != nil {
		t.Fatal(err)
	}
	var wrong *RecordError
	if _, err := row(rec); !errors.As(err, &wrong) ||
		wrong.Reason != "131072 fields, while the header has 1" {
		t.Error(err)
	}
}

// The gate passes on what it is given, in whatever portions, and knows where records begin.
func FuzzGate(f *testing.F) {
	for _, seed := range []string{
		"", "a,b\n1,2\n", "\"a,b\",c", "a,\"b\n\"\"\n\",c\n\n", "\"",
		"\"\"\n\"", "a\r\n\"b\r\n\",", "\xef\xbb\xbf\"a\"\n",
	} {
		f.Add(seed, uint8(1))
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, file string, portion uint8) {
		g := newGate(strings.NewReader(file), CSV, maxRecord)
		var got bytes.Buffer
		p := make([]byte, int(portion)+1)
		for {
			n, err := g.Read(p)
			got.Write(p[:n])
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != file {
			t.Errorf("%q was passed on as %q", file, got.String())
		}
		// The slow way, a byte at a time.
		open, at, begin, length, fields := false, 1, 1, 0, 0
		for _, c := range []byte(file) {
			length++
			switch {
			case c == '"':
				open = !open
			case c == ',' && !open:
				fields++
			case c == '\n':
				if at++; !open {
					begin, length, fields = at, 0, 0
				}
			}
		}
		if got, want := []int{g.at, g.begin, g.bytes, g.fields}, []int{
			at, begin, length, fields,
		}; g.open != open || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is at %v, open %v, want %v, %v", file, got, g.open, want, open)
		}
	})
}

// A batch of long rows ends before it has all of them.
func TestBatchOfLongRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const rows = 20
	row := "," + strings.Repeat("x", 1<<20) + "\n"
	var b strings.Builder
	b.WriteString("n,name\n")
	for i := range rows {
		fmt.Fprint(&b, i, row)
	}
	var stored []int64
	f.mustRun(b.String(), importing(func(im *Import) {
		im.Batch = 1000
		im.Progress = func(rows, _ int64) { stored = append(stored, rows) }
	}))
	if want := []int64{8, 16, 20}; !reflect.DeepEqual(stored, want) {
		t.Errorf("batches end after %v rows, want %v", stored, want)
	}
	if n := f.count(`SELECT count(DISTINCT n) FROM t WHERE length(name) = 1048576`); n != rows {
		t.Errorf("%d rows", n)
	}
	// Rows that are longer than a batch are a batch each.
	f.mustRun("n,name\n1,"+strings.Repeat("x", batchBytes+1)+"\n2,"+
		strings.Repeat("x", batchBytes+1)+"\n", importing(func(im *Import) { im.Table = "u" }))
	if n := f.count(`SELECT count(*) FROM u`); n != 2 {
		t.Errorf("%d rows", n)
	}
}
