package importer

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

const (
	nul = "\x00"
	bom = "\xef\xbb\xbf"
)

// row reads a record: its fields as strings, and nil for NULL.
func row(rec records) ([]any, error) {
	var b block
	if err := rec.read(&b); err != nil {
		if len(b.text)+len(b.ends) > 0 {
			return nil, fmt.Errorf("with %q of a record: %w", b.text, err)
		}
		return nil, err
	}
	values, text := make([]any, len(b.ends)), b.texts(0, len(b.ends))
	for i := range values {
		if v, ok := text(i); ok {
			values[i] = v
		}
	}
	return values, nil
}

// all reads a file to its end, or to the first error: the columns, and the values of each record.
func all(format Format, r io.Reader, most int) (columns []string, got [][]any, err error) {
	rec, err := openWithin(r, format, most)
	if err != nil {
		return nil, nil, err
	}
	for {
		values, err := row(rec)
		if err == io.EOF {
			return rec.columns(), got, nil
		}
		if err != nil {
			return rec.columns(), got, err
		}
		got = append(got, values)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	type rows = [][]any
	a, ab := []string{"a"}, []string{"a", "b"}
	long := strings.Repeat("0123456789abcdef", 1<<16) // lines have no longest length of a buffer
	for _, test := range []struct {
		format  Format
		file    string
		columns []string
		values  [][]any
	}{
		{CSV, "a,b\n1,2\n3,4\n", ab, rows{{"1", "2"}, {"3", "4"}}},
		{CSV, "a,b\r\n1,2\r\n3,4", ab, rows{{"1", "2"}, {"3", "4"}}},
		{CSV, "a,b\n\"x,\"\"y\"\"\", z \n", ab, rows{{`x,"y"`, " z "}}},
		{CSV, "a,b\n\"1\n1\n1\",2\n3,\"4\n\"\n5,6\n", ab, rows{{"1\n1\n1", "2"}, {"3", "4\n"}, {"5", "6"}}},
		{CSV, "\"a\n\",b\n1,2\n", []string{"a\n", "b"}, rows{{"1", "2"}}},
		{CSV, "a,b\r\n\"1\r\n1\",\"2\r\"\r\n", ab, rows{{"1\r\n1", "2\r"}}},
		{CSV, "\na\n\n1\n\r\n\"\"\n\n", a, rows{{""}, {"1"}, {""}, {""}, {""}}}, // of one column
		{CSV, "\n\na,b\n\n\n1,2\n\n", ab, rows{{"1", "2"}}},
		{CSV, "a,b\n,\n\"\",x\n", ab, rows{{"", ""}, {"", "x"}}},
		// As Excel writes it. The mark must be gone before quotes are looked for.
		{CSV, bom + "\"a\",b\n" + bom + "1,2\n", ab, rows{{bom + "1", "2"}}},
		{CSV, "a b,\"c\"\"d\"\n1,2\n", []string{"a b", `c"d`}, rows{{"1", "2"}}},
		{CSV, "a,b\n" + long + ",2\n3,4\n", ab, rows{{long, "2"}, {"3", "4"}}},

		{TSV, "a\tb\n\"1\t2\"\n\t", ab, rows{{`"1`, `2"`}, {"", ""}}}, // quotes mean nothing
		{TSV, "a\tb\r\n1\t2\r\n3\t4\r", ab, rows{{"1", "2"}, {"3", "4"}}},
		{TSV, "a\tb\n1\r\t2\r\n3\t4\r", ab, rows{{"1\r", "2\r"}, {"3", "4\r"}}},
		{TSV, "a\tb\r\n1\t2\r\r\n3\t4\n", ab, rows{{"1", "2\r"}, {"3", "4"}}},
		{TSV, bom + "a\n\nx\n", a, rows{{""}, {"x"}}},
		{TSV, "a\tb", ab, nil},
		{TSV, "a\tb\n" + long + "\t2\n3\t4\n", ab, rows{{long, "2"}, {"3", "4"}}},

		{JSONLines, `{"a":"1","b":"2"}` + "\n" + `{"b":"4","a":"3"}`, ab, rows{{"1", "2"}, {"3", "4"}}},
		{
			JSONLines, `{"a":"\ud83d\ude00\\ud800\uD83D\uDE00\ufffd"}` + "\n" + `{"a":["\ud800"]}`, a,
			rows{{"😀\\ud800😀\ufffd"}, {`["\ud800"]`}},
		},
		{JSONLines, bom + " { \"a\" : \"1\" } \r\n", a, rows{{"1"}}},
		{
			JSONLines, `{"a":null,"b":""}` + "\n" + `{"b":"4"}` + "\n{}\n", ab,
			rows{{nil, ""}, {nil, "4"}, {nil, nil}},
		},
		// A number is not read as a float on its way: every digit counts.
		{
			JSONLines, `{"a":9223372036854775807,"b":0.10}` + "\n" + `{"a":1E400,"b":-0}` + "\n", ab,
			rows{{"9223372036854775807", "0.10"}, {"1E400", "-0"}},
		},
		{
			JSONLines, `{"a":true,"b":{ "x" : [1, 2.50 , {"y":null}] }}` + "\n" + `{"a":false,"b":[]}`,
			ab,
			rows{{"true", `{"x":[1,2.50,{"y":null}]}`}, {"false", "[]"}},
		},
		{JSONLines, `{"a":"\u00e4\n\"\t","b":"<&>"}`, ab, rows{{"ä\n\"\t", "<&>"}}},
		{JSONLines, fmt.Sprintf("{\"a\":%q}\n{\"a\":3}\n", long), a, rows{{long}, {"3"}}},
	} {
		columns, values, err := all(test.format, strings.NewReader(test.file), maxRecord)
		if err != nil || !reflect.DeepEqual(columns, test.columns) ||
			!reflect.DeepEqual(values, test.values) {
			t.Errorf("%.200q: columns %q, %.200q, %v", test.file, columns, values, err)
		}
	}
}

// Each names the line, which is all that somebody with a file of a million rows has to go by.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format  Format
		file    string
		records int // that come before the error
		want    string
	}{
		{CSV, "a,b\n1,2\n1,2,3\n", 1, "line 3: 3 fields, but the header has 2"},
		{CSV, "a,b\n\"1\n1\n1\",2\n9\n", 1, "line 5: 1 fields"},
		{CSV, "a,b\n1,2\n\"1\n1\n1\"\n", 1, "line 3: 1 fields"},
		{CSV, "a,b\n1,x\"y\n", 0, "line 2: bare \""},
		{CSV, "a,b\n1,2\n\"x\"y,2\n", 1, "line 3: extraneous"},
		{CSV, "a,b\n1,2\n\"x,2\n3,4\n", 1, "line 3: extraneous"}, // a quote that never ends
		{CSV, "a,b\n1,\xff\n", 0, `line 2: field "b" is not UTF-8`},
		{CSV, "a,b\n\xc3,\xa4\n", 0, `line 2: field "a" is not UTF-8`}, // a letter that a comma splits
		{CSV, "a,b\n1," + nul + "\n", 0, `line 2: field "b" has a NUL byte`},
		{CSV, "\xff\xfea" + nul + "\n" + nul, 0, "line 1: the name of column 1 is not UTF-8"}, // UTF-16
		{CSV, "a,b\r1,2\r3,4\r", 0, "line 1: the name of column 2 has a CR: lines must end with LF or CRLF"},
		{CSV, "a,b,a\n", 0, `line 1: column "a" occurs twice`},
		// In SQL these are one name, so the table could not be created.
		{CSV, "Name,name\n", 0, `line 1: column "name" occurs twice`},
		{CSV, "a,,b\n", 0, "line 1: column 2 has no name"},
		{CSV, "", 0, "the file is empty"},
		{CSV, bom + "\n\n\r\n", 0, "the file is empty"},

		{TSV, "a\tb\n1\t2\n1\t2\t\n", 1, "line 3: 3 fields, but the header has 2"},
		{TSV, "a\tb\n1\t2\n\n", 1, "line 3: 1 fields, but the header has 2"},
		{TSV, "a\tb\n\xc3\t2\n", 0, `line 2: field "a" is not UTF-8`},
		{TSV, "a\tb" + nul + "\n", 0, "line 1: the name of column 2 has a NUL byte"},
		{TSV, "a\tb\r1\t2\r", 0, "line 1: the name of column 2 has a CR"},
		{TSV, "\na\n", 0, "line 1: column 1 has no name"},
		{TSV, "", 0, "the file is empty"},

		{JSONLines, "[1]\n", 0, "line 1: not a JSON object"},
		{JSONLines, "{\"a\":1}\n\n", 1, "line 2: not a JSON object"},
		{JSONLines, "{}\n", 0, "line 1: an object without names"},
		{JSONLines, "{\"a\":1}\n{\"b\":1}\n", 1, `line 2: "b" is not among the names of the first line`},
		// Names of JSON are exact, even if those of columns are not.
		{JSONLines, "{\"a\":1}\n{\"A\":1}\n", 1, `line 2: "A" is not among the names`},
		{JSONLines, `{"a":1,"A":2}`, 0, `line 1: column "A" occurs twice`},
		{JSONLines, `{"":1}`, 0, "line 1: column 1 has no name"},
		{JSONLines, `{"a":1,"a":2}`, 0, `line 1: "a" occurs twice`},
		{JSONLines, "{\"a\":1}\n{\"a\":1,\"a\":null}\n", 1, `line 2: "a" occurs twice`},
		{JSONLines, "{\"a\":1}\n{\"a\":1} {\"a\":2}\n", 1, "line 2: more than one JSON object"},
		{JSONLines, "{\"a\":1}\n{\"a\":1}]\n", 1, "line 2: more than one JSON object"},
		{JSONLines, "{\"a\":1}\n{\"a\":1", 1, "line 2: not a whole JSON object"},
		{JSONLines, "{\"a\":1}\n{\"a\":[1,", 1, "line 2: unexpected EOF"},
		{JSONLines, "{\"a\":1}\n{1:1}\n", 1, "line 2: "},
		{JSONLines, "{\"a\":NaN}\n", 0, "line 1: "},
		{JSONLines, "{\"a\":1}\n{\"a\":\n1}\n", 1, "line 2: "}, // an object over two lines
		{JSONLines, "{\"a\":1}\n{\"a\":\"\xff\"}\n", 1, "line 2: the line is not UTF-8"},
		{JSONLines, "{\"a\":\"" + nul + "\"}\n", 0, "line 1: the line has a NUL byte"},
		{JSONLines, "{\"a\":1}\n{\"a\":\"x\\u0000\"}\n", 1, "line 2: a text has a NUL byte"},
		{JSONLines, `{"a\u0000":1}`, 0, "line 1: the name of column 1 has a NUL byte"},
		{JSONLines, "{\"a\":1}\n{\"a\":\"x\\ud800y\"}\n", 1, `line 2: "a" has \ud800, which is half a character`},
		{JSONLines, `{"a":1, "b":"\\\uDE00"}`, 0, `line 1: "b" has \uDE00, which is half a character`},
		{JSONLines, `{"a":"\ude00\ud83d"}`, 0, `line 1: "a" has \ude00, which is half a character`},
		{JSONLines, `{"a":"\ud83d\ud83d\ude00"}`, 0, `line 1: "a" has \ud83d, which is half a character`},
		{JSONLines, `{"a":"\ud83d\ude00\ud83d"}`, 0, `line 1: "a" has \ud83d, which is half a character`},
		{JSONLines, "{\"a\ufffd\":1}\n{\"a\\ud800\":2}\n", 1, "line 2: the name \"a\ufffd\" has \\ud800"},
		{JSONLines, `{"a":` + strings.Repeat("[", 20_000), 0, "line 1: "}, // nested too deep
		{JSONLines, "", 0, "the file is empty"},
		{"xml", "<a/>", 0, `unknown format "xml"`},
	} {
		_, got, err := all(test.format, strings.NewReader(test.file), maxRecord)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || len(got) != test.records ||
			strings.HasPrefix(test.want, "line") && !errors.As(err, new(*RecordError)) {
			t.Errorf("%s %.200q: %d records, %v, want %d, %q", test.format, test.file, len(got), err,
				test.records, test.want)
		}
	}
}

