package importer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	CSV       Format = "csv"   // RFC 4180, with a header row
	TSV       Format = "tsv"   // fields separated by tabs, nothing quoted, with a header row
	JSONLines Format = "jsonl" // an object per line; the first one names the columns
)

// FormatOf tells the format by the file's name.
func FormatOf(name string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".csv":
		return CSV, nil
	case ".tsv", ".tab":
		return TSV, nil
	case ".jsonl", ".ndjson":
		return JSONLines, nil
	default:
		return "", fmt.Errorf(
			"cannot tell the format of %q by its name: want .csv, .tsv or .jsonl, or say it with --format", name)
	}
}

// Validate reports whether it is one of them.
func (f Format) Validate() error {
	switch f {
	case CSV, TSV, JSONLines:
		return nil
	}
	return fmt.Errorf("unknown format %q: want csv, tsv or jsonl", string(f))
}

// A RecordError is about one record of the file.
type RecordError struct {
	Line   int // where the record begins, from 1
	Reason string
}

func (e *RecordError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// records reads a file record by record.
type records interface {
	// columns are the names of the fields, as the beginning of the file gives them.
	columns() []string
	// read returns the fields of the next record, nil for NULL, or io.EOF.
	read() ([]any, error)
	// offset is how many bytes of the file the records read so far take.
	offset() int64
	// line is where the record that was read last begins, from 1.
	line() int
}

// openRecords reads the file's beginning.
func openRecords(r io.Reader, format Format) (records, error) {
	return openWithin(newGate(r, format, maxRecord), format)
}

func openWithin(g *gate, format Format) (records, error) {
	file := bufio.NewReaderSize(g, 64<<10)
	var mark int64
	if begin, _ := file.Peek(len(byteOrderMark)); string(begin) == byteOrderMark {
		n, _ := file.Discard(len(begin))
		mark = int64(n)
	}
	var rec records
	var err error
	switch format {
	case CSV:
		rec, err = openCSV(file, mark)
	case TSV:
		rec, err = openTSV(lines{r: file, bytes: mark})
	case JSONLines:
		rec, err = openJSON(lines{r: file, bytes: mark})
	default:
		return nil, format.Validate()
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	return rec, checkColumns(rec.columns())
}

func checkColumns(names []string) error {
	seen := map[string]bool{}
	for i, name := range names {
		// databases do not tell upper from lower case in names
		switch lower := strings.ToLower(name); {
		case name == "":
			return &RecordError{1, fmt.Sprintf("column %d has no name", i+1)}
		case seen[lower]:
			return &RecordError{1, fmt.Sprintf("column %s is there twice", quoted(name))}
		default:
			seen[lower] = true
		}
		if reason := badText(name); reason != "" {
			return &RecordError{1, fmt.Sprintf("the name of column %d %s", i+1, reason)}
		}
	}
	return nil
}

func badText(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "is not UTF-8"
	case strings.IndexByte(s, 0) >= 0:
		return "has a NUL byte"
	}
	return ""
}

// checked turns the fields of a text record into values.
func checked(fields, columns []string, line int) ([]any, error) {
	if len(fields) != len(columns) {
		return nil, &RecordError{
			line,
			fmt.Sprintf("%d fields, while the header has %d", len(fields), len(columns)),
		}
	}
	values := make([]any, len(fields))
	for i, f := range fields {
		if reason := badText(f); reason != "" {
			return nil, &RecordError{line, fmt.Sprintf("field %s %s", quoted(columns[i]), reason)}
		}
		values[i] = f
	}
	return values, nil
}

const byteOrderMark = "\ufeff"

// csvRecords are encoding/csv's: empty lines are passed over, and CRLF within quotes becomes LF.
type csvRecords struct {
	r      *csv.Reader
	mark   int64 // bytes before the header
	header []string
	at     int
}

func openCSV(r io.Reader, mark int64) (*csvRecords, error) {
	c := &csvRecords{r: csv.NewReader(r), mark: mark}
	c.r.FieldsPerRecord = -1 // counted here, for a message with both numbers
	c.r.ReuseRecord = true
	header, err := c.next()
	if err != nil {
		return nil, err
	}
	c.header = append(c.header, header...)
	return c, nil
}

func (c *csvRecords) next() ([]string, error) {
	fields, err := c.r.Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return nil, &RecordError{
			parse.StartLine,
			fmt.Sprintf("column %d: %v", parse.Column, parse.Err),
		}
	}
	if err == nil {
		c.at, _ = c.r.FieldPos(0)
	}
	return fields, err
}

