package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idmint/idmint/launchlog"
)

// A gap is a stretch of time that a number's counter was raised over. Nobody has stamped the units
// after From and before To, and by that counter nobody can any more. By its gap a number is got
// back that a wrong clock has locked far ahead.
//
// The counter's note keeps the last gaps, behind the bits that name the operation:
// NOTE/FROM-TO/FROM-TO. Its value only rises, and a raise names the value that it found. So who
// raises it has the note of the very row that is compared, and hands its gaps on.
type gap struct{ from, to int64 }

// keptGaps is how many fit into a note.
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

// noteOf names a new operation, with the gaps that its row is to have. Where they are too many, the
// shortest goes, but never the newest. Otherwise an app that pauses often, with a clock a year
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
