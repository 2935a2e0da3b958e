package main

import (
	"fmt"
	"regexp"
	"strconv"
)

// ClickHouse's numbers for failures of the server, as opposed to the engine.
const (
	codeNotImplemented   = 48
	codeSyntaxError      = 62
	codeUnknownPacket    = 99
	codeUnexpectedPacket = 101
	codeAuthentication   = 516
	codeUnknownException = 1002
)

// An exception is an error in the form that ClickHouse sends to clients.
type exception struct {
	code    int
	message string
}

func (e *exception) Error() string { return fmt.Sprintf("code %d: %s", e.code, e.message) }

// exceptionText matches an exception as the engine writes it. The text of the server has neither
// the number nor its name.
var exceptionText = regexp.MustCompile(
	`(?s)^Code: (\d+)\. DB::Exception: (.*?)(?: \([A-Z0-9_]+\))?` +
		`(?: \(version [^()]*(?:\([^()]*\))?\))?\.?\s*$`)

func parseException(text string) *exception {
	x := &exception{codeUnknownException, text}
	for { // exceptions may be nested
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
