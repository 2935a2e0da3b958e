package importer

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// What a file may ask of the memory. A record is read whole, and a batch is kept until it is
// stored.
const (
	// maxRecord is how many bytes a record may have: as many as a packet of MySQL has by default.
	maxRecord = 64 << 20
	// maxFields is how many fields a record may have. Every database takes far fewer columns.
	maxFields = 1 << 17
	// batchBytes ends a batch that has not all its rows yet.
	batchBytes = 8 << 20
	// batchMemory ends one whose fields take more, because there are many.
	batchMemory = 12 << 20
)

// A ColumnsError is returned for a file with more columns than a table may have. It comes before
// anything is made.
type ColumnsError struct {
	Columns  int // of the table: one more than the file has, for the IDs
	Most     int
	Database string
}

func (e *ColumnsError) Error() string {
	const text = "the file has %d columns, and the table would have %d with the one of the IDs: " +
		"in %s a table has at most %d"
	return fmt.Sprintf(text, e.Columns-1, e.Columns, e.Database, e.Most)
}

// checkWidth checks that a table of a database may have columns for the file's and for the IDs.
func checkWidth(columns []string, most int, database string) error {
	if n := len(columns) + 1; n > most {
		return &ColumnsError{n, most, database}
	}
	return nil
}

// A gate passes a file on while its records keep to the limits. It sits before whatever gathers a
// record, so of one that is too long nobody keeps more than the limit. What it returns then is a
// [*RecordError].
type gate struct {
	r         io.Reader
	most      int    // bytes of a record
	quotes    bool   // a line may end within quotes, and its record goes on
	separator []byte // of fields; nil for lines without

	open   bool // within quotes
	at     int  // the line that is read, from 1
	begin  int  // the line on which the record begins
	bytes  int  // of the record so far
	fields int  // of the record so far, but the last
	err    error
}

func newGate(r io.Reader, format Format, most int) *gate {
	g := &gate{r: r, most: most, at: 1, begin: 1}
	switch format {
	case CSV:
		g.quotes, g.separator = true, []byte(",")
	case TSV:
		g.separator = []byte("\t")
	}
	return g
}

func (g *gate) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.r.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end+1]
		}
		g.count(line)
		switch {
		case g.bytes > g.most:
			g.err = &RecordError{
				g.begin,
				fmt.Sprintf("longer than %d MiB, which a record may have", g.most>>20),
			}
		case g.fields >= maxFields:
			g.err = &RecordError{g.begin, fmt.Sprintf("more than %d fields", maxFields)}
		}
		if g.err != nil { // the records before this one are as good as ever
			if n -= len(rest); n > 0 {
				return n, nil
			}
			return 0, g.err
		}
		if rest = rest[len(line):]; line[len(line)-1] == '\n' {
			if g.at++; !g.open {
				g.begin, g.bytes, g.fields = g.at, 0, 0
			}
		}
	}
	return n, err
}

// count takes a line into account, or the part of it that was read.
func (g *gate) count(line []byte) {
	g.bytes += len(line)
	for part := line; ; {
		quote := -1
		if g.quotes {
			quote = bytes.IndexByte(part, '"')
		}
		outside := part
		if quote >= 0 {
			outside = part[:quote]
		}
		if !g.open && g.separator != nil {
			g.fields += bytes.Count(outside, g.separator)
		}
		if quote < 0 {
			return
		}
		g.open = !g.open // a doubled quote opens what it closed
		part = part[quote+1:]
	}
}

// quoted is a name as errors say it. A file may hold one of any length.
func quoted(name string) string {
	const most = 256
	if len(name) <= most {
		return strconv.Quote(name)
	}
	return fmt.Sprintf("%q… (%d bytes)", name[:most], len(name))
}
