package importer

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// csvRecords reads CSV as encoding/csv does, with two differences: CRLF within quotes stays, and an
// empty line is a row if there is one column, because PostgreSQL writes NULL that way. Otherwise
// empty lines are skipped. A fuzz test compares the two. csvRecords writes fields into a block,
// whereas encoding/csv makes a string of each record, which took a quarter of the time of an
// import.
type csvRecords struct {
	lines
	header []string
}

func (c *csvRecords) columns() []string { return c.header }

func (c *csvRecords) read(into *block) error {
	record, err := c.record(true)
	for err == nil && len(withoutEnd(record)) == 0 && len(c.header) != 1 {
		record, err = c.record(true)
	}
	if err != nil {
		return err
	}
	first := len(into.ends)
	return c.checked(into, first, c.header, splitCSV(record, into))
}

// quote may enclose a field of CSV.
const quote = `"`

// splitCSV appends the fields of a record.
func splitCSV(rest []byte, into *block) error {
	for first := len(into.ends); len(into.ends)-first < maxFields; {
		if !bytes.HasPrefix(rest, []byte(quote)) {
			field, behind, more := bytes.Cut(rest, []byte(","))
			if !more {
				field = withoutEnd(field)
			}
			if bytes.Contains(field, []byte(quote)) {
				return csv.ErrBareQuote
			}
			into.add(field)
			if !more {
				return nil
			}
			rest = behind
			continue
		}
		rest = rest[1:]
		for {
			text, behind, closed := bytes.Cut(rest, []byte(quote))
			if !closed {
				return csv.ErrQuote
			}
			into.text, rest = append(into.text, text...), behind
			if !bytes.HasPrefix(rest, []byte(quote)) {
				break
			}
			into.text, rest = append(into.text, quote...), rest[1:]
		}
		into.endField()
		if len(withoutEnd(rest)) == 0 {
			return nil
		}
		if rest[0] != ',' {
			return csv.ErrQuote
		}
		rest = rest[1:]
	}
	return errFields
}

var errFields = fmt.Errorf("more than %d fields", maxFields)

// tsvRecords reads lines that end as the header does. If the header ends with LF alone, a CR before
// LF belongs to the last field.
type tsvRecords struct {
	lines
	header []string
	crlf   bool
}

func (t *tsvRecords) columns() []string { return t.header }

func (t *tsvRecords) read(into *block) error {
	line, err := t.record(false)
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
	first := len(into.ends)
	return t.checked(into, first, t.header, splitTSV(line, into))
}

// splitTSV appends the fields of a line.
func splitTSV(rest []byte, into *block) error {
	if bytes.Count(rest, []byte("\t")) >= maxFields {
		return errFields
	}
	for more := true; more; {
		var field []byte
		field, rest, more = bytes.Cut(rest, []byte("\t"))
		into.add(field)
	}
	return nil
}

// header reads the names of the columns.
func header(rec records) ([]string, error) {
	var b block
	if err := rec.read(&b); err != nil {
		return nil, err
	}
	names, text := make([]string, len(b.ends)), b.texts(0, len(b.ends))
	for i := range names {
		names[i], _ = text(i)
	}
	return names, nil
}
