package importer

import (
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

// ErrParquet is returned for a file name or a format of Parquet. A reader of Parquet that is safe
// for any file would be as large as the rest of this package.
var ErrParquet = errors.New("a Parquet file cannot be read, but DuckDB converts it to CSV: " +
	`duckdb -c "COPY (FROM 'FILE.parquet') TO '/dev/stdout' (FORMAT csv, HEADER)" | ` +
	"idmint import - --format csv …; docs/reference/import.md has more")

// FormatOf returns the format that a file's name implies.
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
			"cannot tell the format of %q from its name: want .csv, .tsv or .jsonl, or name it by "+
				"--format", name)
	}
}

// Validate returns an error unless f is one of the formats.
func (f Format) Validate() error {
	switch f {
	case CSV, TSV, JSONLines:
		return nil
	case "parquet":
		return ErrParquet
	}
	return fmt.Errorf("unknown format %q: want csv, tsv or jsonl", string(f))
}

// A RecordError reports a bad record of the file.
type RecordError struct {
	Line   int // where the record begins, from 1
	Reason string
}

func (e *RecordError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// records reads a file record by record.
type records interface {
	// columns returns the names of the fields, from the beginning of the file.
	columns() []string
	// read appends the fields of the next record. After the last one it returns io.EOF.
	read(into *block) error
	// offset returns how many bytes of the file the records read so far take.
	offset() int64
	// checksum returns the SHA-256 of these bytes.
	checksum() string
}

// openRecords reads the beginning of a file.
func openRecords(r io.Reader, format Format) (records, error) {
	return openWithin(r, format, maxRecord)
}

// openWithin is openRecords for records of at most this many bytes.
func openWithin(r io.Reader, format Format, most int) (rec records, err error) {
	l := newLines(r, most)
	if begin, _ := l.r.Peek(len(byteOrderMark)); string(begin) == byteOrderMark {
		l.take(begin)
		_, _ = l.r.Discard(len(begin))
	}
	switch format {
	case CSV:
		c := &csvRecords{lines: l}
		c.header, err = header(c)
		rec = c
	case TSV:
		t := &tsvRecords{lines: l}
		t.header, err = header(t)
		rec = t
	case JSONLines:
		rec, err = openJSON(l)
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
		// databases ignore case in names
		switch lower := strings.ToLower(name); {
		case name == "":
			return &RecordError{1, fmt.Sprintf("column %d has no name", i+1)}
		case seen[lower]:
			return &RecordError{1, fmt.Sprintf("column %s occurs twice", quoted(name))}
		case strings.Contains(strings.ReplaceAll(name, "\r\n", ""), "\r"):
			// Otherwise a file whose lines end with CR would have no rows.
			return &RecordError{1, fmt.Sprintf("the name of column %d has a CR: lines must end "+
				"with LF or CRLF", i+1)}
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

const byteOrderMark = "\ufeff"
