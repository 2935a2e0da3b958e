package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/idmint/idmint/internal/explain"
	"github.com/idmint/idmint/internal/visible"
)

// The bounds of a launch's data on its page. What idmint stores is below the last one. Other tools
// may have stored anything.
const (
	longestIndented = 256 << 10
	deepestIndented = 32
	longestData     = 1 << 20
)

// A shownData is a launch's data for people.
type shownData struct {
	Text string
	Note string // what the text lacks
}

// pretty is JSON on several lines. Its numbers stay as they are written. It is on one line where
// the indents would be most of it, and cut where it is very long.
func pretty(data json.RawMessage) shownData {
	var compact, indented bytes.Buffer
	var text string
	switch {
	case len(data) > longestData || json.Compact(&compact, data) != nil:
		text = visible.Text(explain.Beginning(string(data), longestData))
	default:
		seen := visible.JSON(compact.Bytes())
		if length, depth := indents(seen); length <= longestIndented && depth <= deepestIndented &&
			json.Indent(&indented, seen, "", "  ") == nil {
			return shownData{Text: indented.String()}
		}
		text = string(seen)
	}
	if len(data) <= longestData && len(text) <= longestData {
		return shownData{Text: text}
	}
	return shownData{explain.Beginning(text, longestData), fmt.Sprintf("This is the beginning of "+
		"%s bytes. Accept: application/json gets all of them.", grouped(len(data)))}
}

// indents returns how long compact JSON is with its indents, at most, and how deep.
func indents(compact []byte) (length, depth int) {
	length = len(compact)
	at, quoted, escaped := 0, false, false
	line := func() { length += len("\n") + 2*at }
	for _, c := range compact {
		switch {
		case escaped:
			escaped = false
		case c == '"':
			quoted = !quoted
		case quoted:
			escaped = c == '\\'
		case c == '{', c == '[':
			at++
			depth = max(depth, at)
			line()
		case c == '}', c == ']':
			at--
			line()
		case c == ',':
			line()
		case c == ':':
			length++
		}
	}
	return length, depth
}
