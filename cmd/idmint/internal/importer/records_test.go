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

// all reads a file to its end, or to the first error: the columns, and for each record its line and
// its values.
func all(
	t testing.TB, format Format, r io.Reader,
) (columns []string, got [][]any, lines []int, err error) {
	t.Helper()
	return allWithin(t, format, newGate(r, format, maxRecord))
}

func allWithin(
	t testing.TB, format Format, g *gate,
) (columns []string, got [][]any, lines []int, err error) {
	t.Helper()
	rec, err := openWithin(g, format)
	if err != nil {
		return nil, nil, nil, err
	}
	for {
		values, err := row(rec)
		if err == io.EOF {
			return rec.columns(), got, lines, nil
		}
		if err != nil {
			return rec.columns(), got, lines, err
		}
		got, lines = append(got, values), append(lines, rec.line())
	}
}

type good struct {
	name    string
	format  Format
	file    string
	columns []string
	values  [][]any
	lines   []int // where records begin, from 1
}

func TestRecords(t *testing.T) {
	t.Parallel()
	type (
		rows = [][]any
		at   = []int
	)
	a, ab := []string{"a"}, []string{"a", "b"}
	for _, test := range []good{
		{"csv", CSV, "a,b\n1,2\n3,4\n", ab, rows{{"1", "2"}, {"3", "4"}}, at{2, 3}},
		{"csv without a last newline", CSV, "a,b\n1,2", ab, rows{{"1", "2"}}, at{2}},
		{"csv with CRLF", CSV, "a,b\r\n1,2\r\n3,4\r\n", ab, rows{{"1", "2"}, {"3", "4"}}, at{2, 3}},
		{"csv quotes", CSV, "a,b\n\"x,\"\"y\"\"\", z \n", ab, rows{{`x,"y"`, " z "}}, at{2}},
		// A record that spans lines begins on its first, and the next one is counted from its last.
		{
			"csv newlines in fields", CSV, "a,b\n\"1\n1\n1\",2\n3,\"4\n\"\n5,6\n", ab,
			rows{{"1\n1\n1", "2"}, {"3", "4\n"}, {"5", "6"}},
			at{2, 5, 7},
		},
		{
			"csv newline in the header", CSV, "\"a\n\",b\n1,2\n",
			[]string{"a\n", "b"},
			rows{{"1", "2"}},
			at{3},
		},
		{
			"csv CRLF in a field", CSV, "a,b\r\n\"1\r\n1\",\"2\r\"\r\n", ab,
			rows{{"1\r\n1", "2\r"}},
			at{2},
		},
		{
			"csv empty lines of one column", CSV, "\na\n\n1\n\r\n\"\"\n\n", a,
			rows{{""}, {"1"}, {""}, {""}, {""}},
			at{3, 4, 5, 6, 7},
		},
		{"csv empty lines", CSV, "\n\na,b\n\n\n1,2\n\n", ab, rows{{"1", "2"}}, at{6}},
		{"csv empty fields", CSV, "a,b\n,\n\"\",x\n", ab, rows{{"", ""}, {"", "x"}}, at{2, 3}},
		{"csv byte order mark", CSV, bom + "a,b\n1,2\n", ab, rows{{"1", "2"}}, at{2}},
		// As Excel writes it. The mark must be gone before quotes are looked for.
		{
			"csv byte order mark before a quote", CSV, bom + "\"a\",b\n1,2\n", ab,
			rows{{"1", "2"}},
			at{2},
		},
		{
			"csv mark in the middle stays", CSV, "a,b\n" + bom + "1,2\n", ab,
			rows{{bom + "1", "2"}},
			at{2},
		},
		{"csv header only", CSV, "a,b\n", ab, nil, nil},
		{"csv one column", CSV, "a\n1\n", a, rows{{"1"}}, at{2}},
		{
			"csv names that need quoting in SQL", CSV, "a b,\"c\"\"d\"\n1,2\n",
			[]string{"a b", `c"d`},
			rows{{"1", "2"}},
			at{2},
		},

		{"tsv", TSV, "a\tb\n1\t2\n", ab, rows{{"1", "2"}}, at{2}},
		{"tsv quotes mean nothing", TSV, "a\tb\n\"1\t2\"\n", ab, rows{{`"1`, `2"`}}, at{2}},
		{
			"tsv with CRLF, without a last newline", TSV, "a\tb\r\n1\t2\r\n3\t4\r", ab,
			rows{{"1", "2"}, {"3", "4"}},
			at{2, 3},
		},
		{
			"tsv carriage return in the middle stays", TSV, "a\tb\n1\r\t2\n", ab,
			rows{{"1\r", "2"}},
			at{2},
		},
		{
			"tsv carriage return at a line's end", TSV, "a\tb\n1\t2\r\n3\t4\r", ab,
			rows{{"1", "2\r"}, {"3", "4\r"}},
			at{2, 3},
		},
		{
			"tsv carriage return before CRLF", TSV, "a\tb\r\n1\t2\r\r\n3\t4\n", ab,
			rows{{"1", "2\r"}, {"3", "4"}},
			at{2, 3},
		},
		{"tsv empty fields", TSV, "a\tb\n\t\n", ab, rows{{"", ""}}, at{2}},
		{"tsv empty line of one column", TSV, "a\n\nx\n", a, rows{{""}, {"x"}}, at{2, 3}},
		{"tsv byte order mark", TSV, bom + "a\tb\n1\t2\n", ab, rows{{"1", "2"}}, at{2}},
		{"tsv header only, without newline", TSV, "a\tb", ab, nil, nil},

		{
			"json", JSONLines, `{"a":"1","b":"2"}` + "\n" + `{"b":"4","a":"3"}` + "\n", ab,
			rows{{"1", "2"}, {"3", "4"}},
			at{1, 2},
		},
		{"json without a last newline", JSONLines, `{"a":"1"}`, a, rows{{"1"}}, at{1}},
		{
			"json surrogates", JSONLines,
			`{"a":"\ud83d\ude00\\ud800\uD83D\uDE00\ufffd"}` + "\n" + `{"a":["\ud800"]}`, a,
			rows{{"😀\\ud800😀\ufffd"}, {`["\ud800"]`}},
			at{1, 2},
		},
		{"json with CRLF and spaces", JSONLines, " { \"a\" : \"1\" } \r\n", a, rows{{"1"}}, at{1}},
		{"json byte order mark", JSONLines, bom + `{"a":"1"}`, a, rows{{"1"}}, at{1}},
		{
			"json null and missing names", JSONLines,
			`{"a":null,"b":"2"}` + "\n" + `{"b":"4"}` + "\n{}\n", ab,
			rows{{nil, "2"}, {nil, "4"}, {nil, nil}},
			at{1, 2, 3},
		},
		// A number is not read as a float on its way: every digit counts.
		{
			"json numbers as written", JSONLines,
			`{"a":9223372036854775807,"b":0.10}` + "\n" + `{"a":1E400,"b":-0}` + "\n", ab,
			rows{{"9223372036854775807", "0.10"}, {"1E400", "-0"}},
			at{1, 2},
		},
		{
			"json true, false, nested", JSONLines,
			`{"a":true,"b":{ "x" : [1, 2.50 , {"y":null}] }}` + "\n" + `{"a":false,"b":[]}` + "\n",
			ab,
			rows{{"true", `{"x":[1,2.50,{"y":null}]}`}, {"false", "[]"}},
			at{1, 2},
		},
		{
			"json escapes", JSONLines, `{"a":"\u00e4\n\"\t","b":"<&>"}`, ab,
			rows{{"ä\n\"\t", "<&>"}},
			at{1},
		},
		{"json empty text is not NULL", JSONLines, `{"a":""}`, a, rows{{""}}, at{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			columns, values, lines, err := all(t, test.format, strings.NewReader(test.file))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(columns, test.columns) {
				t.Errorf("columns %q, want %q", columns, test.columns)
			}
			if !reflect.DeepEqual(values, test.values) {
				t.Errorf("values %q, want %q", values, test.values)
			}
			if !reflect.DeepEqual(lines, test.lines) {
				t.Errorf("records begin on lines %v, want %v", lines, test.lines)
			}
		})
	}
}

