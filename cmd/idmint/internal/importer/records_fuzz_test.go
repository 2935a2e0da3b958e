package importer

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// An outcome is all that a reader says about a file.
type outcome struct {
	columns []string
	values  [][]any
	offsets []int64 // after each record
	err     string
	end     int64 // the offset at io.EOF
}

func readAll(t testing.TB, format Format, file string, r io.Reader) (got outcome) {
	t.Helper()
	rec, err := openRecords(r, format)
	if err != nil {
		return outcome{err: err.Error()}
	}
	got.columns = rec.columns()
	before := int64(0)
	for {
		values, err := row(rec)
		if err == io.EOF {
			if got.end = rec.offset(); got.end != int64(len(file)) {
				t.Fatalf("%s %q: at the end the offset is %d of %d", format, file, got.end,
					len(file))
			}
			return got
		}
		if err != nil {
			var bad *RecordError
			lines := strings.Count(file, "\n") + 1
			if !errors.As(err, &bad) || bad.Line < 1 || bad.Line > lines {
				t.Fatalf("%s %q: %v, while the file has %d lines", format, file, err, lines)
			}
			got.err = err.Error()
			return got
		}
		if after := rec.offset(); after <= before || after > int64(len(file)) {
			t.Fatalf("%s %q: after record %d the offset goes from %d to %d", format, file,
				len(got.values), before, after)
		}
		before = rec.offset()
		if len(values) != len(got.columns) {
			t.Fatalf("%s %q: %d values for %d columns", format, file, len(values), len(got.columns))
		}
		for _, v := range values {
			text, ok := v.(string)
			if v != nil && !ok || !utf8.ValidString(text) || strings.Contains(text, nul) {
				t.Fatalf("%s %q: value %T %q", format, file, v, v)
			}
		}
		got.values, got.offsets = append(got.values, values), append(got.offsets, before)
	}
}

// checkRecords checks what resuming relies on. How the bytes come does not matter. What was read
// once is read again the same, from whatever record on.
func checkRecords(t testing.TB, format Format, file string) {
	want := readAll(t, format, file, strings.NewReader(file))
	got := readAll(t, format, file, iotest.OneByteReader(strings.NewReader(file)))
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s %q: byte by byte it is %+v, at once %+v", format, file, got, want)
	}
	if len(want.columns) == 0 {
		return
	}
	for n := 1; n <= len(want.values); n += 1 + len(want.values)/5 {
		s := &state{position: position{rows: int64(n), bytes: want.offsets[n-1]}}
		s.sha256 = sum(file[:s.bytes])
		rec, err := openRecords(strings.NewReader(file), format)
		if err == nil {
			err = skip(rec, s)
		}
		if err != nil {
			t.Fatalf("%s %q: skip %d records: %v", format, file, n, err)
		}
		var rest [][]any
		for {
			values, err := row(rec)
			if err != nil {
				break
			}
			rest = append(rest, values)
		}
		if len(rest)+n != len(want.values) ||
			len(rest) > 0 && !reflect.DeepEqual(rest, want.values[n:]) {
			t.Fatalf("%s %q: after %d records there are %q, want %q", format, file, n, rest,
				want.values[n:])
		}
		// A position that is off by a record, or another file's, is noticed.
		for _, wrong := range []position{
			{s.rows, s.bytes, sum(file[:s.bytes] + "x")},
			{s.rows - 1, s.bytes, s.sha256},
			{s.rows, s.bytes - 1, sum(file[:s.bytes-1])},
		} {
			if wrong.rows == 0 {
				continue
			}
			rec, err := openRecords(strings.NewReader(file), format)
			if err == nil {
				err = skip(rec, &state{position: wrong})
			}
			if err == nil {
				t.Fatalf("%s %q: position %+v is accepted, while %+v is right", format, file, wrong,
					s.position)
			}
		}
	}
}

