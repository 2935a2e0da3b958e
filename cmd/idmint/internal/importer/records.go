package importer

import (
	"bufio"
	"bytes"
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

// ErrParquet is returned for a Parquet file, by its name, by the name of its format and by how it
// begins. A reader of Parquet that trusts no file is as large as the rest of this package.
var ErrParquet = errors.New("a Parquet file is not read, but DuckDB turns it into CSV: " +
	`duckdb -c "COPY (FROM 'FILE.parquet') TO '/dev/stdout' (FORMAT csv, HEADER)" | ` +
	"idmint import - --format csv …; docs/import.md has more")

// parquetMagic begins a Parquet file: four letters, and the tag of the first field of a structure.
const parquetMagic = "PAR1\x15"

// FormatOf tells the format by the file's name.
func FormatOf(name string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".csv":
		return CSV, nil
	case ".tsv", ".tab":
		return TSV, nil
	case ".jsonl", ".ndjson":
		return JSONLines, nil
	case ".parquet":
		return "", fmt.Errorf("%q: %w", name, ErrParquet)
	default:
		return "", fmt.Errorf(
			"cannot tell the format of %q by its name: want .csv, .tsv or .jsonl, or say it with "+
				"--format", name)
	}
}

// Validate reports whether it is one of them.
func (f Format) Validate() error {
	switch f {
	case CSV, TSV, JSONLines:
		return nil
	case "parquet":
		return ErrParquet
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
	// read appends the fields of the next record, or nothing: then the error is io.EOF in the good
	// case.
	read(into *block) error
	// offset is how many bytes of the file the records read so far take.
	offset() int64
	// line is where the record that was read last begins, from 1.
	line() int
}

// openRecords reads a file's beginning.
func openRecords(r io.Reader, format Format) (records, error) {
	return openWithin(newGate(r, format, maxRecord), format)
}

func openWithin(g *gate, format Format) (records, error) {
	file := bufio.NewReaderSize(g, 64<<10)
	var mark int64
	if begin, _ := file.Peek(len(parquetMagic)); string(begin) == parquetMagic {
		return nil, ErrParquet
	}
	if begin, _ := file.Peek(len(byteOrderMark)); string(begin) == byteOrderMark {
		n, _ := file.Discard(len(begin))
		mark = int64(n)
	}
	var rec records
	var err error
	switch format {
	case CSV:
		rec, err = openCSV(lines{r: file, bytes: mark})
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
		case strings.Contains(strings.ReplaceAll(name, "\r\n", ""), "\r"):
			// Else a file whose lines end with CR would have no rows.
			return &RecordError{1, fmt.Sprintf("the name of column %d has a CR: lines end with LF or CRLF",
				i+1)}
		default:
			seen[lower] = true
		}
		if reason := badText(name); reason != "" {
			return &RecordError{1, fmt.Sprintf("the name of column %d %s", i+1, reason)}
		}
	}
	return nil
}

func badText[T string | []byte](text T) string {
	s := []byte(text)
	switch {
	case !utf8.Valid(s):
		return "is not UTF-8"
	case bytes.IndexByte(s, 0) >= 0:
		return "has a NUL byte"
	}
	return ""
}

// checked checks the fields of a text record, which begin at index first of a block.
func checked(b *block, first int, columns []string, line int) error {
	if n := len(b.ends) - first; n != len(columns) {
		return &RecordError{
			line, fmt.Sprintf("%d fields, while the header has %d", n, len(columns)),
		}
	}
	// all at once, which is faster: what is wrong with which field is looked for afterwards
	if all := b.text[b.begin(first):]; utf8.Valid(all) && bytes.IndexByte(all, 0) < 0 &&
		b.splitsNoRune(first) {
		return nil
	}
	for i := range columns {
		field, _ := b.field(first + i)
		if reason := badText(field); reason != "" {
			return &RecordError{line, fmt.Sprintf("field %s %s", quoted(columns[i]), reason)}
		}
	}
	return nil
}

// namesIn are the fields of a header.
func namesIn(b *block) []string {
	names, text := make([]string, len(b.ends)), b.texts(0, len(b.ends))
	for i := range names {
		names[i], _ = text(i)
	}
	return names
}

const byteOrderMark = "\ufeff"

// tsvRecords reads lines that end as the header does. So in a file of LF, CR before it belongs to
// the last field.
type tsvRecords struct {
	lines
	header []string
	crlf   bool
}

func openTSV(l lines) (*tsvRecords, error) {
	t := &tsvRecords{lines: l}
	var names block
	if err := t.parse(&names); err != nil {
		return nil, err
	}
	t.header = namesIn(&names)
	return t, nil
}

func (t *tsvRecords) columns() []string { return t.header }

func (t *tsvRecords) read(into *block) error {
	before := len(into.ends)
	err := t.parse(into)
	if err == nil {
		err = checked(into, before, t.header, t.at)
	}
	if err != nil {
		into.cut(before)
	}
	return err
}

// parse appends the fields of the next line.
func (t *tsvRecords) parse(into *block) error {
	line, err := t.raw()
	if err != nil {
		return err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	if t.header == nil {
		t.crlf = bytes.HasSuffix(line, []byte("\r"))
	}
	if t.crlf {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	for {
		end := bytes.IndexByte(line, '\t')
		if end < 0 {
			into.add(line)
			return nil
		}
		into.add(line[:end])
		line = line[end+1:]
	}
}
