package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/idmint/idmint/internal/explain"
)

// longestInput is how many bytes an input may have: an ID, or the parts of one. Both are far
// shorter.
const longestInput = 64 << 10

// A longInputError is about an input that nobody read to its end.
type longInputError struct {
	Input string // its beginning
	Bytes int64
}

func (e *longInputError) Error() string {
	return fmt.Sprintf("%q… has %d bytes: an input has at most %d",
		explain.Beginning(e.Input, 64), e.Bytes, longestInput)
}

// eachInput hands over the arguments, or the lines of standard input if there are none, as they
// are. An input that is too long is refused, and takes no more memory than others.
func (a *app) eachInput(args []string, f func(string) error) error {
	checked := func(text string, length int64) error {
		if length > longestInput {
			long := &longInputError{explain.Beginning(text, longestInput), length}
			return a.refuse(long.Input, long)
		}
		return f(text)
	}
	for _, arg := range args {
		if err := checked(arg, int64(len(arg))); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		return nil
	}
	lines := bufio.NewReaderSize(a.in, longestInput+len("\n"))
	for {
		if lines.Buffered() == 0 { // whoever gives the next line may wait for this answer
			if err := a.out.flush(); err != nil {
				return err
			}
		}
		line, length, err := readLine(lines)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := checked(line, length); err != nil {
			return err
		}
	}
}

// readLine reads a line without its end, \n or \r\n: as much of it as the buffer holds, and its
// length. The error is io.EOF behind the last one.
func readLine(r *bufio.Reader) (line string, length int64, err error) {
	part, err := r.ReadSlice('\n')
	length = int64(len(part))
	line = string(bytes.TrimSuffix(part, []byte("\n")))
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.ReadSlice('\n')
		length += int64(len(part))
	}
	switch {
	case err == nil:
		text := strings.TrimSuffix(line, "\r")
		return text, length - int64(len("\n")+len(line)-len(text)), nil
	case err == io.EOF && length > 0:
		return line, length, nil
	}
	return "", 0, err
}
