package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/internal/visible"
)

// The limits for a launch's data on its page. Data that idmint stores is below the last one, but
// other tools may have stored anything.
const (
	longestIndented = 256 << 10
	mostNested      = 64 // objects and lists, which limits the depth of indents
	longestData     = 1 << 20
)

// A shownData is a launch's data for people.
type shownData struct {
	Text string
	Note string // says what the text lacks
}

// pretty formats JSON on several lines, without changing its numbers. It returns one line if
// indents might be most of the text, and truncates a very long text.
func pretty(data json.RawMessage) shownData {
	var compact, indented bytes.Buffer
	var text string
	if len(data) > longestData || json.Compact(&compact, data) != nil {
		text = visible.Text(schemes.Beginning(string(data), longestData))
	} else {
		seen := visible.JSON(compact.Bytes())
		if bytes.Count(seen, []byte("{"))+bytes.Count(seen, []byte("[")) <= mostNested &&
			len(seen) <= longestIndented && json.Indent(&indented, seen, "", "  ") == nil &&
			indented.Len() <= longestIndented {
			return shownData{Text: indented.String()}
		}
		text = string(seen)
	}
	if len(data) <= longestData && len(text) <= longestData {
		return shownData{Text: text}
	}
	return shownData{schemes.Beginning(text, longestData), fmt.Sprintf("This is the beginning of "+
		"%s bytes. A request with Accept: application/json returns all of them.",
		grouped(len(data)))}
}
