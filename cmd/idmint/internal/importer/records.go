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

// ErrParquet is returned for a Parquet file, by its name and by the name of its format. A reader of
// Parquet that trusts no file is as large as the rest of this package.
var ErrParquet = errors.New("a Parquet file is not read, but DuckDB turns it into CSV: " +
	`duckdb -c "COPY (FROM 'FILE.parquet') TO '/dev/stdout' (FORMAT csv, HEADER)" | ` +
	"idmint import - --format csv …; docs/reference/import.md has more")

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
	// checksum is the SHA-256 of these bytes.
	checksum() string
}

// openRecords reads a file's beginning.
func openRecords(r io.Reader, format Format) (records, error) {
	return openWithin(r, format, maxRecord)
}

// openWithin has records of so many bytes at most.
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

const byteOrderMark = "\ufeff"
