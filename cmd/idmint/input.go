package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/idmint/idmint/internal/schemes"
)

// longestInput is the most bytes of an input, which is an ID or the parts of one. Both are far
// shorter.
const longestInput = 64 << 10

// eachInput calls f with each argument, or with each line of standard input if there are none.
// Lines end with \n or \r\n. An input that is too long is an error that ends the loop.
func (a *app) eachInput(args []string, f func(string) error) error {
	for _, arg := range args {
		if len(arg) > longestInput {
			return tooLong(arg)
		}
		if err := f(arg); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		return nil
	}
	lines := bufio.NewReaderSize(a.in, longestInput+len("\n"))
	for {
		if lines.Buffered() == 0 { // the writer of the next line may wait for this answer
			if err := a.out.flush(); err != nil {
				return err
			}
		}
		part, err := lines.ReadSlice('\n')
		line, ended := strings.CutSuffix(string(part), "\n")
		switch {
		case err == io.EOF && line == "":
			return nil
		case errors.Is(err, bufio.ErrBufferFull), len(line) > longestInput:
			return tooLong(line)
		case err != nil && err != io.EOF:
			return err
		case ended:
			line = strings.TrimSuffix(line, "\r")
		}
		if err := f(line); err != nil {
			return err
		}
	}
}

func tooLong(input string) error {
	return fmt.Errorf("%q… is too long: an input has at most %d bytes",
		schemes.Beginning(input, 64), longestInput)
}