// An endless reader gives a text once, and then another for ever.
type endless struct {
	first, then string
	given       int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.first)
	e.first = e.first[n:]
	for n < len(p) {
		n += copy(p[n:], e.then)
	}
	e.given += n
	return n, nil
}

// A record without an end is an error of its line, and is not read on.
func TestLongRecord(t *testing.T) {
	t.Parallel()
	const limit = 5 << 20
	const long = "a record must not be longer than 5 MiB"
	x := strings.Repeat("x", 4096)
	for _, test := range []struct {
		format Format
		file   endless
		line   int
		rows   int // before it
	}{
		{CSV, endless{first: "a,b\n1,2\n3,4\n5,", then: x}, 4, 2},
		{CSV, endless{first: "a,b\n1,2\n\"3\n\n\",\"4\"\n5,\"", then: x}, 6, 2},
		{CSV, endless{first: "a,b\n1,2\n3,\"", then: x + "\n"}, 3, 1}, // lines in quotes
		{CSV, endless{first: `a,"`, then: `x"",`}, 1, 0},
		{CSV, endless{then: ","}, 1, 0},
		{TSV, endless{first: "a\tb\n\"1\t2\n3\t", then: x}, 3, 1},
		{JSONLines, endless{first: "{\"a\":\"1\"}\n{\"a\":\"", then: x}, 2, 1},
		{JSONLines, endless{first: "{\"a\":\"1\"}\n", then: " "}, 2, 1},
	} {
		_, rows, err := all(test.format, &test.file, limit)
		var wrong *RecordError
		if !errors.As(err, &wrong) || *wrong != (RecordError{test.line, long}) ||
			len(rows) != test.rows || test.file.given > limit+1<<20 {
			t.Errorf("%s: %d rows, %v after %d bytes; want %d, line %d: %s", test.format, len(rows),
				err, test.file.given, test.rows, test.line, long)
		}
	}
}

