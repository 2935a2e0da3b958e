package importer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// newLines returns a reader of a file whose records have at most this many bytes.
func newLines(r io.Reader, most int) lines {
	return lines{r: bufio.NewReaderSize(r, 64<<10), most: most, sum: sha256.New()}
}

// lines reads records. A record is a line, or several lines if one ends within quotes. lines counts
// lines and bytes, and keeps the checksum of what it has read.
type lines struct {
	r     *bufio.Reader
	most  int    // bytes of a record
	long  []byte // a record that r's buffer does not hold
	bytes int64
	sum   hash.Hash
	begun int // the line on which the record begins, from 1
	at    int // lines that were read
}

// record returns a record with the end of its line, or io.EOF. If quotes is set, a record does not
// end within quotes. The record is valid until the next call.
func (l *lines) record(quotes bool) ([]byte, error) {
	l.begun = l.at + 1
	record, err := l.r.ReadSlice('\n')
	open := quotes && odd(record)
	if err == bufio.ErrBufferFull || err == nil && open {
		l.long = append(l.long[:0], record...)
		for (err == bufio.ErrBufferFull || err == nil && open) && len(l.long) <= l.most {
			if err == nil {
				l.at++
			}
			record, err = l.r.ReadSlice('\n')
			l.long = append(l.long, record...)
			open = quotes && open != odd(record)
		}
		record = l.long
		if cap(l.long) > batchBytes { // few records need so much
			l.long = nil
		}
	}
	if len(record) > l.most {
		const text = "a record must not be longer than %d MiB"
		return nil, &RecordError{l.begun, fmt.Sprintf(text, l.most>>20)}
	}
	if err != nil && (err != io.EOF || len(record) == 0) {
		return nil, err
	}
	l.take(record)
	l.at++
	return record, nil
}

// take counts what was read.
func (l *lines) take(text []byte) {
	l.bytes += int64(len(text))
	l.sum.Write(text)
}

// odd reports whether the text opens quotes that it does not close, or closes some.
func odd(text []byte) bool { return bytes.Count(text, []byte(quote))%2 == 1 }

func (l *lines) offset() int64    { return l.bytes }
func (l *lines) checksum() string { return hex.EncodeToString(l.sum.Sum(nil)) }

// withoutEnd returns a line without its LF or CRLF. The last line may end with CR alone, which is
// removed too.
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// checked checks the fields that the record has added to a block from index first on, unless there
// was already an error. After an error it removes them. Without columns, the fields are the names
// of the columns.
func (l *lines) checked(b *block, first int, columns []string, err error) error {
	if err == nil && columns != nil {
		err = checkFields(b, first, columns)
	}
	if err != nil {
		b.cut(first)
		return &RecordError{l.begun, err.Error()}
	}
	return nil
}

func checkFields(b *block, first int, columns []string) error {
	if n := len(b.ends) - first; n != len(columns) {
		return fmt.Errorf("%d fields, but the header has %d", n, len(columns))
	}
	// checks all fields at once, which is faster, and looks for the bad field only after that fails
	if all := b.text[b.begin(first):]; badText(all) == "" && b.splitsNoRune(first) {
		return nil
	}
	for i := range columns {
		field, _ := b.field(first + i)
		if reason := badText(field); reason != "" {
			return fmt.Errorf("field %s %s", quoted(columns[i]), reason)
		}
	}
	return nil
}
