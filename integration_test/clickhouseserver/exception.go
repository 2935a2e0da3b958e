package main

import (
	"fmt"
	"regexp"
	"strconv"
)

// ClickHouse's numbers of the failures that come from the server rather than from the engine.
const (
	codeNotImplemented   = 48
	codeSyntaxError      = 62
	codeUnknownPacket    = 99
	codeUnexpectedPacket = 101
	codeAuthentication   = 516
	codeUnknownException = 1002
)

// An exception is ClickHouse's form of an error, as its clients get to see it.
type exception struct {
	code    int
	message string
}

func (e *exception) Error() string { return fmt.Sprintf("code %d: %s", e.code, e.message) }

// exceptionText is how the engine writes an exception. The server's form has neither the number nor
// the number's name in its text.
var exceptionText = regexp.MustCompile(
	`(?s)^Code: (\d+)\. DB::Exception: (.*?)(?: \([A-Z0-9_]+\))?` +
		`(?: \(version [^()]*(?:\([^()]*\))?\))?\.?\s*$`)

func parseException(text string) *exception {
	x := &exception{codeUnknownException, text}
	for { // some are within others
		m := exceptionText.FindStringSubmatch(x.message)
		if m == nil {
			return x
		}
		code, err := strconv.Atoi(m[1])
		if err != nil {
			return x
		}
		x = &exception{code, m[2]}
	}
}
