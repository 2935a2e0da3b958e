package importer

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
)

// csvRecords reads CSV as encoding/csv does. Its fuzz test compares the two. They differ in two
// things. CRLF within quotes stays. An empty line is a row where there is one column: so PostgreSQL
// writes NULL. Elsewhere empty lines are passed over. It writes fields into a block: encoding/csv
// makes a string of each record, and took a quarter of the time of an import.
type csvRecords struct {
	lines
	header []string
	begun  int // the line on which the record begins
}

func openCSV(l lines) (*csvRecords, error) {
	c := &csvRecords{lines: l}
	var names block
	if err := c.parse(&names); err != nil {
		return nil, err
	}
	c.header = namesIn(&names)
	return c, nil
}

func (c *csvRecords) columns() []string { return c.header }
func (c *csvRecords) line() int         { return c.begun }

func (c *csvRecords) read(into *block) error {
	before := len(into.ends)
	err := c.parse(into)
	if err == nil {
		err = checked(into, before, c.header, c.begun)
	}
	if err != nil {
		into.cut(before)
	}
	return err
}

// parse appends the fields of the next record.
func (c *csvRecords) parse(into *block) error {
	line, err := c.raw()
	for err == nil && isEnd(line) && len(c.header) != 1 {
		line, err = c.raw()
	}
	if err != nil {
		return err
	}
	c.begun = c.at
	whole := len(line) // of the line under way: its rest is what is left to parse
	fail := func(rest int, reason error) error {
		return &RecordError{c.begun, fmt.Sprintf("column %d: %v", whole-rest+1, reason)}
	}
	for {
		if len(line) == 0 || line[0] != '"' {
			end := bytes.IndexByte(line, ',')
			field := line
			if end >= 0 {
				field = line[:end]
			} else {
				field = withoutEnd(line)
			}
			if quote := bytes.IndexByte(field, '"'); quote >= 0 {
				return fail(len(line)-quote, csv.ErrBareQuote)
			}
			into.add(field)
			if end < 0 {
				return nil
			}
			line = line[end+1:]
			continue
		}
		line = line[1:]
	quoted:
		for {
			quote := bytes.IndexByte(line, '"')
			if quote < 0 { // the field goes on, on the next line
				into.text = append(into.text, line...)
				cr := 0 // which does not count, as in encoding/csv
				if n := len(withoutEnd(line)); n < len(line) && line[n] == '\r' {
					cr = 1
				}
				next, err := c.raw() // whose bytes may lie where the line's were
				switch {
				case err == io.EOF, err == nil && string(next) == "\r": // the last line, which is empty
					return fail(cr, csv.ErrQuote)
				case err != nil:
					return err
				}
				line, whole = next, len(next)
				continue
			}
			into.text = append(into.text, line[:quote]...)
			line = line[quote+1:]
			switch {
			case isEnd(line):
				into.endField()
				return nil
			case line[0] == '"':
				into.text = append(into.text, '"')
				line = line[1:]
			case line[0] == ',':
				into.endField()
				line = line[1:]
				break quoted
			default:
				return fail(len(line)+1, csv.ErrQuote)
			}
		}
	}
}

// withoutEnd is a line without LF or CRLF. The last one may end with CR alone, and does not have it
// either.
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

func isEnd(line []byte) bool { return len(withoutEnd(line)) == 0 }
