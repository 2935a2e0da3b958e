package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idmint/idmint/launchlog"
)

// A gap is a stretch of time that a number's counter jumped over when it was raised. The units
// after From and before To were stamped by nobody, and cannot be stamped by that counter any more.
// With its gap, an operator can free a number that a wrong clock has locked far ahead.
//
// The counter's note keeps the last gaps, after the bits that name the operation:
// NOTE/FROM-TO/FROM-TO. The counter's value only rises, and a raise names the value that it found.
// A source that raises it therefore has the note of exactly the row that is compared, and passes
// its gaps on.
type gap struct{ from, to int64 }

// keptGaps is how many gaps fit into a note.
const keptGaps = 3

func (g gap) String() string { return fmt.Sprintf("%d-%d", g.from, g.to) }

func parseGap(text string) (g gap, ok bool) {
	from, to, _ := strings.Cut(text, "-")
	var err, err2 error
	g.from, err = strconv.ParseInt(from, 10, 64)
	g.to, err2 = strconv.ParseInt(to, 10, 64)
	return g, err == nil && err2 == nil && g.String() == text && 0 <= g.from && g.from < g.to
}

// gapsOf returns the gaps of a note, the oldest first.
func gapsOf(note string) (gaps []gap) {
	_, list, _ := strings.Cut(note, "/")
	for text := range strings.SplitSeq(list, "/") {
		if g, ok := parseGap(text); ok {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// noteOf names a new operation, and appends the gaps for its row. If there are too many, it omits
// the shortest, but never the newest. Otherwise an app that pauses often, with a clock a year
// ahead, would push out the gap of that year.
func noteOf(gaps []gap) string {
	note := launchlog.NewNote()
	for gaps = slices.Clone(gaps); len(gaps) > keptGaps; {
		shortest := slices.MinFunc(gaps[:len(gaps)-1], func(a, b gap) int {
			return cmp.Compare(a.to-a.from, b.to-b.from)
		})
		i := slices.Index(gaps, shortest)
		gaps = slices.Delete(gaps, i, i+1)
	}
	for _, g := range gaps {
		note += "/" + g.String()
	}
	return note
}