func sum(text string) string {
	all := sha256.Sum256([]byte(text))
	return hex.EncodeToString(all[:])
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"", "a,b\n1,2\n", "a,b\r\n1,2\r\n", bom + "\"a\",b\n1,2\n", "\n\na\n\n1\n\n",
		"a\n\"x\ny\"\nz\n", "a\n\"\"\"\"\n", "a\n\"", "a\n\r", "a\r\r\n1\r\r\n",
		"a\n1\n" + bom, bom + bom + "a\n1\n", "a\nx\x00\n", "\xef\xbb", "a,a\n", "a\n\"x\r\ny\"",
		"a\n \n", "\r\n\r\na\n1", "\"\r", "\"\r\n", "\"\n\r", "\"x\r\n\r",
		"\"\n0\n\r", "\"x\r\r\n", "a\n\n\r",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		checkRecords(t, CSV, file)
		checkCSV(t, file)
	})
}

// checkCSV compares the reader with encoding/csv: records, the lines on which they begin, the bytes
// that they take, and errors.
func checkCSV(t testing.TB, file string) {
	theirs := csv.NewReader(strings.NewReader(file))
	theirs.FieldsPerRecord = -1
	ours := &csvRecords{lines: newLines(strings.NewReader(file), maxRecord)}
	ours.r = bufio.NewReaderSize(strings.NewReader(file), 16)
	for {
		want, failed := theirs.Read()
		ours.header = nil // so that it takes fields as they are
		got, err := header(ours)
		var parse *csv.ParseError
		if errors.As(failed, &parse) {
			failed = &RecordError{parse.StartLine, parse.Err.Error()}
		}
		if fmt.Sprint(err) != fmt.Sprint(failed) {
			t.Fatalf("%q: %v, want %v", file, err, failed)
		}
		if err != nil {
			return
		}
		line, _ := theirs.FieldPos(0)
		for i := range got { // encoding/csv changes it
			got[i] = strings.ReplaceAll(got[i], "\r\n", "\n")
		}
		if !slices.Equal(got, want) || ours.begun != line ||
			ours.offset() != theirs.InputOffset() {
			t.Fatalf("%q: %q on line %d to %d, want %q on %d to %d", file, got, ours.begun,
				ours.offset(), want, line, theirs.InputOffset())
		}
	}
}

func FuzzTSV(f *testing.F) {
	for _, seed := range []string{
		"", "a\tb\n1\t2\n", "a\tb\r\n1\t2\r", bom + "a\n1\n", "a\n\n\n", "a\n\r\n\r", "a\t\n", "\n",
		"a\n\x00\n", "a\n" + bom + "\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) { checkRecords(t, TSV, file) })
}

func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{
		"", "{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\r\n{}", bom + "{\"a\":null}",
		"{\"a\":[1,{\"b\":2}]}\n", "{\"a\":\"\\u0000\"}", "{\"a\":\"\\ud800\"}\n",
		"{\"a\":1}{\"a\":2}", "{\"a\":1,\"a\":2}", "{", "[", "{}", "{\"a\":1e999}", "{\"\":1}",
		"{\"a\"", "{\"a\":1}\n{\"b\":1}\n", "{\"a\":1}\n\n", " {\"a\" : 1 } ",
		`{"a":"x\ud800y"}`, `{"a\udc00":1}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ude00\ud83d"}`,
		`{"a":"\\ud800\ufffd` + "\ufffd\"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		checkRecords(t, JSONLines, file)
		checkReplaced(t, file)
	})
}

// checkReplaced checks that no value or name has more replacement characters than the file says:
// encoding/json puts one where it does not understand another.
func checkReplaced(t testing.TB, file string) {
	const replacement = "\ufffd"
	read := readAll(t, JSONLines, file, strings.NewReader(file))
	got := strings.Count(strings.Join(read.columns, ""), replacement)
	for _, values := range read.values {
		for _, v := range values {
			text, _ := v.(string)
			got += strings.Count(text, replacement)
		}
	}
	want := strings.Count(file, replacement) + strings.Count(strings.ToLower(file), `\ufffd`)
	if got > want {
		t.Errorf("%q: %d replacement characters were read, and the file has %d", file, got, want)
	}
}
