package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A token is a word, a quoted text or a sign. Its depth is the number of brackets around it.
type token struct {
	text       string
	start, end int
	depth      int
}

func (t token) is(words ...string) bool {
	return t.depth == 0 && slices.ContainsFunc(words, func(w string) bool {
		return strings.EqualFold(t.text, w)
	})
}

// tokens splits a statement into tokens, without blanks and comments. It returns unknown text as
// signs of one byte, about which the engine will complain.
func tokens(sql string) []token {
	var all []token
	depth := 0
	for i := 0; i < len(sql); {
		start, c := i, sql[i]
		switch rest := sql[i:]; {
		case strings.ContainsRune(" \t\r\n\v\f", rune(c)):
			i++
			continue
		case strings.HasPrefix(rest, "--") || c == '#':
			i += until(rest, "\n")
			continue
		case strings.HasPrefix(rest, "/*"):
			i += until(rest, "*/")
			continue
		case c == '\'' || c == '"' || c == '`':
			n, _ := quoted(rest)
			i += n
		case isWord(c):
			for i < len(sql) && isWord(sql[i]) {
				i++
			}
		default:
			i++
		}
		if c == ')' {
			depth--
		}
		all = append(all, token{sql[start:i], start, i, depth})
		if c == '(' {
			depth++
		}
	}
	return all
}

// until returns the length of a comment.
func until(s, end string) int {
	if i := strings.Index(s[1:], end); i >= 0 {
		return 1 + i + len(end)
	}
	return len(s)
}

// quoted returns the length of a quoted text, or of the rest if it does not end.
func quoted(s string) (n int, ends bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			if i+1 == len(s) || s[i+1] != s[0] {
				return i + 1, true
			}
			i++
		}
	}
	return len(s), false
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c >= 0x80
}

// An insertion is a statement whose rows the client sends in blocks.
type insertion struct {
	head    string // INSERT with its table, columns and settings
	table   string
	columns string // as written, * for all
}

// insertionOf parses an INSERT without values and without SELECT. It ignores the name of the
// format, because the client's rows are in the format of the protocol.
func insertionOf(sql string) (insertion, bool) {
	ts := tokens(sql)
	for len(ts) > 0 && ts[len(ts)-1].is(";") {
		ts = ts[:len(ts)-1]
	}
	if len(ts) < 3 || !ts[0].is("INSERT") || !ts[1].is("INTO") {
		return insertion{}, false
	}
	i := 2
	if ts[i].is("TABLE") && i < len(ts)-1 {
		i++
	}
	first := i
	for i++; i < len(ts)-1 && ts[i].is("."); i += 2 {
	}
	i = min(i, len(ts))
	ins := insertion{table: sql[ts[first].start:ts[i-1].end], columns: "*"}
	if i < len(ts) && ts[i].is("(") {
		if i+1 < len(ts) && (strings.EqualFold(ts[i+1].text, "SELECT") ||
			strings.EqualFold(ts[i+1].text, "WITH")) {
			return insertion{}, false
		}
		end := closing(ts, i)
		if end > i+2 {
			ins.columns = sql[ts[i+1].start:ts[end-2].end]
		}
		i = end
	}
	for ; i < len(ts); i++ {
		switch {
		case ts[i].is("SELECT", "WITH", "FROM", "("):
			return insertion{}, false
		case ts[i].is("VALUES"):
			ins.head = sql[:ts[i].start]
			return ins, i == len(ts)-1
		case ts[i].is("FORMAT"):
			ins.head = sql[:ts[i].start]
			return ins, i >= len(ts)-2
		}
	}
	ins.head = sql[:ts[len(ts)-1].end]
	return ins, true
}

// closing returns the index after the bracket that closes the one at i.
func closing(ts []token, i int) int {
	for j := i + 1; j < len(ts); j++ {
		if ts[j].text == ")" && ts[j].depth == ts[i].depth {
			return j + 1
		}
	}
	return len(ts)
}

// hasColumns reports whether a statement has no effect, and a result that has columns even without
// rows.
func hasColumns(sql string) bool {
	ts := tokens(sql)
	for len(ts) > 0 && ts[0].text == "(" {
		ts = ts[1:]
	}
	words := []string{
		"SELECT", "WITH", "FROM", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK",
	}
	return len(ts) > 0 && slices.ContainsFunc(words, func(w string) bool {
		return strings.EqualFold(ts[0].text, w)
	})
}

// severalStatements returns the server's error for a text with more than one statement, all of
// which the engine would execute. It does not examine the values of an INSERT.
func severalStatements(sql string) error {
	ts := tokens(sql)
	for i, t := range ts[:max(len(ts)-1, 0)] {
		if t.is(";") && !ts[i+1].is(";") && !ts[0].is("INSERT") {
			return &exception{codeSyntaxError, fmt.Sprintf(
				"Syntax error (Multi-statements are not allowed): "+
					"failed at position %d (end of query): %.100s", t.start+1, sql[t.start:])}
		}
	}
	return nil
}

// withoutFormat removes a query's FORMAT, which has no meaning for clients of this protocol.
func withoutFormat(sql string) string {
	ts := tokens(sql)
	for len(ts) > 0 && ts[len(ts)-1].is(";") {
		ts = ts[:len(ts)-1]
	}
	if n := len(ts); n > 2 && ts[n-2].is("FORMAT") && hasColumns(sql) {
		return sql[:ts[n-3].end]
	}
	return sql
}

var errQuote = errors.New("a quoted text does not end")

// unquote returns the value of a text in single quotes, and any other text unchanged.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, "'") {
		return s, nil
	}
	if n, ends := quoted(s); !ends || n != len(s) {
		return "", fmt.Errorf("%q: %w", s, errQuote)
	}
	return unescape(s[1 : len(s)-1]), nil
}

// unescape returns the value of a text with escapes, as in quotes and in fields of TabSeparated.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\'`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i+1 < len(s) && (c == '\\' || c == '\'' && s[i+1] == '\'') {
			i++
			if at := strings.IndexByte("btnrfav0", s[i]); c == '\\' && at >= 0 {
				b.WriteByte("\b\t\n\r\f\a\v\x00"[at])
				continue
			}
			c = s[i]
		}
		b.WriteByte(c)
	}
	return b.String()
}

// quote is the reverse of unquote.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// identifier returns any name as an identifier in SQL.
func identifier(s string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
}