// What is as long as the limits allow is taken, and so is what follows it.
func TestLongestRecord(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	var names strings.Builder
	for i := range maxFields + 1 {
		fmt.Fprintf(&names, `,"%x":1`, i)
	}
	for format, separator := range map[Format]string{CSV: ",", TSV: "\t"} {
		field := strings.Repeat("x", limit-len("1,\n"))
		file := strings.Join([]string{"a", "b\n1", field + "\n3", "4\n"}, separator)
		_, rows, err := all(format, strings.NewReader(file), limit)
		if err != nil || len(rows) != 2 || rows[0][1] != field || rows[1][1] != "4" {
			t.Errorf("%s: %d rows, %v", format, len(rows), err)
		}
		many := "a\n" + strings.Repeat(separator, maxFields-1)
		for file, want := range map[string]string{
			strings.Replace(file, "x\n", "xx\n", 1): "a record must not be longer than 1 MiB",
			many + "\n":                             "131072 fields, but the header has 1",
			many + separator + "\n":                 "more than 131072 fields",
		} {
			_, _, err = all(format, strings.NewReader(file), limit)
			var wrong *RecordError
			if !errors.As(err, &wrong) || *wrong != (RecordError{2, want}) {
				t.Errorf("%s: %v, want %s", format, err, want)
			}
		}
	}
	_, _, err := all(JSONLines, strings.NewReader("{"+names.String()[1:]+"}\n"), maxRecord)
	var wrong *RecordError
	if !errors.As(err, &wrong) || *wrong != (RecordError{1, "more than 131072 fields"}) {
		t.Error(err)
	}
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{
		"/x/A.CSV": CSV, "a.tsv": TSV, "zone1970.tab": TSV, "a.jsonl": JSONLines, "a.ndjson": JSONLines,
		"a.csv.tsv": TSV,
	} {
		if got, err := FormatOf(name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "-", "csv", "a.csv.gz", "a.json"} {
		if got, err := FormatOf(name); err == nil || !strings.Contains(err.Error(), "--format") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	// Parquet is known by the name, and the error says what to do.
	_, err := FormatOf("/x/A.PARQUET")
	for _, err := range []error{err, Format("parquet").Validate()} {
		if !errors.Is(err, ErrParquet) || !strings.Contains(err.Error(), "duckdb") {
			t.Error(err)
		}
	}
}

// What a disk or a network says is passed on, and is not taken for the file's end.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("the cable was cut")
	for format, content := range map[Format]string{CSV: "a\n1\n", TSV: "a\n1\n", JSONLines: "{\"a\":1}\n"} {
		for cut := range len(content) + 1 {
			r := io.MultiReader(strings.NewReader(content[:cut]), failing{broken})
			if _, _, err := all(format, r, maxRecord); !errors.Is(err, broken) {
				t.Errorf("%s cut after %d bytes: %v", format, cut, err)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