// Each names the line, which is all that somebody with a file of a million rows has to go by.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		format  Format
		file    string
		records int // that come before the error
		want    string
	}{
		{
			"csv too many fields", CSV, "a,b\n1,2\n1,2,3\n", 1,
			"line 3: 3 fields, while the header has 2",
		},
		{"csv too few fields", CSV, "a,b\n1\n", 0, "line 2: 1 fields, while the header has 2"},
		{
			"csv after a record of three lines", CSV, "a,b\n\"1\n1\n1\",2\n9\n", 1,
			"line 5: 1 fields",
		},
		{"csv of three lines itself", CSV, "a,b\n1,2\n\"1\n1\n1\"\n", 1, "line 3: 1 fields"},
		{"csv quote in the middle", CSV, "a,b\n1,x\"y\n", 0, "line 2: column 4: bare \""},
		{"csv text after a quote", CSV, "a,b\n1,2\n\"x\"y,2\n", 1, "line 3: column 3: extraneous"},
		{"csv quote that never ends", CSV, "a,b\n1,2\n\"x,2\n3,4\n", 1, "line 3: "},
		{"csv not UTF-8", CSV, "a,b\n1,\xff\n", 0, `line 2: field "b" is not UTF-8`},
		{
			"csv a letter that a comma splits", CSV, "a,b\n\xc3,\xa4\n", 0,
			`line 2: field "a" is not UTF-8`,
		},
		{"csv NUL byte", CSV, "a,b\n1," + nul + "\n", 0, `line 2: field "b" has a NUL byte`},
		{
			"csv UTF-16", CSV, "\xff\xfea" + nul + "\n" + nul, 0,
			"line 1: the name of column 1 is not UTF-8",
		},
		{
			"csv with CR alone", CSV, "a,b\r1,2\r3,4\r", 0,
			"line 1: the name of column 2 has a CR: lines end with LF or CRLF",
		},
		{"tsv with CR alone", TSV, "a\tb\r1\t2\r", 0, "line 1: the name of column 2 has a CR"},
		{"csv same name twice", CSV, "a,b,a\n", 0, `line 1: column "a" is there twice`},
		// In SQL these are one name, so the table could not be created.
		{
			"csv same name but for the case", CSV, "Name,name\n", 0,
			`line 1: column "name" is there twice`,
		},
		{"csv empty name", CSV, "a,,b\n", 0, "line 1: column 2 has no name"},
		{"csv empty file", CSV, "", 0, "the file is empty"},
		{"csv of empty lines", CSV, "\n\n\r\n", 0, "the file is empty"},
		{"csv of a mark", CSV, bom, 0, "the file is empty"},

		{
			"tsv too many fields", TSV, "a\tb\n1\t2\n1\t2\t\n", 1,
			"line 3: 3 fields, while the header has 2",
		},
		{"tsv empty line", TSV, "a\tb\n1\t2\n\n", 1, "line 3: 1 fields, while the header has 2"},
		{"tsv not UTF-8", TSV, "a\tb\n\xc3\t2\n", 0, `line 2: field "a" is not UTF-8`},
		{"tsv NUL byte", TSV, "a\tb\n1\t" + nul + "\n", 0, `line 2: field "b" has a NUL byte`},
		{
			"tsv name with a NUL byte", TSV, "a\tb" + nul + "\n", 0,
			"line 1: the name of column 2 has a NUL byte",
		},
		{"tsv empty name", TSV, "a\t\n", 0, "line 1: column 2 has no name"},
		{"tsv empty file", TSV, "", 0, "the file is empty"},
		{"tsv empty header", TSV, "\na\n", 0, "line 1: column 1 has no name"},

		{"json array", JSONLines, "[1]\n", 0, "line 1: not a JSON object"},
		{"json text", JSONLines, "{\"a\":1}\n\"a\"\n", 1, "line 2: not a JSON object"},
		{"json empty line", JSONLines, "{\"a\":1}\n\n", 1, "line 2: not a JSON object"},
		{"json null", JSONLines, "null\n", 0, "line 1: not a JSON object"},
		{"json object without names", JSONLines, "{}\n", 0, "line 1: an object without names"},
		{
			"json unknown name", JSONLines, "{\"a\":1}\n{\"b\":1}\n", 1,
			`line 2: "b" is not among the names of the first line`,
		},
		// Names of JSON are exact, even if those of columns are not.
		{
			"json name in another case", JSONLines, "{\"a\":1}\n{\"A\":1}\n", 1,
			`line 2: "A" is not among the names`,
		},
		{
			"json names that are one column", JSONLines, `{"a":1,"A":2}`, 0,
			`line 1: column "A" is there twice`,
		},
		{"json empty name", JSONLines, `{"":1}`, 0, "line 1: column 1 has no name"},
		{
			"json same name twice, first line", JSONLines, `{"a":1,"a":2}`, 0,
			`line 1: "a" is there twice`,
		},
		{
			"json same name twice", JSONLines, "{\"a\":1}\n{\"a\":1,\"a\":null}\n", 1,
			`line 2: "a" is there twice`,
		},
		{
			"json two objects", JSONLines, "{\"a\":1}\n{\"a\":1} {\"a\":2}\n", 1,
			"line 2: more than one JSON object",
		},
		{
			"json rubbish behind", JSONLines, "{\"a\":1}\n{\"a\":1}]\n", 1,
			"line 2: more than one JSON object",
		},
		{"json cut off", JSONLines, "{\"a\":1}\n{\"a\":1", 1, "line 2: not a whole JSON object"},
		{
			"json cut off in a value", JSONLines, "{\"a\":1}\n{\"a\":[1,", 1,
			"line 2: unexpected EOF",
		},
		{"json comma too many", JSONLines, "{\"a\":1}\n{\"a\":1,}\n", 1, "line 2: "},
		{"json without colon", JSONLines, "{\"a\":1}\n{\"a\" 1}\n", 1, "line 2: "},
		{"json name that is a number", JSONLines, "{\"a\":1}\n{1:1}\n", 1, "line 2: "},
		{"json number with leading zero", JSONLines, "{\"a\":01}\n", 0, "line 1: "},
		{"json NaN", JSONLines, "{\"a\":NaN}\n", 0, "line 1: "},
		{"json object over two lines", JSONLines, "{\"a\":1}\n{\"a\":\n1}\n", 1, "line 2: "},
		{
			"json not UTF-8", JSONLines, "{\"a\":1}\n{\"a\":\"\xff\"}\n", 1,
			"line 2: the line is not UTF-8",
		},
		{
			"json NUL byte", JSONLines, "{\"a\":\"" + nul + "\"}\n", 0,
			"line 1: the line has a NUL byte",
		},
		{
			"json escaped NUL", JSONLines, "{\"a\":1}\n{\"a\":\"x\\u0000\"}\n", 1,
			"line 2: a text has a NUL byte",
		},
		{
			"json escaped NUL in a name", JSONLines, `{"a\u0000":1}`, 0,
			"line 1: the name of column 1 has a NUL byte",
		},
		{
			"json half a character", JSONLines, "{\"a\":1}\n{\"a\":\"x\\ud800y\"}\n", 1,
			`line 2: "a" has \ud800, half a character`,
		},
		{
			"json the other half", JSONLines, `{"a":1, "b":"\\\DE00\uDE00"}`, 0, "line 1: ",
		},
		{
			"json the other half alone", JSONLines, `{"a":1, "b":"\\\uDE00"}`, 0,
			`line 1: "b" has \uDE00, half a character`,
		},
		{
			"json halves in the wrong order", JSONLines, `{"a":"\ude00\ud83d"}`, 0,
			`line 1: "a" has \ude00, half a character`,
		},
		{
			"json first half twice", JSONLines, `{"a":"\ud83d\ud83d\ude00"}`, 0,
			`line 1: "a" has \ud83d, half a character`,
		},
		{
			"json half a character at the end", JSONLines, `{"a":"\ud83d\ude00\ud83d"}`, 0,
			`line 1: "a" has \ud83d, half a character`,
		},
		{
			"json half a character in a name", JSONLines, `{"n":1, "a\udfff":1}`, 0,
			"line 1: the name \"a\ufffd\" has \\udfff, half a character",
		},
		{
			"json half a character in a later name", JSONLines,
			"{\"a\ufffd\":1}\n{\"a\\ud800\":2}\n", 1,
			"line 2: the name \"a\ufffd\" has \\ud800, half a character",
		},
		{
			"json nested too deep", JSONLines,
			`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", 0,
			"line 1: ",
		},
		{"json empty file", JSONLines, "", 0, "the file is empty"},

		{"unknown format", "xml", "<a/>", 0, `unknown format "xml"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got, _, err := all(t, test.format, strings.NewReader(test.file))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if len(got) != test.records {
				t.Errorf("%d records before the error, want %d", len(got), test.records)
			}
			if strings.HasPrefix(test.want, "line") && !errors.As(err, new(*RecordError)) {
				t.Errorf("%T, want a RecordError", err)
			}
		})
	}
}

