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

// newLines reads a file whose records have so many bytes at most.
func newLines(r io.Reader, most int) lines {
	return lines{r: bufio.NewReaderSize(r, 64<<10), most: most, sum: sha256.New()}
}

// lines reads records: a line each, or several where a line ends within quotes. It counts lines and
// bytes, and keeps the checksum of what it has read.
type lines struct {
	r     *bufio.Reader
	most  int    // bytes of a record
	long  []byte // a record that r's buffer does not hold
	bytes int64
	sum   hash.Hash
	begun int // the line on which the record begins, from 1
	at    int // lines that were read
}

// record returns a record with the end of its line, or io.EOF. With quotes it ends where none is
// open. It is valid until the next call.
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
		if cap(l.long) > batchBytes { // which few records need
			l.long = nil
		}
	}
	if len(record) > l.most {
		const text = "longer than %d MiB, which a record may have"
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

// withoutEnd is a line without LF or CRLF. The last one may end with CR alone, and does not have it
// either.
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// checked checks the fields that the record has added to a block from index first on, unless err
// says why it has not. After an error they are gone. Without columns they are the columns' names.
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
		return fmt.Errorf("%d fields, while the header has %d", n, len(columns))
	}
	// all at once, which is faster: what is wrong with which field is looked for afterwards
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
