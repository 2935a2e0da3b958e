package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/internal/visible"
)

// The bounds of a launch's data on its page. What idmint stores is below the last one. Other tools
// may have stored anything.
const (
	longestIndented = 256 << 10
	mostNested      = 64 // objects and lists that are indented: indents are no deeper
	longestData     = 1 << 20
)

// A shownData is a launch's data for people.
type shownData struct {
	Text string
	Note string // what the text lacks
}

// pretty is JSON on several lines. Its numbers stay as they are written. It is on one line where
// the indents might be most of it, and cut where it is very long.
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
		"%s bytes. Accept: application/json gets all of them.", grouped(len(data)))}
}
