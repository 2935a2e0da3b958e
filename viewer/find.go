package viewer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/internal/schemes"
)

// A piece is a section of the query: an ID, numbered from 1, or the text between IDs.
type piece struct {
	Text string
	ID   int
}

// A finding is an ID in the query, and what it may mean.
type finding struct {
	text string
	fits []schemes.Fit
}

// A place is the position of a finding in the query.
type place struct {
	finding
	from, to int
}

var (
	// words matches what may be an ID: letters, digits, dashes and underscores, optionally after
	// \x.
	words = regexp.MustCompile(`(?:\\x)?[0-9A-Za-z_-]+`)
	parts = regexp.MustCompile(`[0-9A-Za-z]+`)
)

// likely reports whether a word within a text is probably an ID. If its time is within the last
// five years, it may be as short as a short ID. Otherwise it must have at least 11 digits, as
// decimal IDs have, because any smaller number fits trace and sequence. A word without a digit is
// not an ID.
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

// find looks for IDs, and accepts a single word as it is. Several words are a list if all of them
// may be IDs. Short words such as "user" do not count, although they fit short IDs with a time long
// ago. Any other text is a line of a log, in which find accepts the likely words.
//
// A line often has times as numbers, which may also fit a scheme. They are ignored if the line has
// any other ID.
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

// mark splits the query into pieces. A repeated ID has the number of its first occurrence.
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

// isUnixTime reports whether a word is a Unix time in seconds, milliseconds, microseconds or
// nanoseconds, and within five years from now in either direction.
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

// listed reports whether a word of a list is meant as an ID, whatever its time. Words such as
// "user" have no digits.
func listed(word string) bool {
	return len(word) >= 14 || len(word) >= 8 && strings.ContainsAny(word, "0123456789")
}

// separates reports whether a character separates the IDs of a list.
func separates(r rune) bool { return strings.ContainsRune(" \t\r\n,;'\"[](){}", r) }
