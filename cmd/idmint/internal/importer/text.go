package importer

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

// A textReader returns rows in COPY's text format, which LOAD DATA reads too. Each row is a line of
// fields separated by tabs. NULL is \N, and a backslash escapes bytes that would end a field.
type textReader struct {
	rows
	progress func()
	plain    bool // nothing needs escaping

	mu      sync.Mutex // guards the fields below
	next    int        // index of the next row
	pending []byte     // text not yet read
	buffer  []byte
	closed  bool
}

func newTextReader(r rows, progress func()) *textReader {
	t := &textReader{rows: r, progress: progress, plain: true}
	for i := range len(escaped) {
		t.plain = t.plain && bytes.IndexByte(r.fields.text, escaped[i]) < 0
	}
	return t
}

// close ends reading, after which the block may be reused.
func (t *textReader) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

func (t *textReader) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, io.ErrClosedPipe
	}
	if len(t.pending) == 0 {
		if t.next == len(t.ids) {
			return 0, io.EOF
		}
		t.buffer = t.buffer[:0]
		for ; t.next < len(t.ids) && len(t.buffer) < 64<<10; t.next++ {
			t.buffer = t.append(t.buffer, t.next)
		}
		t.pending = t.buffer
		t.progress()
	}
	n := copy(p, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}

// append appends a row.
func (t *textReader) append(b []byte, row int) []byte {
	b = strconv.AppendInt(b, int64(t.ids[row]), 10)
	first := row * len(t.columns)
	for i := first; i < first+len(t.columns); i++ {
		b = append(b, '\t')
		switch text, ok := t.fields.field(i); {
		case !ok:
			b = append(b, `\N`...)
		case t.plain:
			b = append(b, text...)
		default:
			b = appendEscaped(b, text)
		}
	}
	return append(b, '\n')
}

// escaped are the bytes that end a field or a line, or begin an escape.
const escaped = "\\\t\n\r"

func appendEscaped(b, text []byte) []byte {
	from := 0
	for i, c := range text {
		switch c {
		case '\\':
		case '\t':
			c = 't'
		case '\n':
			c = 'n'
		case '\r':
			c = 'r'
		default:
			continue
		}
		b = append(append(b, text[from:i]...), '\\', c)
		from = i + 1
	}
	return append(b, text[from:]...)
}
