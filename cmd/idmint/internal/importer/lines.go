package importer

import (
	"bufio"
	"io"
)

// lines reads lines, and counts them and their bytes. A [gate] bounds their length.
type lines struct {
	r     *bufio.Reader
	long  []byte // a line that r's buffer does not hold
	bytes int64
	at    int
}

// raw returns a line with its end, or io.EOF. The line is valid until the next call.
func (l *lines) raw() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
		if cap(l.long) > batchBytes { // which few lines need
			l.long = nil
		}
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		return nil, err
	}
	l.bytes += int64(len(line))
	l.at++
	return line, nil
}

// next returns a line without its end, or io.EOF. The line is valid until the next call.
func (l *lines) next() ([]byte, error) {
	line, err := l.raw()
	return withoutEnd(line), err
}

func (l *lines) offset() int64 { return l.bytes }
func (l *lines) line() int     { return l.at }