func (c *csvRecords) columns() []string { return c.header }
func (c *csvRecords) offset() int64     { return c.mark + c.r.InputOffset() }
func (c *csvRecords) line() int         { return c.at }

func (c *csvRecords) read() ([]any, error) {
	fields, err := c.next()
	if err != nil {
		return nil, err
	}
	return checked(fields, c.header, c.at)
}

// lines reads lines, and counts them and their bytes. A [gate] bounds their length.
type lines struct {
	r     *bufio.Reader
	bytes int64
	at    int
}

// next returns a line without its end, or io.EOF.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadBytes('\n')
	if err != nil && (err != io.EOF || len(line) == 0) {
		return nil, err
	}
	l.bytes += int64(len(line))
	l.at++
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func (l *lines) offset() int64 { return l.bytes }
func (l *lines) line() int     { return l.at }

type tsvRecords struct {
	lines
	header []string
}

func openTSV(l lines) (*tsvRecords, error) {
	t := &tsvRecords{lines: l}
	line, err := t.next()
	if err != nil {
		return nil, err
	}
	t.header = strings.Split(string(line), "\t")
	return t, nil
}

func (t *tsvRecords) columns() []string { return t.header }

func (t *tsvRecords) read() ([]any, error) {
	line, err := t.next()
	if err != nil {
		return nil, err
	}
	return checked(strings.Split(string(line), "\t"), t.header, t.at)
}

// jsonRecords takes the columns from the first object, in its order. Later objects may lack some,
// which are NULL then, but have no others.
type jsonRecords struct {
	lines
	names []string
	index map[string]int
	first []any // the first record, until it is read
}

func openJSON(l lines) (*jsonRecords, error) {
	j := &jsonRecords{lines: l, index: map[string]int{}}
	line, err := j.next()
	if err != nil {
		return nil, err
	}
	err = j.decode(line, func(name string, value any) error {
		switch _, ok := j.index[name]; {
		case ok:
			return fmt.Errorf("%s is there twice", quoted(name))
		case len(j.names) == maxFields:
			return fmt.Errorf("more than %d fields", maxFields)
		}
		j.index[name] = len(j.names)
		j.names = append(j.names, name)
		j.first = append(j.first, value)
		return nil
	})
	if err == nil && len(j.names) == 0 {
		err = &RecordError{1, "an object without names"}
	}
	return j, err
}

func (j *jsonRecords) columns() []string { return j.names }

func (j *jsonRecords) read() ([]any, error) {
	if j.first != nil {
		first := j.first
		j.first = nil
		return first, nil
	}
	line, err := j.next()
	if err != nil {
		return nil, err
	}
	values := make([]any, len(j.names))
	seen := make([]bool, len(j.names))
	err = j.decode(line, func(name string, value any) error {
		i, ok := j.index[name]
		switch {
		case !ok:
			return fmt.Errorf("%s is not among the names of the first line", quoted(name))
		case seen[i]:
			return fmt.Errorf("%s is there twice", quoted(name))
		}
		values[i], seen[i] = value, true
		return nil
	})
	return values, err
}

// decode hands over the members of one object, values as text: strings as they are, others as JSON,
// null as nil.
func (j *jsonRecords) decode(line []byte, member func(string, any) error) error {
	fail := func(format string, args ...any) error {
		return &RecordError{j.at, fmt.Sprintf(format, args...)}
	}
	switch { // as badText, without a copy
	case !utf8.Valid(line):
		return fail("the line is not UTF-8")
	case bytes.IndexByte(line, 0) >= 0:
		return fail("the line has a NUL byte")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fail("not a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fail("%v", err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fail("%v", err)
		}
		value, err := text(raw)
		if err == nil {
			err = member(name.(string), value)
		}
		if err != nil {
			return fail("%v", err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fail("not a whole JSON object")
	}
	if _, err := d.Token(); err != io.EOF {
		return fail("more than one JSON object")
	}
	return nil
}

func text(raw json.RawMessage) (any, error) {
	switch raw[0] {
	case 'n':
		return nil, nil
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		if reason := badText(s); reason != "" { // \u0000
			return nil, fmt.Errorf("a text %s", reason)
		}
		return s, nil
	default:
		var b bytes.Buffer
		err := json.Compact(&b, raw)
		return b.String(), err
	}
}