// Lines have no longest length, as bufio.Scanner would give them.
func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 1<<16) // 1 MB
	for format, file := range map[Format]string{
		CSV:       "a,b\n" + long + ",2\n3,4\n",
		TSV:       "a\tb\n" + long + "\t2\n3\t4\n",
		JSONLines: fmt.Sprintf("{\"a\":%q,\"b\":2}\n{\"a\":3,\"b\":4}\n", long),
	} {
		_, got, _, err := all(t, format, strings.NewReader(file))
		if want := [][]any{{long, "2"}, {"3", "4"}}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d records, %v", format, len(got), err)
		}
	}
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{
		"a.csv": CSV, "/x/A.CSV": CSV, "a.tsv": TSV, "zone1970.tab": TSV, "a.jsonl": JSONLines,
		"a.ndjson": JSONLines, "a.csv.tsv": TSV,
	} {
		if got, err := FormatOf(name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "-", "a", "csv", "a.csv.gz", "a.json", "a.xlsx"} {
		if got, err := FormatOf(name); err == nil || !strings.Contains(err.Error(), "--format") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

// Parquet is known by the name and by how it begins, and the error says what to do.
func TestParquet(t *testing.T) {
	t.Parallel()
	var errs []error
	for _, name := range []string{"a.parquet", "/x/A.PARQUET"} {
		_, err := FormatOf(name)
		errs = append(errs, err)
	}
	errs = append(errs, Format("parquet").Validate())
	for _, format := range []Format{CSV, TSV, JSONLines} {
		_, err := openRecords(strings.NewReader("PAR1\x15\x04\x15\xb0\x01\x15\x86\x01"), format)
		errs = append(errs, err)
	}
	for i, err := range errs {
		if !errors.Is(err, ErrParquet) || !strings.Contains(err.Error(), "duckdb") ||
			!strings.Contains(err.Error(), "idmint import -") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := openRecords(strings.NewReader("PAR1,PAR2\n1,2\n"), CSV); err != nil {
		t.Errorf("names that begin like a file of Parquet: %v", err)
	}
}

// What a disk or a network says is passed on, and is not taken for the file's end.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("the cable was cut")
	for _, format := range []Format{CSV, TSV, JSONLines} {
		content := map[Format]string{CSV: "a\n1\n", TSV: "a\n1\n", JSONLines: "{\"a\":1}\n"}[format]
		for cut := range len(content) + 1 {
			r := io.MultiReader(strings.NewReader(content[:cut]), failing{broken})
			if _, _, _, err := all(t, format, r); !errors.Is(err, broken) {
				t.Errorf("%s cut after %d bytes: %v", format, cut, err)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
