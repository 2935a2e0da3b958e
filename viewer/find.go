package viewer

import (
	"regexp"
	"strings"
	"time"

	"github.com/idmint/idmint/internal/explain"
)

// A piece is a stretch of what was asked. It is an ID, whose number counts from 1, or text between
// IDs.
type piece struct {
	Text string
	ID   int
}

// A finding is an ID of what was asked, and what it may mean.
type finding struct {
	text string
	fits []explain.Fit
}

var (
	// words are what an ID may be: letters, digits, dashes and underscores, and \x or 0x before.
	words = regexp.MustCompile(`(?:\\x)?[0-9A-Za-z_-]+`)
	parts = regexp.MustCompile(`[0-9A-Za-z]+`)
)

// likely reports whether a word within a text is an ID. One whose time is of the last years may be
// as short as the texts of short IDs. Others have the 11 digits of decimal IDs or more: any smaller
// number fits trace and sequence. A word without a digit is a word.
func likely(word string, fits []explain.Fit, now time.Time) bool {
	if len(fits) == 0 || !strings.ContainsAny(word, "0123456789") {
		return false
	}
	switch explain.Doubt(fits[0], now) {
	case 0:
		return len(word) >= 8
	case 1:
		return len(word) >= 11
	}
	return false
}

// find looks for IDs. A single word is taken as it is. Several words are a list where all of them
// may be IDs. Short words, such as "user", fit the text of short IDs with a time of long ago: these
// are none. Any other text is a line of a log, of which the likely words are taken.
func find(query string, now time.Time) (pieces []piece, found []finding) {
	if fits := explain.Find(query, now); len(fits) > 0 {
		return []piece{{query, 1}}, []finding{{query, fits}}
	}
	list := strings.FieldsFunc(query, separates)
	isList := len(list) > 1
	for _, word := range list {
		fits := explain.Find(word, now)
		isList = isList && len(fits) > 0 && (explain.Doubt(fits[0], now) < 2 || listed(word))
	}
	take := func(word string) []explain.Fit {
		fits := explain.Find(word, now)
		if isList || likely(word, fits, now) {
			return fits
		}
		return nil
	}
	numbers := map[string]int{} // of IDs that came before
	end := 0
	add := func(from, to int, fits []explain.Fit) {
		if from > end {
			pieces = append(pieces, piece{Text: query[end:from]})
		}
		word := query[from:to]
		if numbers[word] == 0 {
			found = append(found, finding{word, fits})
			numbers[word] = len(found)
		}
		pieces, end = append(pieces, piece{word, numbers[word]}), to
	}
	for _, at := range words.FindAllStringIndex(query, -1) {
		word := query[at[0]:at[1]]
		if fits := take(word); len(fits) > 0 {
			add(at[0], at[1], fits)
			continue
		}
		for _, in := range parts.FindAllStringIndex(word, -1) { // as in order-14150009200065
			if fits := take(word[in[0]:in[1]]); len(fits) > 0 && in[1]-in[0] < len(word) {
				add(at[0]+in[0], at[0]+in[1], fits)
			}
		}
	}
	if end < len(query) {
		pieces = append(pieces, piece{Text: query[end:]})
	}
	return pieces, found
}

// listed reports whether a word of a list is one on purpose, whatever its time. Words such as "user"
// have no digits.
func listed(word string) bool {
	return len(word) >= 14 || len(word) >= 8 && strings.ContainsAny(word, "0123456789")
}

// separates reports whether a character stands between the IDs of a list.
func separates(r rune) bool { return strings.ContainsRune(" \t\r\n,;'\"[](){}", r) }
