package viewer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/internal/schemes"
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
	fits []schemes.Fit
}

// A place is where a finding is in what was asked.
type place struct {
	finding
	from, to int
}

var (
	// words are what an ID may be: letters, digits, dashes and underscores, and \x or 0x before.
	words = regexp.MustCompile(`(?:\\x)?[0-9A-Za-z_-]+`)
	parts = regexp.MustCompile(`[0-9A-Za-z]+`)
)

// likely reports whether a word within a text is an ID. One whose time is of the last years may be
// as short as the texts of short IDs. Others have the 11 digits of decimal IDs or more: any smaller
// number fits trace and sequence. A word without a digit is a word.
func likely(word string, fits []schemes.Fit, now time.Time) bool {
	if len(fits) == 0 || !strings.ContainsAny(word, "0123456789") {
		return false
	}
	switch schemes.Doubt(fits[0], now) {
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
//
// A line often has times as numbers, which may be IDs as well. They are none where the line has
// anything else.
func find(query string, now time.Time) (pieces []piece, found []finding, isLine bool) {
	if fits := schemes.Find(query, now); len(fits) > 0 {
		return []piece{{query, 1}}, []finding{{query, fits}}, false
	}
	list := strings.FieldsFunc(query, separates)
	isLine = len(list) < 2
	for _, word := range list {
		fits := schemes.Find(word, now)
		isLine = isLine || len(fits) == 0 || schemes.Doubt(fits[0], now) == 2 && !listed(word)
	}
	var places []place
	take := func(from, to int) bool {
		fits := schemes.Find(query[from:to], now)
		taken := len(fits) > 0 && (!isLine || likely(query[from:to], fits, now))
		if taken {
			places = append(places, place{finding{query[from:to], fits}, from, to})
		}
		return taken
	}
	for _, at := range words.FindAllStringIndex(query, -1) {
		if take(at[0], at[1]) {
			continue
		}
		word := query[at[0]:at[1]]
		for _, in := range parts.FindAllStringIndex(word, -1) { // as in order-14150009200065
			if in[1]-in[0] < len(word) {
				take(at[0]+in[0], at[0]+in[1])
			}
		}
	}
	if isLine {
		ids := slices.DeleteFunc(slices.Clone(places),
			func(p place) bool { return isUnixTime(p.text, now) })
		if len(ids) > 0 {
			places = ids
		}
	}
	pieces, found = mark(query, places)
	return pieces, found, isLine
}

// mark cuts what was asked into pieces. An ID that comes again has the number of its first place.
func mark(query string, places []place) (pieces []piece, found []finding) {
	numbers := map[string]int{}
	end := 0
	for _, p := range places {
		if p.from > end {
			pieces = append(pieces, piece{Text: query[end:p.from]})
		}
		if numbers[p.text] == 0 {
			found = append(found, p.finding)
			numbers[p.text] = len(found)
		}
		pieces, end = append(pieces, piece{p.text, numbers[p.text]}), p.to
	}
	if end < len(query) {
		pieces = append(pieces, piece{Text: query[end:]})
	}
	return pieces, found
}

// isUnixTime reports whether a word is a time as logs write it. It counts seconds since 1970, or
// thousandths, millionths or billionths of one. It is of the last five years or the next.
func isUnixTime(word string, now time.Time) bool {
	unit, ok := map[int]time.Duration{
		10: time.Second, 13: time.Millisecond, 16: time.Microsecond, 19: time.Nanosecond,
	}[len(word)]
	n, err := strconv.ParseInt(word, 10, 64)
	if !ok || err != nil {
		return false
	}
	perSecond := int64(time.Second / unit)
	at := time.Unix(n/perSecond, 0)
	return at.After(now.AddDate(-5, 0, 0)) && at.Before(now.AddDate(5, 0, 0))
}

// listed reports whether a word of a list is one on purpose, whatever its time. Words such as "user"
// have no digits.
func listed(word string) bool {
	return len(word) >= 14 || len(word) >= 8 && strings.ContainsAny(word, "0123456789")
}

// separates reports whether a character stands between the IDs of a list.
func separates(r rune) bool { return strings.ContainsRune(" \t\r\n,;'\"[](){}", r) }
